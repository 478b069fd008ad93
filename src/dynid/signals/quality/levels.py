"""Levels of a signal: quantisation, saturation, channels that stand still."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.signals.log import Log
from dynid.signals.quality.finding import Checked, Finding
from dynid.signals.quality.frozen import Levels, stuck
from dynid.signals.quality.values import clean, runs

FloatArray = NDArray[np.float64]
_LOOKED_AT = 20_000
"""Samples, spread over the log, that the quantisation is found from."""
_COARSE = 100
"""Levels within the range, below which quantisation is worth a word."""
_DIFFERENCES = 200
_PARTS = 65
"""The least difference of two levels may be this many steps."""
_MET = 0.97
_TOUCHES = 10
_CLIPPED = 0.02


def quantisation_step(x: FloatArray) -> float | None:
    """The step of a quantised signal; None when its values lie on no grid that can be seen.

    Different values of a quantised signal differ by whole multiples of the step, so the least difference is
    one of its small multiples. A grid much finer than the differences cannot be told from no grid.

    Args:
        x: one axis, finite, (samples,).
    """
    levels = np.unique(x[:: max(1, len(x) // _LOOKED_AT)])
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
    findings: list[Finding] = []
    levels: dict[str, list[Levels]] = {}
    for channel, values in log.channels.items():
        levels[channel] = []
        for axis in range(values.shape[1]):  # one at a time: a long log need not be held twice
            x = clean(values[:, axis])
            step = quantisation_step(x) if len(x) else None
            ends = (float(x.min()), float(x.max())) if len(x) else (0.0, 0.0)
            levels[channel].append(
                Levels(len(x), *ends, step, step is not None and np.ptp(ends) < _COARSE * step)
            )
            findings += _coarse(ends[1] - ends[0], step, channel, axis)
            if channel in ("position", "torque"):
                findings += _saturated(x, ends, step, channel, axis)
    findings += stuck(log, levels)
    steps = {channel: [axis.step for axis in axes] for channel, axes in levels.items()}
    return Checked(tuple(findings), {"quantisation": steps})


def _coarse(span: float, step: float | None, channel: str, axis: int) -> list[Finding]:
    if step is None or span >= _COARSE * step or span == 0:
        return []
    sentence = (
        f"{channel} of axis {axis + 1} moves over {span / step:.0f} steps of {step:.3g} only; "
        "quantisation will be seen in the fit."
    )
    remedy = "Move the axis further, or log with more digits."
    return [Finding("coarse quantisation", "note", sentence, remedy, channel, axis + 1)]


def _saturated(
    x: FloatArray, ends: tuple[float, float], step: float | None, channel: str, axis: int
) -> list[Finding]:
    """Flat tops: far more samples exactly at an extreme than just below it, in runs.

    "Just below" is at least three levels of a quantised signal: the top of a smooth wave has as many samples
    on its last level as on the three below it, and 2.4 times as many as on the next one alone.
    """
    span = ends[1] - ends[0]
    if len(x) < 50 or span == 0:
        return []
    found = []
    few = step is not None and span < 12 * step
    band, ratio = max(_CLIPPED * span, (1.5 if few else 3.5) * (step or 0.0)), 4.8 if few else 2.0
    fewest = max(_TOUCHES, 0.0005 * len(x))
    for name, end in (("largest", ends[1]), ("smallest", ends[0])):
        reach = 1e-9 * max(span, abs(end))
        at_end = x >= end - reach if name == "largest" else x <= end + reach
        if np.count_nonzero(at_end) < fewest:
            continue
        flat = [run for run in runs(at_end) if run[1] >= 3 and (channel == "torque" or _abrupt(x, run))]
        count = sum(length for _, length in flat)
        near = int(np.sum(np.abs(x - end) < band)) - int(at_end.sum())
        if count < fewest or count < ratio * near:
            continue
        share = count / len(x)
        sentence = (
            f"{channel} of axis {axis + 1} stays at its {name} value {end:.4g} in {len(flat)} flat stretches "
            f"({100 * share:.2g} % of the log): it is saturated."
        )
        remedy = "Leave these stretches out, or record with a smaller motion; a limit hides the true value."
        severity = "error" if share > 0.2 else "warning"
        found.append(Finding("saturation", severity, sentence, remedy, channel, axis + 1, f"at {end:.4g}"))
    return found


def _abrupt(x: FloatArray, run: tuple[int, int]) -> bool:
    """Whether a position comes to its end at speed; at rest it would come slowly."""
    start, length = run
    usual = float(np.quantile(np.abs(np.diff(x)), 0.9))
    before = abs(x[start] - x[start - 3]) / 3 if start >= 3 else 0.0
    stop = start + length
    after = abs(x[stop + 1] - x[stop - 1]) / 2 if stop + 1 < len(x) else 0.0
    return usual > 0 and max(before, after) > 0.3 * usual
