"""The running median."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
_AT_ONCE = 500_000
"""Samples whose windows are sorted together, which takes ten times their memory."""
_SMALL = 31
"""Windows up to here are sorted by comparing whole signals; their number grows with the window's square."""


def running_median(x: FloatArray, window: int) -> FloatArray:
    """Median of each sample and its neighbours, the ends continued by their mirror image.

    Args:
        x: one signal (samples,), finite.
        window: odd number of samples.
    """
    if window > _SMALL:
        from scipy import ndimage

        made: FloatArray = ndimage.median_filter(x, size=window, mode="mirror")
        return made
    half = window // 2
    padded = np.pad(x, half, mode="reflect")
    return np.concatenate(
        [_median_of(padded[at : at + _AT_ONCE + 2 * half], window) for at in range(0, len(x), _AT_ONCE)]
    )


def _median_of(padded: FloatArray, window: int) -> FloatArray:
    """Medians of all whole windows, (samples − window + 1,)."""
    half, count = window // 2, len(padded) - window + 1
    shifted = [padded[i : i + count] for i in range(window)]
    # Of half the window and two more, neither the least nor the largest can be the median: forget both, take
    # in the next, and so on; what is left is the median.
    pool, waiting = shifted[: half + 2], shifted[half + 2 :]
    while len(pool) > 1:
        pool = _without_extremes(pool) + waiting[:1]
        waiting = waiting[1:]
    return pool[0].copy()


def _without_extremes(pool: list[FloatArray]) -> list[FloatArray]:
    """Signals that hold, sample by sample, all values of the given ones but the least and the largest."""
    least, others = pool[0], []
    for signal in pool[1:]:
        others.append(np.maximum(least, signal))
        least = np.minimum(least, signal)
    if not others:
        return pool
    largest, kept = others[0], []
    for signal in others[1:]:
        kept.append(np.minimum(largest, signal))
        largest = np.maximum(largest, signal)
    return kept
