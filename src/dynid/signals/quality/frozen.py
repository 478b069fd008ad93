"""Channels that stand still, for good or for a while."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.signals.log import Log
from dynid.signals.quality.finding import Finding
from dynid.signals.quality.values import clean, run_ends

FloatArray = NDArray[np.float64]
_FROZEN = 100
"""Samples that a freeze lasts at least."""
_HELD = 8.0
"""How many times the usual hold of a coarse channel a freeze must last."""


@dataclass(frozen=True)
class Levels:
    """What values an axis takes: how many are sane, the least and largest, the quantisation step.

    Args:
        count: sane values.
        low: the least.
        high: the largest.
        step: quantisation; None when there is no grid.
        coarse: whether there are few levels.
    """

    count: int
    low: float
    high: float
    step: float | None
    coarse: bool

    @property
    def span(self) -> float:
        """Largest minus least."""
        return self.high - self.low


def stuck(log: Log, levels: Mapping[str, Sequence[Levels]]) -> list[Finding]:
    """Channels that never change, or froze while others went on.

    Args:
        log: the log.
        levels: by channel and axis.
    """
    if not {"position", "torque"} <= set(log.channels):
        return []
    found = []
    moving = 0
    for axis in range(log.axes):
        q, tau = levels["position"][axis], levels["torque"][axis]
        moves = q.span > 0
        moving += moves
        if tau.count and tau.span == 0:
            sentence = f"torque of axis {axis + 1} is {tau.low:.4g} in every sample: the channel is stuck."
            remedy = "Check the column, or the drive's reading; without its torque the axis says nothing."
            severity = "error" if moves else "warning"
            found.append(
                Finding("stuck channel", severity, sentence, remedy, "torque", axis + 1, "whole log")
            )
        elif not moves:
            sentence = f"position of axis {axis + 1} does not change in the whole log."
            remedy = "Move the axis, or leave it out of the model: its own parameters cannot be seen."
            found.append(
                Finding("stuck channel", "warning", sentence, remedy, "position", axis + 1, "whole log")
            )
        else:
            found += _frozen(log, axis, levels)
    if not moving:
        remedy = "Record a motion of the robot."
        found.append(Finding("no motion", "error", "No axis moves in the whole log.", remedy, "position"))
    return found


def _frozen(log: Log, axis: int, levels: Mapping[str, Sequence[Levels]]) -> list[Finding]:
    """A channel that holds one value for long while the other moves.

    A coarse channel holds every value for a while: only far longer than usual counts then.
    """
    found = []
    for channel, usual in (("torque", "position"), ("position", "torque")):
        other = "velocity" if channel == "position" and "velocity" in log.channels else usual
        x, y, own = log.channels[channel][:, axis], log.channels[other][:, axis], levels[channel][axis]
        starts, stops = run_ends(np.concatenate(([False], np.diff(x) == 0)))
        enough = max(_FROZEN, 0.02 * len(x), _usual_hold(stops - starts) if own.coarse else 0.0)
        for start, stop in zip(
            starts[stops - starts >= enough], stops[stops - starts >= enough], strict=True
        ):
            part = clean(y[start:stop])
            travel = float(np.ptp(part)) if len(part) else 0.0
            # A robot at rest keeps its position and nearly its torque; at an extreme, saturation tells more.
            at_end = channel == "torque" and x[start] in (own.low, own.high)
            if travel > 0.5 * levels[other][axis].span and not at_end:
                sentence = (
                    f"{channel} of axis {axis + 1} stays at {x[start]:.4g} for {stop - start} samples while "
                    f"its {'speed' if other == 'velocity' else other} goes on: the channel froze."
                )
                where = f"t = {log.time[start]:.4f} s"
                remedy = "Cut the stretch out of the log."
                found.append(Finding("frozen channel", "error", sentence, remedy, channel, axis + 1, where))
                break
    return found


def _usual_hold(lengths: NDArray[np.intp]) -> float:
    """Samples that a value of a coarse channel may be held."""
    if len(lengths) == 0:
        return 0.0
    lengths = np.sort(lengths)
    # The length within which half of all held samples lie: a freeze is one stretch, holds are many.
    half = int(np.searchsorted(np.cumsum(lengths), 0.5 * lengths.sum()))
    return float(_HELD * lengths[half])
