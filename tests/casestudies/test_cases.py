"""Published figures of measured logs, run again."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynid.casestudies.case import CaseResult, Row, at_most, data_folder, digits, near
from dynid.casestudies.cases import CASES
from dynid.errors import FileError
from support.datasets import dataset


@pytest.mark.parametrize("name", CASES)
def test_every_published_figure_is_accepted(name: str) -> None:
    case = CASES[name]
    result = case.run(dataset(case.data))
    assert [row for row in result.rows if not row.ok] == []
    assert result.ok


def test_the_rules_of_rows() -> None:
    assert digits("x", 1.2345, 1.23449, 4).ok
    assert not digits("x", 1.2345, 1.23444, 4).ok
    assert at_most("x", 5.3, 5.3).ok
    assert not at_most("x", 5.31, 5.3).ok
    assert near("x", 1.0, 1.029, 0.0, 0.03).ok
    assert near("x", 1.0, 1.2, 0.11, 0.03).ok
    assert not near("x", 1.0, 1.2, 0.01, 0.03).ok
    assert not CaseResult("empty", "", ()).ok
    assert not CaseResult("one", "", (Row("x", 1.0, 2.0, "equal", False),)).ok


def test_missing_data_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DYNID_DATA", raising=False)
    with pytest.raises(FileError, match="The data of this case are not here"):
        data_folder(tmp_path, "emps")
    (tmp_path / "emps").mkdir()
    assert data_folder(tmp_path, "emps") == tmp_path / "emps"
    monkeypatch.setenv("DYNID_DATA", str(tmp_path))
    assert data_folder(None, "emps") == tmp_path / "emps"
