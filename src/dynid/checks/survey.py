"""A first look at a log: what is usual in it, by which the checks tell what is not.

Everything comes from samples spread over the log and from its extremes, so that it is the same for a log in
memory and for one that is read in chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.checks.limits import SPREAD_OVER, garbage_limits, sane
from dynid.checks.thin import stride, thinned
from dynid.logs.log import Log

FloatArray = NDArray[np.float64]
Extremes = Callable[[str, int, float, float], tuple[float, float]]
ROWS, GROUPS, STAMPS = 20_000, SPREAD_OVER, 100_000
"""Rows, groups of three rows and pairs of stamps, spread over the log, that tell what is usual."""


@dataclass(frozen=True, eq=False)
class AxisSurvey:
    """What is usual on one axis of a channel.

    Args:
        low: least value that is no garbage.
        high: largest such value.
        least: least value of the log between these two; larger than ``most`` when there is none.
        most: largest one.
        values: values spread over the log, garbage and NaN left out.
        threes: groups of three neighbours spread over the log, likewise, (groups, 3).
    """

    low: float
    high: float
    least: float
    most: float
    values: FloatArray
    threes: FloatArray

    @property
    def span(self) -> float:
        """Largest minus least value."""
        return self.most - self.least if self.most > self.least else 0.0

    @cached_property
    def travel(self) -> float:
        """Width within which all but two percent of the values lie."""
        if not len(self.threes):
            return 0.0
        low, high = np.quantile(self.threes[:, 0], [0.01, 0.99])
        return float(high - low)

    @cached_property
    def middle(self) -> float:
        """Median."""
        return float(np.median(self.threes[:, 0])) if len(self.threes) else 0.0

    @cached_property
    def usual_change(self) -> float:
        """Change between samples that one in ten exceeds."""
        changes = np.abs(self.threes[:, 1] - self.threes[:, 0])
        return float(np.quantile(changes, 0.9)) if len(changes) else 0.0


@dataclass(frozen=True, eq=False)
class Survey:
    """What is usual in a log.

    Args:
        rows: a log of rows spread over the whole, with its name, side, sources and full history.
        samples: length of the whole.
        channels: per channel and axis.
        steps: forward steps between neighbouring stamps, spread over the log [s].
    """

    rows: Log
    samples: int
    channels: Mapping[str, tuple[AxisSurvey, ...]]
    steps: FloatArray

    @cached_property
    def step(self) -> float:
        """Median step [s]; NaN without any."""
        return float(np.median(self.steps)) if len(self.steps) else float("nan")

    @cached_property
    def longest_step(self) -> float:
        """Longest step that may still be jitter [s]; beyond, samples are missing."""
        usual = float(np.quantile(self.steps, 0.95)) if len(self.steps) else 0.0
        return max(1.8 * usual, 2.5 * self.step)


def survey_log(log: Log) -> Survey:
    """Look at a log in memory.

    Args:
        log: the log.
    """
    threes = {name: thinned(log.array(name), GROUPS, 3) for name in log.channels}
    ends = {name: _ends(log.array(name)) for name in log.channels}

    def extremes(name: str, axis: int, low: float, high: float) -> tuple[float, float]:
        least, most = ends[name][:, axis]
        if least >= low and most <= high:  # NaN is not
            return float(least), float(most)
        return sane_extremes(log.channels[name][:, axis], low, high)

    rows = log.part(slice(None, None, stride(log.samples, ROWS)))
    return surveyed(rows, log.samples, threes, thinned(log.time, STAMPS, 2), extremes)


def _ends(values: FloatArray) -> FloatArray:
    """Least and largest value of each axis, NaN where there is one, (2, axes)."""
    if not len(values):
        return np.full((2, values.shape[1]), np.nan)
    return np.stack([values.min(axis=0), values.max(axis=0)])


def sane_extremes(x: FloatArray, low: float, high: float) -> tuple[float, float]:
    """Least and largest value within limits; infinite and the wrong way round when there is none."""
    good = sane(x, low, high)
    kept = x if good is None else x[good]
    return float(kept.min(initial=np.inf)), float(kept.max(initial=-np.inf))


def surveyed(
    rows: Log, samples: int, threes: Mapping[str, FloatArray], stamps: FloatArray, extremes: Extremes
) -> Survey:
    """What is usual, from samples spread over a log.

    Args:
        rows: rows of the log.
        samples: length of the whole.
        threes: groups of three rows, (groups, 3, axes) by channel.
        stamps: pairs of neighbouring stamps, (pairs, 2).
        extremes: least and largest value of a channel's axis within limits.
    """
    channels = {
        name: tuple(
            _axis(values[:, axis], threes[name][:, :, axis], name, axis, extremes)
            for axis in range(values.shape[1])
        )
        for name, values in rows.channels.items()
    }
    with np.errstate(invalid="ignore"):
        steps = stamps[:, 1] - stamps[:, 0] if len(stamps) else np.empty(0)
    return Survey(rows, samples, channels, steps[(steps > 0) & (steps < np.inf)])


def _axis(values: FloatArray, threes: FloatArray, name: str, axis: int, extremes: Extremes) -> AxisSurvey:
    low, high = garbage_limits(threes[:, 0] if len(threes) else values)
    good = sane(values, low, high)
    fair = None if sane(threes, low, high) is None else ((threes >= low) & (threes <= high)).all(axis=1)
    return AxisSurvey(
        low,
        high,
        *extremes(name, axis, low, high),
        values if good is None else values[good],
        threes if fair is None else threes[fair],
    )
