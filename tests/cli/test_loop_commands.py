"""``dynid fit`` by closed-loop methods and ``dynid compare``, as a user calls them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.base.find import find_base
from dynid.cli.main import run
from dynid.model.load import load_robot

Capsys = pytest.CaptureFixture[str]
SIMULATE = (
    *("simulate", "scara", "--controller", "scara", "--reference", "scara", "--duration", "40"),
    *("--position-noise", "4e-5", "--torque-noise-relative", "0.05", "--disturbance-relative", "0.025"),
)


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
        ("torques.csv", ("--method", "oe", "--controller", "scara", "--reference", "scara"), "No position"),
        ("a.csv", ("--method", "didim", "--controller", "tx40"), "axes"),
        ("a.csv", ("--method", "didim", "--controller", "nosuch"), "nosuch"),
        (
            "a.csv",
            ("--method", "didim", "--controller", "scara", *("--reference", "scara") * 3),
            "3 references were given for 1 logs",
        ),
        ("a.csv", ("--method", "didim", "--controller", "scara", "--repair"), "--repair is for measured"),
    ],
)
def test_what_is_missing_is_told(
    folder: Path, capsys: Capsys, log: str, arguments: tuple[str, ...], sentence: str
) -> None:
    said = dynid(capsys, "fit", "scara", str(folder / log), *arguments)
    assert sentence in assert_one_sentence(said)
    assert not Path("out").exists()


def test_compare_refuses_what_cannot_be_compared(folder: Path, capsys: Capsys) -> None:
    assert dynid(capsys, "fit", "scara", str(folder / "a.csv"), "--out", "one", "--json").code == 0
    assert "at least two" in assert_one_sentence(dynid(capsys, "compare", "one"))
    assert "is not a dynid result folder" in assert_one_sentence(dynid(capsys, "compare", "one", "two"))
    Path("taken.csv").write_text("mine")
    said = dynid(capsys, "compare", "one", "one", "--out", "taken.csv")
    assert "exists already" in assert_one_sentence(said)
    assert Path("taken.csv").read_text() == "mine"
