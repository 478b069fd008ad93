"""Central differences."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.core.errors import DynidError, ShapeError
from dynid.preparation.derivative import (
    DIFFERENCE_POINTS,
    central_difference,
    difference_gain,
    speed_and_acceleration,
)
from dynid.preparation.preparation import Preparation


def errors(rate: float, points: int = 3) -> tuple[float, float]:
    t = np.arange(0, 2.0, 1 / rate)[:, None]
    speed, acceleration = speed_and_acceleration(np.sin(3 * t), rate, points)
    inner = slice(points - 1, 1 - points)
    return (
        float(np.max(np.abs(speed - 3 * np.cos(3 * t))[inner])),
        float(np.max(np.abs(acceleration + 9 * np.sin(3 * t))[inner])),
    )


@pytest.mark.parametrize("points", DIFFERENCE_POINTS)
def test_errors_fall_with_the_even_power_of_the_step(points: int) -> None:
    """Two points more make the slope steeper by two, until rounding takes over."""
    coarse, fine = np.array(errors(12.0, points)), np.array(errors(24.0, points))
    slope = np.log(coarse / fine) / np.log(2.0)
    np.testing.assert_allclose(slope, points - 1, atol=0.2)


@pytest.mark.parametrize(("points", "share"), [(3, 1 / 6), (5, 1 / 30), (7, 1 / 140), (9, 1 / 630)])
def test_the_gain_is_that_of_a_sine(points: int, share: float) -> None:
    rate, f = 100.0, 1.0
    t = np.arange(400)[:, None] / rate
    made = central_difference(np.sin(2 * np.pi * f * t), rate, points)
    wanted = difference_gain(f, rate, points) * 2 * np.pi * f * np.cos(2 * np.pi * f * t)
    inner = slice(points // 2, -(points // 2))
    np.testing.assert_allclose(made[inner], wanted[inner], atol=1e-11)
    angle = 2 * np.pi * 5.0 / rate
    assert 1 - float(difference_gain(5.0, rate, points)) == pytest.approx(
        share * angle ** (points - 1), rel=0.1
    )


@pytest.mark.parametrize("points", DIFFERENCE_POINTS)
def test_near_the_ends_as_many_points_as_there_is_room_for(points: int) -> None:
    x = np.random.default_rng(0).standard_normal((30, 2))
    made = central_difference(x, 10.0, points)
    for i, fewer in enumerate(range(3, points + 1, 2), start=1):
        shorter = central_difference(x, 10.0, fewer)
        np.testing.assert_allclose(made[[i, -1 - i]], shorter[[i, -1 - i]], atol=1e-12)
    np.testing.assert_array_equal(made[[0, -1]], central_difference(x, 10.0)[[0, -1]])
    assert central_difference(x[:points], 10.0, points).shape == (points, 2)


def test_inside_quadratics_are_exact_and_ends_are_one_sided() -> None:
    t = np.arange(50) / 10.0
    x = np.stack([t**2, 3 * t], axis=1)
    speed = central_difference(x, 10.0)
    np.testing.assert_allclose(speed[1:-1], np.stack([2 * t, np.full(50, 3.0)], axis=1)[1:-1], atol=1e-12)
    np.testing.assert_allclose(speed[0], (x[1] - x[0]) * 10.0)
    np.testing.assert_allclose(speed[-1], (x[-1] - x[-2]) * 10.0)


def test_too_short() -> None:
    with pytest.raises(ShapeError, match="2 samples; central differences need at least 3"):
        central_difference(np.zeros((2, 1)), 10.0)
    with pytest.raises(ShapeError, match="8 samples; central differences need at least 9"):
        central_difference(np.zeros((8, 1)), 10.0, 9)


def test_a_plan_takes_odd_numbers_of_points_only() -> None:
    assert Preparation().difference_points == 3
    with pytest.raises(DynidError, match=r"difference_points is 4; it must be 3, 5, 7 or 9"):
        Preparation(difference_points=4)
