"""Published figures of measured logs, run again."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynid.casestudies.case import (
    SHOWN,
    CaseResult,
    Row,
    at_most,
    data_folder,
    equal_digits,
    near,
    over_runs,
    rows_of_table,
)
from dynid.casestudies.cases import CASES
from dynid.core.errors import DynidError, FileError
from support.datasets import dataset

MEASURED = [name for name, case in CASES.items() if case.data is not None]


@pytest.mark.parametrize("name", MEASURED)
def test_every_published_figure_is_accepted(name: str) -> None:
    case = CASES[name]
    assert case.data is not None
    result = case.reproduce(dataset(case.data))
    assert [row for row in result.rows if not row.ok] == []
    assert result.ok


def test_the_rules_of_rows() -> None:
    assert equal_digits("x", 1.2345, 1.23449, 4).ok
    assert not equal_digits("x", 1.2345, 1.23444, 4).ok
    assert at_most("x", 5.3, 5.3).ok
    assert not at_most("x", 5.31, 5.3).ok
    assert near("x", 1.0, 1.029, 0.0, 0.03).ok
    assert near("x", 1.0, 1.2, 0.11, 0.03).ok
    assert not near("x", 1.0, 1.2, 0.01, 0.03).ok
    assert not CaseResult("empty", "", ()).ok
    assert not CaseResult("one", "", (Row("x", 1.0, 2.0, "equal", False),)).ok
    assert not CaseResult("shown", "", (Row("x", 1.0, 2.0, SHOWN, True),)).ok  # proves nothing


def test_several_runs_are_judged_by_the_worst() -> None:
    row = over_runs("x", 1.0, [0.9, 1.3, 1.0, 1.1, 1.0], "within 0.2", lambda v: abs(v - 1.0) - 0.2)
    assert (row.ours, row.worst, row.ok) == (1.0, 1.3, False)
    assert over_runs("x", 1.0, [0.9, 1.1], "within 0.2", lambda v: abs(v - 1.0) - 0.2).ok
    assert [r.group for r in rows_of_table("table 1", [row])] == ["table 1"]
    assert row.to_dict()["worst"] == 1.3
    assert set(Row("x", None, 2.0, "equal", True).to_dict()) == {
        "quantity",
        "published",
        "ours",
        "accept",
        "ok",
    }


def test_options_a_case_does_not_take_are_told() -> None:
    with pytest.raises(DynidError, match="The case 'emps' has no option --seeds; allowed are: none"):
        CASES["emps"].reproduce(Path(), {"seeds": 3})
    with pytest.raises(DynidError, match="allowed are: --section, --seeds, --loop"):
        CASES["scara"].reproduce(None, {"speed": 3})


def test_missing_data_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DYNID_DATA", raising=False)
    with pytest.raises(FileError, match="The data of this case are not here"):
        data_folder(tmp_path, "emps")
    (tmp_path / "emps").mkdir()
    assert data_folder(tmp_path, "emps") == tmp_path / "emps"
    monkeypatch.setenv("DYNID_DATA", str(tmp_path))
    assert data_folder(None, "emps") == tmp_path / "emps"
