"""``dynid suspects``: the table of a saved fit, and what later logs say has changed."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import dynid as package
from cli.commands import assert_one_sentence, dynid
from dynid.cli.main import run
from dynid.model.load import load_robot
from dynid.results.folder import RESULT
from dynid.workflow import since
from support.workflow_logs import write_csv

HEAD = "time,q1,q2,tau1,tau2"


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result ``found``, a later log as before, one with a moved torque zero, one of another robot."""
    folder = tmp_path_factory.mktemp("work")
    for seed in (1, 2):
        write_csv(folder / f"run{seed}.csv", load_robot("scara"), seed, seconds=12.0, rate_hz=250.0)
    table = np.loadtxt(folder / "run2.csv", delimiter=",", skiprows=1)
    table[:, 4] += 0.3 * np.sqrt(np.mean(table[:, 4] ** 2))
    np.savetxt(folder / "moved.csv", table, delimiter=",", header=HEAD, comments="")
    six = np.column_stack([table[:, :1], *[table[:, 1:2]] * 6, *[table[:, 3:4]] * 6])
    names = [f"{kind}{i}" for kind in ("q", "tau") for i in range(1, 7)]
    np.savetxt(folder / "six.csv", six, delimiter=",", header=",".join(["time", *names]), comments="")
    assert run(["fit", "scara", str(folder / "run1.csv"), "--out", str(folder / "found"), "--json"]) == 0
    return folder


