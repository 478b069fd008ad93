"""Repairs of a log: each mends one kind of defect and is recorded in the log's history.

Whether a defect is small enough to be mended is for the checks to say; a repair is only told to do it. Logs
on disk are mended column by column and stay on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from dynid.core.arrays import BoolArray, FloatArray
from dynid.core.finding import Name
from dynid.logs.log import Log, Step, mend_axes
from dynid.logs.resample import grid, interpolate
from dynid.logs.spool import by_columns
from dynid.model.robot import Robot
from dynid.preparation.bad_rows import log_columns, rows_to_leave_out, stale_samples
from dynid.preparation.clock import CLOCK, are_shuffled, damaged_rows, filled_stamps, read_clock
from dynid.preparation.coarse_clock import restamp_evenly
from dynid.preparation.column import IndexArray, bridge, column_statistics, run_ends, short_runs
from dynid.preparation.leaps import TURN, axis_turn, axis_turns, find_leaps, find_spikes, least_leap
from dynid.preparation.set_clock import restamp_clock, take_forward_leaps_back
from dynid.preparation.wraps import unsigned_numbers


@dataclass(frozen=True)
class RepairLimits:
    """How much of an axis may be made up. Chosen by hand: 20 samples are 20 ms of a usual log.

    Args:
        longest_run: lost samples in a row that interpolation may bridge.
        most_lost: share of an axis that may be interpolated, in short runs.
        most_stale: the same of stale samples.
        most_spikes: share of an axis that may be spikes.
        least_kept: share of a log that must be left when only its longest piece is kept.
    """

    longest_run: int = 20
    most_lost: float = 0.3
    most_stale: float = 0.6
    most_spikes: float = 0.01
    least_kept: float = 0.5


REPAIR = RepairLimits()
_RANGES = "ranges"
"""Option of the step that unwraps: ranges of counters that are no whole turns, by axis from 0."""
_WHOLE_TURNS = 1e-3
"""Distance from a whole number of turns that still is one: the range of a counter is known so well."""
NEEDED = ("position", "torque")
"""Channels that a fit needs; holes in others do no harm."""


def fill_damaged_lines(log: Log) -> Log:
    """Damaged lines interpolated where the stamps have room for them, else left out."""
    empty = damaged_rows(log)
    if empty is None:
        return log
    time, kept = filled_stamps(log.time, empty)
    kept &= ~empty | short_runs(empty, REPAIR.longest_run)

    def fill(channel: str, axis: int, x: FloatArray) -> tuple[FloatArray, int]:
        return bridge(x, np.arange(float(len(x))), empty & np.isnan(x), np.isfinite(x)), 0

    channels, _ = mend_axes(log, log.channels, fill)
    options = {
        "interpolated": int(np.count_nonzero(empty & kept)),
        "left_out": int(np.count_nonzero(~kept)),
    }
    note = (
        f"Of the samples of damaged lines {options['interpolated']} were interpolated and "
        f"{options['left_out']} left out."
    )
    step = Step(f"repair: {Name.DAMAGED_LINES}", options, note)
    return _rows(_with_made_up(replace(log, channels=channels), empty), kept, step, time)


def leave_out_rows(log: Log, name: Name) -> Log:
    """Rows left out that are no measurements: garbage, written before, or repeated by the recorder."""
    bad = rows_to_leave_out(log, log_columns(log))[name]
    count = int(np.count_nonzero(bad))
    return _rows(log, ~bad, Step(f"repair: {name}", {"left_out": count}, f"{count} {name} were left out."))


def mend_stamps(log: Log, name: Name) -> Log:
    """Rows in the order of their stamps; bad stamps interpolated where there is room, other rows left out."""
    clock = read_clock(log.time)
    if not clock.bad_stamps:
        return log
    if are_shuffled(log.time):
        note = f"All {log.samples} rows were put in the order of their stamps."
        step = Step(f"repair: {name}", {"put_in_order": log.samples}, note)
        return _rows(log, np.argsort(log.time, kind="stable"), step)
    time, good = log.time.copy(), clock.good.copy()
    stamps = time[clock.good]
    bad = np.flatnonzero(~good & np.isfinite(time))
    after = np.searchsorted(stamps, time[bad]).clip(1, len(stamps) - 1)
    away = np.minimum(np.abs(time[bad] - stamps[after - 1]), np.abs(stamps[after] - time[bad]))
    between = (time[bad] > stamps[0]) & (time[bad] < stamps[-1])
    out_of_order = bad[between & (away > CLOCK.room * clock.step)]
    good[out_of_order] = True
    made = 0
    for start, stop in zip(*run_ends(~clock.good), strict=True):
        rows = np.arange(start, stop)[~good[start:stop]]
        if len(rows) and len(rows) == stop - start and start > 0 and stop < len(time):
            room = (time[stop] - time[start - 1]) / clock.step
            if abs(room - (len(rows) + 1)) < CLOCK.room:
                time[rows] = np.linspace(time[start - 1], time[stop], len(rows) + 2)[1:-1]
                good[rows] = True
                made += len(rows)
    order = np.argsort(np.where(good, time, np.inf), kind="stable")[: int(np.count_nonzero(good))]
    order = order[np.concatenate(([True], np.diff(time[order]) > 0))]  # two rows may claim one place
    left_out = log.samples - len(order)
    done = {"interpolated": made, "put_in_order": len(out_of_order), "left_out": left_out}
    note = (
        f"Of {clock.bad_stamps} rows with bad stamps {made} got interpolated ones, {len(out_of_order)} were "
        f"put in order, and {left_out} left out."
    )
    return _rows(log, order, Step(f"repair: {name}", done, note), time)


def keep_longest_stretch(log: Log) -> Log:
    """The longest run of samples without a long gap."""
    stretch, count = read_clock(log.time).longest_stretch()
    note = f"Only the longest stretch without a long gap was kept: {count} of {log.samples} samples."
    dropped = log.samples - (stretch.stop - stretch.start)
    return _rows(log, stretch, Step(f"repair: {Name.LONG_GAPS}", {"dropped": dropped}, note))


def interpolate_garbage(log: Log) -> Log:
    """Short runs of garbage interpolated; rows of long runs, and at the ends, left out."""
    return _interpolate_values(log, Name.GARBAGE_VALUES, lambda x, good: ~good & np.isfinite(x))


def interpolate_missing(log: Log) -> Log:
    """Short runs of values that are not finite interpolated; rows of long runs, and at the ends, left out."""
    return _interpolate_values(log, Name.MISSING_VALUES, lambda x, good: ~np.isfinite(x))


def interpolate_stale(log: Log, name: Name) -> Log:
    """Samples that repeat the one before interpolated between fresh ones.

    Args:
        log: the log.
        name: stale samples of all channels, or positions that are held regularly.
    """
    held = name is Name.HELD_SAMPLES
    stale = {
        found.channel: found.rows
        for found in stale_samples(log, log_columns(log))
        if (found.held_for > 1) == held and (not held or found.channel == "position")
    }

    def take_stale_out(channel: str, axis: int, x: FloatArray) -> tuple[FloatArray, int]:
        bad = short_runs(stale[channel], REPAIR.longest_run)
        return bridge(x, log.time, bad, np.isfinite(x) & ~stale[channel]), int(np.count_nonzero(bad))

    channels, counts = mend_axes(log, stale, take_stale_out)
    note = f"{sum(counts.values())} {name} were interpolated between fresh ones."
    made = log.with_step(Step(f"repair: {name}", counts, note), channels=channels)
    return _with_made_up(made, stale["torque"]) if "torque" in stale else made


def interpolate_spikes(log: Log) -> Log:
    """Spikes of positions and torques interpolated."""

    torques = np.zeros(log.samples, dtype=bool)

    def take_spikes_out(channel: str, axis: int, x: FloatArray) -> tuple[FloatArray, int]:
        spikes = find_spikes(x, log.time, channel, column_statistics(x))
        wild = np.zeros(len(x), dtype=bool)
        wild[spikes] = True
        if channel == "torque":
            torques[spikes] = True
        return bridge(x, log.time, wild, np.isfinite(x) & ~wild), len(spikes)

    channels, counts = mend_axes(log, ("position", "torque"), take_spikes_out)
    note = f"{sum(counts.values())} wild samples were interpolated from their neighbours."
    made = log.with_step(Step(f"repair: {Name.SPIKES}", counts, note), channels=channels)
    return _with_made_up(made, torques)


def take_as_signed(log: Log) -> Log:
    """Unsigned whole numbers as the signed ones that they stand for."""

    found = {c: unsigned_numbers(log.column(c, axis) for axis in range(log.axes)) for c in log.channels}

    def take(channel: str, axis: int, x: FloatArray) -> tuple[FloatArray, int]:
        numbers = found[channel][axis]
        made = x if numbers is None else numbers.as_signed(x)
        return made, int(np.count_nonzero(made != x))

    channels, counts = mend_axes(log, log.channels, take)
    note = f"{sum(counts.values())} unsigned numbers were taken as the negative ones that they stand for."
    return log.with_step(Step(f"repair: {Name.UNSIGNED_NUMBERS}", counts, note), channels=channels)


def unwrap_positions(log: Log, robot: Robot | None = None) -> Log:
    """Positions without leaps by full turns or by the range of a counter, in the turn nearest zero.

    Args:
        log: the log.
        robot: says which axes turn; all do when None.
    """
    ranges: dict[str, float] = {}

    def unwrap(channel: str, axis: int, x: FloatArray) -> tuple[FloatArray, int]:
        usual = column_statistics(x)
        turn = axis_turn(robot, log, axis, x, usual)
        wraps, good = find_leaps(x, log.time, turn, usual).wraps, usual.measurements(x)
        finite = np.ones(len(x), dtype=bool) if good is None else good
        if not len(wraps):
            return x, 0
        turns = np.zeros(len(x))
        for place in wraps.tolist():
            after = place + 1 + int(np.argmax(finite[place + 1 :]))
            turns[place + 1] += np.sign(x[after] - x[place])
        made = x - turn * np.cumsum(turns)
        middle = 0.5 * (made[finite].min() + made[finite].max())
        whole_turns = abs(turn / TURN - np.round(turn / TURN)) < _WHOLE_TURNS
        if log.side == "motor" or not axis_turns(robot, log, axis) or not whole_turns:
            ranges[str(axis)] = turn
        return made - turn * np.round(middle / turn), len(wraps)

    channels, counts = mend_axes(log, ("position",), unwrap)
    note = f"{sum(counts.values())} leaps by a full turn, or by the range of a counter, were taken back."
    step = Step(f"repair: {Name.WRAPPED_POSITION}", counts | ({_RANGES: ranges} if ranges else {}), note)
    return log.with_step(step, channels=channels)


def counter_ranges(log: Log) -> dict[int, float]:
    """Ranges of those unwrapped axes (from 0) for which another range is another place."""
    steps = [step for step in log.history if step.name == f"repair: {Name.WRAPPED_POSITION}"]
    return {int(axis): turn for step in steps for axis, turn in step.options.get(_RANGES, {}).items()}


def fill_short_gaps(log: Log) -> Log:
    """Missing samples of short gaps interpolated; all others stay as they are."""
    clock = read_clock(log.time)
    short = clock.missing_samples <= CLOCK.short_gap
    gaps, counts = clock.gaps[short], clock.missing_samples[short].astype(int)
    before = np.array([clock.stamp_before(gap) for gap in gaps], dtype=np.intp)
    after = np.array([clock.stamp_before(gap + 1) for gap in gaps], dtype=np.intp)
    rows = np.repeat(before + 1, counts)
    made = [
        np.linspace(log.time[low], log.time[high], count + 2)[1:-1]
        for low, high, count in zip(before, after, counts, strict=True)
    ]
    time = np.insert(log.time, rows, np.concatenate(made) if made else [])
    new = np.insert(np.zeros(log.samples, dtype=bool), rows, True)
    late = _late_rows(log, time, new, after + np.cumsum(counts))

    def fill(x: FloatArray) -> FloatArray:
        wide = np.insert(x, rows, np.nan)
        return bridge(wide, time, new | late, np.isfinite(wide) & ~late)

    channels = {channel: by_columns(fill, values) for channel, values in log.channels.items()}
    done = {"gaps": len(gaps), "interpolated": len(rows), "late": int(np.count_nonzero(late))}
    note = f"{len(rows)} samples that were missing in {len(gaps)} short gaps were interpolated"
    note += f", and {done['late']} that came late after them." if done["late"] else "."
    made_up = new | late
    if log.made_up is not None:
        made_up[~new] |= log.made_up
    step = Step(f"repair: {Name.SHORT_GAPS}", done, note)
    return log.with_step(step, time=time, channels=channels, made_up=made_up)


def _late_rows(log: Log, time: FloatArray, new: BoolArray, after: IndexArray) -> BoolArray:
    """Rows behind gaps whose positions are those of an earlier moment: they waited for their stamp.

    Args:
        log: the log.
        time: its stamps with those of the missing rows.
        new: which of them are missing rows.
        after: the first rows behind gaps, in ``time``.
    """
    late = np.zeros(len(time), dtype=bool)
    late[after] = True
    away = np.zeros(len(after), dtype=bool)
    for axis in range(log.axes if "position" in log.channels else 0):
        x = np.full(len(time), np.nan)
        x[~new] = log.column("position", axis)
        expected = bridge(x, time, late, np.isfinite(x) & ~late)[after]
        usual = column_statistics(x[~new])
        away |= np.abs(x[after] - expected) > max(least_leap(usual), usual.usual_change)
    late[after] = away
    return late


def resample_evenly(log: Log) -> Log:
    """Cubic splines through the samples, read at the constant median rate."""
    period = read_clock(log.time).step
    even = grid(float(log.time[0]), float(log.time[-1]), 1.0 / period)

    def read(x: FloatArray) -> FloatArray:
        if not np.all(np.isfinite(x)):  # a spline would spread what is missing
            return np.interp(even, log.time, x)
        return interpolate(log.time, x[:, None], even)[:, 0]

    channels = {channel: by_columns(read, values) for channel, values in log.channels.items()}
    options = {"rate_hz": 1.0 / period, "samples_before": log.samples, "samples_after": len(even)}
    note = f"Read between the samples at {1.0 / period:.6g} Hz."
    made_up = log.made_up
    if made_up is not None:
        made_up = np.interp(even, log.time, made_up.astype(float)) > 0
    step = Step(f"repair: {Name.JITTER}", options, note)
    return log.with_step(step, time=even, channels=channels, made_up=made_up)


def _rows(
    log: Log,
    rows: BoolArray | IndexArray | slice,
    step: Step | None = None,
    time: FloatArray | None = None,
) -> Log:
    """Some rows of a log, perhaps with other stamps, and what was done noted."""
    channels = {channel: by_columns(lambda x: x[rows], values) for channel, values in log.channels.items()}
    made_up = None if log.made_up is None else log.made_up[rows]
    time = (log.time if time is None else time)[rows]
    made = replace(log, time=time, channels=channels, made_up=made_up)
    return made if step is None else made.with_step(step)


def _interpolate_values(log: Log, name: Name, is_bad: Callable[[FloatArray, BoolArray], BoolArray]) -> Log:
    """Short runs of bad values interpolated; rows of long runs, and of the ends, left out."""
    lost, torques = np.zeros(log.samples, dtype=bool), np.zeros(log.samples, dtype=bool)

    def mend(channel: str, axis: int, x: FloatArray) -> tuple[FloatArray, int]:
        good = column_statistics(x).measurements(x)
        if good is None or not np.any(good):
            return x, 0
        bad = is_bad(x, good)
        short = short_runs(bad, REPAIR.longest_run)
        if channel in NEEDED:
            lost[bad & ~short] = True
        if channel == "torque":
            torques[short] = True
        return bridge(x, log.time, short, good), int(np.count_nonzero(short))

    channels, counts = mend_axes(log, log.channels, mend)
    left_out = int(np.count_nonzero(lost))
    note = f"{sum(counts.values())} values were interpolated from their neighbours"
    note += f", and {left_out} rows left out." if left_out else "."
    step = Step(f"repair: {name}", counts | ({"left_out": left_out} if left_out else {}), note)
    mended = _with_made_up(log.with_step(step, channels=channels), torques)
    return _rows(mended, ~lost) if left_out else mended


def _with_made_up(log: Log, rows: BoolArray) -> Log:
    """The log with more rows whose torques are made up."""
    if not rows.any():
        return log
    return replace(log, made_up=rows if log.made_up is None else log.made_up | rows)


REPAIRS: Mapping[Name, Callable[[Log], Log]] = MappingProxyType(
    {
        Name.DAMAGED_LINES: fill_damaged_lines,
        Name.UNSIGNED_NUMBERS: take_as_signed,
        Name.GARBAGE_ROWS: lambda log: leave_out_rows(log, Name.GARBAGE_ROWS),
        Name.REPEATED_ROWS: lambda log: leave_out_rows(log, Name.REPEATED_ROWS),
        Name.FROZEN_ROWS: lambda log: leave_out_rows(log, Name.FROZEN_ROWS),
        Name.COARSE_CLOCK: restamp_evenly,
        Name.CLOCK_SET_BACK: restamp_clock,
        Name.CLOCK_SET_FORWARD: take_forward_leaps_back,
        Name.LOST_STAMPS: lambda log: mend_stamps(log, Name.LOST_STAMPS),
        Name.BACKWARD_STAMPS: lambda log: mend_stamps(log, Name.BACKWARD_STAMPS),
        Name.REPEATED_STAMPS: lambda log: mend_stamps(log, Name.REPEATED_STAMPS),
        Name.WRAPPED_POSITION: unwrap_positions,
        Name.GARBAGE_VALUES: interpolate_garbage,
        Name.MISSING_VALUES: interpolate_missing,
        Name.STALE_SAMPLES: lambda log: interpolate_stale(log, Name.STALE_SAMPLES),
        Name.HELD_SAMPLES: lambda log: interpolate_stale(log, Name.HELD_SAMPLES),
        Name.SPIKES: interpolate_spikes,
        Name.LONG_GAPS: keep_longest_stretch,
        Name.SHORT_GAPS: fill_short_gaps,
        Name.JITTER: resample_evenly,
    }
)
"""Defects that can be repaired, in the order in which they are: values need time in order."""
