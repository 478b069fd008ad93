"""How finely does a channel resolve its values, and does it reach a limit? Quantisation and saturation."""

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
        speed: a position comes to its limit at this share of its usual speed, slowly to a place of rest, …
        abrupt: … and with this multiple of the change of speed between samples that one in twenty exceeds.
        leap: share of the range by which a torque may leap into a flat stretch and out of it; one that is
            commanded in steps does both.
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
    abrupt: float = 3.0
    leap: float = 0.2
    fail: float = 0.2


SATURATION = SaturationRules()
_ROUNDING = 1e-9
"""Range over size of a channel below which it is constant but for rounding."""
_COARSE = 100
"""Quantisation steps within the range, below which they are seen in a fit."""


def check_saturation(log: Log, columns: Columns) -> Checked:
    """Quantisation and saturation of each column.

    Args:
        log: the log.
        columns: what is usual in its columns.
    """
    findings: list[Finding] = []
    for channel, axes in columns.items():
        for axis, usual in enumerate(axes):
            findings += _coarse_quantisation(channel, axis, usual)
            if channel in ("position", "torque") and usual.span > _ROUNDING * max(
                abs(usual.most), abs(usual.least)
            ):
                findings += _saturation(log, channel, axis, usual)
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
    least_speed = _least_speed(usual) if channel == "position" else None
    found = []
    for name, value, side in (("largest", usual.most, 1.0), ("smallest", usual.least, -1.0)):
        if channel == "torque" and value == 0:
            continue  # a motor that is off at times and pushes one way at others
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


def _least_speed(usual: ColumnStatistics) -> float:
    """Change per sample with which a position comes to a limit, and not to rest."""
    first, second, third = usual.threes.T
    gradual = float(np.quantile(np.abs(third - 2 * second + first), 0.95)) if len(first) else 0.0
    return max(SATURATION.speed * usual.usual_change, SATURATION.abrupt * gradual)


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
    else:
        leap = SATURATION.leap * usual.span
        entered = np.abs(x[starts] - x[np.maximum(starts - 1, 0)]) < leap
        left = np.abs(x[np.minimum(stops, len(x) - 1)] - x[stops - 1]) < leap
        starts, stops = starts[entered | left], stops[entered | left]
    samples = int((stops - starts).sum())
    step = usual.step or 0.0
    few = int(usual.step is not None and usual.span < SATURATION.few_steps * step)
    border = value - side * max(SATURATION.band * usual.span, SATURATION.band_steps[few] * step)
    near = int(np.count_nonzero(x > border if side > 0 else x < border)) - touches
    if samples < fewest or samples < SATURATION.ratio[few] * near:
        return 0, 0
    return len(starts), samples