@pytest.fixture(autouse=True)
def stand_there(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(work)


def test_the_table_of_a_fit_is_read_from_its_folder(capsys: pytest.CaptureFixture[str]) -> None:
    said = dynid(capsys, "suspects", "found", "--top", "5")
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == package.load_result("found").document["suspects"]["sentence"]
    assert "noise alone would leave" in lines[1]
    head = next(k for k, line in enumerate(lines) if line.startswith("suspect  "))
    assert len([line for line in lines[head + 1 : head + 6] if "%" in line]) == 5
    document = dynid(capsys, "suspects", "found", "--json", "--top", "5").document
    assert document["result"] == "found"
    assert len(document["scores"]) == 5
    assert document["sentence"] == lines[0]


def test_a_fit_and_its_folder_hold_the_same_suspects() -> None:
    log = package.read_log("run1.csv")
    result = package.fit(package.load_robot("scara"), log)
    loaded = package.load_result(result.save("again"))
    assert loaded.document["suspects"] == json.loads(json.dumps(result.document["suspects"]))
    assert "suspects (" in loaded.summary()


def test_a_robot_that_is_as_before_has_not_changed(capsys: pytest.CaptureFixture[str]) -> None:
    document = dynid(capsys, "suspects", "found", "run2.csv", "--json").document
    assert document["logs"] == ["run2"]
    assert max(document["error_percent"]) < 5.0
    assert "care" not in [row["level"] for row in document["ranked"]]


def test_what_has_changed_since_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    said = dynid(capsys, "suspects", "found", "moved.csv")
    assert (said.code, said.err) == (0, "")
    first, second, *_ = said.out.splitlines()
    assert first.startswith("moved: the model misses up to ")
    assert "orque zero of joint 2 has changed since the fit (" in second
    assert "Look what was done to the robot, or fit again with these logs." in second
    assert "torque zero since@2" in said.out


def test_of_logs_that_are_too_long_stretches_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    short = partial(since.build_problem, budget_bytes=1)
    monkeypatch.setattr(since, "build_problem", short)
    found = package.find_suspects(package.load_result("found"), package.read_log("moved.csv"))
    assert found.judged.table.ranked[0].suspect.key == "torque zero since@2"


def test_python_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    document = dynid(capsys, "suspects", "found", "moved.csv", "--json").document
    found = package.find_suspects(package.load_result("found"), package.read_log("moved.csv"))
    assert {"result": "found", **json.loads(json.dumps(found.to_dict()))} == document


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere",), "nowhere is not a dynid result folder"),
        (("found", "six.csv"), "6"),
        (("found", "nowhere.csv"), "nowhere.csv"),
        (("found", "run1.csv"), "Log 'run1' was used in the fit itself"),
        (("found", "--repair"), "--repair is for logs, and none was given"),
        (("found", "--map", "map.toml"), "--map is for logs"),
        (("found", "--top", "0"), "--top"),
    ],
)
def test_bad_input_gets_a_sentence(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in assert_one_sentence(dynid(capsys, "suspects", *arguments))


def test_what_the_fit_has_shown_already_is_no_news(capsys: pytest.CaptureFixture[str]) -> None:
    saved = package.load_result("found")
    found = package.find_suspects(saved, package.read_log("moved.csv"))
    (first, *_) = found.to_dict()["ranked"]
    assert first["level"] == "care"
    for factor, level in ((0.9, "note"), (0.2, "care"), (-1.0, "care")):
        shown = {"ranked": [{"suspect": first["suspect"], "size": [factor * x for x in first["size"]]}]}
        known = replace(saved, document={**saved.document, "suspects": shown})
        again = package.find_suspects(known, package.read_log("moved.csv")).to_dict()
        assert again["ranked"][0]["level"] == level


def test_a_fit_that_asks_for_care_is_said_to(capsys: pytest.CaptureFixture[str]) -> None:
    saved = package.load_result("found")
    findings = [{"name": "attenuation", "level": "care"}, {"name": "no unseen motion", "level": "care"}]
    doubtful = replace(saved, document={**saved.document, "verdict": {"findings": findings}})
    found = package.find_suspects(doubtful, package.read_log("run2.csv"))
    assert found.doubts == ("attenuation",)
    assert "The fit itself asks for care (attenuation)" in found.to_dict()["sentence"]
    outcome = {"level": "fail", "name": "rank deficient"}
    lost = replace(saved, document={**saved.document, "estimate": {"outcome": outcome}})
    with pytest.raises(package.DynidError, match=r"cannot be trusted themselves \(rank deficient\)"):
        package.find_suspects(lost, package.read_log("run2.csv"))


@pytest.mark.parametrize("entry", [None, "absent", {"sentence": "?"}])
def test_a_folder_without_suspects_says_what_to_do(
    entry: object, tmp_path: Path, work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in (work / "found").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    content = json.loads((tmp_path / RESULT).read_text())
    content["document"]["suspects"] = entry
    if entry == "absent":
        del content["document"]["suspects"]  # as an earlier version wrote it
    (tmp_path / RESULT).write_text(json.dumps(content))
    sentence = assert_one_sentence(dynid(capsys, "suspects", str(tmp_path)))
    assert "fit again" in sentence
    if not isinstance(entry, dict):
        assert "holds no suspects" in sentence
        assert "or give a log that was taken later" in sentence
        content["document"]["estimate"]["outcome"]["level"] = "fail"  # then later logs are refused too
        (tmp_path / RESULT).write_text(json.dumps(content))
        sentence = assert_one_sentence(dynid(capsys, "suspects", str(tmp_path)))
        assert sentence.endswith("can be trusted; fit again.")
        assert dynid(capsys, "report", str(tmp_path), "--out", str(tmp_path / "page.html")).code == 0
        assert 'id="suspects"' not in (tmp_path / "page.html").read_text()


def test_a_model_with_added_terms_is_asked_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fit", "scara", "run1.csv", "--add", "load,stribeck@1", "--out", "terms", "--json"]) in (0, 2)
    capsys.readouterr()
    document = dynid(capsys, "suspects", "terms", "run2.csv", "--json").document
    assert max(document["error_percent"]) < 5.0
    assert "care" not in [row["level"] for row in document["ranked"]]
    keys = {row["suspect"] for row in document["scores"]}
    assert "stribeck@2" in keys
    assert not keys & {"load@1", "load@2", "stribeck@1"}
    said = dynid(capsys, "suspects", "terms", "moved.csv")
    assert "orque zero of joint 2 has changed since the fit (" in said.out


def test_a_long_log_is_asked_beside_added_terms_by_stretches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["fit", "scara", "run1.csv", "--add", "load", "--out", "loaded", "--json"]) in (0, 2)
    short = partial(since.build_problem, budget_bytes=1)
    monkeypatch.setattr(since, "build_problem", short)
    found = package.find_suspects(package.load_result("loaded"), package.read_log("moved.csv"))
    assert found.judged.table.ranked[0].suspect.key == "torque zero since@2"
    assert max(found.error_percent) > 10.0
