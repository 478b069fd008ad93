"""Functions that are loaded when first called."""

from __future__ import annotations

import pytest

from dynid.core.lazy import later


def test_a_function_is_found_when_called_and_keeps_its_name() -> None:
    root = later("math", "sqrt")
    assert root.__name__ == "sqrt"
    assert root(9.0) == 3.0


def test_what_is_missing_is_told_at_the_call() -> None:
    absent = later("math", "no_such_function")
    with pytest.raises(AttributeError, match="no_such_function"):
        absent()
