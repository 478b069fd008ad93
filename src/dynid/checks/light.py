"""A light preparation for the checks that need speeds and accelerations; a fit has a better one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.checks.limits import garbage
from dynid.checks.stamps import longest_stretch, read_clock
from dynid.logs.log import Log
from dynid.preparation.design import butterworth_poles
from dynid.preparation.recursive import zero_phase

FloatArray = NDArray[np.float64]
_CUTOFF_HZ, _ORDER, _PAD = 20.0, 4, 15
_FEWEST = 100
_EVEN = 1e-6
"""Share of a step by which stamps may be off and need no interpolation."""
MOST_SAMPLES = 300_000
"""Samples used of a longer log: a stretch from its middle."""
_KEPT = 1500
"""Samples, of all axes, that the model's columns are evaluated at."""


@dataclass(frozen=True, eq=False)
class Light:
    """Lightly filtered signals at a constant rate, (samples, axes), joint side where the robot is known.

    Args:
        rate_hz: samples per second.
        q: positions.
        qd: speeds.
        qdd: accelerations.
        tau: torques, filtered as the positions are.
        velocity: logged speeds, filtered; None when there are none.
        rows: samples at which models are evaluated.
    """

    rate_hz: float
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray
    velocity: FloatArray | None
    rows: NDArray[np.intp]


def light_motion(log: Log) -> Light | None:
    """Interpolate over what is bad, filter at 20 Hz (or a sixth of the rate), difference.

    Args:
        log: any log with positions and torques; None comes back when too little of it is usable.
    """
    if log.samples < _FEWEST or not {"position", "torque"} <= set(log.channels):
        return None
    clock = read_clock(log)
    if len(clock.steps) < _FEWEST or not clock.step > 0:
        return None
    kept = np.flatnonzero(clock.good)
    stretch, _ = longest_stretch(log, clock)  # nothing is known about the motion in a long gap
    kept = kept[(kept >= stretch.start) & (kept < stretch.stop)]
    if len(kept) > MOST_SAMPLES:
        start = (len(kept) - MOST_SAMPLES) // 2
        kept = kept[start : start + MOST_SAMPLES]
    if len(kept) < _FEWEST:
        return None
    time = log.time[kept]
    count = int((time[-1] - time[0]) / clock.step) + 1
    even = time[0] + clock.step * np.arange(count)
    signals = {}
    for channel in ("position", "torque", "velocity"):
        if channel in log.channels:
            made = _even(time, log.channels[channel][kept], even)
            if made is None and channel != "velocity":
                return None
            signals[channel] = made
    return _filtered(signals["position"], signals["torque"], signals.get("velocity"), 1.0 / clock.step)


def _even(time: FloatArray, values: FloatArray, even: FloatArray) -> FloatArray | None:
    """Values at even stamps; None when an axis has hardly any."""
    off = np.abs(time - even).max() if len(time) == len(even) else np.inf
    already = off <= _EVEN * (even[1] - even[0])
    made = np.empty((len(even), values.shape[1]))
    for axis in range(values.shape[1]):
        x = values[:, axis]
        good = np.isfinite(x) & ~garbage(x)
        if good.sum() < 0.5 * len(x):
            return None
        whole = already and bool(good.all())
        made[:, axis] = x if whole else np.interp(even, time[good], x[good])
    return made


def _filtered(
    q: FloatArray | None, tau: FloatArray | None, velocity: FloatArray | None, rate: float
) -> Light | None:
    if q is None or tau is None:
        return None
    cutoff = min(_CUTOFF_HZ, rate / 6)
    poles = butterworth_poles(_ORDER, 2 * cutoff / rate)
    edge = int(np.ceil(rate / cutoff))
    if len(q) < 6 * edge + _FEWEST // 2:
        return None

    def smooth(x: FloatArray) -> FloatArray:
        return zero_phase(x, poles, _PAD)

    q_smooth = smooth(q)
    qd = np.gradient(q_smooth, axis=0) * rate
    qdd = np.gradient(qd, axis=0) * rate
    inner = slice(edge, -edge)
    samples = len(q) - 2 * edge
    margin = min(samples // 10, int(0.12 * rate) + 1)  # room to shift torques against positions
    stride = max(1, int(rate / (5 * cutoff)), int(np.ceil(samples / _KEPT)))
    rows = np.arange(margin, samples - margin, stride)
    speeds = None if velocity is None else smooth(velocity)[inner]
    return Light(rate, q_smooth[inner], qd[inner], qdd[inner], smooth(tau)[inner], speeds, rows)
