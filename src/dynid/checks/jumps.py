"""Findings about positions and torques that leap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.checks.finding import Checked, defect
from dynid.checks.leaps import OVERLAP, leaps_in, least_leap, turning, wild_torques
from dynid.checks.limits import sane
from dynid.checks.piece import Piece, piece_of
from dynid.checks.survey import AxisSurvey, Survey, survey_log
from dynid.checks.windows import Window
from dynid.core.finding import Finding
from dynid.logs.log import Log
from dynid.model.robot import Robot

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
_MOST_SPIKES = 0.01
"""Share of an axis that may be spikes."""


def check_leaps(log: Log, robot: Robot | None = None) -> Checked:
    """Wraps, spikes and jumps of the positions.

    Args:
        log: raw.
        robot: says which axes turn.
    """
    survey = survey_log(log)
    leaps = LeapChecks(survey, robot)
    leaps.take(piece_of(log, survey))
    return leaps.finish()


@dataclass(frozen=True)
class _Place:
    """A sample that leaps: its number, stamp [s] and size or value."""

    sample: int
    time: float
    size: float


class _AxisLeaps:
    """Leaps of one axis, counted, with the first or the worst of each kind.

    Args:
        usual: what is usual on the axis.
        turns: whether it turns.
        torque: whether only what is far beyond the usual range counts.
    """

    def __init__(self, usual: AxisSurvey, turns: bool, torque: bool) -> None:
        self.wraps = self.spikes = self.jumps = 0
        self.first_wrap: _Place | None = None
        self.first_spike: _Place | None = None
        self.worst: _Place | None = None
        self._usual, self._turns, self._torque = usual, turns, torque
        self._floor = least_leap(usual)

    def take(self, x: FloatArray, good: BoolArray | None, time: FloatArray, core: slice, first: int) -> None:
        """A window of the axis, the part of it that is new, and the number of its first sample."""
        found = leaps_in(x, time, good, self._floor, self._turns).within(core.start, core.stop - core.start)
        if not found:
            return
        spikes = found.spikes
        if self._torque:
            spikes = spikes[wild_torques(x[spikes], self._usual.middle, self._usual.travel)]

        def place(at: int, size: float) -> _Place:
            return _Place(first + at, float(time[at]), size)

        if len(found.wraps) and self.first_wrap is None:
            self.first_wrap = place(int(found.wraps[0]), 0.0)
        if len(spikes) and self.first_spike is None:
            self.first_spike = place(int(spikes[0]), float(x[spikes[0]]))
        if len(found.jumps):
            worst = int(np.argmax(np.abs(found.sizes)))
            size = float(found.sizes[worst])
            if self.worst is None or abs(size) > abs(self.worst.size):
                self.worst = place(int(found.jumps[worst]), size)
        self.wraps += len(found.wraps)
        self.spikes += len(spikes)
        self.jumps += len(found.jumps)


class LeapChecks:
    """Wraps, spikes and jumps of a log that comes in pieces.

    Args:
        survey: what is usual in it.
        robot: says which axes turn.
    """

    def __init__(self, survey: Survey, robot: Robot | None = None) -> None:
        """Begin before the first sample."""
        self._samples = survey.samples
        self._names = [name for name in ("position", "torque") if name in survey.channels]
        self._axes = {
            name: [
                _AxisLeaps(usual, name == "position" and turning(robot, survey.rows, axis), name == "torque")
                for axis, usual in enumerate(survey.channels[name])
            ]
            for name in self._names
        }
        self._limits = {name: [(a.low, a.high) for a in survey.channels[name]] for name in self._names}
        columns = [(name, axis) for name in self._names for axis in range(len(self._axes[name]))]
        self._windows = {column: Window(OVERLAP, OVERLAP) for column in columns}
        self._stamps = Window(OVERLAP, OVERLAP)

    def take(self, piece: Piece) -> None:
        """The next piece."""
        time, core, first = self._stamps.take(piece.log.time, piece.last)
        for (name, axis), window in self._windows.items():
            x, _, _ = window.take(piece.columns[name][axis].x, piece.last)
            self._axes[name][axis].take(x, sane(x, *self._limits[name][axis]), time, core, first)

    def finish(self) -> Checked:
        """What was found."""
        findings: list[Finding] = []
        for name, axes in self._axes.items():
            for axis, found in enumerate(axes):
                findings += self._told(name, axis, found)
        return Checked(tuple(findings))

    def _told(self, channel: str, axis: int, found: _AxisLeaps) -> list[Finding]:
        told = []
        if found.first_wrap is not None and channel == "position":
            often = _times(found.wraps)
            sentence = f"position of axis {axis + 1} wraps around: it leaps by a full turn {often}."
            told.append(
                _finding("wrapped position", sentence, "Unwrap it.", channel, axis, found.first_wrap, True)
            )
        if found.first_spike is not None:
            few = found.spikes <= _MOST_SPIKES * self._samples
            sentence = (
                f"{channel} of axis {axis + 1} has spikes, wild samples between sound ones ({found.spikes} "
                f"of {self._samples}, such as {found.first_spike.size:.4g})."
            )
            remedy = "Interpolate over them." if few else "They are too many; record it again."
            told.append(_finding("spikes", sentence, remedy, channel, axis, found.first_spike, few))
        if found.worst is not None and channel == "position":
            sentence = (
                f"position of axis {axis + 1} jumps between two samples {_times(found.jumps)}, most by "
                f"{found.worst.size:.3g}: the encoder slipped, rows are missing, or pieces were joined."
            )
            remedy = "Cut the log there and give the pieces as experiments of their own, or record it again."
            told.append(_finding("position jump", sentence, remedy, channel, axis, found.worst, False))
        return told


def _finding(
    name: str, sentence: str, remedy: str, channel: str, axis: int, place: _Place, repairable: bool
) -> Finding:
    where = f"t = {place.time:.4f} s, sample {place.sample + 1}"
    severity = "warning" if repairable else "error"
    return defect(name, severity, sentence, remedy, channel, axis + 1, where, repairable)


def _times(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else f"{count} times"
