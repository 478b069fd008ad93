"""Channels that stand still, for good or for a while."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dynid.checks.finding import defect
from dynid.checks.piece import Piece
from dynid.checks.runs import run_ends
from dynid.checks.survey import Survey
from dynid.core.finding import Finding

_FROZEN, _SHARE = 100, 0.02
"""Samples, and share of the log, that a freeze lasts at least."""
_HELD = 8.0
"""How many times the usual hold of a coarse channel a freeze must last."""


@dataclass(frozen=True)
class Levels:
    """What values an axis takes: whether any is sane, the least and largest, the quantisation step.

    Args:
        some: whether there are sane values.
        low: the least.
        high: the largest.
        step: quantisation; None when there is no grid.
        coarse: whether there are few levels.
    """

    some: bool
    low: float
    high: float
    step: float | None
    coarse: bool

    @property
    def span(self) -> float:
        """Largest minus least."""
        return self.high - self.low


@dataclass(frozen=True)
class _Hold:
    """A stretch in which a channel keeps its value: where, how long, and how far another goes in it."""

    start: int
    time: float
    value: float
    length: int
    low: float
    high: float

    def then(self, other: _Hold) -> _Hold:
        """This stretch with the one that follows it."""
        low, high = min(self.low, other.low), max(self.high, other.high)
        return _Hold(self.start, self.time, self.value, self.length + other.length, low, high)


class _Holds:
    """Stretches in which one axis of a channel keeps its value while another channel moves.

    Args:
        fewest: samples of those that are kept.
        coarse: whether the lengths of all are counted.
    """

    def __init__(self, fewest: float, coarse: bool) -> None:
        self.long: list[_Hold] = []
        self.lengths: Counter[int] = Counter()
        self._fewest = fewest
        self._coarse = coarse
        self._before = float("nan")
        self._open: _Hold | None = None

    def take(self, piece: Piece, channel: str, other: str, axis: int) -> None:
        """The next samples of this axis."""
        x, beside = piece.columns[channel][axis].x, piece.columns[other][axis]
        if not len(x):
            return
        held = np.concatenate([[x[0] == self._before], x[1:] == x[:-1]])
        self._before = float(x[-1])
        carried, self._open = self._open, None
        if carried is not None and not held[0]:
            self._close(carried)
            carried = None
        starts, stops = run_ends(held)
        lengths = stops - starts
        at_edge = (starts == 0) | (stops == len(x))
        if self._coarse:
            for length, count in zip(*np.unique(lengths[~at_edge], return_counts=True), strict=True):
                self.lengths[int(length)] += int(count)
        for k in np.flatnonzero(at_edge | (lengths >= self._fewest)):
            start, stop = int(starts[k]), int(stops[k])
            y = beside.x[start:stop] if beside.sane is None else beside.x[start:stop][beside.sane[start:stop]]
            ends = float(y.min(initial=np.inf)), float(y.max(initial=-np.inf))
            hold = _Hold(
                piece.first + start, float(piece.log.time[start]), float(x[start]), stop - start, *ends
            )
            hold = hold if carried is None or start > 0 else carried.then(hold)
            if stop == len(x) and not piece.last:
                self._open = hold
            else:
                self._close(hold, counted=not at_edge[k])

    def _close(self, hold: _Hold, counted: bool = False) -> None:
        if self._coarse and not counted:
            self.lengths[hold.length] += 1
        if hold.length >= self._fewest and np.isfinite(hold.value):
            self.long.append(hold)

    @property
    def usual(self) -> float:
        """Samples that a value of a coarse channel may be held."""
        if not self.lengths:
            return 0.0
        # The length within which half of all held samples lie: a freeze is one stretch, holds are many.
        lengths = np.array(sorted(self.lengths))
        held = np.cumsum([length * self.lengths[length] for length in lengths.tolist()])
        return float(_HELD * lengths[np.searchsorted(held, 0.5 * held[-1])])


class Frozen:
    """Channels of a log that comes in pieces which never change, or froze while others went on.

    Args:
        survey: what is usual in the log.
        levels: by channel and axis.
    """

    def __init__(self, survey: Survey, levels: Mapping[str, Sequence[Levels]]) -> None:
        """Begin before the first sample."""
        self._levels = levels
        self._axes = len(levels["position"]) if {"position", "torque"} <= set(levels) else 0
        fewest = max(_FROZEN, _SHARE * survey.samples)
        speed = "velocity" if "velocity" in levels else "torque"
        self._pairs = (("torque", "position"), ("position", speed))
        self._holds = {
            (channel, axis): _Holds(fewest, levels[channel][axis].coarse)
            for axis in range(self._axes)
            for channel, _ in self._pairs
        }

    def take(self, piece: Piece) -> None:
        """The next piece."""
        for channel, other in self._pairs:
            for axis in range(self._axes):
                self._holds[channel, axis].take(piece, channel, other, axis)

    def finish(self) -> list[Finding]:
        """What was found."""
        found, moving = list[Finding](), False
        for axis in range(self._axes):
            q, tau = self._levels["position"][axis], self._levels["torque"][axis]
            moving = moving or q.span > 0
            if tau.some and tau.span == 0:
                found.append(_stuck_torque(tau.low, axis, q.span > 0))
            elif q.span == 0:
                sentence = f"position of axis {axis + 1} does not change in the whole log."
                remedy = "Move the axis, or leave it out of the model: its own parameters cannot be seen."
                found.append(
                    defect("stuck channel", "warning", sentence, remedy, "position", axis + 1, "whole log")
                )
            else:
                for channel, other in self._pairs:
                    found += self._frozen(channel, other, axis)
        if self._axes and not moving:
            remedy = "Record a motion of the robot."
            found.append(defect("no motion", "error", "No axis moves in the whole log.", remedy, "position"))
        return found

    def _frozen(self, channel: str, other: str, axis: int) -> list[Finding]:
        """A channel that holds one value for long while the other moves.

        A coarse channel holds every value for a while: only far longer than usual counts then.
        """
        own, holds = self._levels[channel][axis], self._holds[channel, axis]
        enough = holds.usual if own.coarse else 0.0
        for hold in holds.long:
            # A robot at rest keeps its position and nearly its torque; at an extreme, saturation tells more.
            at_end = channel == "torque" and hold.value in (own.low, own.high)
            moves = hold.high - hold.low > 0.5 * self._levels[other][axis].span
            if hold.length >= enough and moves and not at_end:
                sentence = (
                    f"{channel} of axis {axis + 1} stays at {hold.value:.4g} for {hold.length} samples while "
                    f"its {'speed' if other == 'velocity' else other} goes on: the channel froze."
                )
                where = f"t = {hold.time:.4f} s"
                remedy = "Cut the stretch out of the log."
                return [defect("frozen channel", "error", sentence, remedy, channel, axis + 1, where)]
        return []


def _stuck_torque(value: float, axis: int, moves: bool) -> Finding:
    sentence = f"torque of axis {axis + 1} is {value:.4g} in every sample: the channel is stuck."
    remedy = "Check the column, or the drive's reading; without its torque the axis says nothing."
    severity = "error" if moves else "warning"
    return defect("stuck channel", severity, sentence, remedy, "torque", axis + 1, "whole log")
