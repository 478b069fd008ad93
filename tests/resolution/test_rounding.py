"""Rounding modes: variances, means, and values on the grid."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.core.errors import UnknownNameError
from dynid.resolution.rounding import MODES, mode_of

STEPS = np.array([0.01, 0.03])


@pytest.mark.parametrize("name", MODES)
def test_errors_have_the_variance_that_the_mode_states(name: str) -> None:
    rng = np.random.default_rng(1)
    values = rng.uniform(-2.0, 2.0, (200_000, 2))
    error = (MODES[name].read(values, STEPS, rng) - values) / STEPS
    assert np.mean(error, axis=0) == pytest.approx(0.0, abs=0.01)
    assert np.var(error, axis=0) == pytest.approx(MODES[name].variance, rel=0.02)


def test_binary_errors_are_one_step_up_or_down() -> None:
    values = np.zeros((1000, 2))
    error = MODES["binary"].read(values, STEPS, np.random.default_rng(0)) / STEPS
    assert set(np.round(error, 9).ravel()) == {-1.0, 1.0}


def test_rounded_values_lie_on_one_grid_per_axis() -> None:
    values = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    coarse = MODES["rounding"].read(values, STEPS, np.random.default_rng(3)) / STEPS
    assert np.ptp((coarse - coarse[0]) % 1.0 % (1 - 1e-9), axis=0) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("name", MODES)
def test_a_step_of_zero_leaves_an_axis_as_it_is(name: str) -> None:
    values = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    coarse = MODES[name].read(values, np.array([0.0, 0.1]), np.random.default_rng(3))
    assert np.array_equal(coarse[:, 0], values[:, 0])
    assert not np.array_equal(coarse[:, 1], values[:, 1])


def test_another_mode_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="binary"):
        mode_of("binry")
