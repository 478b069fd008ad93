"""``dynid validate`` on results of closed-loop methods: simulated as the fit simulates unseen logs."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.cli.main import run
from dynid.results.load import load_result

Capsys = pytest.CaptureFixture[str]
NOISE = ("--position-noise", "4e-5", "--torque-noise-relative", "0.03")
OTHER = """kind = "sines"
amplitudes = [[0.7, 0.2], [0.6, 0.3]]
frequencies_hz = [[0.31, 0.83], [0.47, 0.71]]
phases = [[0.4, 1.0], [2.0, 0.3]]
duration = 20.0
"""
PENDULUM = """kind = "pid"
kp = [40.0, 20.0]
kd = [3.0, 1.0]
ki = [10.0, 5.0]
rate_hz = 250
"""
SOFT = """kind = "bandwidth"
natural_frequency_hz = [0.5, 5]
inertia = [3.5, 0.06]
sample_time = 5e-3
"""
LAW = """def law(signals, memory, gains, ops):
    errors = [r - q for r, q in zip(signals.reference, signals.position)]
    slips = [r - q for r, q in zip(signals.reference_speed, signals.speed)]
    n = len(errors)
    return [gains[i] * errors[i] + gains[n + i] * slips[i] for i in range(n)], []
"""
PYTHON = """kind = "python"
file = "law.py"
function = "law"
gains = [140.0, 60.0, 45.0, 4.0]
rate_hz = 200
"""


def simulate(folder: Path, name: str, robot: str, controller: str, reference: str, seed: int) -> None:
    """A log, and the same with torques alone, and without its reference."""
    out = folder / f"{name}.csv"
    command = ["simulate", robot, "--controller", controller, "--reference", reference, "--duration", "20"]
    assert run([*command, *NOISE, "--seed", str(seed), "--out", str(out), "--json"]) == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    for kind, columns in (
        ("torques", ["t", "tau1", "tau2"]),
        ("positions", ["t", "q1", "q2", "tau1", "tau2"]),
    ):
        lines = [",".join(columns), *(",".join(row[column] for column in columns) for row in rows)]
        (folder / f"{name}-{kind}.csv").write_text("\n".join(lines))


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of two robots on two references, and a result of each method."""
    folder = tmp_path_factory.mktemp("loop")
    for name, text in (("other", OTHER), ("pendulum", PENDULUM), ("soft", SOFT), ("python", PYTHON)):
        (folder / f"{name}.toml").write_text(text)
    (folder / "law.py").write_text(LAW)
    other = str(folder / "other.toml")
    simulate(folder, "a", "scara", "scara", "scara", 1)
    simulate(folder, "again", "scara", "scara", "scara", 2)
    simulate(folder, "b", "scara", "scara", other, 3)
    for method in ("didim", "iv", "oe"):
        fit(folder, "scara", "scara", "a", "b", method, method)
    return folder


def fit(folder: Path, robot: str, controller: str, log: str, kept: str, method: str, out: str) -> None:
    logs = [str(folder / f"{log}.csv"), "--validate", str(folder / f"{kept}.csv")]
    options = ["--method", method, "--controller", controller, "--decimation", "20"]
    assert run(["fit", robot, *logs, *options, "--out", str(folder / out), "--force", "--json"]) == 0


