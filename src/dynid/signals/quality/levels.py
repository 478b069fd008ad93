"""Levels of a signal: quantisation, saturation, channels that stand still."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.signals.log import Log
from dynid.signals.quality.finding import Checked, Finding
from dynid.signals.quality.values import garbage, runs

FloatArray = NDArray[np.float64]
_LOOKED_AT = 200_000
"""Samples that the quantisation is found from."""
_COARSE = 100
"""Levels within the range, below which quantisation is worth a word."""
_DIFFERENCES = 200
_PARTS = 65
"""The least difference of two levels may be this many steps."""
_MET = 0.97
_TOUCHES = 10
_CLIPPED = 0.02
_FROZEN = 100


def clean(x: FloatArray) -> FloatArray:
    """The finite, sane values of an axis."""
    kept: FloatArray = x[np.isfinite(x) & ~garbage(x)]
    return kept


def quantisation_step(x: FloatArray) -> float | None:
    """The step of a quantised signal; None when its values lie on no grid that can be seen.

    Different values of a quantised signal differ by whole multiples of the step, so the least difference is
    one of its small multiples. A grid much finer than the differences cannot be told from no grid.

    Args:
        x: one axis, finite, (samples,).
    """
    levels = np.unique(x[:_LOOKED_AT])
    if len(levels) < 3:
        return None
    rounding = 1e-15 * float(np.max(np.abs(levels)))
    differences = np.sort(np.diff(levels))
    # Sums that should meet may miss each other by rounding.
    differences = differences[differences > 100 * rounding][:_DIFFERENCES]
    if len(differences) < 2:
        return None
    for part in range(1, _PARTS):
        step = _grid(differences, float(differences[0]) / part, rounding)
        if step is not None:
            return step
    return None


def _grid(differences: FloatArray, guess: float, rounding: float) -> float | None:
    """The step near a guess of which all differences are multiples, or None."""
    for count in (5, 20, 60, len(differences)):  # a longer difference makes the step sharper
        some = differences[:count]
        multiples = np.maximum(np.round(some / guess), 1.0)
        guess = float(multiples @ some / (multiples @ multiples))
    off = np.abs(differences - np.maximum(np.round(differences / guess), 1.0) * guess)
    # Values on no grid would be off by a quarter of the step on average.
    met = off < max(0.06 * guess, 4 * rounding)
    return guess if guess > 50 * rounding and np.mean(met) >= _MET else None


def check_levels(log: Log) -> Checked:
    """Quantisation, saturation and stuck channels."""
    findings: list[Finding] = []
    steps: dict[str, list[float | None]] = {}
    for channel, values in log.channels.items():
        steps[channel] = []
        for axis in range(values.shape[1]):
            x = clean(values[:, axis])
            step = quantisation_step(x) if len(x) else None
            steps[channel].append(step)
            findings += _coarse(x, step, channel, axis)
            if channel in ("position", "torque"):
                findings += _saturated(x, channel, axis, log)
    findings += _stuck(log)
    return Checked(tuple(findings), {"quantisation": steps})


def _coarse(x: FloatArray, step: float | None, channel: str, axis: int) -> list[Finding]:
    if step is None or np.ptp(x) >= _COARSE * step or np.ptp(x) == 0:
        return []
    sentence = (
        f"{channel} of axis {axis + 1} moves over {np.ptp(x) / step:.0f} steps of {step:.3g} only; "
        "quantisation will be seen in the fit."
    )
    remedy = "Move the axis further, or log with more digits."
    return [Finding("coarse quantisation", "note", sentence, remedy, channel, axis + 1)]


def _saturated(x: FloatArray, channel: str, axis: int, log: Log) -> list[Finding]:
    """Flat tops: far more samples exactly at an extreme than just below it, in runs."""
    if len(x) < 50 or np.ptp(x) == 0:
        return []
    found = []
    for name, end in (("largest", float(np.max(x))), ("smallest", float(np.min(x)))):
        at_end = np.abs(x - end) <= 1e-9 * max(np.ptp(x), abs(end))
        flat = [run for run in runs(at_end) if run[1] >= 3 and (channel == "torque" or _abrupt(x, run))]
        count = sum(length for _, length in flat)
        near = int(np.sum(np.abs(x - end) < _CLIPPED * np.ptp(x))) - int(at_end.sum())
        if count < max(_TOUCHES, 0.0005 * len(x)) or count < 2 * near:
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


def _stuck(log: Log) -> list[Finding]:
    if not {"position", "torque"} <= set(log.channels):
        return []
    found = []
    moving = 0
    for axis in range(log.axes):
        q, tau = (clean(log.channels[channel][:, axis]) for channel in ("position", "torque"))
        moves = len(q) > 0 and float(np.ptp(q)) > 0
        moving += moves
        if len(tau) and np.ptp(tau) == 0:
            sentence = f"torque of axis {axis + 1} is {tau[0]:.4g} in every sample: the channel is stuck."
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
            found += _frozen(log, axis)
    if not moving:
        remedy = "Record a motion of the robot."
        found.append(Finding("no motion", "error", "No axis moves in the whole log.", remedy, "position"))
    return found


def _frozen(log: Log, axis: int) -> list[Finding]:
    """A channel that holds one value for long while the other moves."""
    found = []
    for channel, other in (("torque", "position"), ("position", "torque")):
        x, y = log.channels[channel][:, axis], log.channels[other][:, axis]
        by_speed = channel == "position" and "velocity" in log.channels
        y = log.channels["velocity"][:, axis] if by_speed else y
        still = np.concatenate(([False], np.diff(x) == 0))
        stretches = [run for run in runs(still) if run[1] >= max(_FROZEN, 0.02 * len(x))]
        for start, length in stretches:
            part, whole = y[start : start + length], clean(y)
            travel = np.ptp(clean(part)) if len(clean(part)) else 0.0
            # A robot at rest keeps its position and nearly its torque.
            if travel > 0.5 * np.ptp(whole) and not (channel == "torque" and _at_end(x, start)):
                sentence = (
                    f"{channel} of axis {axis + 1} stays at {x[start]:.4g} for {length} samples while its "
                    f"{'speed' if by_speed else other} goes on: the channel froze."
                )
                where = f"t = {log.time[start]:.4f} s"
                remedy = "Cut the stretch out of the log."
                found.append(Finding("frozen channel", "error", sentence, remedy, channel, axis + 1, where))
                break
    return found


def _at_end(x: FloatArray, start: int) -> bool:
    """Whether a flat stretch lies at an extreme of the signal, where saturation tells it better."""
    values = clean(x)
    return bool(len(values)) and bool(x[start] in (values.max(), values.min()))
