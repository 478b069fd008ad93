"""Filters that outliers do not disturb: Hampel's rule on a running median, and RLOESS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import ShapeError

MAD_TO_SIGMA = 1.4826
"""Standard deviation of a normal law over its median absolute deviation."""
_LEAST_STEP = 1e-12
"""Change between neighbours that is rounding, over the largest value."""
_ROUNDS = 5
"""Robust rounds of RLOESS, as in MATLAB."""
_FEWEST = 5
"""Samples that a window of RLOESS must have."""
_LEAST_WEIGHT = 1e-3
"""Product of three moments over that of a full window below which no quadratic is fitted."""
_CELLS = 4_000_000
"""Values of windows held at once: 32 MB."""


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
        far, middle = _outliers_of(np.ascontiguousarray(x[:, axis]), window, threshold)
        values[far, axis] = middle[far]
        replaced.append(int(np.count_nonzero(far)))
    return Cleaned(values, tuple(replaced))


def _outliers_of(x: FloatArray, window: int, threshold: float) -> tuple[NDArray[np.bool_], FloatArray]:
    """Which samples are outliers, and the running median."""
    from scipy import ndimage

    middle: FloatArray = ndimage.median_filter(x, size=window, mode="mirror")
    distance = np.abs(x - middle)
    floor = max(_usual_step(x), MAD_TO_SIGMA * float(np.median(distance)))
    # The spread needs a sort per window; most samples are within reach of the floor and need none.
    doubtful = np.flatnonzero(distance > threshold * floor)
    spread = _spread_around(x, middle, doubtful, window)
    far = np.zeros(len(x), dtype=bool)
    far[doubtful] = distance[doubtful] > threshold * np.maximum(MAD_TO_SIGMA * spread, floor)
    return far, middle


def _spread_around(x: FloatArray, middle: FloatArray, at: NDArray[np.intp], window: int) -> FloatArray:
    """Median distance of the window's samples from its median, at some samples."""
    half = window // 2
    padded = np.pad(x, half, mode="reflect") if len(x) > half else np.pad(x, half, mode="edge")
    spread = np.empty(len(at))
    rows = max(1, _CELLS // window)
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


def rloess(x: FloatArray, span: float) -> FloatArray:
    """Smooth by local quadratics with tricube weights and bisquare robustness (Cleveland 1979; P3 §2.3).

    As MATLAB's ``smooth(x, span, 'rloess')``: each value is that of the quadratic fitted to the nearest
    samples with weights (1 − |d/d_max|³)³ δ, where δ = (1 − (e / 6 median|e|)²)² from the residuals e of the
    round before; one plain round and five robust ones. Stamps are even.

    Args:
        x: signals (samples, axes).
        span: share of the samples in a window, 0 < span ≤ 1.
    """
    window = window_samples(len(x), span)
    return np.stack([_rloess_of_signal(column, window) for column in x.T], axis=1) if x.size else x.copy()


def window_samples(samples: int, span: float) -> int:
    """Odd number of samples in a window."""
    window = min(int(np.ceil(span * samples)), samples)
    window -= 1 - window % 2
    if window < _FEWEST:
        raise ShapeError(
            f"A span of {span:g} of {samples} samples is a window of {max(window, 0)}; local quadratics need "
            f"at least {_FEWEST}. Widen the span."
        )
    return window


def _rloess_of_signal(y: FloatArray, window: int) -> FloatArray:
    robust = np.ones_like(y)
    smooth = _local_quadratics(y, robust, window)
    # Residuals at the level of rounding carry no outliers, and their median must not become a divisor.
    rounding = 1e8 * np.finfo(float).eps * float(np.max(np.abs(y), initial=0.0))
    for _ in range(_ROUNDS):
        residual = np.abs(y - smooth)
        scale = 6.0 * max(float(np.median(residual)), rounding)
        if scale == 0.0:
            return smooth
        robust = np.maximum(1.0 - (residual / scale) ** 2, 0.0) ** 2
        smooth = _local_quadratics(y, robust, window)
    return smooth


def _local_quadratics(y: FloatArray, robust: FloatArray, window: int) -> FloatArray:
    """Centre values of weighted quadratics: moments by convolution inside, window by window at the ends."""
    from scipy import signal

    half = window // 2
    u = np.arange(-half, half + 1) / (half + 1e-300)
    tricube = (1.0 - np.abs(u) ** 3) ** 3
    weighted = robust * y

    def moment(values: FloatArray, power: int) -> FloatArray:
        kernel = (tricube * u**power)[::-1]
        convolved: FloatArray = signal.fftconvolve(values, kernel, mode="valid")
        return convolved

    S = [moment(robust, power) for power in range(5)]
    T = [moment(weighted, power) for power in range(3)]
    out = np.empty_like(y)
    out[half : len(y) - half] = _centre_values(S, T, y[half : len(y) - half], window)
    out[:half] = _at_start(y, robust, window)
    out[len(y) - half :] = _at_start(y[::-1], robust[::-1], window)[::-1]
    return out


def _at_start(y: FloatArray, robust: FloatArray, window: int) -> FloatArray:
    """Values at the first ⌊window/2⌋ samples, whose nearest samples are the first ``window``."""
    half = window // 2
    values, delta = y[:window], robust[:window]
    out = np.empty(half)
    rows = max(1, _CELLS // 2 // window)
    for first in range(0, half, rows):
        at = np.arange(first, min(first + rows, half))
        reach = window - 1.0 - at
        u = (np.arange(window) - at[:, None]) / reach[:, None]
        w = (1.0 - np.abs(u) ** 3) ** 3 * delta
        S, T = [], []
        for power in range(5):
            S.append(w.sum(axis=1))
            if power <= 2:
                T.append(w @ values)
            w = w * u
        out[at] = _centre_values(S, T, values[at], window)
    return out


def _centre_values(S: list[FloatArray], T: list[FloatArray], own: FloatArray, window: int) -> FloatArray:
    """Constant term of quadratics with moments S₀…S₄ and T₀…T₂, by Cramer; own value where singular.

    On a smooth signal the robust weights of a whole window may be zero: its moments are then what rounding of
    the convolution left, far below those of full weights, which are about the window's size.
    """
    a = S[2] * S[4] - S[3] ** 2
    b = S[2] * S[3] - S[1] * S[4]
    c = S[1] * S[3] - S[2] ** 2
    determinant = S[0] * a + S[1] * b + S[2] * c
    own_size = np.abs(S[0]) * np.abs(S[2]) * np.abs(S[4])
    good = determinant > 1e-10 * np.maximum(own_size, _LEAST_WEIGHT * window**3)
    safe = np.where(good, determinant, 1.0)
    value: FloatArray = np.where(good, (T[0] * a + T[1] * b + T[2] * c) / safe, own)
    return value
