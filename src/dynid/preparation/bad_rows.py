"""Rows that are no measurements: garbage, rows written twice, and rows that repeat the one before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import BoolArray, FloatArray
from dynid.core.finding import Name
from dynid.logs.log import Log
from dynid.preparation.clock import read_clock
from dynid.preparation.column import GARBAGE, ColumnStatistics, column_statistics, run_ends

Columns = Mapping[str, Sequence[ColumnStatistics]]
"""What is usual in each column of a log, by channel and axis."""


@dataclass(frozen=True)
class RowRules:
    """When a row is no measurement. Set on half of a population of damaged files (docs/data-check.md).

    Args:
        odd: share of a row's cells, its stamp among them, that no sensor gives; at least two.
        tiny: magnitude above zero below which no sensor gives a value: bits of something else.
        window: rows to each side whose mean changes say whether a column moves.
        steps: mean change, over the step of the grid, beyond which equal neighbours are no chance.
        common: share of the changes that are equal, beyond which they are steps of a grid.
        alike: share of the changes within a tenth of their median, beyond which that is the step of a grid:
            noise has 0.09.
        motion: the same over the change that one in ten exceeds.
        fewest: stale rows below which nothing is said.
        chance: stale rows over those that equal neighbours of a coarse grid give by chance.
        harm: share of stale rows from which they ask for care.
        frozen: rows in a row that repeat one, in all channels, before a recorder is said to have stopped …
        frozen_share: … and as a share of the log.
        abrupt: speed with which a position enters or leaves them, over the change of its speed between
            samples that one in a hundred exceeds: bodies stop gradually, …
        speed: … and over the change that one in ten exceeds.
        regular: share of the intervals between fresh rows that are alike when a channel is held on purpose.
    """

    odd: float = 0.34
    tiny: float = 1e-30
    window: int = 8
    steps: float = 3.0
    common: float = 0.05
    alike: float = 0.3
    motion: float = 0.02
    fewest: int = 10
    chance: float = 5.0
    harm: float = 0.01
    frozen: int = 20
    frozen_share: float = 0.01
    abrupt: float = 3.5
    speed: float = 0.3
    regular: float = 0.8


ROWS = RowRules()


def log_columns(log: Log) -> Columns:
    """What is usual in each column of a log."""
    return {
        name: tuple(column_statistics(log.column(name, axis)) for axis in range(log.axes))
        for name in log.channels
    }


def rows_to_leave_out(log: Log, columns: Columns) -> dict[Name, BoolArray]:
    """Rows that are no measurements, by the name of what they are.

    Args:
        log: the log.
        columns: what is usual in its columns.
    """
    return {
        Name.GARBAGE_ROWS: garbage_rows(log, columns),
        Name.REPEATED_ROWS: rows_written_twice(log),
        Name.FROZEN_ROWS: frozen_rows(log, columns),
    }


def garbage_rows(log: Log, columns: Columns) -> BoolArray:
    """Rows of which a third of the cells and more, two at least, can be no measurements.

    Args:
        log: the log.
        columns: what is usual in its columns.
    """
    dirty = [(c, axis) for c, axes in columns.items() for axis, usual in enumerate(axes) if not usual.clean]
    clock = read_clock(log.time)
    odd = np.zeros(log.samples, dtype=np.int64)
    if not dirty:
        return odd > 0
    for channel, axes in columns.items():
        for axis, usual in enumerate(axes):
            x = log.column(channel, axis)
            odd += ~((x >= usual.low) & (x <= usual.high)) | ((np.abs(x) < ROWS.tiny) & (x != 0))
    odd += ~clock.good
    cells = 1 + sum(len(axes) for axes in columns.values())
    return odd >= max(2.0, ROWS.odd * cells)


def rows_written_twice(log: Log) -> BoolArray:
    """Rows that equal an earlier one in stamp and values: a buffer that was written twice."""
    twice = np.zeros(log.samples, dtype=bool)
    if np.all(log.time[1:] > log.time[:-1]):
        return twice
    order = np.argsort(log.time, kind="stable")
    first, later = order[:-1], order[1:]
    same = log.time[first] == log.time[later]  # NaN is not
    first, later = first[same], later[same]
    for channel in log.channels:
        for axis in range(log.axes):
            x = log.column(channel, axis)
            alike = (x[first] == x[later]) | (np.isnan(x[first]) & np.isnan(x[later]))
            first, later = first[alike], later[alike]
    if len(later):
        # Beside each other the clock may be coarse; behind the first row that is apart all are copies.
        apart = np.cumsum(later - first > 1)
        begins = np.concatenate(([True], first[1:] != later[:-1]))
        before = np.concatenate(([0], apart[:-1]))[begins]
        twice[later[apart > np.repeat(before, np.diff(np.append(np.flatnonzero(begins), len(later))))]] = True
    return twice


def frozen_rows(log: Log, columns: Columns) -> BoolArray:
    """Rows with which a recorder repeats one row, torques that are not zero too, while the robot moves on.

    That it moved is seen where they begin or end: a robot that comes to rest does so gradually.

    Args:
        log: the log.
        columns: what is usual in its columns.
    """
    frozen, same = np.zeros(log.samples, dtype=bool), np.ones(log.samples, dtype=bool)
    if not {"position", "torque"} <= set(columns):
        return frozen
    same[:1] = False
    for channel, axes in columns.items():
        for axis in (axis for axis, usual in enumerate(axes) if usual.span > 0):
            x = log.column(channel, axis)
            same[1:] &= x[1:] == x[:-1]
    for start, stop in zip(*run_ends(same), strict=True):
        long = stop - start >= max(ROWS.frozen, ROWS.frozen_share * log.samples)
        if long and np.any(log.channels["torque"][start:stop]) and _breaks_off(log, columns, start, stop):
            frozen[start:stop] = True
    return frozen


def _breaks_off(log: Log, columns: Columns, start: int, stop: int) -> bool:
    """Whether a position enters or leaves some rows with a speed that no body loses at once."""
    for axis, usual in enumerate(columns["position"]):
        x, (first, second, third) = log.column("position", axis), usual.threes.T
        gradual = float(np.quantile(np.abs(third - 2 * second + first), 0.99)) if len(first) else 0.0
        slow = max(ROWS.abrupt * gradual, ROWS.speed * usual.usual_change, 1e-9 * usual.span)
        before = abs(x[start - 1] - x[start - 4]) / 3 if start > 3 else 0.0
        after = abs(x[stop + 2] - x[stop - 1]) / 3 if stop + 2 < len(x) else 0.0
        if max(before, after) > slow:
            return True
    return False


@dataclass(frozen=True, eq=False)
class StaleSamples:
    """Rows in which a channel repeats the row before although it moves.

    Args:
        channel: the channel, all of its axes.
        rows: which, (samples,).
        held_for: rows for which each value is held, where that is regular; 1 where it is not.
    """

    channel: str
    rows: BoolArray
    held_for: int

    @property
    def count(self) -> int:
        """Number of stale rows."""
        return int(np.count_nonzero(self.rows))

    @property
    def longest(self) -> int:
        """Stale rows in a row, at most."""
        starts, stops = run_ends(self.rows)
        return int((stops - starts).max(initial=0))


def stale_samples(log: Log, columns: Columns) -> tuple[StaleSamples, ...]:
    """Channels of which all axes repeat the row before, while at least one moves: nothing new had come.

    A coarse channel has equal neighbours by chance, about as often as neighbours one step apart, or as it
    comes back to a value after one row; a robot at rest has them too. Neither counts.

    Args:
        log: the log.
        columns: what is usual in its columns.
    """
    found = []
    for channel in columns:
        rows, moves, by_chance = _repeats(log, channel, columns[channel])
        count = int(np.count_nonzero(rows))
        if count >= ROWS.fewest + ROWS.chance * by_chance:
            found.append(StaleSamples(channel, rows, _hold(rows, int(np.count_nonzero(moves)))))
    return tuple(found)


def _repeats(log: Log, channel: str, axes: Sequence[ColumnStatistics]) -> tuple[BoolArray, BoolArray, float]:
    """Rows that repeat the one before though a channel moves; those in which it moves; what chance gives."""
    moving = [axis for axis, usual in enumerate(axes) if usual.span > 0]
    same, as_two_before = np.ones(log.samples, dtype=bool), np.ones(log.samples, dtype=bool)
    same[:1], as_two_before[:2] = False, False
    for axis in moving:
        x = log.column(channel, axis)
        same[1:] &= x[1:] == x[:-1]
        as_two_before[2:] &= x[2:] == x[:-2]
    if not moving or np.count_nonzero(same) < ROWS.fewest:
        return np.zeros(log.samples, dtype=bool), same, 0.0
    moves = np.zeros(log.samples, dtype=bool)
    beside = np.ones(log.samples)  # share of neighbours one step apart, of all axes together
    for axis in moving:
        usual = axes[axis]
        change = np.abs(np.diff(log.column(channel, axis), prepend=np.nan))
        step = _step(usual)
        before, after = _means_beside(change)  # both: a robot that starts or stops is at rest on one side
        moves |= np.minimum(before, after) > max(ROWS.steps * step, ROWS.motion * usual.usual_change)
        beside *= sum(_means_beside(0.25 * np.asarray(np.abs(change - step) < 0.25 * step, dtype=float)))
    back_again = np.count_nonzero(as_two_before & ~same & moves)
    return _without_rests(same, moves), moves, max(float(np.sum(beside[moves])), float(back_again))


def _without_rests(same: BoolArray, moves: BoolArray) -> BoolArray:
    """Rows that repeat the one before, without runs in which the motion comes to rest: these are holds."""
    starts, stops = run_ends(same)
    still = np.concatenate([[0], np.cumsum(~moves)])
    lengths, resting = stops - starts, still[stops] - still[starts]
    usual = float(np.median(lengths[resting == 0])) if np.any(resting == 0) else 0.0
    whole = (resting == 0) | ((resting < lengths) & (lengths <= usual))  # a usual hold, as the motion begins
    edges = np.zeros(len(same) + 1, dtype=np.int8)
    edges[starts[whole]], edges[stops[whole]] = 1, -1  # runs never touch
    return np.cumsum(edges[:-1]) > 0


def _step(usual: ColumnStatistics) -> float:
    """The step of a column's grid, also where a few values lie beside it, or all nearly on it; else 0.

    Args:
        usual: what is usual in the column.
    """
    changes = np.abs(usual.threes[:, 1] - usual.threes[:, 0])
    moved = changes[changes > 0]
    if not len(moved):
        return 0.0
    digits = 1e-7 * usual.span
    sizes, counts = np.unique(np.round(moved / digits), return_counts=True)
    common = sizes[counts > ROWS.common * len(moved)]
    if len(common):
        return float(common[0] * digits)
    median = float(np.median(moved))
    alike = np.mean(np.abs(moved - median) < 0.1 * median) > ROWS.alike
    return usual.step or (median if alike else 0.0)


def _means_beside(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean over the rows before each, and over those after it; what is beyond reason counts as zero."""
    total = np.concatenate(([0.0], np.cumsum(np.where(np.abs(x) < GARBAGE.largest, x, 0.0))))
    row = np.arange(len(x))
    low, high = np.maximum(row - ROWS.window, 0), np.minimum(row + ROWS.window + 1, len(x))
    return (total[row] - total[low]) / ROWS.window, (total[high] - total[row + 1]) / ROWS.window


def _hold(stale: BoolArray, moving: int) -> int:
    """Rows from one fresh row to the next where nearly all are alike and more than one; else 1.

    Args:
        stale: rows that repeat the one before though the channel moves.
        moving: rows in which it moves.
    """
    fresh = np.flatnonzero(~stale)
    intervals = np.diff(fresh)
    held = intervals[intervals > 1]
    if not len(held):
        return 1
    usual = int(np.median(held))
    covered = float(np.sum(intervals[intervals == usual])) / max(moving, 1)
    return usual if covered > ROWS.regular else 1
