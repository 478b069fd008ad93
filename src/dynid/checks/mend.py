"""Defects taken back: clocks that were set back, counters that wrap, spikes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid.checks.clock import Clock, longest_piece, read_clock
from dynid.checks.leaps import TURN, channel_spikes, find_leaps, turning
from dynid.checks.piece import DAMAGED
from dynid.checks.runs import runs
from dynid.checks.values import damaged_rows
from dynid.core.finding import Finding
from dynid.logs.log import Log
from dynid.model.robot import Robot

FloatArray = NDArray[np.float64]


def restamped(log: Log, clock: Clock) -> Log:
    """Stamps that go on with the usual step where the clock was set back.

    Where the motion does not go on, pieces do not belong together, and the longest alone is kept.

    Args:
        log: the log.
        clock: its stamps, as ``read_clock`` reads them.
    """
    return replace(log, time=clock.time).part(longest_piece(log, clock))


def unwrapped(log: Log, robot: Robot | None = None) -> tuple[Log, dict[str, int]]:
    """Positions without leaps by full turns, and how many there were per axis."""
    q, counts = log.array("position").copy(), {}
    for axis in range(log.axes):
        if not turning(robot, log, axis):
            continue
        x = q[:, axis]
        wraps = find_leaps(x, log.time).wraps
        if len(wraps):
            finite = np.isfinite(x)
            for place in wraps.tolist():
                after = place + 1 + int(np.argmax(finite[place + 1 :]))
                q[place + 1 :, axis] -= np.sign(x[after] - x[place]) * TURN
                x = q[:, axis]
            counts[f"position {axis + 1}"] = len(wraps)
    return replace(log, channels={**log.channels, "position": q}), counts


def despiked(log: Log) -> tuple[Log, dict[str, int]]:
    """Positions and torques with straight lines over spikes, and how many samples that were per axis."""
    channels, counts = dict(log.channels), {}
    for channel in ("position", "torque"):
        if channel not in channels:
            continue
        for axis in range(log.axes):
            wild = channel_spikes(log, channel, axis)
            if len(wild) == 0:
                continue
            x = channels[channel][:, axis].copy()
            sound = np.isfinite(x)
            sound[wild] = False
            rows = np.flatnonzero(sound)
            x[wild] = np.interp(wild, rows, x[rows])
            values = np.array(channels[channel])
            values[:, axis] = x
            channels[channel] = values
            counts[f"{channel} {axis + 1}"] = len(wild)
    return replace(log, channels=channels), counts


def without_empty_rows(
    log: Log, empty: NDArray[np.bool_] | None = None, step: float | None = None
) -> tuple[Log, dict[str, int]]:
    """Damaged lines interpolated where the stamps have room for them, else left out; how many of each.

    Args:
        log: the log, or a piece of it.
        empty: samples of damaged lines; found when None.
        step: usual step [s]; found when None.
    """
    empty = damaged_rows(log) if empty is None else empty
    time, kept = log.time.copy(), np.ones(log.samples, dtype=bool)
    step = read_clock(log).step if step is None else step
    for start, length in runs(empty & ~np.isfinite(time)):
        stop = start + length
        room = (time[stop] - time[start - 1]) / step if start > 0 and stop < log.samples else np.nan
        if abs(room - (length + 1)) < 0.5:
            time[start:stop] = np.linspace(time[start - 1], time[stop], length + 2)[1:-1]
        else:
            kept[start:stop] = False
    channels = {}
    for channel, values in log.channels.items():
        values, holes = np.array(values), empty & np.all(np.isnan(values), axis=1)
        for x in values.T:
            good = np.flatnonzero(np.isfinite(x))
            if len(good):
                x[holes] = np.interp(np.flatnonzero(holes), good, x[good])
        channels[channel] = values[kept]
    counts = {"interpolated": int(np.sum(empty & kept)), "left_out": int(np.sum(~kept))}
    return replace(log, time=time[kept], channels=channels), counts


def sound(log: Log, findings: tuple[Finding, ...], robot: Robot | None) -> Log:
    """The log with these defects taken back, for the checks that look at the motion as a whole."""
    names = {finding.name for finding in findings}
    if DAMAGED in names:
        log, _ = without_empty_rows(log)
    if "clock set back" in names:
        log = restamped(log, read_clock(log))
    if "spikes" in names:
        log, _ = despiked(log)
    if "wrapped position" in names:
        log, _ = unwrapped(log, robot)
    return log
