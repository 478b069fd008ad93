"""Does a channel hold values? Quantisation, saturation, channels that are stuck or freeze for a while."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.checks.data_check import Checked
from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, Where
from dynid.logs.log import Log
from dynid.preparation.bad_rows import Columns
from dynid.preparation.column import ColumnStatistics, run_ends


@dataclass(frozen=True)
class SaturationRules:
    """When flat tops are saturation. Set on waves, clipped and not, with and without a grid.

    Args:
        fewest: samples in flat stretches, at least …
        share: … and as a share of the log.
        samples: length of a log below which nothing is said.
        flat: samples of the shortest flat stretch.
        band: what counts as near an extreme, as a share of the range …
        band_steps: … and in steps of a grid; the second holds where the range has fewer than ``few_steps``.
        ratio: samples in flat stretches over those near the extreme; likewise. The top of a smooth wave has
            as many samples on its last level as on the three below it, 2.4 times those on the next one.
        few_steps: see above.
        speed: a position comes to its limit at this share of its usual speed, but slowly to a place of rest.
        fail: share of the log beyond which too much is hidden.
    """

    fewest: int = 10
    share: float = 0.0005
    samples: int = 50
    flat: int = 3
    band: float = 0.02
    band_steps: tuple[float, float] = (3.5, 1.5)
    ratio: tuple[float, float] = (2.0, 4.8)
    few_steps: int = 12
    speed: float = 0.3
    fail: float = 0.2


@dataclass(frozen=True)
class FreezeRules:
    """When a held value is a freeze. Chosen by hand; ``tests/checks`` holds them.

    Args:
        samples: shortest freeze …
        share: … and as a share of the log.
        usual_holds: a coarse channel holds every value: length of a freeze over the hold within which half of
            all held samples lie.
        moves: share of its range that the other channel must go through meanwhile.
    """

    samples: int = 100
    share: float = 0.02
    usual_holds: float = 8.0
    moves: float = 0.5


SATURATION, FREEZE = SaturationRules(), FreezeRules()
_COARSE = 100
"""Quantisation steps within the range, below which they are seen in a fit."""


def check_held(log: Log, columns: Columns) -> Checked:
    """Quantisation and saturation of each column; channels that are stuck, or freeze while others move.

    Args:
        log: the log.
        columns: what is usual in its columns.
    """
    findings: list[Finding] = []
    for channel, axes in columns.items():
        for axis, usual in enumerate(axes):
            findings += _coarse_quantisation(channel, axis, usual)
            if channel in ("position", "torque") and usual.span > 0:
                findings += _saturation(log, channel, axis, usual)
    findings += _still_channels(log, columns)
    steps = {channel: [usual.step for usual in axes] for channel, axes in columns.items()}
    return Checked(tuple(findings), {"quantisation": steps})


def _is_coarse(usual: ColumnStatistics) -> bool:
    return usual.step is not None and usual.span < _COARSE * usual.step


def _coarse_quantisation(channel: str, axis: int, usual: ColumnStatistics) -> list[Finding]:
    if usual.step is None or not _is_coarse(usual) or usual.span == 0:
        return []
    sentence = (
        f"{channel} of axis {axis + 1} moves over {usual.span / usual.step:.0f} steps of {usual.step:.3g} "
        "only; quantisation will be seen in the fit."
    )
    remedy, place = "Move the axis further, or log with more digits.", Where(channel=channel, axis=axis + 1)
    return [Finding(Name.COARSE_QUANTISATION, Level.NOTE, sentence, remedy, place)]


def _saturation(log: Log, channel: str, axis: int, usual: ColumnStatistics) -> list[Finding]:
    """Flat tops: far more samples exactly at an extreme than just below it, in runs."""
    x = usual.without_garbage(log.column(channel, axis))
    if len(x) < SATURATION.samples:
        return []
    least_speed = SATURATION.speed * usual.usual_change if channel == "position" else None
    found = []
    for name, value, side in (("largest", usual.most, 1.0), ("smallest", usual.least, -1.0)):
        stretches, samples = _flat_stretches(x, value, side, usual, least_speed)
        if samples == 0:
            continue
        share = samples / len(x)
        sentence = (
            f"{channel} of axis {axis + 1} stays at its {name} value {value:.4g} in {stretches} flat "
            f"stretches ({100 * share:.2g} % of the log): it is saturated."
        )
        remedy = "Leave these stretches out, or record with a smaller motion; a limit hides the true value."
        level = Level.FAIL if share > SATURATION.fail else Level.CARE
        place = Where(channel=channel, axis=axis + 1, moment=f"at {value:.4g}")
        found.append(Finding(Name.SATURATION, level, sentence, remedy, place))
    return found


def _flat_stretches(
    x: FloatArray, value: float, side: float, usual: ColumnStatistics, least_speed: float | None
) -> tuple[int, int]:
    """Number of flat stretches at an extreme and of their samples; zeros where that is no saturation.

    Args:
        x: measurements, (samples,).
        value: the extreme.
        side: 1 for the largest value, −1 for the least.
        usual: range and grid.
        least_speed: change per sample with which a stretch must begin or end; None when it may be any.
    """
    fewest = max(SATURATION.fewest, SATURATION.share * len(x))
    edge = value - side * 1e-9 * max(usual.span, abs(value))
    at_end = x >= edge if side > 0 else x <= edge
    touches = int(np.count_nonzero(at_end))
    if touches < fewest:
        return 0, 0
    starts, stops = run_ends(at_end)
    long = stops - starts >= SATURATION.flat
    starts, stops = starts[long], stops[long]
    if least_speed is not None:
        before = np.abs(x[starts] - x[np.maximum(starts - 3, 0)]) / 3 * (starts >= 3)
        after = np.abs(x[np.minimum(stops + 1, len(x) - 1)] - x[stops - 1]) / 2 * (stops + 1 < len(x))
        fast = (np.maximum(before, after) > least_speed) & (least_speed > 0)
        starts, stops = starts[fast], stops[fast]
    samples = int((stops - starts).sum())
    step = usual.step or 0.0
    few = int(usual.step is not None and usual.span < SATURATION.few_steps * step)
    border = value - side * max(SATURATION.band * usual.span, SATURATION.band_steps[few] * step)
    near = int(np.count_nonzero(x > border if side > 0 else x < border)) - touches
    if samples < fewest or samples < SATURATION.ratio[few] * near:
        return 0, 0
    return len(starts), samples


def _still_channels(log: Log, columns: Columns) -> list[Finding]:
    """Channels that never change, or freeze while another goes on."""
    if not {"position", "torque"} <= set(columns) or not log.axes:
        return []
    speed = "velocity" if "velocity" in columns else "torque"
    found: list[Finding] = []
    for axis, (q, tau) in enumerate(zip(columns["position"], columns["torque"], strict=True)):
        if tau.least == tau.most:
            sentence = f"torque of axis {axis + 1} is {tau.least:.4g} in every sample: the channel is stuck."
            remedy = "Check the column, or the drive's reading; without its torque the axis says nothing."
            level = Level.FAIL if q.span > 0 else Level.CARE
            place = Where(channel="torque", axis=axis + 1, moment="whole log")
            found.append(Finding(Name.STUCK_CHANNEL, level, sentence, remedy, place))
        elif q.span == 0:
            sentence = f"position of axis {axis + 1} does not change in the whole log."
            remedy = "Move the axis, or leave it out of the model: its own parameters cannot be seen."
            place = Where(channel="position", axis=axis + 1, moment="whole log")
            found.append(Finding(Name.STUCK_CHANNEL, Level.CARE, sentence, remedy, place))
        else:
            found += _freeze(log, axis, "torque", "position", columns)
            found += _freeze(log, axis, "position", speed, columns)
    if not any(q.span > 0 for q in columns["position"]):
        sentence, remedy = "No axis moves in the whole log.", "Record a motion of the robot."
        found.append(Finding(Name.NO_MOTION, Level.FAIL, sentence, remedy, Where(channel="position")))
    return found


def _freeze(log: Log, axis: int, channel: str, other: str, columns: Columns) -> list[Finding]:
    """The first stretch in which a channel holds one value for long while the other moves.

    A robot at rest keeps its position and nearly its torque; at an extreme, saturation says more.
    """
    own, x = columns[channel][axis], log.column(channel, axis)
    starts, stops = run_ends(x[1:] == x[:-1])
    lengths = stops - starts
    fewest = max(FREEZE.samples, FREEZE.share * log.samples)
    if _is_coarse(own) and len(lengths):
        # A freeze is one stretch, usual holds are many: half of all held samples lie in shorter ones.
        ordered = np.sort(lengths)
        held = np.cumsum(ordered)
        fewest = max(fewest, FREEZE.usual_holds * float(ordered[np.searchsorted(held, 0.5 * held[-1])]))
    for k in np.flatnonzero(lengths >= fewest):
        start, count = int(starts[k]) + 1, int(lengths[k])
        beside = columns[other][axis].without_garbage(log.channels[other][start : start + count, axis])
        moved = float(beside.max(initial=-np.inf) - beside.min(initial=np.inf))
        at_end = channel == "torque" and x[start] in (own.least, own.most)
        if moved > FREEZE.moves * columns[other][axis].span and not at_end and np.isfinite(x[start]):
            sentence = (
                f"{channel} of axis {axis + 1} stays at {x[start]:.4g} for {count} samples while its "
                f"{'speed' if other == 'velocity' else other} goes on: the channel froze."
            )
            remedy = "Cut the stretch out of the log."
            place = Where(channel=channel, axis=axis + 1, moment=f"t = {log.time[start]:.4f} s")
            return [Finding(Name.FROZEN_CHANNEL, Level.FAIL, sentence, remedy, place)]
    return []
