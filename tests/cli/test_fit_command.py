"""``dynid fit``: exit codes, one JSON document, a result folder written whole, and sentences for mistakes."""

from __future__ import annotations

import csv
import json
from dataclasses import fields
from pathlib import Path

import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.cli.estimation import METHODS
from dynid.preparation.preparation import Preparation

KEYS = {
    "robot",
    "verdict",
    "trustworthy",
    "n_base",
    "n_kept",
    "outcome",
    "plan",
    "reasons",
    "parameters",
    "further",
    "fit",
    "validation",
    "result",
    "report",
    "seconds",
}
FILES = ["arrays.npz", "parameters.csv", "report.html", "result.json"]


def test_the_main_job_as_one_document(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two experiments, a third one as proof."""
    files = [str(logs / f"run{seed}.csv") for seed in (1, 2, 3)]
    said = dynid(capsys, "fit", "scara", *files[:2], "--validate", files[2], "--out", "found", "--json")
    assert (said.code, said.err) == (0, "")
    document = said.document
    assert set(document) == KEYS
    assert document["robot"] == "scara"
    assert document["trustworthy"] is True
    assert document["verdict"]["grade"] == "good"
    assert document["n_base"] == document["n_kept"] == len(document["parameters"]) == 8
    assert document["outcome"] == "fine"
    assert set(document["plan"]) == {field.name for field in fields(Preparation)}
    assert "cut-off" in document["reasons"][0]
    assert document["parameters"][0]["name"] == "ZZ1R"
    assert set(document["parameters"][0]) == {"name", "value", "sigma", "relative_sigma_percent", "kept"}
    assert document["validation"]["overall_percent"] < 1.0
    assert document["result"] == "found"
    assert document["report"] == str(Path("found", "report.html"))


def test_for_people(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = dynid(capsys, "fit", "scara", str(logs / "run1.csv"), "--split", "0.7")
    assert (said.code, said.err) == (0, "")
    verdict, sentence, *rest = said.out.splitlines()
    assert verdict == "This model can be trusted."
    assert sentence.startswith("On motion the fit has not seen, its torques miss")
    findings = [line for line in rest if line.startswith("  ")]
    assert rest[: len(findings)] == findings
    order = [said.out.index(part) for part in ("joint1", "parameters, those known best", "report: ")]
    assert order == sorted(order)
    assert "cut-off" not in said.out
    assert "8 of 8 base parameters in" in said.out
    assert f"report: {Path('out', 'fit', 'report.html')}" in said.out
    assert "joint1" in said.out


def test_how_the_data_were_prepared_is_told_on_request(
    logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = dynid(capsys, "fit", "scara", str(logs / "run1.csv"), "--split", "0.7", "--verbose")
    assert said.code == 0
    reasons = said.out.split("How the data were prepared:\n")[1]
    assert "cut-off" in reasons
    assert "8 of 8 parameters\n" in said.out


def test_the_result_folder(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["fit", "scara", str(logs / "run1.csv"), "--plan", str(logs / "plan.toml"), "--out", "a/b"]
    assert dynid(capsys, *arguments).code == 0
    folder = Path("a/b")
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert [path.name for path in Path("a").iterdir()] == ["b"]  # no temporary folder is left
    content = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    made = content["document"]["reproducibility"]
    assert made["command"] == f"dynid {' '.join(arguments)}"
    assert made["inputs"][0]["path"] == str(logs / "run1.csv")
    assert len(made["inputs"][0]["sha256"]) == 64
    assert content["plan"]["speed_thresholds"] == [0.01, 0.01]
    with open(folder / "parameters.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == content["base"]["names"]
    assert rows[0]["formula"].startswith("ZZ1R = ZZ1 + ")


def test_the_recorded_command_gives_the_same_numbers(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["fit", "scara", str(logs / "run1.csv"), "--uncertainty", "bootstrap", "--json"]
    first = dynid(capsys, *given, "--out", "first").document
    again = dynid(capsys, *given, "--out", "again").document
    assert first["parameters"] == again["parameters"]


def test_an_existing_folder_is_replaced_only_on_request(
    logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("fit", "scara", str(logs / "run1.csv"), "--out", "found")
    assert dynid(capsys, *command).code == 0
    before = Path("found/arrays.npz").read_bytes()
    told = assert_one_sentence(dynid(capsys, *command, "--method", "ols"))
    assert (
        told
        == "found exists already; choose another folder (--out), or add --force (force=True) to replace it."
    )
    assert Path("found/arrays.npz").read_bytes() == before
    assert dynid(capsys, *command, "--method", "ols", "--force").code == 0
    assert Path("found/arrays.npz").read_bytes() != before
    assert sorted(path.name for path in Path().iterdir()) == ["found"]


def test_force_never_replaces_what_dynid_did_not_write(
    logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("thesis").mkdir()
    Path("thesis/chapter.tex").write_text("years")
    Path("file").write_text("of work")
    for name in ("thesis", "file"):
        said = dynid(capsys, "fit", "scara", str(logs / "run1.csv"), "--out", name, "--force")
        assert assert_one_sentence(said).startswith(f"{name} is not a dynid result folder")
    assert Path("thesis/chapter.tex").read_text() == "years"
    assert Path("file").read_text() == "of work"


@pytest.mark.parametrize("method", METHODS)
def test_every_method(logs: Path, capsys: pytest.CaptureFixture[str], method: str) -> None:
    said = dynid(
        capsys, "fit", "scara", str(logs / "run1.csv"), "--method", method, "--split", "0.7", "--json"
    )
    assert said.code == 0, said.err
    assert said.document["validation"]["overall_percent"] < 1.0
    content = json.loads(Path("out/fit/result.json").read_text(encoding="utf-8"))
    assert content["strategy"]["name"].lower() == method


@pytest.mark.parametrize("uncertainty", ["classical", "hac", "bootstrap"])
def test_every_uncertainty(logs: Path, capsys: pytest.CaptureFixture[str], uncertainty: str) -> None:
    said = dynid(capsys, "fit", "scara", str(logs / "run1.csv"), "--uncertainty", uncertainty, "--json")
    assert said.code == 0, said.err
    assert all(0 < row["relative_sigma_percent"] < 100 for row in said.document["parameters"])
    content = json.loads(Path("out/fit/result.json").read_text(encoding="utf-8"))
    assert content["document"]["estimate"]["uncertainty"] == uncertainty


def test_essential_parameters_are_fewer(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    noisy = str(logs / "noisy.csv")
    full = dynid(capsys, "fit", "scara", noisy, "--out", "full", "--json").document
    kept = dynid(capsys, "fit", "scara", noisy, "--essential", "--out", "kept", "--json").document
    assert full["n_kept"] == 8
    assert kept["n_kept"] < 8
    assert [row["value"] for row in kept["parameters"] if not row["kept"]] == [0.0] * (8 - kept["n_kept"])


def test_a_plan_and_options_over_it(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--plan", str(logs / "plan.toml"), "--decimation", "5", "--mask", "0.05")
    document = dynid(capsys, "fit", "scara", str(logs / "run1.csv"), *options, "--json").document
    plan = document["plan"]
    assert (plan["cutoff_hz"], plan["decimation"], plan["speed_thresholds"]) == (10.0, 5, [0.05, 0.05])
    assert document["reasons"] == []


def test_parquet_without_a_mapping(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = dynid(capsys, "fit", "scara", str(logs / "run.parquet"), "--split", "0.6", "--json")
    assert said.code == 0, said.err
    assert said.document["validation"]["overall_percent"] < 1.0


def test_a_long_log_is_fitted_as_a_short_one(
    logs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("fit", "scara", str(logs / "run.parquet"), "--plan", str(logs / "plan.toml"), "--json")
    more = ("--split", "0.6", "--repair", "--validate", str(logs / "small.csv"))
    whole = dynid(capsys, *command, *more, "--out", "whole").document
    monkeypatch.setattr("dynid.logs.spool.LONG", 1000)
    said = dynid(capsys, *command, *more, "--out", "long")
    assert said.code == 0, said.err
    for found, wanted in zip(said.document["parameters"], whole["parameters"], strict=True):
        assert found["value"] == pytest.approx(wanted["value"], rel=1e-9)
        assert found["sigma"] == pytest.approx(wanted["sigma"], rel=1e-9)
    ours, theirs = said.document["validation"]["overall_percent"], whole["validation"]["overall_percent"]
    assert ours == pytest.approx(theirs, rel=1e-9)


def test_reasons_say_what_was_overridden(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--cutoff-hz", "12", "--decimation", "7")
    document = dynid(capsys, "fit", "scara", str(logs / "run1.csv"), *options, "--json").document
    assert document["reasons"][0].startswith("cutoff_hz is 12 Hz as given (suggested: ")
    assert document["reasons"][1].startswith("decimation is 7 as given (suggested: ")
    assert not any("speed's band" in reason or "n_d" in reason for reason in document["reasons"])
    made = json.loads(Path("out/fit/result.json").read_text(encoding="utf-8"))["document"]
    assert made["reproducibility"]["preparation_reasons"] == document["reasons"]


def test_the_uncertainty_used_is_not_asked_for(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("fit", "scara", str(logs / "late.csv"), "--json", "--force", "--uncertainty")
    classical = str(dynid(capsys, *command, "classical").document["verdict"])
    assert "The default σ (honest) looks at such blocks" in classical
    robust = str(dynid(capsys, *command, "hac").document["verdict"])
    assert "The HAC σ of the parameters allows for errors that are alike in time." in robust
    assert "the honest one" not in robust
    honest = str(dynid(capsys, *command[:-1]).document["verdict"])
    assert "The block σ of the parameters allows for errors that are alike in time." in honest


def test_a_fit_that_cannot_be_trusted_is_kept_and_exits_2(
    logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = dynid(capsys, "fit", "scara", str(logs / "noisy.csv"), "--json")
    assert (said.code, said.err) == (2, "")
    assert said.document["trustworthy"] is False
    assert said.document["verdict"]["grade"] == "fail"
    assert sorted(path.name for path in Path("out/fit").iterdir()) == FILES


def test_an_unusable_log_exits_2_and_leaves_nothing(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = dynid(capsys, "fit", "scara", str(logs / "still.csv"))
    assert "Log 'still' is not usable: " in assert_one_sentence(said, code=2)
    assert not Path("out").exists()
    told = dynid(capsys, "fit", "scara", str(logs / "still.csv"), "--json")
    assert told.code == told.document["exit_code"] == 2


BAD = {
    "method": (("--method", "wlz"), "Unknown method 'wlz'. Did you mean 'wls'?"),
    "rule": (("--essential", "--rule", "sigm"), "Unknown rule 'sigm'. Did you mean 'sigma'?"),
    "rule alone": (("--rule", "sigma"), "--rule has no meaning without --essential; add --essential."),
    "uncertainty": (("--uncertainty", "hack"), "Unknown uncertainty 'hack'. Did you mean 'hac'?"),
    "three speeds": (("--mask", "1,2,3"), "--mask is '1,2,3'; give one speed, or 2 separated by commas."),
    "no speed": (("--mask", "slow"), "--mask is 'slow'; give one speed, or 2"),
    "negative speed": (
        ("--mask", "-1"),
        "Preparation: entry 1 of speed_thresholds is -1.0; it must be a number from 0",
    ),
    "split": (("--split", "1.2"), "The share of the log to fit is 1.2; it must be a number between 0 and 1."),
    "cut-off": (("--cutoff-hz", "0"), "Preparation: cutoff_hz is 0.0; it must be a number above 0 Hz."),
    "convention": (("--convention", "mathlab"), "Did you mean 'matlab'?"),
    "terms": (("--terms", "Fw"), "Unknown parameter term 'Fw'."),
    "no plan": (("--plan", "no.toml"), "There is no preparation file at no.toml."),
    "no mapping": (("--map", "no.toml"), "no.toml"),
    "not a number": (("--split", "most"), "see dynid fit --help."),
}


@pytest.mark.parametrize(("options", "part"), BAD.values(), ids=BAD)
def test_mistakes_are_told_in_a_sentence(
    logs: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], part: str
) -> None:
    assert part in assert_one_sentence(dynid(capsys, "fit", "scara", str(logs / "run1.csv"), *options))
    assert not Path("out").exists()


PLANS = {
    "unknown key": (
        "cutof_hz = 3",
        "Preparation file plan.toml: Unknown key 'cutof_hz'. Did you mean 'cutoff_hz'",
    ),
    "not TOML": ("=", "The preparation file plan.toml is not TOML"),
    "text": (
        'cutoff_hz = "3"',
        "Preparation file plan.toml: cutoff_hz is '3'; it must be a number above 0 Hz.",
    ),
    "share": ("decimation = 2.5", "decimation is 2.5; it must be a whole number from 1."),
    "truth": ("drop_samples = true", "drop_samples is True; it must be a whole number from 0."),
    "one speed": ("speed_thresholds = 0.1", "is 0.1; it must be a list of numbers from 0 rad/s or m/s."),
    "texts": (
        'speed_thresholds = ["a", "b"]',
        "entry 1 of speed_thresholds is 'a'; it must be a number from 0",
    ),
    "value": (
        "decimation = 0",
        "Preparation file plan.toml: decimation is 0; it must be a whole number from 1.",
    ),
}


@pytest.mark.parametrize(("text", "part"), PLANS.values(), ids=PLANS)
def test_bad_plans(logs: Path, capsys: pytest.CaptureFixture[str], text: str, part: str) -> None:
    Path("plan.toml").write_text(text)
    said = dynid(capsys, "fit", "scara", str(logs / "run1.csv"), "--plan", "plan.toml")
    assert part in assert_one_sentence(said)


def test_a_missing_log_and_a_wrong_robot(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert assert_one_sentence(dynid(capsys, "fit", "scara", "no.csv")) == "There is no log at no.csv."
    told = assert_one_sentence(dynid(capsys, "fit", "tx40", str(logs / "run1.csv")))
    assert "Log 'run1' has 2 axes, but robot 'tx40' has 6 coordinates" in told
    assert "Missing argument 'LOG…'" in assert_one_sentence(dynid(capsys, "fit", "scara"))
    said = dynid(capsys, "fit", "scara", "no.csv", "--json")
    assert set(said.document) == {"error", "exit_code"}
    assert said.code == 1


def test_names_that_look_like_markup_are_shown_as_they_are(
    logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = "\n".join(
        f'[[joint]]\nname = "{name}"\nkind = "revolute"\nd = {d}\n'
        for name, d in (("[red]", 0), ("[b]", 0.5))
    )
    Path("arm.toml").write_text(f'name = "arm"\ngravity = [0, 0, -9.81]\nterms = ["Fv", "Fc"]\n{table}')
    command = ("fit", "arm.toml", str(logs / "noisy.csv"), "--force")
    said = dynid(capsys, *command)
    assert said.code == 2, said.err
    sentence = dynid(capsys, *command, "--json").document["verdict"]["sentence"]
    assert said.out.splitlines()[1] == sentence
    assert all(f"\n{name} " in said.out for name in ("[red]", "[b]"))
