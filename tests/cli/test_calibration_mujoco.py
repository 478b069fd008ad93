"""A MuJoCo arm with a known body welded on, logged as currents: raw CSV to gains, payload and pages."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.model.loaders.mdh import load_drives
from support.html_tree import parsed
from support.mujoco_arm import MAPPING, RATIO, TORQUE_CONSTANT, WELD, Load, arm_text, drives_text, write_log

Capsys = pytest.CaptureFixture[str]
LOAD = Load()
OFF = np.array([1.15, 0.9, 1.2, 0.85])
"""By which the a-priori torque constants are wrong."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The arm's file, a mapping, drives with wrong and right gains, and both logs."""
    pytest.importorskip("mujoco")
    place = tmp_path_factory.mktemp("bench")
    (place / "arm.xml").write_text(arm_text())
    (place / "map.toml").write_text(MAPPING)
    (place / "guess.toml").write_text(drives_text(TORQUE_CONSTANT * OFF))
    (place / "true.toml").write_text(drives_text(TORQUE_CONSTANT))
    write_log(place / "free.csv", None, 1)
    write_log(place / "loaded.csv", LOAD, 2)
    return place


def words(bench: Path, command: str, drives: str, out: Path) -> list[str]:
    """A command line on the bench's files."""
    named = {"--drives": drives, "--map": "map.toml", "--free": "free.csv", "--loaded": "loaded.csv"}
    paths = [word for name, file in named.items() for word in (name, str(bench / file))]
    return [command, str(bench / "arm.xml"), *paths, "--out", str(out)]


