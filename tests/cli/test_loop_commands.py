"""``dynid fit`` by closed-loop methods and ``dynid compare``, as a user calls them."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.base import find_base
from dynid.cli.main import run
from dynid.model.load import load_robot
from dynid.results.comparison import compare_results
from dynid.results.load import load_result
from dynid.results.result import SavedResult

Capsys = pytest.CaptureFixture[str]
SIMULATE = (
    *("simulate", "scara", "--controller", "scara", "--reference", "scara", "--duration", "40"),
    *("--position-noise", "4e-5", "--torque-noise-relative", "0.05", "--disturbance-relative", "0.025"),
)


STARTED = dict.fromkeys(("ZZ1R", "Fv1", "Fc1", "ZZ2", "MX2", "MY2", "Fv2", "Fc2"), 0.0) | {
    "ZZ1R": 3.0,
    "ZZ2": 0.07,
}
DIDIM = ("--method", "didim", "--controller", "scara")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A noisy log, and the same with torques alone."""
    place = tmp_path_factory.mktemp("loop")
    assert run([*SIMULATE, "--seed", "1", "--out", str(place / "a.csv"), "--json"]) == 0
    rows = csv.DictReader((place / "a.csv").read_text().splitlines())
    torques = [f"{row['t']},{row['tau1']},{row['tau2']}" for row in rows]
    (place / "torques.csv").write_text("\n".join(["t,tau1,tau2", *torques]))
    return place


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fit(capsys: Capsys, log: Path, method: str, *more: str) -> dict:  # type: ignore[type-arg]
    said = dynid(
        capsys, "fit", "scara", str(log), "--method", method, "--controller", "scara", *more, "--json"
    )
    assert said.code == 0, said.err
    return said.document


@pytest.mark.parametrize("method", ["didim", "iv", "oe"])
def test_a_log_is_fitted_and_compared(folder: Path, capsys: Capsys, method: str) -> None:
    found = fit(capsys, folder / "a.csv", method, "--decimation", "20", "--out", method)
    robot = load_robot("scara")
    truth = find_base(robot).regroup(robot.parameters)
    values = {row["name"]: row["value"] for row in found["parameters"]}
    for name, true in zip(find_base(robot).names, truth, strict=True):
        if name in ("ZZ1R", "ZZ2", "MX2", "Fc1", "Fc2"):
            assert values[name] == pytest.approx(true, rel=0.02), name
    assert dynid(capsys, "fit", "scara", str(folder / "a.csv"), "--out", "wls", "--json").code == 0
    said = dynid(capsys, "compare", "wls", method, "--json", "--out", "table.csv")
    assert said.code == 0
    rows = said.document["results"]
    assert [row["method"] for row in rows] == [
        "WLS",
        {"didim": "DIDIM", "iv": "IV", "oe": "OutputError"}[method],
    ]
    assert all(row["seconds"] > 0 and row["relative_residual_percent"] < 5 for row in rows)
    assert said.document["parameters"][0]["name"] == "ZZ1R"
    assert said.document["parameters"][0]["values"][1] == pytest.approx(values["ZZ1R"])
    lines = list(csv.reader(Path("table.csv").read_text().splitlines()))
    assert lines[0][:4] == ["name", "unit", "wls value", "wls sigma"]
    assert len(lines) == 9
    shown = dynid(capsys, "compare", "wls", method)
    assert said.document["agree"]
    assert said.document["sentence"] in shown.out.replace("\n", " ")
    assert "The results agree" in said.document["sentence"]
    assert "largest gap" in shown.out
    assert "ZZ1R" in shown.out


def test_torques_alone_are_enough_for_didim(folder: Path, capsys: Capsys) -> None:
    found = fit(
        capsys, folder / "torques.csv", "didim", "--reference", "scara", "--decimation", "20", "--out", "x"
    )
    assert found["parameters"][0]["value"] == pytest.approx(3.45, rel=0.01)
    assert Path("x/report.html").exists()


def test_essential_parameters_and_a_split(folder: Path, capsys: Capsys) -> None:
    found = fit(
        capsys, folder / "a.csv", "didim", "--essential", "--split", "0.6", "--decimation", "20", "--out", "x"
    )
    assert found["n_kept"] <= 8
    assert found["validation"]["overall_percent"] < 5


