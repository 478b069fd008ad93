"""Factors: QR of anything stacked is the QR of everything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dynid.core.errors import NotTrustworthyError
from dynid.problem.factor import Factor, merge_factors, spectrum, triangular


@given(
    rows=st.integers(1, 60),
    columns=st.integers(1, 8),
    pieces=st.integers(1, 6),
    seed=st.integers(0, 10_000),
)
def test_folding_in_pieces_is_folding_at_once(rows: int, columns: int, pieces: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    W, y = rng.normal(size=(columns, rows)), rng.normal(size=rows)
    factor = Factor.empty(range(columns))
    for part in np.array_split(np.arange(rows), pieces):
        factor = factor.fold(W[:, part], y[part])
    stack = np.column_stack([W.T, y])
    assert factor.rows == rows
    np.testing.assert_allclose(factor.R.T @ factor.R, stack.T @ stack, atol=1e-11)
    assert np.array_equal(factor.R, np.triu(factor.R))
    x = rng.normal(size=columns)
    assert np.linalg.norm(factor.residual(x)) == pytest.approx(np.linalg.norm(y - W.T @ x))
    assert factor.torque_norm == pytest.approx(np.linalg.norm(y))
    half = rows // 2
    parts = [
        Factor.empty(range(columns)).fold(W[:, cut], y[cut]) for cut in (slice(0, half), slice(half, rows))
    ]
    np.testing.assert_allclose(merge_factors(parts).R.T @ merge_factors(parts).R, stack.T @ stack, atol=1e-11)


def test_qr_keeps_what_normal_equations_lose() -> None:
    """Läuchli: condition 1e8, whose square is beyond double precision."""
    small = 1e-8
    W = np.array([[1.0, 1.0, 1.0], [small, 0, 0], [0, small, 0], [0, 0, small]])
    truth = np.array([1.0, 2.0, 3.0])
    factor = Factor.empty(range(3))
    for row in W:
        factor = factor.fold(row[:, None], np.array([row @ truth]))
    np.testing.assert_allclose(spectrum(factor.R).solution, truth, rtol=1e-6)


def test_columns_are_spread_over_the_base() -> None:
    factor = Factor.empty((1, 3)).fold(np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([1.0, -1.0]))
    wide = factor.wide(5)
    assert wide.shape == (3, 6)
    assert not wide[:, [0, 2, 4]].any()
    assert np.array_equal(wide[:, [1, 3, 5]], factor.R)


def test_values_that_overflow_get_a_sentence() -> None:
    with pytest.raises(NotTrustworthyError, match="not finite or overflow"):
        triangular(np.array([[1.0, np.inf], [2.0, 1.0]]))


def test_groups_that_cannot_be_told_apart_are_found() -> None:
    rng = np.random.default_rng(0)
    W = rng.normal(size=(40, 8))
    W[:, 3] = 1e-3 * W[:, 1]  # a pair, of very different lengths
    W[:, 6] = W[:, 2] + 5 * W[:, 5]  # a triple
    W[:, 7] = 0.0  # not seen
    found = spectrum(np.column_stack([W, rng.normal(size=40)]))
    assert found.rank == 5
    assert found.confused_columns == ((1, 3), (2, 5, 6), (7,))
    assert np.all(np.isfinite(found.solution))
    assert found.solution[7] == 0


def test_rank_does_not_depend_on_units() -> None:
    rng = np.random.default_rng(1)
    W = rng.normal(size=(30, 4)) * [1e-6, 1.0, 1e7, 1e-3]
    found = spectrum(np.column_stack([W, rng.normal(size=30)]))
    assert found.rank == 4
    assert found.condition < 10
    assert found.plain_condition > 1e12
