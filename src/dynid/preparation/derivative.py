"""Speeds and accelerations by central differences."""

from __future__ import annotations

from math import factorial

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import ShapeError

DIFFERENCE_POINTS = (3, 5, 7, 9)
"""Samples that a central difference may reach over; 3 is the papers'."""


def central_difference(x: FloatArray, rate_hz: float, points: int = 3) -> FloatArray:
    """First derivative (1/T) Σ_k c_k (x[i+k] − x[i−k]); with 3 points (x[i+1] − x[i−1]) / (2 T) (P0 §II).

    c_k = (−1)^(k+1) (m!)² / (k (m−k)! (m+k)!) with points = 2m + 1 makes polynomials up to degree 2m exact.
    The error inside falls with T^2m: T² x‴ / 6 for 3 points, T⁴ x⁽⁵⁾ / 30 for 5. Near the ends as many points
    as there is room for, at the ends one-sided: (x[1] − x[0]) / T.

    Args:
        x: signals (samples, axes).
        rate_hz: 1/T.
        points: 3, 5, 7 or 9.
    """
    if len(x) < points:
        raise ShapeError(f"The signal has {len(x)} samples; central differences need at least {points}.")
    derivative = np.empty_like(x)
    derivative[0] = (x[1] - x[0]) * rate_hz
    derivative[-1] = (x[-1] - x[-2]) * rate_hz
    reach, last = points // 2, len(x) - 1
    for m in range(1, reach):
        for i in (m, last - m):
            _difference(x[i - m : i + m + 1], m, rate_hz, derivative[i : i + 1])
    _difference(x, reach, rate_hz, derivative[reach:-reach])
    return derivative


def speed_and_acceleration(q: FloatArray, rate_hz: float, points: int = 3) -> tuple[FloatArray, FloatArray]:
    """q̇ from q and q̈ from q̇, both by central differences.

    Differentiating the speed again keeps q̇ and q̈ under the same attenuation per step, (sin ωT)/(ωT) for 3
    points.

    Args:
        q: positions (samples, coordinates).
        rate_hz: samples per second.
        points: of each difference: 3, 5, 7 or 9.
    """
    speed = central_difference(q, rate_hz, points)
    return speed, central_difference(speed, rate_hz, points)


def difference_gain(frequency_hz: FloatArray | float, rate_hz: float, points: int = 3) -> FloatArray:
    """What a central difference leaves of the derivative of a sine: Σ_k 2 c_k sin(k ωT) / (ωT).

    Args:
        frequency_hz: of the sine, above 0.
        rate_hz: 1/T.
        points: 3, 5, 7 or 9.
    """
    angle = 2.0 * np.pi * np.asarray(frequency_hz, dtype=float) / rate_hz
    terms = [2.0 * c * np.sin(k * angle) for k, c in enumerate(_weights(points // 2), start=1)]
    return np.asarray(np.sum(terms, axis=0) / angle)


def _difference(x: FloatArray, reach: int, rate_hz: float, out: FloatArray) -> None:
    """The difference of all samples that have ``reach`` others on both sides."""
    size = len(out)
    first, *others = _weights(reach)
    np.subtract(x[reach + 1 : reach + 1 + size], x[reach - 1 : reach - 1 + size], out=out)
    out *= first * rate_hz
    for k, weight in enumerate(others, start=2):
        out += (weight * rate_hz) * (x[reach + k : reach + k + size] - x[reach - k : reach - k + size])


def _weights(m: int) -> list[float]:
    """c_1 to c_m."""
    whole = factorial(m) ** 2
    return [-((-1) ** k) * whole / (k * factorial(m - k) * factorial(m + k)) for k in range(1, m + 1)]
