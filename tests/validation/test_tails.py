"""Tails of the normal and of the χ² law, against SciPy over all sizes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from dynid.validation.residual_tests import GAUSSIAN, QUANTILES
from dynid.validation.tails import chi_square_tail, normal_tail


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 20, 21, 60, 201])
def test_chi_square_tail_is_scipy_s(degrees: int) -> None:
    for x in np.logspace(-8, 3, 200):
        expected = float(special.chdtrc(degrees, x))
        assert chi_square_tail(degrees, float(x)) == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_ends_of_the_chi_square_tail() -> None:
    assert chi_square_tail(20, 0.0) == 1.0
    assert chi_square_tail(3, -1.0) == 1.0
    assert chi_square_tail(20, 1e7) == 0.0
    assert math.isnan(chi_square_tail(20, float("nan")))


def test_normal_tail_is_scipy_s() -> None:
    for z in np.linspace(-9, 36, 300):
        assert normal_tail(float(z)) == pytest.approx(float(special.ndtr(-z)), rel=1e-12)
    assert math.isnan(normal_tail(float("nan")))


def test_gaussian_quantiles_are_scipy_s() -> None:
    np.testing.assert_allclose(GAUSSIAN, special.ndtri(QUANTILES), rtol=1e-14, atol=1e-16)
