"""Criteria of a design: gradients, identities, units, and matrices without inverse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from dynid.core.errors import DynidError
from dynid.excitation import (
    CRITERIA,
    AOptimal,
    Combined,
    Criterion,
    Hadamard,
    LogCond,
    LogDet,
    LogSigma,
    Scaled,
)
from dynid.excitation.criteria import SingularError
from support.design_problems import relative_error

Array = NDArray[np.float64]
ALL = {
    **CRITERIA,
    "a-optimal in units": AOptimal((1.0, 20.0, 0.3, 4.0, 0.1)),
    "log-sigma of some": LogSigma((1.0, 0.0, 2.0, 1.0, 0.0)),
    "combined": Combined(((0.5, LogDet()), (2.0, Scaled(LogCond(8.0))))),
}
every_criterion = pytest.mark.parametrize("criterion", ALL.values(), ids=ALL.keys())


def information(seed: int, size: int = 5, rows: int = 40) -> Array:
    """WᵀW of a random W whose columns differ in length."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(rows, size)) * np.exp(rng.normal(size=size))
    return W.T @ W


@every_criterion
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_gradient_is_that_of_differences(criterion: Criterion, seed: int) -> None:
    G = information(seed)

    def value(step: Array) -> float:
        return criterion.grade(G + (step + step.T) / 2 * G.diagonal().min())[0]

    slope = criterion.grade(G)[1] * G.diagonal().min()
    assert np.array_equal(slope, slope.T) or np.allclose(slope, slope.T, rtol=1e-9)
    error = relative_error(value, lambda d: np.vdot(slope, d), np.zeros_like(G))
    assert error < 1e-6


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_log_det_is_that_of_numpy_and_scaling_takes_the_lengths_away(seed: int) -> None:
    G = information(seed)
    assert -5 * LogDet().grade(G)[0] == pytest.approx(np.linalg.slogdet(G)[1], rel=1e-12)
    scaled = -5 * Scaled(LogDet()).grade(G)[0]
    assert scaled == pytest.approx(np.linalg.slogdet(G)[1] - np.sum(np.log(np.diag(G))), rel=1e-9, abs=1e-10)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_hadamard_bounds_the_determinant(seed: int) -> None:
    G = information(seed)
    assert Hadamard().grade(G)[0] <= LogDet().grade(G)[0] + 1e-12
    diagonal = np.diag(np.diag(G))
    assert Hadamard().grade(diagonal)[0] == pytest.approx(LogDet().grade(diagonal)[0], rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), power=st.sampled_from([2.0, 8.0, 64.0, 512.0]))
def test_log_cond_lies_little_above_the_condition_number(seed: int, power: float) -> None:
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(40, 5)) * np.exp(rng.normal(size=5))
    excess = LogCond(power).grade(W.T @ W)[0] - np.log(np.linalg.cond(W))
    assert -1e-9 <= excess <= np.log(5) / power + 1e-9


def test_log_cond_has_a_gradient_where_eigenvalues_meet() -> None:
    value, slope = LogCond(64.0).grade(np.eye(5))
    assert value == pytest.approx(np.log(5) / 64)
    assert np.allclose(slope, 0.0, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_a_optimality_is_the_trace_of_the_inverse_and_log_sigma_its_geometric_sister(seed: int) -> None:
    G = information(seed)
    variances = np.diag(np.linalg.inv(G))
    assert AOptimal().grade(G)[0] == pytest.approx(np.log(np.sum(variances)), rel=1e-9)
    units = (1.0, 2.0, 4.0, 0.5, 3.0)
    relative = np.sum(variances / np.square(units))
    assert AOptimal(units).grade(G)[0] == pytest.approx(np.log(relative), rel=1e-9)
    assert LogSigma().grade(G)[0] == pytest.approx(0.5 * np.mean(np.log(variances)), rel=1e-9)


@pytest.mark.parametrize("unit", [1e-120, 1e120])
@every_criterion
def test_units_neither_overflow_nor_underflow(criterion: Criterion, unit: float) -> None:
    G = information(4)
    value, slope = criterion.grade(G)
    far, far_slope = criterion.grade(G * unit * unit)
    assert np.isfinite(far)
    assert np.allclose(far_slope * unit * unit, slope, rtol=1e-9, atol=1e-12 * np.abs(slope).max())
    if "cond" in criterion.name or isinstance(criterion, Scaled):
        assert far == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("name", ["log-det", "hadamard", "log-sigma", "scaled-log-cond", "scaled-log-det"])
def test_columns_in_units_far_apart_have_an_inverse(name: str) -> None:
    """log det of D G D is log det G + 2 Σ log d; scaled criteria do not see units."""
    G, criterion = information(5), CRITERIA[name]
    units = np.array([1e-100, 1e100, 1.0, 1e60, 1e-60])
    moved = criterion.grade(G * np.outer(units, units))[0]
    assert moved == pytest.approx(criterion.grade(G)[0], rel=1e-9)  # the logarithms of these units cancel


@pytest.mark.parametrize("name", sorted(set(CRITERIA) - {"hadamard"}))
def test_parallel_columns_are_refused(name: str) -> None:
    W = np.random.default_rng(0).normal(size=(40, 5))
    W[:, 4] = W[:, 3]
    with pytest.raises(SingularError):
        CRITERIA[name].grade(W.T @ W)


@every_criterion
def test_columns_of_zeros_and_numbers_that_are_none_are_refused(criterion: Criterion) -> None:
    empty, broken = information(1), information(1)
    empty[2] = empty[:, 2] = 0.0
    broken[2, 2] = np.nan
    for G in (empty, broken):
        with pytest.raises(SingularError):
            criterion.grade(G)


def test_softer_criteria_approach_the_last_one() -> None:
    assert LogCond(64.0).softer(0) == LogCond(64.0)
    assert LogCond(64.0).softer(2) == LogCond(4.0)
    assert LogCond(64.0).softer(9) == LogCond(2.0)
    assert Scaled(LogCond(64.0)).softer(1) == Scaled(LogCond(16.0))
    assert Combined(((1.0, LogCond(64.0)),)).softer(1) == Combined(((1.0, LogCond(16.0)),))
    assert LogDet().softer(3) == LogDet()


@pytest.mark.parametrize("parts", [(), ((0.0, LogDet()),), ((1.0, LogDet()), (-1.0, LogCond()))])
def test_sums_of_nothing_are_refused(parts: tuple[tuple[float, Criterion], ...]) -> None:
    with pytest.raises(DynidError, match="give at least one criterion, each with a positive weight"):
        Combined(parts)
