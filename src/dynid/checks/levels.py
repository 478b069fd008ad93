"""Levels of a signal: quantisation, saturation, channels that stand still."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dynid.checks.finding import Checked, defect
from dynid.checks.frozen import Frozen, Levels
from dynid.checks.piece import Piece, piece_of
from dynid.checks.saturation import Saturation
from dynid.checks.survey import AxisSurvey, Survey, survey_log
from dynid.checks.thin import thinned
from dynid.core.finding import Finding
from dynid.logs.log import Log

FloatArray = NDArray[np.float64]
_LOOKED_AT = 20_000
"""Samples, spread over the log, that the quantisation is found from."""
_COARSE = 100
"""Levels within the range, below which quantisation is worth a word."""
_DIFFERENCES = 200
_PARTS = 65
"""The least difference of two levels may be this many steps."""
_MET = 0.97


def quantisation_step(x: FloatArray) -> float | None:
    """The step of a quantised signal; None when its values lie on no grid that can be seen.

    Different values of a quantised signal differ by whole multiples of the step, so the least difference is
    one of its small multiples. A grid much finer than the differences cannot be told from no grid.

    Args:
        x: one axis, finite, (samples,).
    """
    levels = np.unique(thinned(x, _LOOKED_AT))
    if len(levels) < 3:
        return None
    rounding = 1e-15 * float(np.max(np.abs(levels)))
    differences = np.sort(np.diff(levels))
    # Sums that should meet may miss each other by rounding.
    differences = differences[differences > 100 * rounding][:_DIFFERENCES]
    if len(differences) < 2:
        return None
    return _grid(differences, rounding)


def _grid(differences: FloatArray, rounding: float) -> float | None:
    """The largest step of which all differences are multiples, or None."""
    guess = differences[0] / np.arange(1, _PARTS)[:, None]
    for count in (5, 20, 60, len(differences)):  # a longer difference makes the step sharper
        some = differences[:count]
        multiples = np.maximum(np.round(some / guess), 1.0)
        guess = (multiples @ some / np.sum(multiples**2, axis=1))[:, None]
    off = np.abs(differences - np.maximum(np.round(differences / guess), 1.0) * guess)
    # Values on no grid would be off by a quarter of the step on average.
    met = np.mean(off < np.maximum(0.06 * guess, 4 * rounding), axis=1) >= _MET
    found = np.flatnonzero(met & (guess[:, 0] > 50 * rounding))
    return float(guess[found[0], 0]) if len(found) else None


def check_levels(log: Log) -> Checked:
    """Quantisation, saturation and stuck channels."""
    survey = survey_log(log)
    found = LevelChecks(survey)
    found.take(piece_of(log, survey))
    return found.finish()


class LevelChecks:
    """Quantisation, saturation and stuck channels of a log that comes in pieces.

    Args:
        survey: what is usual in it.
    """

    def __init__(self, survey: Survey) -> None:
        """Begin before the first sample."""
        self._levels = {name: [_levels(axis) for axis in axes] for name, axes in survey.channels.items()}
        self._ends = {
            (name, axis): Saturation(name, axis, self._levels[name][axis], survey.channels[name][axis])
            for name in ("position", "torque")
            for axis in range(len(self._levels.get(name, ())))
        }
        self._frozen = Frozen(survey, self._levels)

    def take(self, piece: Piece) -> None:
        """The next piece."""
        for (name, axis), ends in self._ends.items():
            ends.take(piece.columns[name][axis].clean, piece.last)
        self._frozen.take(piece)

    def finish(self) -> Checked:
        """What was found."""
        findings: list[Finding] = []
        for channel, axes in self._levels.items():
            for axis, level in enumerate(axes):
                findings += _coarse(level.span, level.step, channel, axis)
                if (channel, axis) in self._ends:
                    findings += self._ends[channel, axis].finish()
        findings += self._frozen.finish()
        return Checked(tuple(findings), {"quantisation": _steps(self._levels)})


def _steps(levels: Mapping[str, Sequence[Levels]]) -> dict[str, list[float | None]]:
    return {channel: [axis.step for axis in axes] for channel, axes in levels.items()}


def _levels(axis: AxisSurvey) -> Levels:
    if axis.least > axis.most:
        return Levels(False, 0.0, 0.0, None, False)
    step = quantisation_step(axis.values) if len(axis.values) else None
    return Levels(True, axis.least, axis.most, step, step is not None and axis.span < _COARSE * step)


def _coarse(span: float, step: float | None, channel: str, axis: int) -> list[Finding]:
    if step is None or span >= _COARSE * step or span == 0:
        return []
    sentence = (
        f"{channel} of axis {axis + 1} moves over {span / step:.0f} steps of {step:.3g} only; "
        "quantisation will be seen in the fit."
    )
    remedy = "Move the axis further, or log with more digits."
    return [defect("coarse quantisation", "note", sentence, remedy, channel, axis + 1)]
