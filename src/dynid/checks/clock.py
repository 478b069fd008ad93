"""What stamps say about time: which are good, where samples are missing, where the clock was set back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.checks.runs import runs
from dynid.checks.thin import thinned
from dynid.logs.log import Log

FloatArray = NDArray[np.float64]
SHORT_GAP = 10
"""Missing samples that interpolation may bridge."""
_SET_BACK = 1.5
"""Samples by which rows and stamps must disagree before the clock was set back."""
MOST_BREAKS = 20
"""Breaks beyond which the stamps are just bad."""
BESIDE = 8
"""Samples to each side of a break that tell whether the motion goes on."""
_LOOKED_AT = 100_000


@dataclass(frozen=True)
class Break:
    """A place where the clock was set back: index of the first sample after it, and by how much [s]."""

    index: int
    back_s: float


@dataclass(frozen=True, eq=False)
class Clock:
    """What the stamps say about time.

    Args:
        time: stamps with the breaks taken back [s], (samples,).
        good: stamps that are finite and later than all before them, (samples,) of bool.
        repeated: number of stamps equal to the one before.
        backward: number of stamps earlier than one before.
        lost: number of stamps that are not finite.
        step: median step between good stamps [s].
        steps: steps between good stamps [s].
        after: index, in the log, of the sample before each step.
        breaks: where the clock was set back for good.
    """

    time: FloatArray
    good: NDArray[np.bool_]
    repeated: int
    backward: int
    lost: int
    step: float
    steps: FloatArray
    after: NDArray[np.intp]
    breaks: tuple[Break, ...] = ()

    @cached_property
    def gaps(self) -> NDArray[np.bool_]:
        """Steps that are too long to be jitter: samples are missing."""
        some = thinned(self.steps, _LOOKED_AT)
        usual = float(np.quantile(some, 0.95)) if len(some) else 0.0
        return self.steps > max(1.8 * usual, 2.5 * self.step)

    @cached_property
    def missing(self) -> FloatArray:
        """Samples missing in each step."""
        return np.round(self.steps / self.step) - 1.0


def read_clock(log: Log) -> Clock:
    """Tell good stamps from bad ones, and from good ones of a clock that was set back.

    Rows between two good stamps that are left out must have room between them. Where they have not, the clock
    was set back and went on: what follows is as good as what came before, only its zero is another.
    """
    time, breaks = log.time, list[Break]()
    while len(breaks) <= MOST_BREAKS:
        good, before = good_stamps(time)
        found = None if good.all() else set_back(time, good, before, _usual_step(time, good))
        if found is None:
            break
        breaks.append(found)
        time = time.copy()
        time[found.index :] += found.back_s
    else:
        time, breaks = log.time, []
        good, before = good_stamps(time)
    kept = np.flatnonzero(good)
    repeated, backward, lost = bad_counts(time, good, before)
    steps = np.diff(time[kept] if len(kept) < len(time) else time)
    middle = float(np.median(steps)) if len(steps) else np.nan
    return Clock(time, good, repeated, backward, lost, middle, steps, kept[:-1], tuple(breaks))


def bad_counts(time: FloatArray, good: NDArray[np.bool_], before: FloatArray) -> tuple[int, int, int]:
    """How many stamps are repeated, backward and lost, of those that are not good."""
    bad = int(np.count_nonzero(~good))
    if bad == 0:
        return 0, 0, 0
    finite = np.isfinite(time)
    repeated, lost = int(np.sum(finite & (time == before))), int(np.sum(~finite))
    return repeated, bad - repeated - lost, lost


def good_stamps(
    time: FloatArray, latest: float = -np.inf, previous: float = -np.inf
) -> tuple[NDArray[np.bool_], FloatArray]:
    """Which stamps are finite and later than all before, and the latest before each.

    Args:
        time: stamps.
        latest: the latest of those before them.
        previous: the last of those before them.
    """
    if np.all(np.diff(time) > 0) and (not len(time) or time[0] > latest):  # NaN is not
        return np.ones(len(time), dtype=bool), time
    finite = np.isfinite(time)
    stamps = np.where(finite, time, -np.inf)
    plausible = _plausible(stamps, previous)
    before = np.maximum.accumulate(np.concatenate(([latest], plausible)))[:-1]
    return finite & (stamps > before) & (stamps == plausible), before


def _usual_step(time: FloatArray, good: NDArray[np.bool_]) -> float:
    kept = time[good]
    return float(np.median(np.diff(kept))) if len(kept) > 2 else float("nan")


def _plausible(time: FloatArray, previous: float) -> FloatArray:
    """Stamps without single ones that leap ahead and come back, which would make all later ones late."""
    if np.count_nonzero(np.isfinite(time)) + np.isfinite(previous) < 3:
        return time
    after = np.concatenate((time[1:], [np.inf]))
    before = np.concatenate(([previous], time[:-1]))
    leap = (time > after) & (time > before) & (after >= before)
    return np.where(leap, before, time)


def set_back(
    time: FloatArray,
    good: NDArray[np.bool_],
    before: FloatArray,
    step: float,
    begin: int = 1,
    whole: bool = True,
) -> Break | None:
    """The first place where the clock was set back and went on from there.

    Args:
        time: stamps.
        good: which are good.
        before: the latest before each.
        step: usual step [s].
        begin: first sample that is looked at; the one before it tells where the clock was.
        whole: whether the stamps end here; else what happens at their end is not known yet.
    """
    if not step > 0:
        return None
    for start, length in runs(~good):
        inside, stop = time[start : start + length], start + length
        finite = start + np.flatnonzero(np.isfinite(inside))
        if start < begin or (stop == len(time) and not whole) or np.all(time[finite] == before[finite]):
            continue  # not known yet, or lost or repeated only
        elapsed = (time[stop] - time[start - 1]) / step if stop < len(time) else 0.0
        steps = np.diff(time[finite])
        goes_on = len(steps) == 0 or np.mean(steps > 0) > 0.8 or length < 4
        if goes_on and length + 1 - elapsed > _SET_BACK and (stop < len(time) or length > 2):
            known = np.concatenate(([start - 1], finite, [stop] if stop < len(time) else []))
            known = known.astype(int)
            fall = int(np.argmax(np.diff(time[known]) <= 0))
            last, first = int(known[fall]), int(known[fall + 1])
            return Break(first, float(time[last] + (first - last) * step - time[first]))
    return None


def longest_stretch(log: Log, clock: Clock) -> tuple[slice, int]:
    """The longest run of samples without a long gap, and how many good samples it holds."""
    if not np.any(clock.gaps) and clock.good.all():
        return slice(0, log.samples), log.samples
    long = clock.gaps & (clock.missing > SHORT_GAP)
    kept = np.flatnonzero(clock.good)
    cuts = np.flatnonzero(long) + 1
    edges = [0, *cuts.tolist(), len(kept)]
    best = max(range(len(edges) - 1), key=lambda i: edges[i + 1] - edges[i])
    start, stop = edges[best], edges[best + 1]
    return slice(int(kept[start]), int(kept[stop - 1]) + 1), stop - start


def longest_piece(log: Log, clock: Clock) -> slice:
    """The longest run of samples between two breaks of the clock where the motion is not continuous."""
    edges = [0, *(found.index for found in clock.breaks if not continuous(log, found)), log.samples]
    return longest_between(edges)


def longest_between(edges: Sequence[int]) -> slice:
    """The longest of the runs of samples between such numbers."""
    best = max(range(len(edges) - 1), key=lambda i: edges[i + 1] - edges[i])
    return slice(edges[best], edges[best + 1])


def continuous(log: Log, found: Break) -> bool:
    """Whether positions go on over a break of the clock as they did around it.

    Args:
        log: the log.
        found: the break.
    """
    if "position" not in log.channels:
        return False
    q = log.array("position")
    return goes_on(q, found.index, np.ptp(q[np.isfinite(q).all(axis=1)], axis=0))


def goes_on(q: FloatArray, index: int, travel: FloatArray) -> bool:
    """Whether positions change before a sample as they did around it.

    Args:
        q: positions (samples, axes).
        index: the sample.
        travel: width of the positions in the whole log, (axes,).
    """
    low, high = max(index - BESIDE, 0), min(index + BESIDE, len(q))
    change = np.abs(np.diff(q[low:high], axis=0))
    over = index - 1 - low
    beside = np.delete(change, over, axis=0)
    if len(beside) < 4 or not np.all(np.isfinite(change)):
        return False
    return bool(np.all(change[over] <= 3 * beside.max(axis=0) + 1e-4 * travel))
