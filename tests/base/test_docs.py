"""The examples of the page on base parameters run and print what they claim."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from dynid.base import find_base
from dynid.model.load import load_robot

PAGE = Path(__file__).parents[2] / "docs" / "base-parameters.md"


def test_examples_on_the_page_hold() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.attempted > 8
    assert result.failed == 0


def test_the_table_of_counts_is_not_stale() -> None:
    rows = re.findall(
        r"^\| ([a-z0-9_, ]+) \| ([A-Za-z ]+) \| (\d+) \| (\d+)", PAGE.read_text(encoding="utf-8"), re.M
    )
    assert len(rows) == 9
    for names, terms, standard, count in rows:
        for name in names.split(", "):
            base = find_base(load_robot(name).with_terms(*terms.split()))
            assert (len(base.robot.table), len(base)) == (int(standard), int(count)), name


@pytest.mark.parametrize("paper", ["P0", "P1", "P2", "P3", "P4"])
def test_every_paper_has_its_errata_heading(paper: str) -> None:
    text = (PAGE.parent / "errata.md").read_text(encoding="utf-8")
    assert len(re.findall(rf"^## {paper}: ", text, re.M)) == 1
