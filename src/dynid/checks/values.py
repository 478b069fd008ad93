"""Are the values measurements? NaN, infinities, garbage, damaged lines, and what the reader left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynid.checks.data_check import Checked
from dynid.core.arrays import BoolArray
from dynid.core.finding import Finding, Level, Name, Where
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.bad_rows import (
    ROWS,
    Columns,
    StaleSamples,
    rows_to_leave_out,
    stale_samples,
)
from dynid.preparation.clock import damaged_rows
from dynid.preparation.column import ColumnStatistics, run_ends, short_runs
from dynid.preparation.repair import NEEDED, REPAIR
from dynid.preparation.wraps import overflowing_bits, unsigned_numbers

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

_BAD_ROWS: Mapping[str, str] = {
    Name.GARBAGE_ROWS: "garbage: a third or more of their numbers can be no measurements",
    Name.REPEATED_ROWS: "copies of earlier ones, stamps and values alike",
    Name.FROZEN_ROWS: "frozen: the recorder repeats a row while the robot moves",
}
"""What rows are that are left out."""


@dataclass(frozen=True)
class _Holes:
    """Bad samples.

    Args:
        count: how many.
        first: the first of them.
        longest: length of the longest run …
        longest_at: … and where it begins.
        bridged: those in runs that are short enough to be interpolated.
        piece: samples of the longest piece between the other runs.
    """

    count: int
    first: int
    longest: int
    longest_at: int
    bridged: int
    piece: int

    def mendable(self, samples: int) -> bool:
        """Whether enough is left when short runs are interpolated, and rows of long ones left out."""
        return self.bridged <= REPAIR.most_lost * samples and self.piece >= REPAIR.least_kept * samples


def _holes(bad: BoolArray) -> _Holes | None:
    starts, stops = run_ends(bad)
    if not len(starts):
        return None
    lengths = stops - starts
    longest = int(np.argmax(lengths))
    short = short_runs(bad, REPAIR.longest_run)
    first, last = run_ends(~bad | short)
    return _Holes(
        int(lengths.sum()),
        int(starts[0]),
        int(lengths[longest]),
        int(starts[longest]),
        int(np.count_nonzero(short)),
        int((last - first).max(initial=0)),
    )


def check_reading(log: Log, columns: Columns, robot: Robot | None = None) -> Checked:
    """Channels that are missing, damaged lines, and what the reader left out or chose.

    Args:
        log: the log.
        columns: not needed.
        robot: not needed.
    """
    empty = damaged_rows(log)
    findings = [*_left_out(log), *([] if empty is None else _damaged_lines(log, empty))]
    for channel in NEEDED:
        if channel not in log.channels:
            sentence, place = f"The log has no {channel}.", Where(channel=channel)
            remedy = f"Say its columns in [{channel}] of a mapping (dynid map writes one to start from)."
            findings.append(Finding(Name.MISSING_CHANNEL, Level.FAIL, sentence, remedy, place))
    return Checked(tuple(findings))


def check_numbers(log: Log, columns: Columns, robot: Robot | None = None) -> Checked:
    """Signed whole numbers that were logged as unsigned ones, and torques that overflow.

    Args:
        log: the log.
        columns: what is usual in its columns.
        robot: not needed.
    """
    findings = []
    for channel, axes in columns.items():
        if all(usual.least < 0 < usual.most for usual in axes):
            continue
        for axis, numbers in enumerate(unsigned_numbers(log.column(channel, a) for a in range(log.axes))):
            if numbers is None:
                continue
            x = log.column(channel, axis)
            count = int(np.count_nonzero(numbers.as_signed(x) != x))
            sentence = (
                f"{channel} of axis {axis + 1} holds signed numbers of {numbers.bits} bits as unsigned ones: "
                f"{count} of {log.samples} lie below {numbers.modulus:.4g} and stand for negative ones."
            )
            place, figures = Where(channel=channel, axis=axis + 1), {"bits": numbers.bits, "values": count}
            remedy = "Take them as signed."
            findings.append(
                Finding(Name.UNSIGNED_NUMBERS, Level.CARE, sentence, remedy, place, figures, repairable=True)
            )
    return Checked((*findings, *_overflowing_torques(log, columns)))


def _overflowing_torques(log: Log, columns: Columns) -> list[Finding]:
    findings = []
    for axis, usual in enumerate(columns.get("torque", ())):
        bits = overflowing_bits(log.column("torque", axis), usual)
        if not bits:
            continue
        sentence = (
            f"torque of axis {axis + 1} overflows its {bits} bits: it leaps between {usual.most:.4g} and "
            f"{usual.least:.4g}, the ends of its range."
        )
        remedy = "Record it in wider numbers, or with a smaller motion."
        place, figures = Where(channel="torque", axis=axis + 1), {"bits": bits}
        findings.append(Finding(Name.OVERFLOWING_NUMBERS, Level.FAIL, sentence, remedy, place, figures))
    return findings


def check_rows(log: Log, columns: Columns, robot: Robot | None = None) -> Checked:
    """Whole rows of garbage, rows that were written twice, and a recorder that stood still.

    Args:
        log: the log.
        columns: what is usual in its columns.
        robot: not needed.
    """
    findings = []
    for name, bad in rows_to_leave_out(log, columns).items():
        holes = _holes(bad)
        if holes is None:
            continue
        few = holes.count <= (1 - REPAIR.least_kept) * log.samples
        sentence = f"{holes.count} of {log.samples} rows are {_BAD_ROWS[name]}."
        remedy = "Leave these rows out." if few else "They are too many; record it again."
        moment = f"first row {holes.first + 1}, longest run {holes.longest} at row {holes.longest_at + 1}"
        level, figures = Level.CARE if few else Level.FAIL, {"rows": holes.count}
        findings.append(Finding(name, level, sentence, remedy, Where(moment=moment), figures, repairable=few))
    return Checked(tuple(findings))


def check_stale(log: Log, columns: Columns, robot: Robot | None = None) -> Checked:
    """Channels that repeat the row before although the robot moves.

    Args:
        log: the log.
        columns: what is usual in its columns.
        robot: not needed.
    """
    findings = []
    for stale in stale_samples(log, columns):
        count, share, channel = stale.count, stale.count / log.samples, stale.channel
        place = Where(channel=channel, moment=f"first at sample {int(np.argmax(stale.rows)) + 1}")
        figures = {"rows": count, "longest": stale.longest, "held_for": stale.held_for}
        if stale.held_for > 1:
            findings.append(_held_samples(stale, place, figures))
            continue
        mendable = share <= REPAIR.most_stale
        sentence = (
            f"{channel} is stale in {count} of {log.samples} rows ({100 * share:.2g} %): all axes repeat the "
            f"row before while the robot moves, up to {stale.longest} times in a row."
        )
        remedy = (
            "Interpolate them between the fresh ones." if mendable else "Record it at the rate of the bus."
        )
        level = Level.CARE if channel in NEEDED and share >= ROWS.harm else Level.NOTE
        findings.append(Finding(Name.STALE_SAMPLES, level, sentence, remedy, place, figures, mendable))
    return Checked(tuple(findings))


def _held_samples(stale: StaleSamples, place: Where, figures: Mapping[str, Any]) -> Finding:
    """A channel that is held regularly: positions were measured seldom, torques may be held in truth."""
    channel, rows = stale.channel, stale.held_for
    sentence = f"{channel} is new in every {_ordinal(rows)} row only, and held in between."
    if channel == "position":
        remedy = f"Interpolate between the new ones, or say thin = {rows} in [position] of a mapping."
        keys = {"position": {"thin": rows}}
        return Finding(Name.HELD_SAMPLES, Level.CARE, sentence, remedy, place, figures, True, keys)
    remedy = (
        f"If it was measured at that lower rate, say thin = {rows} in [{channel}] of a mapping; a torque "
        "that the controller itself holds stays as it is."
    )
    return Finding(Name.HELD_SAMPLES, Level.NOTE, sentence, remedy, place, figures)


def _ordinal(count: int) -> str:
    return {2: "second", 3: "third"}.get(count, f"{count}th")


def check_values(log: Log, columns: Columns, robot: Robot | None = None) -> Checked:
    """NaN, infinities and garbage per channel and axis.

    Args:
        log: the log.
        columns: what is usual in its columns.
        robot: not needed.
    """
    empty, findings = damaged_rows(log), list[Finding]()
    for channel, axes in columns.items():
        for axis, usual in enumerate(axes):
            if not usual.clean:
                findings += _bad_values(log, channel, axis, usual, empty)
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
        else "Too little is left without them; say delimiter, decimal or skip_lines in [csv] of a mapping, "
        "or mend the file."
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
        mendable, needed = holes.mendable(log.samples), channel in NEEDED
        remedy = "Interpolate them."
        if holes.bridged < holes.count:
            remedy = "Interpolate short runs, and leave the rows of long ones and of the ends out."
        if not mendable:
            remedy = (
                "Too little is left without them; cut the file to rows that hold values, or record again."
            )
        if holes.count == log.samples:
            remedy = f"The channel was not recorded; say its columns in [{channel}] of a mapping."
        moment = (
            f"first at sample {holes.first + 1}, longest run {holes.longest} at sample {holes.longest_at + 1}"
        )
        sentence = f"{holes.count} of {log.samples} values of {channel} on axis {axis + 1} {words}."
        mendable = mendable and (needed or holes.bridged > 0)
        level = Level.CARE if mendable else Level.FAIL if needed else Level.NOTE
        place = Where(channel=channel, axis=axis + 1, moment=moment)
        found.append(Finding(name, level, sentence, remedy, place, repairable=mendable))
    return found
