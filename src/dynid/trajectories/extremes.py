"""Extremes of smooth functions of time that are proved to hold between samples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dynid.core.arrays import FloatArray

_FIRST_INTERVALS = 256
"""Intervals of the first grid; enough to see every arch of ten harmonics."""
_PARTS = 8
"""Parts into which an interval that may hold a larger value is divided."""
_FINEST = 1e-7
"""Share of the first doubt that is small enough: of a motion that is nothing but the rounding of large terms
that cancel, every interval would stay in doubt for ever."""


def verified_largest(
    function: Callable[[FloatArray], FloatArray], duration: float, curvature: float, tolerance: float
) -> float:
    """A bound of f(t) over 0 … T that is at most ``tolerance`` above its largest value.

    Between the ends of an interval of length h a function is at most max(f(a), f(b)) + h²/8 · max|f̈|.
    Intervals where this could exceed the largest value seen are divided until none is left.

    Args:
        function: f at instants (instants,).
        duration: T [s].
        curvature: bound of |f̈| over the whole motion.
        tolerance: how far the answer may lie above the true one.
    """
    edges = np.linspace(0.0, duration, _FIRST_INTERVALS + 1)
    left, width, values = edges[:-1], duration / _FIRST_INTERVALS, function(edges)
    low, high = values[:-1], values[1:]
    best = float(values.max())
    doubt = width * width / 8.0 * curvature
    while doubt > tolerance:
        open_intervals = np.maximum(low, high) + doubt > best + tolerance
        if not np.any(open_intervals):
            break
        left, width = left[open_intervals], width / _PARTS
        inner = left[:, None] + width * np.arange(_PARTS + 1)
        values = function(inner.ravel()).reshape(inner.shape)
        left, low, high = inner[:, :-1].ravel(), values[:, :-1].ravel(), values[:, 1:].ravel()
        best, doubt = max(best, float(values.max())), width * width / 8.0 * curvature
    return best + tolerance  # intervals that were closed on the way are known no better


def verified_extremes(
    function: Callable[[FloatArray], FloatArray],
    duration: float,
    curvature: FloatArray,
    relative: float = 1e-9,
) -> tuple[FloatArray, FloatArray]:
    """Least and largest values of several functions over 0 … T, proved between samples, (axes,) each.

    Args:
        function: values at instants, (instants, axes).
        duration: T [s].
        curvature: bounds of the second derivatives, (axes,).
        relative: how far the bounds may lie outside the true extremes, as a share of the largest value.
    """
    seen = np.abs(function(np.linspace(0.0, duration, _FIRST_INTERVALS + 1))).max(axis=0)
    low, high = np.empty(len(curvature)), np.empty(len(curvature))
    for axis, bound in enumerate(curvature):
        first = (duration / _FIRST_INTERVALS) ** 2 / 8.0 * float(bound)
        tolerance = max(relative * float(seen[axis]), _FINEST * first)

        def value(t: FloatArray, sign: float = 1.0, axis: int = axis) -> FloatArray:
            return sign * function(t)[:, axis]

        high[axis] = verified_largest(value, duration, float(bound), tolerance)
        low[axis] = -verified_largest(lambda t: value(t, -1.0), duration, float(bound), tolerance)
    return low, high
