"""Outliers: a running median says what a sample should be, the spread around it how far it may be off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.preparation.median import running_median

FloatArray = NDArray[np.float64]

_TO_SIGMA = 1.4826
"""Standard deviation of a normal law over its median absolute deviation."""
_LEAST_STEP = 1e-12


@dataclass(frozen=True, eq=False)
class Cleaned:
    """Signals without outliers.

    Args:
        values: (samples, axes).
        replaced: number of samples replaced, per axis.
    """

    values: FloatArray
    replaced: tuple[int, ...]


def replace_outliers(x: FloatArray, window: int, threshold: float) -> Cleaned:
    """Replace samples far from the running median by it (Hampel's rule; median filter of P1 §2.2.2).

    A sample is far when |x − m| > threshold · max(1.4826 · median |x_window − m|, usual, step): the spread in
    its window, the usual distance 1.4826 · median |x − m| over the signal (a window of few samples may lie
    close together by chance), and the usual change between neighbours (a sensor that flickers by one count at
    rest has no outliers).

    Args:
        x: signals (samples, axes), finite.
        window: odd number of samples; shortened to mirror images at the ends.
        threshold: allowed distance in robust standard deviations.
    """
    values = x.copy()
    replaced = []
    for axis in range(x.shape[1]):
        far, middle = _far(np.ascontiguousarray(x[:, axis]), window, threshold)
        values[far, axis] = middle[far]
        replaced.append(int(np.count_nonzero(far)))
    return Cleaned(values, tuple(replaced))


def _far(x: FloatArray, window: int, threshold: float) -> tuple[NDArray[np.bool_], FloatArray]:
    """Which samples are outliers, and the running median."""
    middle = running_median(x, window)
    distance = np.abs(x - middle)
    floor = max(_usual_step(x), _TO_SIGMA * float(np.median(distance)))
    # The spread needs a sort per window; most samples are within reach of the floor and need none.
    doubtful = np.flatnonzero(distance > threshold * floor)
    spread = _spread_around(x, middle, doubtful, window)
    far = np.zeros(len(x), dtype=bool)
    far[doubtful] = distance[doubtful] > threshold * np.maximum(_TO_SIGMA * spread, floor)
    return far, middle


def _spread_around(x: FloatArray, middle: FloatArray, at: NDArray[np.intp], window: int) -> FloatArray:
    """Median distance of the window's samples from its median, at some samples."""
    half = window // 2
    padded = np.pad(x, half, mode="reflect") if len(x) > half else np.pad(x, half, mode="edge")
    spread = np.empty(len(at))
    rows = max(1, 4_000_000 // window)
    for first in range(0, len(at), rows):
        part = at[first : first + rows]
        windows = padded[part[:, None] + np.arange(window)]
        spread[first : first + rows] = np.median(np.abs(windows - middle[part, None]), axis=1)
    return spread


def _usual_step(x: FloatArray) -> float:
    """Median change between neighbours that differ by more than rounding; 0 when nothing changes."""
    changes = np.abs(np.diff(x))
    changes = changes[changes > _LEAST_STEP * np.max(np.abs(x), initial=0.0)]
    return float(np.median(changes)) if len(changes) else 0.0