@pytest.mark.parametrize(
    ("log", "arguments", "sentence"),
    [
        ("a.csv", ("--method", "didim"), "DIDIM needs the torques, the reference and the control law, not"),
        ("a.csv", ("--method", "iv"), "--controller is missing"),
        ("a.csv", ("--controller", "scara"), "--controller is for methods that simulate the closed loop"),
        ("a.csv", ("--method", "wls", "--reference", "scara"), "--reference is for methods that simulate"),
        ("torques.csv", ("--method", "didim", "--controller", "scara"), "has no reference channel"),
        (
            "torques.csv",
            ("--method", "oe", "--controller", "scara", "--reference", "scara"),
            "OutputError needs the measured motion (positions) beside the torques; DIDIM does not",
        ),
        ("a.csv", ("--method", "iv", "--instruments", "reference"), "the sample time of the loop"),
        ("a.csv", ("--friction", "stick"), "--friction is for methods that simulate the closed loop"),
        ("a.csv", ("--max-iterations", "0"), "--max-iterations is for methods that simulate"),
        ("a.csv", ("--open-loop",), "--open-loop is for methods that simulate the closed loop"),
        (
            "a.csv",
            (*DIDIM, "--instruments", "both"),
            "--instruments is for --method iv, and --method is didim",
        ),
        ("a.csv", (*DIDIM, "--open-loop"), "--open-loop is for --method oe, and --method is didim"),
        ("a.csv", (*DIDIM, "--start", "nice"), "Unknown start of DIDIM 'nice'"),
        ("a.csv", (*DIDIM, "--max-iterations", "0"), "give at least 1"),
        ("a.csv", (*DIDIM, "--transient-s", "-1"), "it must be a time from 0 s on"),
        ("a.csv", (*DIDIM, "--residual-tolerance", "0"), "residual_tolerance is 0.0; it must be positive"),
        ("a.csv", (*DIDIM, "--follow-inertia", "ever"), "Unknown way of the gains to follow"),
        (
            "a.csv",
            ("--method", "iv", "--controller", "scara", "--transient-s", "1"),
            "is for --method didim or oe",
        ),
        ("a.csv", (*DIDIM, "--tolerance", "0"), "tolerance 0.0; both must be positive"),
        ("a.csv", (*DIDIM, "--friction", "sand"), "Unknown friction model 'sand'"),
        ("a.csv", (*DIDIM, "--friction", "stick", "--width", "1"), "only smooth friction has a width"),
        (
            "a.csv",
            ("--method", "oe", "--controller", "scara", "--friction", "stick"),
            "use --friction smooth",
        ),
        ("a.csv", ("--method", "didim", "--controller", "tx40"), "axes"),
        ("a.csv", ("--method", "didim", "--controller", "nosuch"), "nosuch"),
        (
            "a.csv",
            ("--method", "didim", "--controller", "scara", *("--reference", "scara") * 3),
            "3 references were given for 1 logs",
        ),
        ("a.csv", ("--method", "didim", "--controller", "scara", "--repair"), "are for measured motions"),
    ],
)
def test_what_is_missing_is_told(
    folder: Path, capsys: Capsys, log: str, arguments: tuple[str, ...], sentence: str
) -> None:
    said = dynid(capsys, "fit", "scara", str(folder / log), *arguments)
    assert sentence in assert_one_sentence(said)
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("method", "more", "expected"),
    [
        ("iv", ("--instruments", "both"), {"instruments": "both"}),
        ("iv", ("--instruments", "reference"), {"instruments": "reference"}),
        ("iv", ("--start", "least-squares"), {"start": "least squares"}),
        ("oe", ("--start", "prior", "--max-iterations", "7"), {"start": "prior", "max_iterations": 7}),
        ("oe", ("--open-loop", "--reference", "scara"), {"open_loop": True}),
        (
            "oe",
            ("--value-tolerance", "0.01", "--transient-s", "2"),
            {"value_tolerance": 0.01, "transient_s": 2.0},
        ),
        ("didim", ("--residual-tolerance", "1e-3"), {"residual_tolerance": 1e-3}),
        ("didim", ("--follow-inertia", "always", "--transient-s", "0"), {"follow_inertia": "always"}),
        ("iv", ("--follow-inertia", "never"), {"follow_inertia": "never"}),
        ("didim", ("--start", "start.toml"), {"start": STARTED}),
    ],
)
def test_options_reach_the_method(
    folder: Path, capsys: Capsys, method: str, more: tuple[str, ...], expected: dict[str, object]
) -> None:
    Path("start.toml").write_text("".join(f"{name} = {value}\n" for name, value in STARTED.items()))
    found = fit(capsys, folder / "a.csv", method, "--decimation", "20", "--out", "x", *more)
    used = load_result(Path("x")).document["estimate"]["strategy"]
    assert {key: used[key] for key in expected} == expected
    assert found["parameters"][0]["value"] == pytest.approx(3.45, rel=0.01)


