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
    for name, rows, factor in (("triple", slice(None), 3.0), ("wild", slice(700, 701), 1e300)):
        other = table.copy()
        other[rows, 3:5] *= factor
        np.savetxt(folder / f"{name}.csv", other, delimiter=",", header="time,q1,q2,tau1,tau2", comments="")
    late = table[10:].copy()
    late[:, 3:5] = table[:-10, 3:5]
    np.savetxt(folder / "late.csv", late, delimiter=",", header="time,q1,q2,tau1,tau2", comments="")
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
        "repeated",
        "data",
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
    """Three times the torque: two thirds of it are missed."""
    said = dynid(capsys, "validate", "found", "triple.csv", "--json")
    assert (said.code, said.err) == (2, "")
    assert said.document["verdict"]["trustworthy"] is False
    assert said.document["decimated"]["overall_percent"] == pytest.approx(66.7, abs=1.0)
    assert dynid(capsys, "validate", "found", "triple.csv").code == 2


def test_an_unusable_log_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Torques of the wrong sign, and a value that no sensor gives."""
    wrong = dynid(capsys, "validate", "found", "wrong.csv")
    assert wrong.code == 2
    assert "All torques or all positions have the wrong sign" in " ".join(wrong.out.split())
    told = assert_one_sentence(dynid(capsys, "validate", "found", "wild.csv"), code=2)
    assert "Validation log 'wild' must be repaired" in told
    assert told.endswith("Add --repair (repair=True).")
    assert dynid(capsys, "validate", "found", "wild.csv", "--repair").code == 0


def test_the_fit_s_own_log_is_no_proof(capsys: pytest.CaptureFixture[str]) -> None:
    """Also under another name, and written in another way."""
    shutil.copy("run1.csv", "other.csv")
    text = Path("run1.csv").read_text().replace(",", ", ")
    Path("spaced.csv").write_text(text)
    for name in ("run1", "other", "spaced"):
        said = dynid(capsys, "validate", "found", f"{name}.csv", "--json")
        assert said.code == 0, said.err
        verdict = said.document["verdict"]
        assert (verdict["grade"], said.document["seen"]) == ("care", True)
        assert verdict["findings"][0]["sentence"] == (
            f"Validation log {name} is a log of the fit itself, so predicting it proves nothing new; "
            "validate with another one."
        )
    shown = dynid(capsys, "validate", "found", "run1.csv").out
    assert "on the motion of the fit" in shown
    assert "is a log of the fit itself" in shown


def test_a_defect_of_the_log_is_named_where_the_model_predicts_it_badly(
    capsys: pytest.CaptureFixture[str],
) -> None:
    verdict = dynid(capsys, "validate", "found", "late.csv", "--json").document["verdict"]
    assert verdict["grade"] == "care"
    (told,) = [f for f in verdict["findings"] if f["name"] == "delay"]
    assert told["sentence"].startswith("In what was kept for validation: The torques come 4")
    assert told["figures"]["size"] == pytest.approx(0.04, rel=0.05)
    sound = dynid(capsys, "validate", "found", "run2.csv", "--json").document["verdict"]
    assert not {"delay", "joint zero", "change in time"} & {f["name"] for f in sound["findings"]}


def test_the_mapping_of_the_fit_is_used_again(capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("run2.csv").read_text().splitlines()
    Path("odd.csv").write_text("\n".join(["zeit,a,b,c,d", *text[1:]]))
    first = Path("run1.csv").read_text().splitlines()
    Path("odd1.csv").write_text("\n".join(["zeit,a,b,c,d", *first[1:]]))
    mapping = '[time]\ncolumn = "zeit"\n[position]\ncolumns = ["a", "b"]\n[torque]\ncolumns = ["c", "d"]\n'
    Path("odd.toml").write_text(mapping)
    command = ("fit", "scara", "odd1.csv", "--map", "odd.toml", "--out", "mapped", "--force", "--json")
    assert dynid(capsys, *command).code == 0
    kept = json.loads(Path("mapped/result.json").read_text(encoding="utf-8"))["document"]["reproducibility"]
    assert kept["mapping"]["text"] == mapping
    assert len(kept["mapping"]["sha256"]) == 64
    assert kept["robot_source"] == {"given": "scara", "sha256": None}
    assert kept["options"]["method"] == "wls"
    Path("odd.toml").unlink()
    own = dynid(capsys, "validate", "mapped", "odd.csv", "--json")
    assert own.code == 0, own.err
    # A log with common names is understood too.
    plain = dynid(capsys, "validate", "mapped", "run2.csv", "--json")
    assert plain.document["decimated"] == own.document["decimated"]
    told = assert_one_sentence(dynid(capsys, "validate", "mapped", "no.csv"))
    assert told == "There is no log at no.csv."


def test_a_long_log_is_predicted_in_pieces(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = dynid(capsys, "validate", "found", "run2.csv", "--json").document
    monkeypatch.setattr("dynid.logs.spool.LONG", 100)
    pieces = dynid(capsys, "validate", "found", "run2.csv", "--json")
    assert pieces.code == 0, pieces.err
    assert set(pieces.document) == set(whole)
    for name in ("full", "decimated"):
        found, wanted = pieces.document[name]["relative_percent"], whole[name]["relative_percent"]
        assert found == pytest.approx(wanted, rel=1e-9)
    assert dynid(capsys, "validate", "found", "run2.csv", "--repair").code == 0
    own = dynid(capsys, "validate", "found", "run1.csv", "--json").document
    assert (own["verdict"]["grade"], own["seen"]) == ("care", True)
    assert_one_sentence(dynid(capsys, "validate", "found", "wild.csv"), code=2)


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
    assert said.document["schema"] == "dynid.report/2"


DAMAGE = {
    "no JSON": ("result.json", b"{", "The result in hurt is damaged"),
    "no arrays": (
        "arrays.npz",
        b"PK",
        "The result in hurt is damaged (arrays.npz was changed or removed since it was saved); fit again.",
    ),
    "no document": (
        "result.json",
        None,
        "The result in hurt is damaged (result.json lacks 'document'); fit again.",
    ),
    "later": ("result.json", b'{"schema": 99}', "has schema 99; this version reads schemas 1 and 2."),
}


@pytest.mark.parametrize(("file", "content", "part"), DAMAGE.values(), ids=DAMAGE)
def test_damaged_results_are_refused(
    capsys: pytest.CaptureFixture[str], file: str, content: bytes | None, part: str
) -> None:
    shutil.rmtree("hurt", ignore_errors=True)
    shutil.copytree("found", "hurt")
    if content is None:
        whole = json.loads(Path("hurt", file).read_text(encoding="utf-8"))
        content = json.dumps({key: value for key, value in whole.items() if key != "document"}).encode()
    Path("hurt", file).write_bytes(content)
    for command in (("report", "hurt"), ("validate", "hurt", "run2.csv")):
        told = assert_one_sentence(dynid(capsys, *command))
        assert part in told
        assert "pickle" not in told


def test_a_partial_document_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree("hurt", ignore_errors=True)
    shutil.copytree("found", "hurt")
    content = json.loads(Path("hurt/result.json").read_text(encoding="utf-8"))
    del content["document"]["verdict"]
    Path("hurt/result.json").write_text(json.dumps(content))
    told = assert_one_sentence(dynid(capsys, "report", "hurt"))
    assert told.startswith("The report document is damaged: it lacks 'verdict'.")
