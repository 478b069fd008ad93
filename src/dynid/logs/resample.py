"""Stamps: the rate of a log, whether its samples are even, and interpolation to a constant rate."""

from __future__ import annotations

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import NotTrustworthyError

_EVEN = 0.02
"""Share of a step by which steps may differ and still count as even."""
SAME_RATE = 2e-5
"""Rates this near to a whole number of hertz are that number: clocks are no better."""
_LONGEST_GAP = 20
"""Steps without a sample that interpolation may bridge."""
_CLOSE = 0.2
"""Share of the median step below which samples are joined before a spline: through two samples that close it
swings by their noise over their distance (on random stamps by 200 times the noise, joined by 1.8 times)."""
_AT_ONCE = 500_000
"""Samples read from one spline, which takes ten times their memory."""
_REACH = 60
"""Samples beyond both ends of that spline, after which it has forgotten where it was cut: 3.7 each."""


def is_even(time: FloatArray) -> bool:
    """Whether no step differs by more than 2 % from the median step."""
    return not uneven_steps(time, 1.0 / float(np.median(np.diff(time))))


def uneven_steps(time: FloatArray, rate_hz: float) -> bool:
    """Whether a step differs by more than 2 % from that of a rate."""
    return bool(np.max(np.abs(np.diff(time) * rate_hz - 1.0), initial=0.0) > _EVEN)


def steady_rate(time: FloatArray) -> float:
    """Samples per second, from the whole duration where even, else the median; rounded to 2e-5."""
    if is_even(time):
        rate = (len(time) - 1) / float(time[-1] - time[0])
    else:
        rate = 1.0 / float(np.median(np.diff(time)))
    return float(round(rate)) if abs(rate - round(rate)) <= SAME_RATE * rate else rate


def interpolate(time: FloatArray, values: FloatArray, at: FloatArray) -> FloatArray:
    """Cubic splines through the samples, those nearly at one time joined to their mean, read at other times.

    Args:
        time: stamps [s], increasing.
        values: (samples, axes).
        at: times inside the stamps.
    """
    from scipy import interpolate as spline

    _refuse_gaps(time)
    time, values = _joined_samples(time, values)
    at = np.clip(at, time[0], time[-1])
    read = np.empty((len(at), values.shape[1]))
    for first in range(0, len(at), _AT_ONCE):
        part = at[first : first + _AT_ONCE]
        low, high = np.searchsorted(time, [part[0], part[-1]])
        nodes = slice(max(int(low) - _REACH, 0), int(high) + _REACH)
        if len(at) <= _AT_ONCE:
            nodes = slice(None)
        read[first : first + _AT_ONCE] = spline.CubicSpline(time[nodes], values[nodes], axis=0)(part)
    return read


def grid(start: float, stop: float, rate_hz: float) -> FloatArray:
    """Even stamps from ``start`` up to ``stop``."""
    return start + np.arange(last_on_grid(start, stop, rate_hz) + 1) / rate_hz


def last_on_grid(start: float, stop: float, rate_hz: float) -> int:
    """Index of the last even stamp that is not after ``stop``, but for rounding."""
    return int(np.floor((stop - start) * rate_hz * (1 + 1e-12) + 1e-9))


def _joined_samples(time: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Runs of samples closer than a fifth of a median step, as their means."""
    steps = np.diff(time)
    apart = steps >= _CLOSE * np.median(steps)
    if np.all(apart):
        return time, values
    first = np.flatnonzero(np.concatenate([[True], apart]))
    count = np.diff(np.append(first, len(time)))
    return np.add.reduceat(time, first) / count, np.add.reduceat(values, first, axis=0) / count[:, None]


def _refuse_gaps(time: FloatArray) -> None:
    steps = np.diff(time)
    worst = int(np.argmax(steps))
    if steps[worst] > _LONGEST_GAP * np.median(steps):
        raise NotTrustworthyError(
            f"There is a gap of {steps[worst]:.4g} s after t = {time[worst]:.6g} s, more than {_LONGEST_GAP} "
            "steps of the log; interpolation would invent the motion there. Cut the log at the gap or repair "
            "it (`dynid check` lists gaps)."
        )
