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
    """Cubic splines through the samples, read at other times.

    Args:
        time: stamps [s], increasing.
        values: (samples, axes).
        at: times inside the stamps.
    """
    from scipy import interpolate as spline

    _refuse_gaps(time)
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


def _refuse_gaps(time: FloatArray) -> None:
    steps = np.diff(time)
    worst = int(np.argmax(steps))
    if steps[worst] > _LONGEST_GAP * np.median(steps):
        raise NotTrustworthyError(
            f"There is a gap of {steps[worst]:.4g} s after t = {time[worst]:.6g} s, more than {_LONGEST_GAP} "
            "steps of the log; interpolation would invent the motion there. Cut the log at the gap or repair "
            "it (`dynid check` lists gaps)."
        )
