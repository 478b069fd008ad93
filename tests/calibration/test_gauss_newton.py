"""Gauss–Newton and what rows leave open."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.calibration.gauss_newton import gauss_newton, inverse_root, shortest


def test_shortest_does_not_depend_on_units() -> None:
    rng = np.random.default_rng(1)
    A, b, units = rng.normal(size=(8, 3)), rng.normal(size=8), np.array([1e-9, 1.0, 1e9])
    np.testing.assert_allclose(shortest(A * units, b), np.linalg.lstsq(A, b, rcond=None)[0] / units)
    assert shortest(np.column_stack([A[:, 0], np.zeros(8)]), b)[1] == 0.0


@pytest.mark.parametrize("rows", [2, 4, 12])
def test_root_of_the_pseudo_inverse(rows: int) -> None:
    """Tall and wide Jacobians; with unit columns T Tᵀ is NumPy's pseudo-inverse of JᵀJ."""
    J = np.random.default_rng(2).normal(size=(rows, 4))
    J /= np.linalg.norm(J, axis=0)
    T, lost = inverse_root(J)
    np.testing.assert_allclose(T @ T.T, np.linalg.pinv(J.T @ J, rcond=1e-10), atol=1e-8)
    assert T.shape == (4, min(rows, 4))
    assert np.all(lost == (rows < 4))


def test_parallel_columns_are_open_and_zero_columns_are_not() -> None:
    a, b = np.random.default_rng(3).normal(size=(2, 9))
    _, lost = inverse_root(np.column_stack([a, b, 2 * b, np.zeros(9)]))
    assert lost.tolist() == [False, True, True, False]


def test_minimum_of_a_bilinear_problem_with_one_entry_held() -> None:
    """y = a b w with b held has the minimum of linear least squares, from a start that steps overshoot."""
    rng = np.random.default_rng(4)
    w = rng.normal(size=30)
    y = 1.5 * w + 0.1 * rng.normal(size=30)
    x = gauss_newton(
        lambda v: y - v[0] * v[1] * w,
        lambda v: np.column_stack([v[1] * w, v[0] * w]),
        np.array([40.0, 3.0]),
        np.array([True, False]),
    )
    assert x[1] == 3.0
    assert x[0] * x[1] == pytest.approx((w @ y) / (w @ w))
