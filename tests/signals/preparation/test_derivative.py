"""Central differences."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.errors import ShapeError
from dynid.signals.derivative import central_difference, speed_and_acceleration


def errors(rate: float) -> tuple[float, float]:
    t = np.arange(0, 2.0, 1 / rate)[:, None]
    speed, acceleration = speed_and_acceleration(np.sin(3 * t), rate)
    inner = slice(2, -2)
    return (
        float(np.max(np.abs(speed - 3 * np.cos(3 * t))[inner])),
        float(np.max(np.abs(acceleration + 9 * np.sin(3 * t))[inner])),
    )


def test_errors_fall_with_the_square_of_the_step() -> None:
    coarse, fine = np.array(errors(100.0)), np.array(errors(400.0))
    slope = np.log(coarse / fine) / np.log(4.0)
    np.testing.assert_allclose(slope, 2.0, atol=0.02)


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
