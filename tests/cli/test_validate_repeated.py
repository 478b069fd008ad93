"""``dynid validate`` tells motion that repeats the fit's, as ``dynid fit --validate`` does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import dynid.cli.validate as validate_command
from cli.commands import assert_one_sentence, dynid
from dynid.cli.main import run
from dynid.model.load import load_robot
from support.datasets import dataset
from support.workflow_logs import write_csv

Capsys = pytest.CaptureFixture[str]
ROBOT = "double_pendulum"
REPEATS = (
    "Validation motion again repeats that of the fit: 100 % of it runs through the same positions at the "
    "same speeds, so it proves little beyond them; validate with another motion."
)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two motions, the first of them again with fresh noise, and results that validated on each."""
    folder = tmp_path_factory.mktemp("repeated")
    robot = load_robot(ROBOT)
    for name, seed in (("first", 1), ("other", 2)):
        write_csv(folder / f"{name}.csv", robot, seed, seconds=12.0, rate_hz=250.0)
    table = np.loadtxt(folder / "first.csv", delimiter=",", skiprows=1)
    table[:, 3:5] += 0.01 * np.random.default_rng(0).normal(size=(len(table), 2))
    for name, rows in (("again", table), ("late", table[800:2400])):
        np.savetxt(folder / f"{name}.csv", rows, delimiter=",", header="time,q1,q2,tau1,tau2", comments="")
    for name in ("again", "other"):
        logs = [str(folder / "first.csv"), "--validate", str(folder / f"{name}.csv")]
        assert run(["fit", ROBOT, *logs, "--out", str(folder / f"by-{name}"), "--json"]) == 0
    return folder


@pytest.fixture(autouse=True)
def stand_there(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(work)


@pytest.mark.parametrize("name", ["again", "other"])
def test_the_verdict_is_that_of_the_fit_with_the_same_log(capsys: Capsys, name: str) -> None:
    fitted = dynid(capsys, "report", f"by-{name}", "--json").document["validation"]
    found = dynid(capsys, "validate", f"by-{name}", f"{name}.csv", "--json").document
    assert found["repeated"] is fitted["repeated"] is (name == "again")
    assert found["verdict"]["grade"] == ("care" if name == "again" else "good")
    assert found["verdict"]["sentence"] == fitted["verdict"]["sentence"]
    for finding in fitted["verdict"]["findings"]:
        assert finding in found["verdict"]["findings"]
    assert (REPEATS in str(found["verdict"])) is (name == "again")
    assert found["decimated"] == fitted["decimated"]


def test_a_repetition_is_told_to_people(capsys: Capsys) -> None:
    said = dynid(capsys, "validate", "by-other", "again.csv")
    assert said.code == 0
    assert "on motion that repeats the fit's" in said.out
    assert REPEATS in said.out
    part = dynid(capsys, "validate", "by-other", "late.csv", "--json").document
    assert part["repeated"] is True
    mixed = dynid(capsys, "validate", "by-other", "again.csv", "other.csv", "--json").document
    assert mixed["repeated"] is False
    assert REPEATS in str(mixed["verdict"])


def test_a_repetition_in_pieces(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dynid.logs.spool.LONG", 100)
    for name in ("again", "other"):
        found = dynid(capsys, "validate", "by-other", f"{name}.csv", "--json").document
        assert found["repeated"] is (name == "again")
        assert (REPEATS in str(found["verdict"])) is (name == "again")


def without_trails(folder: str) -> None:
    """A result as earlier versions wrote it."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree("by-other", folder)
    with np.load("by-other/arrays.npz") as stored:
        arrays = {name: stored[name] for name in stored.files if not name.startswith("trail_")}
    np.savez(Path(folder, "arrays.npz"), **arrays)
    content = json.loads(Path(folder, "result.json").read_text(encoding="utf-8"))
    del content["save"], content["files"]
    Path(folder, "result.json").write_text(json.dumps(content | {"schema": 1}), encoding="utf-8")


def test_a_result_of_an_earlier_version_says_that_it_does_not_know(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_trails("earlier")
    said = dynid(capsys, "validate", "earlier", "again.csv")
    assert said.code == 0
    assert "was not asked whether the logs repeat that motion; fit again" in said.out
    for bound in (None, 100):
        if bound is not None:
            monkeypatch.setattr("dynid.logs.spool.LONG", bound)
        found = dynid(capsys, "validate", "earlier", "again.csv", "--json").document
        assert (found["repeated"], found["verdict"]["grade"]) == (False, "good")
        levels = [r["level"] for r in found["verdict"]["findings"] if "was not asked" in r["sentence"]]
        assert levels == ["note"]
    own = dynid(capsys, "validate", "earlier", "first.csv", "--json").document
    assert own["seen"] is True
    assert "was not asked" not in str(own["verdict"])


def test_options_of_a_simulation_are_refused(capsys: Capsys) -> None:
    for option in ("controller", "reference"):
        told = assert_one_sentence(dynid(capsys, "validate", "by-other", "again.csv", f"--{option}", "scara"))
        assert told == (
            f"--{option} is for results of methods that simulate the closed loop (didim, iv, oe, riv), and "
            "the result in by-other was found by WLS; leave it out."
        )


@pytest.mark.parametrize(("method", "percent"), [("wls", 5.90), ("didim", 32.87)])
def test_both_records_of_the_emps_follow_one_reference(
    capsys: Capsys, tmp_path: Path, method: str, percent: float
) -> None:
    """The second record repeats the first, with pulses of force that its simulation lacks."""
    first, pulses = (str(dataset("emps", f"DATA_EMPS{name}.mat")) for name in ("", "_PULSES"))
    mapping = str(Path(validate_command.__file__).parents[1] / "casestudies" / "maps" / "emps.toml")
    out, more = str(tmp_path / "found"), ("--controller", "emps") if method == "didim" else ()
    said = dynid(
        capsys,
        *("fit", "emps", first, "--map", mapping, "--method", method, *more, "--validate", pulses),
        *("--out", out, "--json"),
    )
    found = dynid(capsys, "validate", out, pulses, "--json")
    assert found.document["repeated"] is True
    assert found.document["decimated"]["overall_percent"] == pytest.approx(percent, rel=0.01)
    assert found.document["decimated"] == said.document["validation"]
    assert found.code == (2 if method == "didim" else 0)
    told = str(found.document["verdict"])
    assert "Validation motion DATA_EMPS_PULSES repeats that of the fit" in told
    assert ("Along the measured positions the model misses only 5.8" in told) is (method == "didim")
