"""``dynid fit`` and the logs it is given: garbage, logs given twice, and what counts as proof."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pytest

from cli.commands import assert_one_sentence, dynid


def test_garbage_is_refused_until_it_is_repaired(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wild = str(logs / "wild.csv")
    told = assert_one_sentence(dynid(capsys, "fit", "scara", wild), code=2)
    assert told.startswith(
        "Log 'wild' must be repaired: 1 of 3000 values of torque on axis 2 are beyond reason"
    )
    assert told.endswith("Add --repair (repair=True).")
    assert not Path("out").exists()
    mended = dynid(capsys, "fit", "scara", wild, "--repair", "--validate", str(logs / "run2.csv"), "--json")
    assert mended.code == 0, mended.err
    assert mended.document["verdict"]["grade"] == "good"
    assert "Log wild (repaired)" in str(mended.document["verdict"]["findings"])


def test_garbage_late_in_a_long_log_is_refused(
    logs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dynid.logs.spool.LONG", 100)
    command = ("fit", "scara", str(logs / "wild.csv"), "--plan", str(logs / "plan.toml"))
    told = assert_one_sentence(dynid(capsys, *command), code=2)
    assert told.startswith("Log 'wild' must be repaired: ")
    assert not Path("out").exists()


def test_logs_after_validate_belong_to_it(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b, c = (str(logs / f"run{seed}.csv") for seed in (1, 2, 3))
    typed = ["fit", "scara", a, "--validate", b, c, "--out", "found", "--json"]
    assert dynid(capsys, *typed).code == 0
    made = json.loads(Path("found/result.json").read_text(encoding="utf-8"))["document"]
    assert made["reproducibility"]["command"] == f"dynid {' '.join(typed)}"
    assert [(check["log"], check["use"]) for check in made["data"]] == [
        ("run1", "fit"),
        ("run2", "validation"),
        ("run3", "validation"),
    ]
    assert [motion["name"] for motion in made["validation"]["motions"]] == ["run2", "run3"]
    told = assert_one_sentence(dynid(capsys, "fit", "--validate", b, "scara", a))
    assert told.startswith("Missing argument 'ROBOT'")


def test_a_log_counts_once(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = str(logs / "run1.csv")
    told = assert_one_sentence(dynid(capsys, "fit", "scara", first, first))
    assert told == (
        "Logs 'run1' and 'run1' hold the same data; a log that counts twice makes standard deviations too "
        "small. Give each log once."
    )
    own = dynid(capsys, "fit", "scara", first, "--validate", first, "--json").document
    assert own["verdict"]["grade"] == "care"
    assert own["verdict"]["sentence"].startswith("On the motion of its own fit, ")
    assert "Validation log run1 is a log of the fit itself" in own["verdict"]["sentence"]


def test_half_of_a_periodic_motion_is_no_proof(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = dynid(capsys, "fit", "scara", str(logs / "twice.csv"), "--split", "0.6", "--json").document
    assert document["verdict"]["grade"] == "care"
    assert document["verdict"]["sentence"].startswith("On motion that repeats the fit's, ")
    assert "twice (last 40%) repeats that of the fit: 100 % of it" in document["verdict"]["sentence"]


def test_unusable_and_doubtful_logs_for_validation(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("fit", "scara", str(logs / "run1.csv"), "--json", "--validate")
    refused = dynid(capsys, *command, str(logs / "still.csv"))
    assert refused.code == 2
    assert refused.document["error"].startswith("Validation log 'still' is not usable: ")
    doubtful = dynid(capsys, *command, str(logs / "late.csv")).document
    assert doubtful["verdict"]["grade"] == "care"
    assert "In what was kept for validation: The torques come 40" in str(doubtful["verdict"]["findings"])
    again = (str(logs / "late.csv"), "--validate", str(logs / "run2.csv"), "--json", "--force")
    late = dynid(capsys, "fit", "scara", *again)
    assert late.document["verdict"]["grade"] in ("care", "fail")
    assert "The torques come 40" in str(late.document["verdict"]["findings"])


def test_terminal_json_and_page_show_the_same_findings(
    logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("fit", "scara", str(logs / "late.csv"), "--out", "found", "--force")
    findings = dynid(capsys, *command, "--json").document["verdict"]["findings"]
    said = [" ".join(part for part in (f["sentence"], f["remedy"]) if part) for f in findings]
    assert len(said) > 3
    order = ["fail", "care", "note", "good"]
    assert [f["level"] for f in findings] == sorted((f["level"] for f in findings), key=order.index)
    printed = " ".join(dynid(capsys, *command).out.split())
    page = Path("found/report.html").read_text(encoding="utf-8")
    verdict = unescape(page[page.index('<section id="verdict"') : page.index('<nav aria-label="Sections"')])
    for text in (printed, verdict[verdict.index('<ul class="findings">') :]):
        places = [text.find(sentence) for sentence in said]
        assert -1 not in places
    shown = [printed.find(f"{f['level']}: {f['sentence']}") for f in findings]
    assert -1 not in shown
    assert shown == sorted(shown)
