"""``dynid validate`` and ``dynid report`` on a saved result."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.cli.main import run
from dynid.model.load import load_robot
from support.workflow_logs import write_csv


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a result ``found`` and logs."""
    folder = tmp_path_factory.mktemp("work")
    robot = load_robot("scara")
    for seed in (1, 2):
        write_csv(folder / f"run{seed}.csv", robot, seed, seconds=12.0, rate_hz=250.0)
    table = np.loadtxt(folder / "run2.csv", delimiter=",", skiprows=1)
    for name, change in (("wrong", slice(3, 5)), ("six", slice(0, 0))):
        other = table.copy()
        other[:, change] *= -1
        columns = ["time", "q1", "q2", "tau1", "tau2"]
        if name == "six":
            other = np.column_stack([other[:, :1], *[other[:, 1:2]] * 6, *[other[:, 3:4]] * 6])
            columns = ["time", *(f"q{i}" for i in range(1, 7)), *(f"tau{i}" for i in range(1, 7))]
        np.savetxt(folder / f"{name}.csv", other, delimiter=",", header=",".join(columns), comments="")
    assert run(["fit", "scara", str(folder / "run1.csv"), "--out", str(folder / "found"), "--json"]) == 0
    return folder


@pytest.fixture(autouse=True)
def stand_there(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(work)


def test_validation_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    said = dynid(capsys, "validate", "found", "run2.csv")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("The model predicts torques well: on unseen motion")
    assert "N m" in said.out


def test_validation_as_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    said = dynid(capsys, "validate", "found", "run2.csv", "run1.csv", "--json")
    assert (said.code, said.err) == (0, "")
    document = said.document
    assert set(document) == {
        "result",
        "joints",
        "units",
        "seen",
        "verdict",
        "full",
        "decimated",
        "motions",
        "tests",
        "parts",
        "doubt_rms",
    }
    assert document["seen"] is False
    assert [motion["name"] for motion in document["motions"]] == ["run2", "run1"]
    assert document["decimated"]["overall_percent"] < 1.0
    assert document["decimated"]["overall_percent"] < document["full"]["overall_percent"]


def test_a_prediction_that_fails_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    """Torques of the wrong sign: twice the torque is missed."""
    said = dynid(capsys, "validate", "found", "wrong.csv", "--json")
    assert (said.code, said.err) == (2, "")
    assert said.document["verdict"]["trustworthy"] is False
    assert said.document["decimated"]["overall_percent"] == pytest.approx(200.0, abs=2.0)
    assert dynid(capsys, "validate", "found", "wrong.csv").code == 2


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("nowhere", "run2.csv"), "nowhere is not a dynid result folder: it has no result.json."),
        (("found", "no.csv"), "There is no log at no.csv."),
        (("found", "six.csv"), "Log 'six' has 6 axes, but robot 'scara' has 2 coordinates"),
        (("found",), "Missing argument 'LOG…'"),
    ],
)
def test_mistakes_are_told(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], part: str) -> None:
    assert part in assert_one_sentence(dynid(capsys, "validate", *arguments))


def test_the_report_is_written_again(capsys: pytest.CaptureFixture[str]) -> None:
    page = Path("found/report.html")
    original = page.read_text(encoding="utf-8")
    page.unlink()
    said = dynid(capsys, "report", "found")
    assert (said.code, said.out) == (0, f"wrote {page}\n")
    assert page.read_text(encoding="utf-8") == original


def test_the_report_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert dynid(capsys, "report", "found", "--out", "page.html").out == "wrote page.html\n"
    Path("page.html").write_text("mine")
    told = assert_one_sentence(dynid(capsys, "report", "found", "--out", "page.html"))
    assert told == "page.html exists already; add --force to overwrite it."
    assert Path("page.html").read_text() == "mine"
    assert dynid(capsys, "report", "found", "--out", "page.html", "--force").code == 0
    assert Path("page.html").read_text(encoding="utf-8") == Path("found/report.html").read_text(
        encoding="utf-8"
    )


def test_the_report_as_json_is_its_document(capsys: pytest.CaptureFixture[str]) -> None:
    said = dynid(capsys, "report", "found", "--json")
    assert (said.code, said.err) == (0, "")
    content = json.loads(Path("found/result.json").read_text(encoding="utf-8"))
    assert said.document == content["document"]
    assert said.document["schema"] == "dynid.report/1"


DAMAGE = {
    "no JSON": ("result.json", b"{", "The result in hurt is damaged"),
    "no arrays": ("arrays.npz", b"PK", "The result in hurt is damaged"),
    "later": ("result.json", b'{"schema": 99}', "has schema 99; this version reads schema 1."),
}


@pytest.mark.parametrize(("file", "content", "part"), DAMAGE.values(), ids=DAMAGE)
def test_damaged_results_are_refused(
    capsys: pytest.CaptureFixture[str], file: str, content: bytes, part: str
) -> None:
    shutil.rmtree("hurt", ignore_errors=True)
    shutil.copytree("found", "hurt")
    Path("hurt", file).write_bytes(content)
    for command in (("report", "hurt"), ("validate", "hurt", "run2.csv")):
        assert part in assert_one_sentence(dynid(capsys, *command))
