"""A light preparation for the checks that need speeds and accelerations; a fit has a better one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.logs.log import Log
from dynid.preparation.clock import read_clock
from dynid.preparation.column import column_statistics
from dynid.preparation.derivative import speed_and_acceleration
from dynid.preparation.filters import butterworth_poles, zero_phase


@dataclass(frozen=True)
class LightFilter:
    """How lightly. Chosen for arms: their torques hold little above 20 Hz that a rigid model explains.

    Args:
        cutoff_hz: of the zero-phase Butterworth filter …
        per_period: … but at least so many samples for a period of it.
        order: of the filter.
        pad: samples that continue the signal at its ends.
        fewest: good samples needed.
        even: share of a step by which stamps may be off and need no interpolation.
        rows: samples, of all axes, that a model's columns are evaluated at: they cost time.
        room_s: seconds left free at both ends, to shift torques against positions.
    """

    cutoff_hz: float = 20.0
    per_period: float = 6.0
    order: int = 4
    pad: int = 15
    fewest: int = 100
    even: float = 1e-6
    rows: int = 1500
    room_s: float = 0.12


FILTER = LightFilter()


@dataclass(frozen=True, eq=False)
class LightMotion:
    """Lightly filtered signals at a constant rate, (samples, axes), joint side where the robot is known.

    Args:
        rate_hz: samples per second.
        time: stamps [s], (samples,).
        q: positions.
        qd: speeds.
        qdd: accelerations.
        tau: torques, filtered as the positions are.
        velocity: logged speeds, filtered; None when there are none.
        rows: samples at which models are evaluated.
    """

    rate_hz: float
    time: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray
    velocity: FloatArray | None
    rows: NDArray[np.intp]

    @property
    def still_axes(self) -> tuple[int, ...]:
        """Axes (from 0) whose travel is nothing beside the others', or nothing at all."""
        travel = np.ptp(self.q, axis=0)
        return tuple(np.flatnonzero(travel < 1e-4 * max(1.0, float(travel.max()))).tolist())


def light_motion(log: Log, most: int, cutoff_hz: float = FILTER.cutoff_hz) -> LightMotion | None:
    """Interpolate over what is bad, filter at 20 Hz (or a sixth of the rate), difference.

    Args:
        log: any log with positions and torques; None comes back when too little of it is usable.
        most: samples that are used, from the middle of the longest stretch without a long gap.
        cutoff_hz: of the filter.
    """
    if log.samples < FILTER.fewest or not {"position", "torque"} <= set(log.channels):
        return None
    clock = read_clock(log.time)
    if len(clock.steps) < FILTER.fewest or not clock.step > 0:
        return None
    stretch, _ = clock.longest_stretch()  # nothing is known about the motion in a long gap
    kept = stretch.start + np.flatnonzero(clock.good[stretch])
    first = max((len(kept) - most) // 2, 0)
    kept = kept[first : first + most]
    if len(kept) < FILTER.fewest:
        return None
    time = log.time[kept]
    even = time[0] + clock.step * np.arange(int((time[-1] - time[0]) / clock.step) + 1)
    made = {
        channel: _at_even_stamps(time, log.array(channel)[kept], even)
        for channel in ("position", "torque", "velocity")
        if channel in log.channels
    }
    q, tau = made["position"], made["torque"]
    if q is None or tau is None:
        return None
    return _filtered_motion(even, q, tau, made.get("velocity"), 1.0 / clock.step, cutoff_hz)


def _at_even_stamps(time: FloatArray, values: FloatArray, even: FloatArray) -> FloatArray | None:
    """Values at even stamps; None when an axis has hardly any."""
    off = np.abs(time - even).max() if len(time) == len(even) else np.inf
    already = off <= FILTER.even * (even[1] - even[0])
    made = np.empty((len(even), values.shape[1]))
    for axis in range(values.shape[1]):
        x = np.ascontiguousarray(values[:, axis])
        good = column_statistics(x).measurements(x)
        if good is None:
            made[:, axis] = x if already else np.interp(even, time, x)
        elif good.sum() < 0.5 * len(x):
            return None
        else:
            made[:, axis] = np.interp(even, time[good], x[good])
    return made


def _filtered_motion(
    time: FloatArray,
    q: FloatArray,
    tau: FloatArray,
    velocity: FloatArray | None,
    rate_hz: float,
    cutoff_hz: float,
) -> LightMotion | None:
    cutoff = min(cutoff_hz, rate_hz / FILTER.per_period)
    edge = int(np.ceil(rate_hz / cutoff))
    if len(q) < 6 * edge + FILTER.fewest // 2:
        return None

    poles = butterworth_poles(FILTER.order, 2 * cutoff / rate_hz)

    def smooth(x: FloatArray) -> FloatArray:
        return zero_phase(x, poles, FILTER.pad)

    smooth_q, inner = smooth(q), slice(edge, -edge)
    qd, qdd = speed_and_acceleration(smooth_q, rate_hz)
    samples = len(q) - 2 * edge
    room = min(samples // 10, int(FILTER.room_s * rate_hz) + 1)
    step = max(1, int(rate_hz / (5 * cutoff)), int(np.ceil(samples / FILTER.rows)))
    return LightMotion(
        rate_hz,
        time[inner],
        smooth_q[inner],
        qd[inner],
        qdd[inner],
        smooth(tau)[inner],
        None if velocity is None else smooth(velocity)[inner],
        np.arange(room, samples - room, step),
    )
