"""Repairs of a log: each mends one kind of defect and is recorded in the log's history.

Whether a defect is small enough to be mended is for the checks to say; a repair is only told to do it. Logs
on disk are mended column by column and stay on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from dynid.core.arrays import BoolArray, FloatArray
from dynid.core.finding import Name
from dynid.logs.log import Log, Step
from dynid.logs.spool import Samples, Spool, SpoolWriter, by_columns
from dynid.model.robot import Robot
from dynid.preparation.clock import (
    CLOCK,
    damaged_rows,
    filled_stamps,
    longest_run,
    pieces_between_breaks,
    read_clock,
)
from dynid.preparation.column import column_statistics, run_ends
from dynid.preparation.leaps import TURN, axis_turns, find_leaps, find_spikes


@dataclass(frozen=True)
class RepairLimits:
    """How much of an axis may be made up. Chosen by hand: 20 samples are 20 ms of a usual log.

    Args:
        longest_run: lost samples in a row that interpolation may bridge.
        most_lost: share of an axis that may be interpolated.
        most_spikes: share of an axis that may be spikes.
        least_kept: share of a log that must be left when only its longest piece is kept.
    """

    longest_run: int = 20
    most_lost: float = 0.05
    most_spikes: float = 0.01
    least_kept: float = 0.5


REPAIR = RepairLimits()


def fill_damaged_lines(log: Log) -> Log:
    """Damaged lines interpolated where the stamps have room for them, else left out."""
    empty = damaged_rows(log)
    if empty is None:
        return log
    time, kept = filled_stamps(log.time, empty)

    def fill(channel: str, axis: int, x: FloatArray) -> tuple[FloatArray, int]:
        good = np.isfinite(x)
        return _interpolated_samples(x, np.arange(float(len(x))), empty & np.isnan(x), good), 0

    channels, _ = _mend_axes(log, log.channels, fill)
    options = {
        "interpolated": int(np.count_nonzero(empty & kept)),
        "left_out": int(np.count_nonzero(~kept)),
    }
    note = (
        f"Of the samples of damaged lines {options['interpolated']} were interpolated and "
        f"{options['left_out']} left out."
    )
    step = Step(f"repair: {Name.DAMAGED_LINES}", options, note)
    return _rows(replace(log, channels=channels), kept, step, time)


def restamp_clock(log: Log) -> Log:
    """Stamps that go on with the usual step where the clock was set back.

    Where the motion does not go on, pieces do not belong together, and the longest alone is kept.
    """
    clock = read_clock(log.time)
    pieces = pieces_between_breaks(log, clock)
    piece = longest_run(pieces)
    dropped = log.samples - (piece.stop - piece.start)
    back = [place.back_s for place in clock.breaks]
    if len(pieces) == 1:
        shown = ", ".join(f"{seconds:.4g}" for seconds in back)
        note = f"Stamps go on with the usual step where the clock was set back (by {shown} s)."
    else:
        note = f"The motion does not go on where the clock was set back; {log.samples - dropped} of "
        note += f"{log.samples} samples were kept, the longest piece."
    step = Step(f"repair: {Name.CLOCK_SET_BACK}", {"set_back_s": back, "dropped": dropped}, note)
    return _rows(log, piece, step, clock.time)


def leave_out_bad_stamps(log: Log, name: Name) -> Log:
    """Rows whose stamps are repeated, backward or lost left out."""
    clock = read_clock(log.time)
    note = f"{clock.bad_stamps} rows whose stamps were repeated, backward or lost were left out."
    return _rows(log, clock.good, Step(f"repair: {name}", {"dropped": clock.bad_stamps}, note))


def keep_longest_stretch(log: Log) -> Log:
    """The longest run of samples without a long gap."""
    stretch, count = read_clock(log.time).longest_stretch()
    note = f"Only the longest stretch without a long gap was kept: {count} of {log.samples} samples."
    dropped = log.samples - (stretch.stop - stretch.start)
    return _rows(log, stretch, Step(f"repair: {Name.LONG_GAPS}", {"dropped": dropped}, note))


def interpolate_garbage(log: Log) -> Log:
    """Straight lines over short runs of garbage; long runs stay as they are."""
    return _interpolate_values(log, Name.GARBAGE_VALUES, lambda x, good: ~good & np.isfinite(x))


def interpolate_missing(log: Log) -> Log:
    """Straight lines over short runs of values that are not finite; long runs stay as they are."""
    return _interpolate_values(log, Name.MISSING_VALUES, lambda x, good: ~np.isfinite(x))


def interpolate_spikes(log: Log) -> Log:
    """Straight lines over the spikes of positions and torques."""

    def take_spikes_out(channel: str, axis: int, x: FloatArray) -> tuple[FloatArray, int]:
        spikes = find_spikes(x, log.time, channel, column_statistics(x))
        wild = np.zeros(len(x), dtype=bool)
        wild[spikes] = True
        return _interpolated_samples(x, np.arange(float(len(x))), wild, np.isfinite(x) & ~wild), len(spikes)

    channels, counts = _mend_axes(log, ("position", "torque"), take_spikes_out)
    note = f"{sum(counts.values())} wild samples were interpolated from their neighbours."
    return log.with_step(Step(f"repair: {Name.SPIKES}", counts, note), channels=channels)


def unwrap_positions(log: Log, robot: Robot | None = None) -> Log:
    """Positions without leaps by full turns.

    Args:
        log: the log.
        robot: says which axes turn; all do when None.
    """

    def unwrap(channel: str, axis: int, x: FloatArray) -> tuple[FloatArray, int]:
        if not axis_turns(robot, log, axis):
            return x, 0
        wraps, finite = find_leaps(x, log.time).wraps, np.isfinite(x)
        turns = np.zeros(len(x))
        for place in wraps.tolist():
            after = place + 1 + int(np.argmax(finite[place + 1 :]))
            turns[place + 1] += np.sign(x[after] - x[place])
        return x - TURN * np.cumsum(turns), len(wraps)

    channels, counts = _mend_axes(log, ("position",), unwrap)
    note = f"{sum(counts.values())} leaps by a full turn were taken back."
    return log.with_step(Step(f"repair: {Name.WRAPPED_POSITION}", counts, note), channels=channels)


def resample_evenly(log: Log, name: Name) -> Log:
    """Straight lines between samples, read at the constant median rate."""
    step = read_clock(log.time).step
    count = int(np.floor((log.time[-1] - log.time[0]) / step * (1 + 1e-12))) + 1
    even = log.time[0] + step * np.arange(count)
    channels = {
        channel: by_columns(lambda x: np.interp(even, log.time, x), values)
        for channel, values in log.channels.items()
    }
    options = {"rate_hz": 1.0 / step, "samples_before": log.samples, "samples_after": count}
    note = f"Interpolated to {1.0 / step:.6g} Hz; gaps of up to {CLOCK.short_gap} samples were bridged."
    return log.with_step(Step(f"repair: {name}", options, note), time=even, channels=channels)


def _rows(log: Log, rows: BoolArray | slice, step: Step, time: FloatArray | None = None) -> Log:
    """Some rows of a log, perhaps with other stamps, and what was done noted."""
    channels = {channel: by_columns(lambda x: x[rows], values) for channel, values in log.channels.items()}
    return log.with_step(step, time=(log.time if time is None else time)[rows], channels=channels)


def _interpolate_values(log: Log, name: Name, is_bad: Callable[[FloatArray, BoolArray], BoolArray]) -> Log:
    """Straight lines over short runs of values that are bad; which values are measurements is told too."""

    def bridge(channel: str, axis: int, x: FloatArray) -> tuple[FloatArray, int]:
        usual = column_statistics(x)
        good = usual.measurements(x)
        if good is None:
            return x, 0
        short = is_bad(x, good)
        for start, stop in zip(*run_ends(short), strict=True):
            short[start:stop] = stop - start <= REPAIR.longest_run
        count = int(np.count_nonzero(short)) if np.any(good) else 0
        return _interpolated_samples(x, log.time, short, good), count

    channels, counts = _mend_axes(log, log.channels, bridge)
    note = f"{sum(counts.values())} values were interpolated from their neighbours."
    return log.with_step(Step(f"repair: {name}", counts, note), channels=channels)


def _interpolated_samples(x: FloatArray, at: FloatArray, bad: BoolArray, good: BoolArray) -> FloatArray:
    """Bad samples on straight lines between good ones; as they are when there are none."""
    if not np.any(bad) or not np.any(good):
        return x
    made = x.copy()
    made[bad] = np.interp(at[bad], at[good], x[good])
    return made


def _mend_axes(
    log: Log, channels: Iterable[str], mend: Callable[[str, int, FloatArray], tuple[FloatArray, int]]
) -> tuple[dict[str, Samples], dict[str, int]]:
    """Channels mended axis by axis, and how many samples changed, per axis where any did.

    Args:
        log: the log.
        channels: those to mend, where the log has them.
        mend: channel, axis and its samples to mended samples and the number of those that changed.
    """
    made, counts = dict(log.channels), dict[str, int]()
    for channel in channels:
        if channel not in log.channels:
            continue
        values = log.channels[channel]
        on_disk = SpoolWriter(log.axes) if isinstance(values, Spool) else None
        in_memory = np.empty(values.shape if on_disk is None else (0, 0))
        for axis in range(log.axes):
            x, count = mend(channel, axis, log.column(channel, axis))
            if count:
                counts[f"{channel} {axis + 1}"] = count
            if on_disk is None:
                in_memory[:, axis] = x
            else:
                on_disk.put(axis, x)
        made[channel] = in_memory if on_disk is None else on_disk.finish()
    return made, counts


REPAIRS: Mapping[Name, Callable[[Log], Log]] = MappingProxyType(
    {
        Name.DAMAGED_LINES: fill_damaged_lines,
        Name.CLOCK_SET_BACK: restamp_clock,
        Name.LOST_STAMPS: lambda log: leave_out_bad_stamps(log, Name.LOST_STAMPS),
        Name.BACKWARD_STAMPS: lambda log: leave_out_bad_stamps(log, Name.BACKWARD_STAMPS),
        Name.REPEATED_STAMPS: lambda log: leave_out_bad_stamps(log, Name.REPEATED_STAMPS),
        Name.LONG_GAPS: keep_longest_stretch,
        Name.GARBAGE_VALUES: interpolate_garbage,
        Name.MISSING_VALUES: interpolate_missing,
        Name.SPIKES: interpolate_spikes,
        Name.WRAPPED_POSITION: unwrap_positions,
        Name.SHORT_GAPS: lambda log: resample_evenly(log, Name.SHORT_GAPS),
        Name.JITTER: lambda log: resample_evenly(log, Name.JITTER),
    }
)
"""Defects that can be repaired, in the order in which they are: values need time in order."""