@pytest.fixture(autouse=True)
def stand_there(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(work)


def unseen(result: str) -> dict[str, Any]:
    """What the fit said about its unseen log."""
    found = load_result(Path(result)).document["validation"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("method", ["didim", "iv", "oe"])
def test_validation_is_that_of_the_fit(capsys: Capsys, method: str) -> None:
    """With the law that the result holds, with a law that is given, and with the reference in a file."""
    said = dynid(capsys, "validate", method, "b.csv", "--json")
    assert (said.code, said.err) == (0, "")
    found, fitted = said.document, unseen(method)
    assert found["decimated"] == fitted["decimated"]
    assert found["verdict"]["sentence"] == fitted["verdict"]["sentence"]
    assert found["verdict"]["findings"] == fitted["verdict"]["findings"]
    assert found["decimated"]["overall_percent"] < 2.0
    assert (found["seen"], found["repeated"]) == (False, False)
    given = dynid(capsys, "validate", method, "b.csv", "--controller", "scara", "--json").document
    if method != "iv":  # whose torques are those along the measured motion, unless a law is given
        assert given["decimated"]["rms"] == pytest.approx(found["decimated"]["rms"], rel=1e-9)
    # Speeds of a reference in a log are differences, those of a file are exact.
    filed = dynid(capsys, "validate", method, "b.csv", "--reference", "other.toml", "--json").document
    assert filed["decimated"]["rms"] == pytest.approx(given["decimated"]["rms"], rel=0.05)


def test_torques_alone_are_validated_along_a_reference(capsys: Capsys) -> None:
    whole = dynid(capsys, "validate", "iv", "b.csv", "--reference", "other.toml", "--json").document
    alone = dynid(capsys, "validate", "iv", "b-torques.csv", "--reference", "other.toml", "--json")
    assert alone.code == 0, alone.err
    assert alone.document["decimated"] == whole["decimated"]
    assert alone.document["data"] == []
    assert whole["data"][0]["log"] == "b"
    shown = dynid(capsys, "validate", "didim", "b-torques.csv", "--reference", "other.toml").out
    assert "on unseen motion" in shown


def test_several_logs_with_one_reference_each(capsys: Capsys) -> None:
    references = ("--reference", "other.toml", "--reference", "scara")
    said = dynid(capsys, "validate", "didim", "b-torques.csv", "again-torques.csv", *references, "--json")
    assert said.code == 0, said.err
    assert [motion["name"] for motion in said.document["motions"]] == ["b-torques", "again-torques"]
    assert all(motion["decimated"]["overall_percent"] < 2.0 for motion in said.document["motions"])
    assert said.document["repeated"] is False
    assert "Validation motion again-torques repeats that of the fit" in str(said.document["verdict"])


def test_the_same_reference_again_and_the_fit_s_own_log(capsys: Capsys) -> None:
    again = dynid(capsys, "validate", "didim", "again.csv", "--json").document
    assert (again["seen"], again["repeated"], again["verdict"]["grade"]) == (False, True, "care")
    own = dynid(capsys, "validate", "didim", "a.csv", "--json").document
    assert (own["seen"], own["repeated"]) == (True, False)
    assert "Validation log a is a log of the fit itself" in str(own["verdict"])


def test_another_law_is_another_motion(capsys: Capsys) -> None:
    right = dynid(capsys, "validate", "didim", "b.csv", "--json").document
    wrong = dynid(capsys, "validate", "didim", "b.csv", "--controller", "soft.toml", "--json")
    assert wrong.code == 2
    error = wrong.document["decimated"]["overall_percent"]
    assert error > 10 * right["decimated"]["overall_percent"]
    assert "that is no sign against the parameters" in str(wrong.document["verdict"])
    shown = dynid(capsys, "validate", "didim", "b.csv", "--controller", "soft.toml").out
    assert "Along the measured positions" in shown


def test_positions_without_a_reference_are_predicted_as_measured(capsys: Capsys) -> None:
    said = dynid(capsys, "validate", "didim", "b-positions.csv")
    assert said.code == 0
    assert (
        "The torques were predicted along the measured positions, not along a simulated motion as in the "
        "fit: log b-positions has no reference columns; --reference (references=…) gives one." in said.out
    )
    filed = dynid(capsys, "validate", "didim", "b-positions.csv", "--reference", "other.toml")
    assert "measured positions" not in filed.out


def test_a_long_log_is_simulated_when_asked(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = dynid(capsys, "validate", "didim", "b.csv", "--json").document
    monkeypatch.setattr("dynid.logs.spool.LONG", 100)
    pieces = dynid(capsys, "validate", "didim", "b.csv")
    assert pieces.code == 0
    assert "as in the fit: log b has " in pieces.out
    asked = dynid(capsys, "validate", "didim", "b.csv", "--controller", "scara", "--json").document
    assert asked["decimated"]["rms"] == pytest.approx(whole["decimated"]["rms"], rel=1e-9)


def test_essential_parameters_of_a_pendulum(work: Path, capsys: Capsys) -> None:
    """Another robot and law, whose friction is set-valued in the simulation."""
    robot, law, other = "double_pendulum", str(work / "pendulum.toml"), str(work / "other.toml")
    simulate(work, "p", robot, law, other, 4)
    swings = work / "swings.toml"
    swings.write_text(OTHER.replace("0.31", "0.53").replace("0.71", "0.91").replace("[2.0", "[1.1"))
    simulate(work, "q", robot, law, str(swings), 5)
    out = str(work / "pendulum")
    command = ("fit", robot, "p.csv", "--method", "didim", "--controller", law, "--friction", "stick")
    kept = ("--essential", "--validate", "q.csv", "--decimation", "20", "--out", out, "--json")
    said = dynid(capsys, *command, *kept)
    assert said.code == 0, said.err
    kept_run = load_result(work / "pendulum").run
    assert kept_run["accuracy"]["friction"] == "stick"
    assert kept_run["controller"].startswith('kind = "pid"')
    (work / "pendulum.toml").rename(work / "gone.toml")
    found = dynid(capsys, "validate", "pendulum", "q.csv", "--json").document
    assert found["decimated"] == unseen("pendulum")["decimated"]
    assert found["decimated"]["overall_percent"] < 3.0


def test_a_law_that_is_code_is_not_kept(work: Path, capsys: Capsys) -> None:
    simulate(work, "own", "scara", str(work / "python.toml"), "scara", 6)
    simulate(work, "new", "scara", str(work / "python.toml"), str(work / "other.toml"), 7)
    fit(work, "scara", str(work / "python.toml"), "own", "new", "didim", "coded")
    capsys.readouterr()
    assert load_result(work / "coded").run["controller"] is None
    told = assert_one_sentence(
        dynid(capsys, "validate", "coded", "new-torques.csv", "--reference", "other.toml")
    )
    assert told.startswith(
        "The result in coded does not hold the control law as data; give it with --controller"
    )
    assert "Log 'new-torques' has no positions, so its motion must be simulated." in told
    assert "the result does not hold the control law" in dynid(capsys, "validate", "coded", "new.csv").out
    found = dynid(capsys, "validate", "coded", "new.csv", "--controller", "python.toml", "--json").document
    assert found["decimated"] == unseen("coded")["decimated"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("b-torques.csv",), "Log 'b-torques' has no reference columns (it has torque)"),
        (("b-torques.csv",), "give what the robot followed with --reference (references=…)."),
        (("b.csv", "--controller", "tx40"), "6 values for 2 axes"),
        (("b.csv", "--controller", "nosuch"), "nosuch"),
        (("b.csv", "--reference", "emps"), "2 axes"),
        (("b.csv", "--reference", "nosuch"), "nosuch"),
        (("b.csv", *("--reference", "scara") * 2), "2 references were given for 1 log; give one for all"),
        (("b.csv", "--repair"), "are for measured motions; repair the log first"),
        (("no.csv", "--reference", "scara"), "There is no log at no.csv."),
    ],
)
def test_what_is_missing_is_told(capsys: Capsys, arguments: tuple[str, ...], sentence: str) -> None:
    assert sentence in assert_one_sentence(dynid(capsys, "validate", "didim", *arguments))


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("controller", 'kind = "nonsense"', "The control law stored in hurt cannot be used"),
        ("controller", PYTHON, "names a file, which only a file given by its path may do"),
        ("controller", 7, "The control law stored in hurt cannot be used"),
        ("accuracy", {"friction": "sand"}, "The accuracy of the simulation stored in hurt cannot be used"),
        ("accuracy", 7, "cannot be used"),
    ],
)
def test_damaged_facts_are_told(capsys: Capsys, key: str, value: object, sentence: str) -> None:
    """A law of the result that names a Python file is not run."""
    shutil.rmtree("hurt", ignore_errors=True)
    shutil.copytree("didim", "hurt")
    content = json.loads(Path("hurt/result.json").read_text(encoding="utf-8"))
    content["document"]["reproducibility"][key] = value
    Path("hurt/result.json").write_text(json.dumps(content))
    assert sentence in assert_one_sentence(dynid(capsys, "validate", "hurt", "b.csv"))


def test_an_earlier_result_is_simulated_with_what_is_given(capsys: Capsys) -> None:
    shutil.rmtree("earlier", ignore_errors=True)
    shutil.copytree("didim", "earlier")
    content = json.loads(Path("earlier/result.json").read_text(encoding="utf-8"))
    for key in ("controller", "accuracy"):
        del content["document"]["reproducibility"][key]
    content["document"]["reproducibility"]["options"]["width"] = 0.3
    Path("earlier/result.json").write_text(json.dumps(content))
    assert "does not hold the control law" in dynid(capsys, "validate", "earlier", "b.csv").out
    told = assert_one_sentence(dynid(capsys, "validate", "earlier", "b-torques.csv"))
    assert "give it with --controller (controller=…) (the fit was given scara)" in told
    wide = dynid(capsys, "validate", "earlier", "b.csv", "--controller", "scara", "--json").document
    assert wide["decimated"]["overall_percent"] > unseen("didim")["decimated"]["overall_percent"]
