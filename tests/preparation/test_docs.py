"""The examples of the page on preparation run and print what they claim."""

from __future__ import annotations

import doctest
from dataclasses import fields
from pathlib import Path

from dynid.preparation.preparation import Preparation

PAGE = Path(__file__).parents[2] / "docs" / "preparation.md"


def test_examples_on_the_page_hold() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.attempted > 15
    assert result.failed == 0


def test_every_field_of_a_plan_is_described() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [field.name for field in fields(Preparation) if f"`{field.name}`" not in text] == []
