"""Polynomials in lengths and how sums are written."""

from __future__ import annotations

import pytest

from dynid.base.forms import Polynomial
from dynid.base.formulas import formula

D, L = Polynomial.variable("D3"), Polynomial.variable("RL4")
NAMES = ("XX2", "MX2", "YY3", "MZ3", "M3", "M4", "M5")


def test_polynomial_algebra() -> None:
    p = (D + 2.0) * (D - L) - 3.0 * D
    assert dict(p.terms) == {("D3", "D3"): 1.0, ("D3", "RL4"): -1.0, ("D3",): -1.0, ("RL4",): -2.0}
    assert p.evaluate({"D3": 2.0, "RL4": 0.5}) == pytest.approx(0.0 + 4.0 - 1.0 - 2.0 - 1.0)
    assert not (D - D)
    assert dict((1.0 - D + D).terms) == {(): 1.0}


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ({0: 1}, "XX2"),
        ({0: 1, 2: -1}, "XX2 - YY3"),
        ({0: 1, 4: D * D, 5: D * D}, "XX2 + D3^2*(M3+M4)"),
        ({0: 1, 3: 2.0 * L, 4: -(L * L), 2: 1}, "XX2 + YY3 + 2*RL4*MZ3 - RL4^2*M3"),
        ({0: 1, 4: D, 5: -D}, "XX2 + D3*(M3-M4)"),
        ({0: 1, 4: -D, 5: D, 6: 2.0}, "XX2 - D3*(M3-M4) + 2*M5"),
        ({0: 1, 4: D * D - L * L + 0.04}, "XX2 + (D3^2-RL4^2+0.04)*M3"),
        ({0: 1, 4: -1.0 * (D * L), 5: 0.42, 6: 0.42}, "XX2 - D3*RL4*M3 + 0.42*(M4+M5)"),
        ({4: 1, 0: D}, "M3 + D3*XX2"),
    ],
)
def test_sums_are_written_as_a_person_would(form: dict[int, Polynomial | float], text: str) -> None:
    own = next(iter(form))
    polynomials = {i: c if isinstance(c, Polynomial) else Polynomial.constant(c) for i, c in form.items()}
    assert formula("B", own, polynomials, NAMES) == f"B = {text}"
