"""The examples of the page on preparation run and print what they claim."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "preparation.md"


def test_examples_on_the_page_hold() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.attempted > 15
    assert result.failed == 0
