"""Are the values measurements? NaN, infinities, garbage, damaged lines, and what the reader left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dynid.checks.data_check import Checked
from dynid.core.arrays import BoolArray
from dynid.core.finding import Finding, Level, Name, Where
from dynid.logs.log import Log
from dynid.preparation.clock import damaged_rows
from dynid.preparation.column import ColumnStatistics, column_statistics, run_ends
from dynid.preparation.repair import REPAIR

Columns = Mapping[str, Sequence[ColumnStatistics]]
"""What is usual in each column of a log, by channel and axis."""
_STOPPED = "Nothing need be done if the recording was stopped there; else record it again."
_CHOSEN = "Make sure that this is what is meant."
_NOTED_BY_READER: Mapping[str, tuple[Level, str]] = {
    Name.TRUNCATED_ROW: (Level.CARE, _STOPPED),
    Name.CUT_TO_COMMON_LENGTH: (Level.NOTE, _STOPPED),
    Name.MESSAGES_LEFT_OUT: (Level.CARE, _STOPPED),
    Name.TOPIC_CHOSEN: (Level.NOTE, _CHOSEN),
    Name.PUBLISHERS_MERGED: (Level.NOTE, _CHOSEN),
    Name.COLUMNS_NOT_TAKEN: (Level.NOTE, _CHOSEN),
}
"""Steps of the reader that are worth a finding, with level and remedy."""
_NEEDED = ("position", "torque")
"""Channels that a fit needs; holes in others do no harm."""


def log_columns(log: Log) -> Columns:
    """What is usual in each column of a log."""
    return {
        name: tuple(column_statistics(log.column(name, axis)) for axis in range(log.axes))
        for name in log.channels
    }


@dataclass(frozen=True)
class _Holes:
    """Bad samples: how many, the first, the longest run and where it begins."""

    count: int
    first: int
    longest: int
    longest_at: int

    def mendable(self, samples: int) -> bool:
        """Whether they are few enough to be interpolated."""
        return self.longest <= REPAIR.longest_run and self.count <= REPAIR.most_lost * samples


def _holes(bad: BoolArray) -> _Holes | None:
    starts, stops = run_ends(bad)
    if not len(starts):
        return None
    lengths = stops - starts
    longest = int(np.argmax(lengths))
    return _Holes(int(lengths.sum()), int(starts[0]), int(lengths[longest]), int(starts[longest]))


def check_values(log: Log, columns: Columns) -> Checked:
    """NaN, infinities and garbage per channel and axis, damaged lines, and what the reader left out.

    Args:
        log: the log.
        columns: what is usual in its columns.
    """
    empty = damaged_rows(log)
    findings = [*_left_out(log), *([] if empty is None else _damaged_lines(log, empty))]
    for channel, axes in columns.items():
        for axis, usual in enumerate(axes):
            if not usual.clean:
                findings += _bad_values(log, channel, axis, usual, empty)
    for channel in _NEEDED:
        if channel not in log.channels:
            sentence, place = f"The log has no {channel}.", Where(channel=channel)
            findings.append(Finding(Name.MISSING_CHANNEL, Level.FAIL, sentence, "Map its columns.", place))
    return Checked(tuple(findings))


def _left_out(log: Log) -> list[Finding]:
    """What the reader noted about rows that were not whole and choices that it made."""
    noted = [step for step in log.history if step.name in _NOTED_BY_READER]
    return [
        Finding(Name(step.name), level, step.note, remedy)
        for step, (level, remedy) in ((step, _NOTED_BY_READER[step.name]) for step in noted)
    ]


def _damaged_lines(log: Log, empty: BoolArray) -> list[Finding]:
    """Lines of a file that could not be read and are not repaired yet."""
    holes = _holes(empty)
    if holes is None:
        return []
    step = next(step for step in log.history if step.name == Name.DAMAGED_LINES)
    mendable = holes.mendable(log.samples)
    remedy = (
        "Leave these samples out, or interpolate them where the stamps have room for them."
        if mendable
        else "They are too many, or too many in a row; mend the file, or cut the log there."
    )
    lines = step.options["lines"]
    place = Where(moment=f"line{'s' * (len(lines) > 1)} {', '.join(str(line) for line in lines[:10])}")
    level = Level.CARE if mendable else Level.FAIL
    return [Finding(Name.DAMAGED_LINES, level, step.note, remedy, place, repairable=mendable)]


def _bad_values(
    log: Log, channel: str, axis: int, usual: ColumnStatistics, empty: BoolArray | None
) -> list[Finding]:
    """Values of an axis that are missing or garbage."""
    x = log.column(channel, axis)
    finite = np.isfinite(x)
    garbage = finite & ~((x >= usual.low) & (x <= usual.high))
    lost = ~finite if empty is None else ~finite & ~empty
    example = float(x[np.argmax(garbage)])
    kinds = {
        Name.MISSING_VALUES: (lost, "are NaN or infinite"),
        Name.GARBAGE_VALUES: (garbage, f"are beyond reason (such as {example:.3g})"),
    }
    found = []
    for name, (bad, words) in kinds.items():
        holes = _holes(bad)
        if holes is None:
            continue
        mendable, needed = holes.mendable(log.samples), channel in _NEEDED
        remedy = "Interpolate them."
        if not mendable:
            remedy = "They are too many in a row to interpolate; cut the log there."
        if holes.count == log.samples:
            remedy = "The channel was not recorded; check the columns of the mapping."
        moment = (
            f"first at sample {holes.first + 1}, longest run {holes.longest} at sample {holes.longest_at + 1}"
        )
        sentence = f"{holes.count} of {log.samples} values of {channel} on axis {axis + 1} {words}."
        level = Level.CARE if mendable else Level.FAIL if needed else Level.NOTE
        place = Where(channel=channel, axis=axis + 1, moment=moment)
        found.append(Finding(name, level, sentence, remedy, place, repairable=mendable))
    return found
