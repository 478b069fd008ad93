"""MATLAB functions, MAT files and LaTeX tables: run by Octave and set by LaTeX where they are found."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from dynid.core.errors import DynidError
from dynid.export.export import export_model
from dynid.logs.readers.mat import read_mat
from dynid.model.load import load_robot
from support.exported import LOADED, STRIBECK, result_of, sly_robot

OCTAVE, LATEX = shutil.which("octave-cli") or shutil.which("octave"), shutil.which("pdflatex")
SCARA = result_of(load_robot("scara"), STRIBECK, LOADED)
RESULTS = {"scara": SCARA, "tx40": result_of(load_robot("tx40")), "sly": result_of(sly_robot(), STRIBECK)}
STEP = replace(load_robot("scara"), parameters={}, terms=("Fv", "Fcp", "Fcn"))


@pytest.mark.skipif(OCTAVE is None, reason="GNU Octave is not installed")
def test_octave_computes_the_same_torques(tmp_path: Path) -> None:
    results = RESULTS | {"steps": result_of(STEP)}
    lines, states = [], {}
    for name, result in results.items():
        export_model(result, "matlab", tmp_path, name=f"arm_{name}")
        q, qd, qdd = np.random.default_rng(1).uniform(-1.5, 1.5, (3, 10, result.robot.n_coordinates))
        states[name] = (q, qd, qdd)
        savemat(tmp_path / f"states_{name}.mat", {"q": q, "qd": qd, "qdd": qdd})
        lines += [f"s = load('states_{name}.mat'); tau = zeros(size(s.q));", "for k = 1:rows(s.q)"]
        lines += [f"  tau(k, :) = arm_{name}(s.q(k, :), s.qd(k, :), s.qdd(k, :));", "end"]
        lines += [
            f"save('-v7', 'tau_{name}.mat', 'tau'); p = load('arm_{name}.mat'); assert(size(p.values, 2), 1);"
        ]
    (tmp_path / "try_all.m").write_text("\n".join(lines))
    subprocess.run([str(OCTAVE), "--no-gui", "--quiet", "try_all.m"], cwd=tmp_path, check=True)
    for name, result in results.items():
        expected = result.predict(*states[name])
        found = loadmat(tmp_path / f"tau_{name}.mat")["tau"]
        assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()


def test_a_mat_file_holds_the_parameters(tmp_path: Path) -> None:
    export_model(SCARA, "matlab", tmp_path)
    found = loadmat(tmp_path / "scara.mat")
    assert [str(cell[0]) for cell in found["names"][:, 0]] == list(SCARA.base.names)
    assert np.array_equal(found["values"][:, 0], SCARA.values)
    assert np.array_equal(found["standard"][:, 0], SCARA.standard)
    assert [str(cell[0]) for cell in found["further_names"][:, 0]] == [
        "Fs1",
        "Fs2",
        "Fl1",
        "Fl2",
        "vs1",
        "vs2",
    ]
    table = read_mat(tmp_path / "scara.mat")
    assert np.array_equal(np.ravel(table.array("values")), SCARA.values)


def test_matlab_takes_no_words_of_its_own_for_a_name() -> None:
    for name in ("end", "sin", "tau", "choose"):
        with pytest.raises(
            DynidError, match=f"'{name}' is not a name for a MATLAB function of one's own; give"
        ):
            export_model(SCARA, "matlab", name=name)


def test_names_from_a_robot_file_stay_in_matlab_s_comments() -> None:
    text = export_model(RESULTS["sly"], "matlab").files[0].content.decode()
    assert [
        line for line in text.splitlines() if "evil" in line and not line.startswith(("%", "function "))
    ] == []


def test_a_table_prints_names_as_papers_do() -> None:
    text = export_model(RESULTS["tx40"], "latex").files[0].content.decode()
    assert r"$ZZ_{1R}$ & $" in text
    assert (
        r"& kg m$^{2}$ & $ZZ_{1} + I_{a1} + YY_{2} + YY_{3} + D_{3}^{2}\,(M_{3}+M_{4}+M_{5}+M_{6})$ \\"
        in text
    )
    assert re.search(
        r"^\$F_{v1}\$ & \$0\.\d{4}\$ & \$0\.00\d+\$ & \$1\$ & N m s/rad &  \\\\$", text, re.MULTILINE
    )
    assert text.count(r" \\") == len(RESULTS["tx40"].values) + 1


def test_parameters_that_are_not_known_have_no_deviation() -> None:
    names = SCARA.base.names
    kept = np.array([name != "MY2" for name in names])
    facts = {"estimate": {"facts": {"undetermined": ["ZZ2"]}}}
    text = export_model(replace(SCARA, kept=kept, document=facts), "latex").files[0].content.decode()
    assert "$MY_{2}$ & 0 & -- & -- & kg m &" in text
    assert re.search(r"\$ZZ_\{2\}\$ & \$[\d.]+\$ & -- & -- & ", text)


def test_added_terms_have_a_table_of_their_own() -> None:
    text = export_model(SCARA, "latex").files[0].content.decode()
    assert text.count(r"\begin{tabular}") == 2
    assert r"Fs1 * (sign(qd)*exp(-(qd/vs)\textasciicircum{}2)) \\" in text


@pytest.mark.skipif(LATEX is None, reason="LaTeX is not installed")
def test_latex_sets_the_tables(tmp_path: Path) -> None:
    for name, result in RESULTS.items():
        export_model(result, "latex", tmp_path, name=name)
    inputs = "\n\n".join(rf"\input{{{name}}}" for name in RESULTS)
    page = r"\documentclass{article}\begin{document}" + inputs + r"\end{document}"
    (tmp_path / "page.tex").write_text(page)
    command = [str(LATEX), "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "page.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-2000:]
    assert (tmp_path / "page.pdf").stat().st_size > 1000


def test_names_from_a_robot_file_are_no_commands_of_latex() -> None:
    text = export_model(RESULTS["sly"], "latex").files[0].content.decode()
    assert r"\input" not in text
    assert r"\textbackslash{}input\{evil\} \$ \% \_ \& \# \{" in text
