"""One column of a log: runs of samples, samples spread over it, and what is usual in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import BoolArray, FloatArray

IndexArray = NDArray[np.intp]


@dataclass(frozen=True)
class SampleCounts:
    """Samples, spread over a column, that say what is usual in it.

    Between these numbers and twice as many are taken; a column that is shorter is taken whole. More of them
    make quantiles surer and cost a sort: with 5 000 the 1 % quantile lies between
    0.7 % and 1.3 %.

    Args:
        values: single samples; quantisation needs many different ones.
        groups: groups of three neighbours, for the spread and the noise.
        steps: steps between stamps.
    """

    values: int = 20_000
    groups: int = 5_000
    steps: int = 100_000


@dataclass(frozen=True)
class GarbageLimits:
    """Which values no sensor gives. Chosen wide: what is called garbage may be interpolated away.

    Args:
        largest: magnitude beyond which any value is garbage, whatever its unit.
        widths: distance from the median, over the width between the 1 % and 99 % quantiles.
        least_width: that width is at least this share of the median, for a column that hardly changes.
        fewest: samples needed to say what is usual.
    """

    largest: float = 1e10
    widths: float = 1e4
    least_width: float = 1e-6
    fewest: int = 10


@dataclass(frozen=True)
class GridRules:
    """When values lie on a grid. Set on sines rounded to steps of 1e-6 to 1e-2 of their size.

    Args:
        differences: smallest differences between levels that are looked at.
        parts: the least of them may be up to this many steps.
        off: distance from a multiple, as a share of the step, that still meets it; by chance it is 1/4.
        met: share of the differences that must meet the grid.
    """

    differences: int = 200
    parts: int = 64
    off: float = 0.06
    met: float = 0.97


SAMPLED = SampleCounts()
GARBAGE = GarbageLimits()
GRID = GridRules()


def run_ends(mask: BoolArray) -> tuple[IndexArray, IndexArray]:
    """First sample of every run of true values, and the sample after its last."""
    padded = np.zeros(len(mask) + 2, dtype=bool)
    padded[1:-1] = mask
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    return edges[::2], edges[1::2]


def short_runs(bad: BoolArray, longest: int) -> BoolArray:
    """Bad samples in runs of at most so many, with good ones on both sides."""
    short = bad.copy()
    for start, stop in zip(*run_ends(bad), strict=True):
        short[start:stop] = stop - start <= longest and start > 0 and stop < len(bad)
    return short


def bridge(x: FloatArray, at: FloatArray, bad: BoolArray, good: BoolArray) -> FloatArray:
    """Bad samples on cubics through four good ones; as they are when there are none.

    The cubic goes through the nearest good samples and through those as far again beyond: near ones would
    carry their noise far into a wide hole. At the ends the nearest good sample stands for all.

    Args:
        x: one axis, (samples,).
        at: where its samples stand, increasing among good and bad ones.
        bad: samples to replace.
        good: samples to go by.
    """
    places, count = np.flatnonzero(bad), len(x)
    if not len(places) or not np.any(good):
        return x
    number = np.arange(count)
    last = np.maximum.accumulate(np.where(good, number, -1))
    following = np.minimum.accumulate(np.where(good, number, count)[::-1])[::-1]
    low, high = last[places], following[places]
    width = np.where((low >= 0) & (high < count), high - low, 0)
    made = x.copy()
    made[places] = np.interp(at[places], at[good], x[good])
    outer = last[np.maximum(low - width, 0)], following[np.minimum(high + width, count - 1)]
    inside = (width > 0) & (outer[0] >= 0) & (outer[0] < low) & (outer[1] < count) & (outer[1] > high)
    nodes = np.stack([outer[0], low, high, outer[1]])[:, inside]
    where = at[places[inside]]
    value = np.zeros(len(where))
    for i in range(4):
        others = [k for k in range(4) if k != i]
        share = np.prod([(where - at[nodes[k]]) / (at[nodes[i]] - at[nodes[k]]) for k in others], axis=0)
        value += share * x[nodes[i]]
    made[places[inside]] = value
    return made


def stride(samples: int, wanted: int) -> int:
    """The power of two that leaves between ``wanted`` and twice as many samples; 1 when there are fewer."""
    step = 1
    while -(-samples // step) > 2 * wanted:
        step *= 2
    return step


def neighbours(x: FloatArray, wanted: int, width: int) -> FloatArray:
    """Groups of neighbouring samples spread over a column, (groups, width).

    Args:
        x: (samples,).
        wanted: groups wanted, as in ``stride``.
        width: samples of a group.
    """
    count = max(len(x) - width + 1, 0)
    step = stride(count, wanted)
    return np.stack([x[i : i + count : step] for i in range(width)], axis=1)


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """What is usual in a column. Its *measurements* are the values that are finite and no garbage.

    Args:
        low: least value that is no garbage.
        high: largest such value.
        least_at: sample of the least measurement; −1 without any.
        most_at: sample of the largest.
        least: the least measurement; larger than ``most`` when there is none.
        most: the largest.
        clean: whether all values are measurements.
        values: measurements spread over the column.
        threes: groups of three neighbouring measurements spread over it, (groups, 3).
    """

    low: float
    high: float
    least_at: int
    most_at: int
    least: float
    most: float
    clean: bool
    values: FloatArray
    threes: FloatArray

    @property
    def span(self) -> float:
        """Largest minus least measurement."""
        return self.most - self.least if self.most > self.least else 0.0

    @cached_property
    def travel(self) -> float:
        """Width within which all but two percent of the values lie."""
        if not len(self.threes):
            return 0.0
        low, high = np.quantile(self.threes[:, 0], [0.01, 0.99])
        return float(high - low)

    @cached_property
    def median(self) -> float:
        """Median of the values."""
        return float(np.median(self.threes[:, 0])) if len(self.threes) else 0.0

    @cached_property
    def usual_change(self) -> float:
        """Change between neighbours that one in ten exceeds."""
        changes = np.abs(self.threes[:, 1] - self.threes[:, 0])
        return float(np.quantile(changes, 0.9)) if len(changes) else 0.0

    @cached_property
    def step(self) -> float | None:
        """Quantisation; None when there is no grid that can be seen."""
        return quantisation_step(self.values)

    def measurements(self, x: FloatArray) -> BoolArray | None:
        """Which values of the column are measurements; None when all are."""
        return None if self.clean else np.asarray((x >= self.low) & (x <= self.high))

    def without_garbage(self, x: FloatArray) -> FloatArray:
        """The measurements among values of the column."""
        return x if self.clean else x[(x >= self.low) & (x <= self.high)]


def column_statistics(x: FloatArray) -> ColumnStatistics:
    """What is usual in a column.

    Args:
        x: (samples,); may hold anything.
    """
    # A copy: a view would keep the whole column in memory.
    threes, values = neighbours(x, SAMPLED.groups, 3), x[:: stride(len(x), SAMPLED.values)].copy()
    low, high = _garbage_limits(threes[:, 0] if len(threes) else values)
    least_at, most_at, clean = -1, -1, True
    if len(x):
        least_at, most_at = int(x.argmin()), int(x.argmax())
        clean = bool(x[least_at] >= low and x[most_at] <= high)  # NaN is not
    if not clean:
        good = (x >= low) & (x <= high)
        some = bool(good.any())
        least_at = int(np.where(good, x, np.inf).argmin()) if some else -1
        most_at = int(np.where(good, x, -np.inf).argmax()) if some else -1
        values = values[(values >= low) & (values <= high)]
        threes = threes[((threes >= low) & (threes <= high)).all(axis=1)]
    least = float(x[least_at]) if least_at >= 0 else np.inf
    most = float(x[most_at]) if most_at >= 0 else -np.inf
    return ColumnStatistics(low, high, least_at, most_at, least, most, clean, values, threes)


def _garbage_limits(some: FloatArray) -> tuple[float, float]:
    """Least and largest value that a sensor may give, from values spread over a column."""
    calm = some[np.abs(some) <= GARBAGE.largest]  # NaN is not
    if len(calm) < GARBAGE.fewest:
        return -GARBAGE.largest, GARBAGE.largest
    low, median, high = np.quantile(calm, [0.01, 0.5, 0.99])
    reach = GARBAGE.widths * max(high - low, GARBAGE.least_width * abs(median))
    if reach == 0:
        return -GARBAGE.largest, GARBAGE.largest
    return max(-GARBAGE.largest, float(median - reach)), min(GARBAGE.largest, float(median + reach))


def quantisation_step(x: FloatArray) -> float | None:
    """The step of a quantised signal; None when its values lie on no grid that can be seen.

    Different values of a quantised signal differ by whole multiples of the step, so the least difference is
    one of its small multiples. A grid much finer than the differences cannot be told from no grid.

    Args:
        x: one axis, finite, (samples,).
    """
    levels = np.unique(x)
    if len(levels) < 3:
        return None
    rounding = 1e-15 * float(np.max(np.abs(levels)))
    differences = np.sort(np.diff(levels))
    # Sums that should meet may miss each other by rounding.
    differences = differences[differences > 100 * rounding][: GRID.differences]
    if len(differences) < 2:
        return None
    guess = differences[0] / np.arange(1, GRID.parts + 1)[:, None]
    for count in (5, 20, 60, len(differences)):  # a longer difference makes the step sharper
        some = differences[:count]
        multiples = np.maximum(np.round(some / guess), 1.0)
        guess = (multiples @ some / np.sum(multiples**2, axis=1))[:, None]
    off = np.abs(differences - np.maximum(np.round(differences / guess), 1.0) * guess)
    met = np.mean(off < np.maximum(GRID.off * guess, 4 * rounding), axis=1) >= GRID.met
    found = np.flatnonzero(met & (guess[:, 0] > 50 * rounding))
    return float(guess[found[0], 0]) if len(found) else None