@pytest.fixture(scope="module")
def calibrated(bench: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `dynid gains`, from a weighed mass."""
    from dynid.cli.main import run

    out = tmp_path_factory.mktemp("gains") / "out"
    assert run([*words(bench, "gains", "guess.toml", out), "--mass", "3.2", "--mass-sigma", "0.005"]) == 0
    return out


def test_currents_become_torques_with_one_weighed_mass(calibrated: Path) -> None:
    """All four torque constants within 2.5 σ and 3 %, and as drives that --drives takes."""
    document = json.loads((calibrated / "gains.json").read_text())
    found = np.array([[row["absolute"], row["absolute_sigma"]] for row in document["gains"]])
    assert document["grade"] == "good"
    assert np.all(np.abs(found[:, 0] - TORQUE_CONSTANT) < 2.5 * found[:, 1])
    assert np.all(np.abs(found[:, 0] / TORQUE_CONSTANT - 1) < 0.03)
    np.testing.assert_array_equal(load_drives(calibrated / "drives.toml").gain, found[:, 0])


def test_the_page_shows_the_numbers_of_the_document(calibrated: Path) -> None:
    """Gains and σ of every motor, the command, and no script."""
    document = json.loads((calibrated / "gains.json").read_text())
    page = (calibrated / "report.html").read_text()
    for row in document["gains"]:
        assert f'data-value="{row["relative"]!r}"' in page
        assert f'data-value="{row["sigma"]!r}"' in page
    assert "dynid gains" in page
    assert "<script" not in page
    assert parsed(page) is not None


def test_the_welded_body_is_found_with_these_gains(
    bench: Path, calibrated: Path, tmp_path: Path, capsys: Capsys
) -> None:
    """Mass within 1 %, centre within 3 mm at the weld, in the frame of the MJCF body."""
    flange = ",".join(map(str, WELD))
    line = words(bench, "payload", "guess.toml", tmp_path / "p")
    line[line.index("--drives") + 1] = str(calibrated / "drives.toml")
    said = dynid(capsys, *line, "--flange", flange, "--json")
    central = said.document["central"]
    assert said.code == 0
    assert central["mass"] == pytest.approx(LOAD.mass, rel=0.01)
    np.testing.assert_allclose(central["com"], LOAD.com, atol=3e-3)
    assert np.all(np.abs(np.array(central["com"]) - LOAD.com) < 3 * np.array(central["com_sigma"]))
    inertia = np.diag(central["inertia"])
    assert np.all(np.abs(inertia - LOAD.inertia) < 4 * np.diag(central["inertia_sigma"]))
    page = (tmp_path / "p" / "report.html").read_text()
    assert f'data-value="{central["mass"]!r}"' in page


def test_a_model_of_the_arm_serves_as_well_as_free_logs(bench: Path, tmp_path: Path, capsys: Capsys) -> None:
    """`dynid fit` of the free log, then the loaded log alone."""
    free, model = str(bench / "free.csv"), str(tmp_path / "arm")
    known = ("--drives", str(bench / "true.toml"), "--map", str(bench / "map.toml"))
    assert dynid(capsys, "fit", str(bench / "arm.xml"), free, *known, "--out", model, "--json").code == 0
    line = [
        "payload",
        str(bench / "arm.xml"),
        "--model",
        model,
        "--loaded",
        str(bench / "loaded.csv"),
        *known,
    ]
    said = dynid(capsys, *line, "--out", str(tmp_path / "p"), "--json")
    assert said.code == 0
    assert said.document["way"] == "fixed"
    assert said.document["central"]["mass"] == pytest.approx(LOAD.mass, rel=0.01)


def test_wrong_gains_are_noticed(bench: Path, tmp_path: Path, capsys: Capsys) -> None:
    """Without the calibration joints contradict each other, and with a weighed mass it does not fit."""
    said = dynid(capsys, *words(bench, "payload", "guess.toml", tmp_path / "p"), "--json")
    assert said.code == 2
    assert any("its drive gain is wrong" in f["sentence"] for f in said.document["findings"])


def test_swapped_logs_get_no_gains(bench: Path, tmp_path: Path, capsys: Capsys) -> None:
    """A sentence with the remedy, a page, and no table of drives."""
    line = words(bench, "gains", "guess.toml", tmp_path / "g")
    free, loaded = line.index("--free") + 1, line.index("--loaded") + 1
    line[free], line[loaded] = line[loaded], line[free]
    said = dynid(capsys, *line, "--mass", "3.2", "--json")
    assert said.code == 2
    worst = said.document["findings"][0]
    assert worst["name"] == "logs swapped"
    assert worst["remedy"] == "Swap --free and --loaded."
    assert sorted(path.name for path in (tmp_path / "g").iterdir()) == ["gains.json", "report.html"]


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (["--mass", "0"], "--mass is 0; give the mass in kg that was weighed, which is above 0."),
        (["--mass", "-2"], "--mass is -2; give the mass in kg that was weighed, which is above 0."),
        ([], "Nothing is known of the payload; give --mass, as a weighing machine shows it."),
        (["--mass-sigma", "0.1"], "--mass-sigma is given without --mass; give the weighed mass, too."),
        (["--mass", "3.2", "--carrier", "hand"], "Unknown carrier joint 'hand'"),
        (["--mass", "3.2", "--method", "guess"], "Unknown method 'guess'"),
        (["--mass", "3.2", "--bounds", "0.5,2"], "--bounds is for --method constrained"),
        (
            ["--mass", "3.2", "--method", "constrained", "--bounds", "2,1"],
            "--bounds is '2,1'; give two positive",
        ),
        (["--mass", "3.2", "--payload"], "No such option: --payload"),
    ],
)
def test_bad_input_is_one_sentence(
    bench: Path, tmp_path: Path, capsys: Capsys, extra: list[str], sentence: str
) -> None:
    """Before any work, and nothing is written."""
    line = words(bench, "gains", "guess.toml", tmp_path / "g")
    assert sentence in assert_one_sentence(dynid(capsys, *line, *extra))


def test_one_log_cannot_be_free_and_loaded(bench: Path, tmp_path: Path, capsys: Capsys) -> None:
    """It would say that the payload weighs nothing."""
    line = words(bench, "gains", "guess.toml", tmp_path / "g")
    line[line.index("--free") + 1] = str(bench / "loaded.csv")
    said = assert_one_sentence(dynid(capsys, *line, "--mass", "3.2"))
    assert "hold the same data" in said


def test_an_existing_page_is_kept(bench: Path, calibrated: Path, capsys: Capsys) -> None:
    """Unless --force is given."""
    line = [*words(bench, "gains", "guess.toml", calibrated), "--mass", "3.2"]
    assert "exists already; add --force" in assert_one_sentence(dynid(capsys, *line))


def test_bounds_that_hold_gains_are_no_gains(bench: Path, tmp_path: Path, capsys: Capsys) -> None:
    """The constrained method names them, and writes no drives."""
    line = [*words(bench, "gains", "guess.toml", tmp_path / "g"), "--mass", "3.2", "--method", "constrained"]
    said = dynid(capsys, *line, "--bounds", "0.95,1.05", "--json")
    assert said.code == 2
    assert said.document["findings"][0]["name"] == "gain at bound"
    assert not (tmp_path / "g" / "drives.toml").exists()


@pytest.mark.parametrize(("mass", "code"), [("3200", 2), ("7.05", 0)])
def test_a_mass_in_another_unit_is_noticed(
    bench: Path, tmp_path: Path, capsys: Capsys, mass: str, code: int
) -> None:
    """Grams make gains that no drive has, pounds ask for a look."""
    said = dynid(capsys, *words(bench, "gains", "guess.toml", tmp_path / "g"), "--mass", mass, "--json")
    assert said.code == code
    (found,) = [f for f in said.document["findings"] if f["name"] == "gains unusual"]
    assert "Check the unit of the mass (kg)" in found["remedy"]


def test_a_failed_run_leaves_no_drives_of_an_earlier_one(bench: Path, tmp_path: Path, capsys: Capsys) -> None:
    """A table of drives beside a page that says no would be used."""
    out = tmp_path / "g"
    line = [*words(bench, "gains", "guess.toml", out), "--force"]
    assert dynid(capsys, *line, "--mass", "3.2").code == 0
    assert (out / "drives.toml").exists()
    assert dynid(capsys, *line, "--mass", "3200").code == 2
    assert not (out / "drives.toml").exists()


def test_gains_of_joint_side_logs_say_how_they_are_used(bench: Path, tmp_path: Path, capsys: Capsys) -> None:
    """--drives does not count there, neither for the fit nor for another calibration."""
    mapping = tmp_path / "joint.toml"
    scale = ", ".join(f"{1 / r}" for r in RATIO)
    mapping.write_text(
        '[time]\ncolumn = "t_s"\n'
        f'[position]\ncolumns = "motor{{axis}}_rad"\nunit = "rad"\nscale = [{scale}]\n'
        '[torque]\ncolumns = "current{axis}_A"\nunit = "A"\n'
    )
    found = []
    for drives in ("guess.toml", "true.toml"):
        line = words(bench, "gains", drives, tmp_path / drives)
        line[line.index("--map") + 1] = str(mapping)
        said = dynid(capsys, *line, "--mass", "3.2", "--json", "--accept", "drive signal")
        found.append([row["absolute"] for row in said.document["gains"]])
        assert "--drives has no effect on them" in said.document["use"]
        assert "multiply scale of [torque]" in said.document["use"]
    np.testing.assert_allclose(found[0], found[1])
    np.testing.assert_allclose(found[0], RATIO * TORQUE_CONSTANT, rtol=0.03)
