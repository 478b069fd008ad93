"""Values that are no measurements: NaN, infinities, garbage, rows cut off."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.checks.finding import Checked, defect
from dynid.checks.piece import DAMAGED, Piece, empty_rows, piece_of
from dynid.checks.runs import RunTally
from dynid.checks.survey import Survey, survey_log
from dynid.core.finding import Finding
from dynid.logs.log import Log

BoolArray = NDArray[np.bool_]
LONGEST_RUN = 20
"""Samples in a row that interpolation may bridge."""
_MOST_LOST = 0.05
"""Share of an axis that may be interpolated."""
_STOPPED = "Nothing need be done if the recording was stopped there; else record it again."
_CHOSEN = "Make sure that this is what is meant."
_TOLD = {
    "truncated row": ("warning", _STOPPED),
    "cut to common length": ("note", _STOPPED),
    "messages left out": ("warning", _STOPPED),
    "topic chosen": ("note", _CHOSEN),
    "publishers merged": ("note", _CHOSEN),
    "columns not taken": ("note", _CHOSEN),
}
"""Steps of the reader that are worth a finding, with severity and remedy."""


def check_values(log: Log) -> Checked:
    """NaN, infinities and garbage per channel and axis, and rows that the reader had to leave out."""
    survey = survey_log(log)
    values = Values(survey)
    values.take(piece_of(log, survey))
    return values.finish()


class _AxisTally:
    """Values of an axis that are lost or garbage."""

    def __init__(self) -> None:
        self.lost = RunTally()
        self.wild = RunTally()
        self.example = 0.0

    def take(self, x: NDArray[np.float64], good: BoolArray | None, empty: BoolArray | None) -> None:
        if good is None:
            self.lost.take(None, len(x))
            self.wild.take(None, len(x))
            return
        finite = np.isfinite(x)
        wild = finite & ~good
        if self.wild.count == 0 and np.any(wild):
            self.example = float(x[wild][0])
        self.wild.take(wild, len(x))
        self.lost.take(~finite if empty is None else ~finite & ~empty, len(x))


class Values:
    """NaN, infinities and garbage of a log that comes in pieces.

    Args:
        survey: what is usual in it.
    """

    def __init__(self, survey: Survey) -> None:
        """Begin before the first sample."""
        self._survey = survey
        self._axes = {name: [_AxisTally() for _ in axes] for name, axes in survey.channels.items()}
        self._empty = RunTally()

    def take(self, piece: Piece) -> None:
        """The next piece."""
        self._empty.take(piece.empty, piece.log.samples)
        for name, columns in piece.columns.items():
            for tally, column in zip(self._axes[name], columns, strict=True):
                tally.take(column.x, column.sane, piece.empty)

    def finish(self) -> Checked:
        """What was found."""
        log, samples = self._survey.rows, self._survey.samples
        findings = [*_left_out(log), *_damaged(log, self._empty, samples)]
        for channel, axes in self._axes.items():
            for axis, tally in enumerate(axes):
                lost = "are NaN or infinite"
                findings += _judged(samples, channel, axis, tally.lost, "missing values", lost)
                wild = f"are beyond reason (such as {tally.example:.3g})"
                findings += _judged(samples, channel, axis, tally.wild, "garbage values", wild)
        for channel in ("position", "torque"):
            if channel not in log.channels:
                sentence = f"The log has no {channel}."
                findings.append(defect("missing channel", "error", sentence, "Map its columns.", channel))
        return Checked(tuple(findings))


def damaged_rows(log: Log) -> BoolArray:
    """Samples of damaged lines, where a whole channel holds nothing; none when no line was damaged."""
    if any(step.name == DAMAGED for step in log.history):
        return empty_rows(log)
    return np.zeros(log.samples, dtype=bool)


def _damaged(log: Log, empty: RunTally, samples: int) -> list[Finding]:
    """Lines of a file that could not be read and are not repaired yet."""
    if not empty.count:
        return []
    step = next(step for step in log.history if step.name == DAMAGED)
    mendable = empty.longest <= LONGEST_RUN and empty.count <= _MOST_LOST * samples
    remedy = (
        "Leave these samples out, or interpolate them where the stamps have room for them."
        if mendable
        else "They are too many, or too many in a row; mend the file, or cut the log there."
    )
    lines = step.options["lines"]
    where = f"line{'s' * (len(lines) > 1)} {', '.join(str(line) for line in lines[:10])}"
    severity = "warning" if mendable else "error"
    return [defect(DAMAGED, severity, step.note, remedy, None, None, where, mendable)]


def _judged(samples: int, channel: str, axis: int, bad: RunTally, name: str, words: str) -> list[Finding]:
    if bad.count == 0:
        return []
    where = f"first at sample {bad.first + 1}, longest run {bad.longest} at sample {bad.at + 1}"
    mendable = bad.longest <= LONGEST_RUN and bad.count <= _MOST_LOST * samples
    sentence = f"{bad.count} of {samples} values of {channel} on axis {axis + 1} {words}."
    remedy = (
        "Interpolate them." if mendable else "They are too many in a row to interpolate; cut the log there."
    )
    if bad.count == samples:
        remedy = "The channel was not recorded; check the columns of the mapping."
    severity = "warning" if mendable else "error"
    if channel in ("velocity", "reference"):  # no fit needs them
        severity = "warning" if mendable else "note"
    return [defect(name, severity, sentence, remedy, channel, axis + 1, where, mendable)]


def _left_out(log: Log) -> list[Finding]:
    """What the reader noted about rows that were not whole."""
    return [
        defect(step.name, _TOLD[step.name][0], step.note, _TOLD[step.name][1])
        for step in log.history
        if step.name in _TOLD
    ]
