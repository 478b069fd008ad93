"""Which values are measurements: finite, and not beyond reason beside the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.checks.thin import thinned

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
SPREAD_OVER = 5_000
"""Samples, spread over the log, that tell the usual spread."""
_FEWEST = 10
_HUGE = 1e10
_FAR = 1e4
"""How many times the usual spread a value may lie off before it is garbage."""


def garbage_limits(some: FloatArray) -> tuple[float, float]:
    """Least and largest value that a sensor may give: within 1e10, and ten thousand times the usual spread.

    Args:
        some: values of one axis spread over the log, (samples,); may hold anything.
    """
    calm = some[np.abs(some) <= _HUGE]  # NaN is not
    if len(calm) < _FEWEST:
        return -_HUGE, _HUGE
    low, middle, high = np.quantile(calm, [0.01, 0.5, 0.99])
    reach = _FAR * max(high - low, 1e-6 * abs(middle))
    if reach == 0:
        return -_HUGE, _HUGE
    return max(-_HUGE, float(middle - reach)), min(_HUGE, float(middle + reach))


def sane(x: FloatArray, low: float, high: float) -> BoolArray | None:
    """Which values are finite and within limits; None when all are, as on most axes.

    Args:
        x: values.
        low: least that is allowed.
        high: largest that is allowed.
    """
    if not len(x) or (x.min() >= low and x.max() <= high):  # NaN is not
        return None
    return np.asarray((x >= low) & (x <= high))


def garbage(x: FloatArray) -> BoolArray:
    """Finite values that no sensor gives: beyond 1e10, or ten thousand times the usual spread away.

    Args:
        x: one axis, (samples,).
    """
    x = np.ascontiguousarray(x)
    good = sane(x, *garbage_limits(thinned(x, SPREAD_OVER)[:, 0]))
    return np.zeros(len(x), dtype=bool) if good is None else ~good & np.isfinite(x)


def clean(x: FloatArray) -> FloatArray:
    """The finite, sane values of an axis."""
    x = np.ascontiguousarray(x)
    good = sane(x, *garbage_limits(thinned(x, SPREAD_OVER)[:, 0]))
    return x if good is None else x[good]
