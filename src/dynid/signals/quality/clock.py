"""What stamps say about time: which are good, where samples are missing, where the clock was set back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.signals.log import Log
from dynid.signals.quality.values import runs

FloatArray = NDArray[np.float64]
SHORT_GAP = 10
"""Missing samples that interpolation may bridge."""
_SET_BACK = 1.5
"""Samples by which rows and stamps must disagree before the clock was set back."""
_MOST_BREAKS = 20
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
        some = self.steps[:: max(1, len(self.steps) // _LOOKED_AT)]
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
    while len(breaks) <= _MOST_BREAKS:
        good, before = _good(time)
        found = _set_back(time, good, before) if not good.all() else None
        if found is None:
            break
        breaks.append(found)
        time = time.copy()
        time[found.index :] += found.back_s
    else:
        time, breaks = log.time, []
        good, before = _good(time)
    kept = np.flatnonzero(good)
    repeated = lost = backward = 0
    if len(kept) < len(time):
        finite = np.isfinite(time)
        repeated = int(np.sum(finite & (time == before)))
        lost = int(np.sum(~finite))
        backward = len(time) - len(kept) - repeated - lost
    steps = np.diff(time[kept] if len(kept) < len(time) else time)
    middle = float(np.median(steps)) if len(steps) else np.nan
    return Clock(time, good, repeated, backward, lost, middle, steps, kept[:-1], tuple(breaks))


def _good(time: FloatArray) -> tuple[NDArray[np.bool_], FloatArray]:
    """Which stamps are finite and later than all before, and the latest before each."""
    if np.all(np.diff(time) > 0):  # NaN is not
        return np.ones(len(time), dtype=bool), time
    finite = np.isfinite(time)
    stamps = np.where(finite, time, -np.inf)
    plausible = _plausible(stamps)
    before = np.concatenate(([-np.inf], np.maximum.accumulate(plausible)[:-1]))
    return finite & (stamps > before) & (stamps == plausible), before


def _plausible(time: FloatArray) -> FloatArray:
    """Stamps without single ones that leap ahead and come back, which would make all later ones late."""
    finite = time[np.isfinite(time)]
    if len(finite) < 3:
        return time
    after = np.concatenate((time[1:], [np.inf]))
    before = np.concatenate(([-np.inf], time[:-1]))
    leap = (time > after) & (time > before) & (after >= before)
    return np.where(leap, before, time)


def _set_back(time: FloatArray, good: NDArray[np.bool_], before: FloatArray) -> Break | None:
    """The first place where the clock was set back and went on from there."""
    kept = np.flatnonzero(good)
    if len(kept) < 3:
        return None
    step = float(np.median(np.diff(time[kept])))
    for start, length in runs(~good):
        inside, stop = time[start : start + length], start + length
        finite = start + np.flatnonzero(np.isfinite(inside))
        if start == 0 or np.all(time[finite] == before[finite]):
            continue  # lost or repeated only
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
    q = log.channels["position"]
    low, high = max(found.index - 8, 0), min(found.index + 8, log.samples)
    change = np.abs(np.diff(q[low:high], axis=0))
    over = found.index - 1 - low
    beside = np.delete(change, over, axis=0)
    if len(beside) < 4 or not np.all(np.isfinite(change)):
        return False
    noise = 1e-4 * np.ptp(q[np.isfinite(q).all(axis=1)], axis=0)
    return bool(np.all(change[over] <= 3 * beside.max(axis=0) + noise))
