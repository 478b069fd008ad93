"""``dynid reproduce``: rows for people and machines, exit codes, and what to do when data are missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.casestudies.case import SHOWN, Case, CaseResult, Row, at_most, equal_digits
from dynid.casestudies.cases import CASES
from dynid.core.executor import Progress
from support.datasets import dataset

GOOD = equal_digits("M1 [kg]", 95.1089, 95.10891, 4)
BAD = at_most("residual [%]", 7.5, 5.3, 5.1)


def install(monkeypatch: pytest.MonkeyPatch, *rows: Row) -> None:
    """A case whose rows are known."""

    def answer(folder: Path) -> CaseResult:
        assert folder.name == "made-up"
        return CaseResult("mine", "A made-up case", rows, ("A note with [brackets].",))

    monkeypatch.setitem(CASES, "mine", Case("mine", "A made-up case", "made-up", answer))


@pytest.fixture
def data(tmp_path: Path) -> str:
    (tmp_path / "made-up").mkdir()
    return str(tmp_path)


def test_a_case_that_holds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: str
) -> None:
    install(monkeypatch, GOOD)
    said = dynid(capsys, "reproduce", "mine", "--data", data)
    assert (said.code, said.err) == (0, "")
    assert "A made-up case" in said.out
    assert "A note with [brackets]." in said.out
    assert said.out.endswith("all accepted\n")


def test_a_case_that_does_not_hold_exits_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: str
) -> None:
    install(monkeypatch, GOOD, BAD)
    said = dynid(capsys, "reproduce", "mine", "--data", data)
    assert said.code == 2
    assert " NO\n" in said.out
    assert said.out.endswith("not all accepted\n")
    told = dynid(capsys, "reproduce", "mine", "--data", data, "--json")
    assert (told.code, told.err) == (2, "")
    assert set(told.document) == {"case", "title", "rows", "notes", "ok"}
    assert told.document["ok"] is False
    assert [row["ok"] for row in told.document["rows"]] == [True, False]
    assert told.document["rows"][1] == {
        "quantity": "residual [%]",
        "published": 5.1,
        "ours": 7.5,
        "accept": "at most 5.3",
        "ok": False,
    }


def test_a_case_without_rows_proves_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: str
) -> None:
    install(monkeypatch)
    assert dynid(capsys, "reproduce", "mine", "--data", data).code == 2


def test_the_environment_names_the_data(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: str
) -> None:
    install(monkeypatch, GOOD)
    monkeypatch.setenv("DYNID_DATA", data)
    assert dynid(capsys, "reproduce", "mine").code == 0


@pytest.mark.parametrize("case", sorted(name for name, case in CASES.items() if case.data is not None))
def test_missing_data_are_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, case: str
) -> None:
    monkeypatch.setenv("DYNID_DATA", "/elsewhere")
    told = assert_one_sentence(dynid(capsys, "reproduce", case, "--data", str(tmp_path)))
    assert f"(looked at {tmp_path / str(CASES[case].data)})" in told
    assert "give their folder with --data or in the environment variable DYNID_DATA" in told


def test_a_folder_without_its_files_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for case in CASES.values():
        if case.data is None:
            continue
        (tmp_path / case.data).mkdir(exist_ok=True)
        told = assert_one_sentence(dynid(capsys, "reproduce", case.name, "--data", str(tmp_path)))
        assert str(tmp_path / case.data) in told


def test_an_unknown_case(capsys: pytest.CaptureFixture[str]) -> None:
    told = assert_one_sentence(dynid(capsys, "reproduce", "empz"))
    assert told.startswith("Unknown case 'empz'. Did you mean 'emps'?")


def test_a_real_case(capsys: pytest.CaptureFixture[str]) -> None:
    folder = dataset("emps").parent
    said = dynid(capsys, "reproduce", "emps", "--data", str(folder), "--json")
    assert (said.code, said.err) == (0, "")
    assert said.document["ok"] is True


def test_options_reach_a_case(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "emps").mkdir()
    seen: list[dict[str, object]] = []

    def answer(progress: Progress, **options: object) -> CaseResult:
        seen.append(options)
        return CaseResult("mine", "A made-up case", (GOOD, Row("x", 1.0, 2.0, SHOWN, True, group="table 1")))

    options = ("section", "seeds", "loop")
    monkeypatch.setitem(CASES, "mine", Case("mine", "A made-up case", None, answer, options))
    said = dynid(capsys, "reproduce", "mine", "--section", "B", "--seeds", "2")
    assert (said.code, seen) == (0, [{"section": "B", "seeds": 2}])
    assert "table 1" in said.out
    assert "1 figures are held to a rule, 1 are only shown" in said.out
    told = assert_one_sentence(dynid(capsys, "reproduce", "emps", "--loop", "rad", "--data", str(tmp_path)))
    assert "The case 'emps' has no option --loop" in told


def test_the_page(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: str, tmp_path: Path
) -> None:
    install(monkeypatch, GOOD, BAD)
    folder = tmp_path / "made" / "page"
    said = dynid(capsys, "reproduce", "mine", "--data", data, "--out", str(folder))
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert said.code == 2
    assert "A note with [brackets]." in page
    assert "1 of them are not accepted" in page
    assert "http:" not in page
    assert "https:" not in page
    told = assert_one_sentence(dynid(capsys, "reproduce", "mine", "--data", data, "--out", str(folder)))
    assert "exists already; add --force to overwrite it" in told
    assert dynid(capsys, "reproduce", "mine", "--data", data, "--out", str(folder), "--force").code == 2
    told = assert_one_sentence(
        dynid(capsys, "reproduce", "mine", "--data", data, "--out", str(folder / "report.html"))
    )
    assert "cannot be made" in told
