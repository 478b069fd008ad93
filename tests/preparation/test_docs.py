"""The examples of the pages on preparation and on causal filters run and print what they claim."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("name", "fewest"), [("preparation", 15), ("causal", 6)])
def test_examples_on_the_page_hold(name: str, fewest: int) -> None:
    result = doctest.testfile(str(DOCS / f"{name}.md"), module_relative=False, encoding="utf-8")
    assert result.attempted > fewest
    assert result.failed == 0
