"""Speeds and accelerations by central differences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.errors import ShapeError

FloatArray = NDArray[np.float64]

_FEWEST = 3


def central_difference(x: FloatArray, rate_hz: float) -> FloatArray:
    """First derivative: (x[k+1] − x[k−1]) / (2 T) inside, one-sided (x[1] − x[0]) / T at the ends (P0 §II).

    The error inside is T² x‴ / 6.

    Args:
        x: signals (samples, axes).
        rate_hz: 1/T.
    """
    if len(x) < _FEWEST:
        raise ShapeError(
            f"The signal has {len(x)} samples; central differences need at least {_FEWEST}.",
            name="samples",
            value=len(x),
            allowed=f"at least {_FEWEST}",
        )
    derivative = np.empty_like(x)
    np.subtract(x[2:], x[:-2], out=derivative[1:-1])
    derivative[1:-1] *= 0.5 * rate_hz
    derivative[0] = (x[1] - x[0]) * rate_hz
    derivative[-1] = (x[-1] - x[-2]) * rate_hz
    return derivative


def speed_and_acceleration(q: FloatArray, rate_hz: float) -> tuple[FloatArray, FloatArray]:
    """q̇ from q and q̈ from q̇, both by central differences.

    Differentiating the speed again keeps q̇ and q̈ under the same attenuation (sin ωT)/(ωT) per step.

    Args:
        q: positions (samples, coordinates).
        rate_hz: samples per second.
    """
    speed = central_difference(q, rate_hz)
    return speed, central_difference(speed, rate_hz)
