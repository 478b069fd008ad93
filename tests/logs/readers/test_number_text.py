"""Numbers read by machine code: exactly Python's, or none at all."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.logs.readers import number_text
from dynid.logs.readers.number_text import plain_numbers

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def _at_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_text, "_WORTHWHILE", 0)


def cell(rng: np.random.Generator) -> str:
    x = float(rng.standard_normal() * 10.0 ** rng.integers(-6, 7))
    forms = (f"{x:.6f}", f"{x:.5g}", f"{x:.3e}", f" {x:+.8f} ", f"{round(x)}", f"{x:.4E}", f"{abs(x):.2f}")
    return forms[rng.integers(len(forms))]


def test_numbers_are_python_s_to_the_last_bit() -> None:
    rng = np.random.default_rng(0)
    lines = [";".join(cell(rng) for _ in range(4)) for _ in range(20_000)]
    found = plain_numbers(lines, ";", 4)
    assert found is not None
    expected = np.array([[float(text) for text in line.split(";")] for line in lines])
    np.testing.assert_array_equal(found.view(np.int64), expected.view(np.int64))  # also the sign of zero


@pytest.mark.parametrize(
    "line",
    [
        "-0,.5", "5.,1E-3", "+1,2e+05", " 1 ,  2 ", "9007199254740992,1e22", "0.0000000000000001,0e-5",
        "123456789012345,0.1234567890123456",
    ],
)  # fmt: skip
def test_forms_that_are_exact(line: str) -> None:
    found = plain_numbers([line], ",", 2)
    assert found is not None
    assert found.tolist() == [[float(text) for text in line.split(",")]]


@pytest.mark.parametrize(
    "line",
    [
        "1,", ",1", "1", "1,2,3", "a,1", "1,nan", "inf,1", "--1,2", "1e,2", "1e+,2", ".,1", "1,2x", "1 2,3",
        "1,2 3", "9007199254740993,1", "1234567890123456789,1", "1e23,1", "1e-23,1", "0.12345678901234567,1",
        "0x1,1", "1_0,1",
        "\u0661,1", "1,2\n3,4", "1,\x002", "1\t,2", '"1",2', "1;2", "1e99999,1", "-,1", "",
    ],
)  # fmt: skip
def test_anything_else_is_left_to_others(line: str) -> None:
    assert plain_numbers(["1,2", line], ",", 2) is None
    assert plain_numbers([line, "1,2"], ",", 2) is None


def test_tabs_delimit_and_spaces_do_not() -> None:
    found = plain_numbers(["1\t2", "3\t4"], "\t", 2)
    assert found is not None
    assert found.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert plain_numbers(["1 2", "3 4"], " ", 2) is None


def test_short_texts_are_not_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_text, "_WORTHWHILE", 100)
    assert plain_numbers(["1,2"], ",", 2) is None