def test_options_reach_the_simulation(folder: Path, capsys: Capsys) -> None:
    options = ("--decimation", "20", "--force", "--out", "x")
    ways = ((), ("--friction", "stick"), ("--width", "0.3"))
    found = [fit(capsys, folder / "a.csv", "didim", *options, *way)["parameters"] for way in ways]
    smooth, stick, wide = ({row["name"]: row["value"] for row in rows} for rows in found)
    assert smooth["Fc2"] != stick["Fc2"] == pytest.approx(smooth["Fc2"], rel=0.02)
    assert wide["Fv2"] != pytest.approx(smooth["Fv2"], rel=0.05)


def test_one_pass_is_told_to_be_too_few(folder: Path, capsys: Capsys) -> None:
    said = dynid(capsys, "fit", "scara", str(folder / "a.csv"), *DIDIM, "--max-iterations", "1", "--json")
    assert said.code == 2
    assert said.document["outcome"] == "not converged"


def moved(result: SavedResult, label: str, name: str, factor: float) -> SavedResult:
    """The same result with another value of one parameter."""
    values = result.values.copy()
    values[result.base.names.index(name)] *= factor
    return replace(result, folder=Path(label), values=values)


def test_results_that_disagree_are_told(folder: Path, capsys: Capsys) -> None:
    log = str(folder / "a.csv")
    assert dynid(capsys, "fit", "scara", log, "--out", "one", "--json").code == 0
    one = load_result(Path("one"))
    # 1.5 % of ZZ1R are many σ, but do not matter; 2.5 % do.
    small = compare_results([one, moved(one, "two", "ZZ1R", 1.015)])
    assert small.agree
    assert "differs by more than 2 % of its value where it is more than 4 combined σ apart" in small.sentence
    assert re.search(r"largest gap: ZZ1R, \d\d+\.\d σ, but only 1\.5 % of the value\)\.$", small.sentence)
    assert compare_results([one, replace(one, folder=Path("same"))]).sentence == (
        "The results agree: no parameter is more than 4 combined σ apart."
    )
    found = compare_results([one, moved(one, "two", "ZZ1R", 1.025), moved(one, "three", "MX2", 1.5)])
    assert not found.agree
    assert [gap.name for gap in found.conflicts] == ["MX2", "ZZ1R"]
    assert "MX2 is" in found.sentence
    assert "in three" in found.sentence
    assert "disagree by both more than 4 combined σ and more than 2 % of the value" in found.sentence
    # A fifth of a friction that is hardly seen is within its doubt.
    assert compare_results([one, moved(one, "two", "Fv1", 1.2)]).agree
    covariance = one.covariance.copy()
    place = one.base.names.index("MX2")
    covariance[place, :] = covariance[:, place] = 0.0
    removed = replace(moved(one, "two", "MX2", 0.0), covariance=covariance)
    without = compare_results([one, removed])
    assert without.agree
    assert np.isnan(without.gaps[place])


def test_disagreement_is_exit_code_2(folder: Path, capsys: Capsys) -> None:
    for name, gain in (("heavy", 1.2), ("light", 1.0)):
        rows = (folder / "a.csv").read_text().splitlines()
        cells = [row.split(",") for row in rows[1:]]
        scaled = [[*c[:3], *(f"{gain * float(v):.9g}" for v in c[3:5]), *c[5:]] for c in cells]
        Path(f"{name}.csv").write_text("\n".join([rows[0], *(",".join(c) for c in scaled)]))
        assert dynid(capsys, "fit", "scara", f"{name}.csv", "--out", name, "--json").code == 0
    said = dynid(capsys, "compare", "light", "heavy", "--json")
    assert said.code == 2
    assert said.document["agree"] is False
    assert "ZZ1R is 3.4" in said.document["sentence"]
    assert dynid(capsys, "compare", "light", "heavy").code == 2


def test_compare_refuses_what_cannot_be_compared(folder: Path, capsys: Capsys) -> None:
    assert dynid(capsys, "fit", "scara", str(folder / "a.csv"), "--out", "one", "--json").code == 0
    assert "at least two" in assert_one_sentence(dynid(capsys, "compare", "one"))
    assert "is not a dynid result folder" in assert_one_sentence(dynid(capsys, "compare", "one", "two"))
    Path("taken.csv").write_text("mine")
    told = assert_one_sentence(dynid(capsys, "compare", "one", "taken.csv"))
    assert told == "taken.csv is not a dynid result folder: it is a file."
    said = dynid(capsys, "compare", "one", "one", "--out", "taken.csv")
    assert "exists already" in assert_one_sentence(said)
    assert Path("taken.csv").read_text() == "mine"
