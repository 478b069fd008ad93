"""``dynid fit-many``: a fleet with one robot that drifts, rows that fail, and plans that cannot be."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.base import find_base
from dynid.model.load import load_robot
from dynid.workflow.fleet_plan import FleetEntry
from support.motions import exact_torques, fourier_motion

Capsys = pytest.CaptureFixture[str]
HEAD = 'robot = "scara"\nsplit = 0.7\ncutoff_hz = 20\ndecimation = 4\n'
SPREAD, NOISE, DRIFT = 0.03, 0.02, 1.3


def write_unit(path: Path, unit: int, factors: dict[str, float], seed: int) -> None:
    """A log of a robot of a series: friction of its own, noise of its own."""
    robot = load_robot("scara")
    base, rng = find_base(robot), np.random.default_rng([seed, unit])
    truth = dict(robot.parameters)
    for name in truth:
        if name[0] == "F":
            truth[name] *= (1 + SPREAD * rng.normal()) * factors.get(name, 1.0)
    motion = fourier_motion(robot, rng, seconds=8.0, rate_hz=200.0)
    values = base.regroup(robot.table.vector(truth))
    tau = exact_torques(base, values, motion)
    tau += NOISE * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    rows = np.column_stack([motion.time, motion.q, tau])
    np.savetxt(path, rows, delimiter=",", header="time,q1,q2,tau1,tau2", comments="", fmt="%.10g")


def write_fleet(folder: Path, units: int, drifting: int, seed: int = 1) -> Path:
    """Logs and a plan."""
    entries = []
    for unit in range(units):
        write_unit(folder / f"u{unit}.csv", unit, {"Fc2": DRIFT} if unit == drifting else {}, seed)
        entries.append(f'[[fit]]\nname = "r{unit}"\nunit = {unit}\nlogs = ["u{unit}.c*"]\n')
    (folder / "fleet.toml").write_text(HEAD + "\n".join(entries))
    return folder / "fleet.toml"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_fleet(tmp_path_factory.mktemp("fleet"), 50, 17)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_one_of_fifty_that_drifts_is_found_and_no_other(fleet: Path, place: Path, capsys: Capsys) -> None:
    said = dynid(capsys, "fit-many", str(fleet), "--workers", "2", "--json")
    assert said.code == 0, said.err
    found = said.document
    assert (found["schema"], found["trusted"], found["drifting"]) == ("dynid.fleet/1", 50, ["17"])
    (finding,) = found["findings"]
    assert finding["sentence"].startswith("Unit 17: Fc2 is ")
    assert finding["figures"]["percent"] == pytest.approx(30, abs=10)
    with open("out/fleet/fits.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == [f"r{k}" for k in range(50)]
    assert float(rows[17]["Fc2"]) > 1.15 * float(rows[3]["Fc2"])
    assert all(float(row["sigma_Fc2"]) > 0 and row["status"] == "fitted" for row in rows)
    page = Path("out/fleet/report.html").read_text(encoding="utf-8")
    assert "Unit 17 drifts." in page
    assert json.loads(Path("out/fleet/fleet.json").read_text())["units"]["Fc2"] == "N m"


def test_finished_rows_are_kept_and_changed_logs_fitted_again(place: Path, capsys: Capsys) -> None:
    plan = write_fleet(place, 2, -1)
    first = dynid(capsys, "fit-many", str(plan), "--workers", "1", "--json").document
    assert "exists already" in dynid(capsys, "fit-many", str(plan)).err
    write_unit(place / "u1.csv", 1, {}, 2)
    again = dynid(capsys, "fit-many", str(plan), "--workers", "1", "--force", "--json").document
    assert first["fits"][0] == again["fits"][0]  # with the seconds that it took
    assert first["fits"][1]["parameters"] != again["fits"][1]["parameters"]
    assert again["findings"][0]["name"] == "fleet not compared"


def test_a_row_that_fails_says_why_and_stops_no_other(place: Path, capsys: Capsys) -> None:
    write_unit(place / "good.csv", 1, {}, 1)
    (place / "text.csv").write_text("nothing\nto,see\n")
    table = np.loadtxt(place / "good.csv", delimiter=",", skiprows=1)
    table[:, 1:3] = 0.5
    np.savetxt(place / "still.csv", table, delimiter=",", header="time,q1,q2,tau1,tau2", comments="")
    lines = ["name,robot,logs,unit,date", *(f"{n},scara,{n}.csv,{n},2026-03-01" for n in ("good", "text"))]
    (place / "plan.csv").write_text("\n".join([*lines, "still,scara,still.csv;good.csv,s,2026-03-02"]))
    said = dynid(capsys, "fit-many", "plan.csv", "--workers", "1", "--keep-results", "--json")
    assert said.code == 2, said.err
    rows = {row["name"]: row for row in said.document["fits"]}
    assert {name: row["status"] for name, row in rows.items()} == {
        "good": "fitted",
        "text": "failed",
        "still": "not usable",
    }
    assert all(row["sentence"] for row in rows.values())
    assert (place / "out/fleet/results/good/result.json").is_file()
    shown = dynid(capsys, "fit-many", "plan.csv", "--workers", "1", "--force", "--format", "parquet")
    assert "rows that cannot be trusted" in shown.out
    assert (place / "out/fleet/fits.parquet").is_file()


def test_damaged_rows_are_fitted_again_with_force(place: Path, capsys: Capsys) -> None:
    plan = write_fleet(place, 2, -1)
    command = ("fit-many", str(plan), "--workers", "1", "--json", "--keep-results")
    first = dynid(capsys, *command).document
    kept = place / "out/fleet/rows.jsonl"
    head, *rows = kept.read_text().splitlines(keepends=True)
    kept.write_text("".join([head, "{}\n", *rows]))
    shutil.rmtree(place / "out/fleet/results")
    again = dynid(capsys, *command, "--force").document
    assert [row["parameters"] for row in again["fits"]] == [row["parameters"] for row in first["fits"]]
    shutil.rmtree(place / "out/fleet/results")
    assert dynid(capsys, *command, "--force").code == 0
    assert (place / "out/fleet/results/r1/result.json").is_file()


def test_moments_of_other_time_zones_are_ordered() -> None:
    west, east = (
        FleetEntry(name="a", logs=("a",), date=date)
        for date in ("2026-03-01T23:00-10:00", "2026-03-02T01:00+14:00")
    )
    assert (west.order or 0) - (east.order or 0) == pytest.approx(22.0)


FIT = '[[fit]]\nname = "a"\nlogs = ["a.csv"]\n'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("robot = [", "is not TOML"),
        ("", "The plan has no fits"),
        ('fit = "a"', "it must be [[fit]] tables"),
        (f'robot = "scara"\ncolour = 1\n{FIT}', "Unknown key 'colour'"),
        (f'robot = "scara"\n{FIT}colour = 1', "Row 'a': Unknown key 'colour'"),
        (f'robot = "scara"\n{FIT}{FIT}', "The name 'a' is given twice"),
        (FIT, "Row 'a': robot is missing"),
        (f'robot = "scarra"\n{FIT}', "Row 'a': Unknown robot 'scarra'"),
        (f'robot = "scara"\nmethod = "didim"\n{FIT}', "Row 'a': Unknown method 'didim'"),
        ('robot = "scara"\n[[fit]]\nname = "b"\nlogs = ["b*.csv"]', "Row 'b': there is no log b*.csv"),
        ('robot = "scara"\n[[fit]]\nname = "b"\nlogs = []', "Row 'b': logs is []"),
        ('robot = "scara"\n[[fit]]\nname = "../b"\nlogs = ["a.csv"]', "text without /"),
        ('robot = "scara"\n[[fit]]\nlogs = ["a.csv"]', "Row 1: name is missing"),
        (f'robot = "scara"\n{FIT}date = "soon"', "Row 'a': date is 'soon'"),
        (f'robot = "scara"\n{FIT}date = 2026-03-01\nhours = 3', "Row 'a': date and hours are both given"),
        (f'robot = "scara"\nmap = "no.toml"\n{FIT}', "Row 'a': there is no file no.toml for map"),
    ],
)
def test_plans_that_cannot_be_get_a_sentence(place: Path, capsys: Capsys, text: str, sentence: str) -> None:
    (place / "a.csv").write_text("time,q1\n")
    (place / "plan.toml").write_text(text)
    assert sentence in assert_one_sentence(dynid(capsys, "fit-many", "plan.toml"))


def test_tables_that_cannot_be_get_a_sentence(place: Path, capsys: Capsys) -> None:
    for text, sentence in (
        ("name,logs,logs\n", "a column twice"),
        ("name,robot,logs\na,scara,a.csv,b.csv\n", "4 cells for 3 columns"),
        ("name,robot,logs,cutoff_hz\na,scara,a.csv,high\n", "Row 'a': cutoff_hz is 'high'"),
        ("name,robot,logs\n", "The plan has no fits"),
        ("name;robot;logs\na;scara;a.csv\n", "separated by semicolons; separate them by commas"),
    ):
        (place / "plan.csv").write_text(text)
        assert sentence in assert_one_sentence(dynid(capsys, "fit-many", "plan.csv"))
    assert "There is no plan of fits" in assert_one_sentence(dynid(capsys, "fit-many", "none.toml"))
