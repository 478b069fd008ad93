"""What stamps say about time: which are good, where samples are missing, where the clock was set back."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import BoolArray, FloatArray
from dynid.core.finding import Name
from dynid.logs.log import Log
from dynid.preparation.column import SAMPLED, run_ends, stride

IndexArray = NDArray[np.intp]


@dataclass(frozen=True)
class ClockRules:
    """How stamps are read. Chosen by hand; the broken and measured logs of ``tests/checks`` hold them.

    Args:
        short_gap: missing samples in a row that interpolation may bridge.
        even: steps of which 95 % are below this many median steps are even: one row that is missing is seen.
        gap_steps: a step is a gap beyond this many median steps where they are not …
        gap_usual: … and beyond this many times the step that 5 % exceed, so that jitter is none.
        set_back: samples by which rows and stamps must disagree before the clock was set back.
        most_breaks: times a clock may be set back; beyond, its stamps are just bad.
        beside: good stamps to each side of bad ones that say whether these had room between them.
        latest: magnitude of a stamp beyond which it is garbage, in any unit of time [s].
        farthest: distance of a stamp from the median one, over the rows of the log at the usual step, beyond
            which it is garbage.
        room: share of a step by which rows may miss the place that their stamps leave for them.
        lone: rows at an end that are none of the log when they are farther from it than it lasts.
    """

    short_gap: int = 10
    even: float = 1.1
    gap_steps: float = 2.5
    gap_usual: float = 1.8
    set_back: float = 1.5
    most_breaks: int = 20
    beside: int = 8
    latest: float = 1e18
    farthest: float = 1e4
    room: float = 0.5
    lone: int = 8


CLOCK = ClockRules()


@dataclass(frozen=True)
class Break:
    """A place where the clock was set: index of the first stamp after it, and by how much back [s].

    A clock that was set forward was set back by less than nothing.
    """

    index: int
    back_s: float


@dataclass(frozen=True, eq=False)
class LogClock:
    """What the stamps of a log say about time.

    Args:
        raw: the stamps [s], (samples,).
        time: the same with the breaks taken back.
        good: stamps that are finite and later than all before them.
        repeated: number of stamps equal to the one before.
        backward: number of stamps earlier than one before.
        lost: number of stamps that are not finite.
        breaks: where the clock was set back for good.
        rows: row of the log that each stamp belongs to; None when it is its own number.
    """

    raw: FloatArray
    time: FloatArray
    good: BoolArray
    repeated: int
    backward: int
    lost: int
    breaks: tuple[Break, ...] = ()
    rows: IndexArray | None = None

    @cached_property
    def good_rows(self) -> IndexArray | None:
        """Indices of the good stamps; None when all are."""
        return None if self.bad_stamps == 0 else np.flatnonzero(self.good)

    @property
    def samples(self) -> int:
        """Number of stamps."""
        return len(self.time)

    @property
    def bad_stamps(self) -> int:
        """Number of stamps that are not good."""
        return self.repeated + self.backward + self.lost

    @cached_property
    def steps(self) -> FloatArray:
        """Steps between good stamps [s]."""
        return np.diff(self.time if self.good_rows is None else self.time[self.good_rows])

    @cached_property
    def _some_steps(self) -> FloatArray:
        """Steps between neighbouring rows with good stamps, spread over the log [s]."""
        rows = slice(None, None, stride(self.samples - 1, SAMPLED.steps))
        steps = self.time[1:][rows] - self.time[:-1][rows]
        return steps if self.bad_stamps == 0 else steps[self.good[1:][rows] & self.good[:-1][rows]]

    @cached_property
    def step(self) -> float:
        """Median step [s]; NaN without any."""
        return float(np.median(self._some_steps)) if len(self._some_steps) else float("nan")

    @cached_property
    def longest_step(self) -> float:
        """Longest step that may still be jitter [s]; beyond, samples are missing."""
        usual = float(np.quantile(self._some_steps, 0.95)) if len(self._some_steps) else 0.0
        is_even = usual <= CLOCK.even * self.step
        return max(CLOCK.gap_usual * usual, 0.0 if is_even else CLOCK.gap_steps * self.step)

    @cached_property
    def gaps(self) -> IndexArray:
        """Numbers of the steps in which samples are missing."""
        return np.flatnonzero(self.steps > self.longest_step)

    @cached_property
    def missing_samples(self) -> NDArray[np.int64]:
        """Samples missing in each gap."""
        return np.round(self.steps[self.gaps] / self.step).astype(np.int64) - 1

    @cached_property
    def jitter(self) -> float:
        """Width within which all but two percent of the steps lie, gaps left out, over the median step."""
        usual = self._some_steps[self._some_steps <= self.longest_step]
        low, high = np.quantile(usual, [0.01, 0.99])
        return float(high - low) / self.step

    def stamp_before(self, step: int) -> int:
        """Index of the stamp before a step."""
        return int(step if self.good_rows is None else self.good_rows[step])

    def stretches(self) -> list[slice]:
        """Runs of good stamps without a long gap, counted in good stamps."""
        cuts = self.gaps[self.missing_samples > CLOCK.short_gap] + 1
        return [slice(*ends) for ends in pairwise([0, *cuts.tolist(), self.samples - self.bad_stamps])]

    def longest_stretch(self) -> tuple[slice, int]:
        """The longest run of stamps without a long gap, and how many good ones it holds."""
        if not len(self.gaps) and self.bad_stamps == 0:
            return slice(0, self.samples), self.samples
        run = longest_run(self.stretches())
        return slice(self.stamp_before(run.start), self.stamp_before(run.stop - 1) + 1), run.stop - run.start


def longest_run(runs: Sequence[slice]) -> slice:
    """The longest run, the first of equal ones."""
    return max(runs, key=lambda run: run.stop - run.start)


def read_clock(stamps: FloatArray) -> LogClock:
    """Tell good stamps from bad ones, and from good ones of a clock that was set back.

    Rows between two good stamps that are left out must have room between them. Where they have not, the clock
    was set back and went on: what follows is as good as what came before, only its zero is another.

    Args:
        stamps: time of each row [s], (samples,); may hold anything.
    """
    time, breaks = stamps, list[Break]()
    good, latest = _good_stamps(time)
    while (found := _first_break(time, good, latest)) is not None:
        breaks.append(found)
        if len(breaks) > CLOCK.most_breaks:
            time, breaks = stamps, []
            good, latest = _good_stamps(time)
            break
        time = time.copy()
        time[found.index :] += found.back_s
        good, latest = _good_stamps(time)
    bad = len(good) - int(np.count_nonzero(good))
    finite = np.isfinite(time) if bad else good
    lost = len(time) - int(np.count_nonzero(finite))
    repeated = int(np.count_nonzero(finite & (time == latest))) if bad else 0
    return LogClock(stamps, time, good, repeated, bad - repeated - lost, lost, tuple(breaks))


def are_shuffled(stamps: FloatArray) -> bool:
    """Whether stamps that are in no order are even once they are sorted: the rows only changed places."""
    if not np.all(np.isfinite(stamps)) or len(stamps) < 3:
        return False
    steps = np.diff(np.sort(stamps))
    usual = float(np.median(steps))
    return bool(
        usual > 0 and steps.min() > usual / CLOCK.even and np.quantile(steps, 0.95) < CLOCK.even * usual
    )


def clock_of(log: Log) -> LogClock:
    """The clock of a log. Stamps of damaged lines are interpolated where there is room, else left out."""
    empty = damaged_rows(log)
    if empty is None:
        return read_clock(log.time)
    time, kept = filled_stamps(log.time, empty)
    return replace(read_clock(time[kept]), rows=np.flatnonzero(kept))


def damaged_rows(log: Log) -> BoolArray | None:
    """Rows of damaged lines, where a whole channel holds nothing; None when the reader noted none."""
    if all(step.name != Name.DAMAGED_LINES for step in log.history):
        return None
    empty = np.zeros(log.samples, dtype=bool)
    for name in log.channels:
        nothing = np.ones(log.samples, dtype=bool)
        for axis in range(log.axes):
            nothing &= np.isnan(log.column(name, axis))
        empty |= nothing
    return empty


def filled_stamps(stamps: FloatArray, empty: BoolArray) -> tuple[FloatArray, BoolArray]:
    """Stamps of damaged lines interpolated where their neighbours leave room, and which rows can be kept.

    Args:
        stamps: time of each row [s].
        empty: rows of damaged lines.
    """
    time, kept, step = stamps.copy(), np.ones(len(stamps), dtype=bool), read_clock(stamps).step
    for start, stop in zip(*run_ends(empty & ~np.isfinite(stamps)), strict=True):
        count = stop - start
        room = (time[stop] - time[start - 1]) / step if start > 0 and stop < len(time) else np.nan
        if abs(room - (count + 1)) < CLOCK.room:
            time[start:stop] = np.linspace(time[start - 1], time[stop], count + 2)[1:-1]
        else:
            kept[start:stop] = False
    return time, kept


def _good_stamps(time: FloatArray) -> tuple[BoolArray, FloatArray]:
    """Which stamps are good, and the latest good one before each.

    The good ones are the most stamps that increase from row to row (the longest increasing subsequence): one
    wild stamp, or a few rows of garbage, cannot condemn the others.
    """
    if np.all(time[1:] > time[:-1]) and np.all(np.isfinite([*time[:1], *time[-1:]])):  # NaN is not
        return np.ones(len(time), dtype=bool), time
    good = np.zeros(len(time), dtype=bool)
    chain = _longest_increase(time, _plausible_rows(time))
    good[_without_lone_ends(time, chain)] = True
    latest = np.maximum.accumulate(np.concatenate(([-np.inf], np.where(good, time, -np.inf))))[:-1]
    return good, latest


def _plausible_rows(time: FloatArray) -> IndexArray:
    """Rows whose stamps are finite and not absurdly far from the median stamp."""
    finite = np.flatnonzero(np.abs(time) < CLOCK.latest)  # NaN is not
    steps = np.diff(time[finite])
    if not np.any(steps > 0):
        return finite
    reach = CLOCK.farthest * len(time) * float(np.median(steps[steps > 0]))
    return finite[np.abs(time[finite] - np.median(time[finite])) <= reach]


def _longest_increase(time: FloatArray, rows: IndexArray) -> IndexArray:
    """The longest increasing subsequence of some stamps; of equal stamps the first.

    Stamps later than all before and earlier than all after belong to it; only runs of others are sorted.
    """
    stamps = time[rows]
    latest = np.maximum.accumulate(np.concatenate(([-np.inf], stamps)))[:-1]
    earliest = np.minimum.accumulate(np.concatenate((stamps[1:], [np.inf]))[::-1])[::-1]
    kept = (stamps > latest) & (stamps < earliest)
    for start, stop in zip(*run_ends(~kept), strict=True):
        kept[start + _longest_chain(stamps[start:stop])] = True
    return rows[kept]


def _longest_chain(stamps: FloatArray) -> IndexArray:
    """Indices of the longest increasing subsequence, by patience sorting."""
    least, at = list[float](), list[int]()  # of all increases of length k + 1: the least end, and its place
    before = np.full(len(stamps), -1, dtype=np.intp)
    for i, stamp in enumerate(stamps.tolist()):
        k = len(least) if not least or stamp > least[-1] else bisect_left(least, stamp)
        if k == len(least):
            least.append(stamp)
            at.append(i)
        elif stamp < least[k]:
            least[k], at[k] = stamp, i
        else:
            continue
        before[i] = at[k - 1] if k else -1
    chain, i = list[int](), at[-1] if at else -1
    while i >= 0:
        chain.append(i)
        i = int(before[i])
    return np.array(chain[::-1], dtype=np.intp)


def _without_lone_ends(time: FloatArray, rows: IndexArray) -> IndexArray:
    """Rows without a few at an end that are farther from the rest than the rest lasts."""
    for _ in range(CLOCK.lone):
        stamps = time[rows]
        if len(rows) < 4 * CLOCK.lone:
            break
        ends = np.diff(stamps)[[*range(CLOCK.lone), *range(-CLOCK.lone, 0)]]
        k = int(np.argmax(ends))
        lasts = stamps[-1] - stamps[0] - ends[k]
        if ends[k] <= max(lasts, CLOCK.lone * float(np.median(np.diff(stamps)))):
            break
        rows = rows[k + 1 :] if k < CLOCK.lone else rows[: len(rows) - (2 * CLOCK.lone - k)]
    return rows


def _first_break(time: FloatArray, good: BoolArray, latest: FloatArray) -> Break | None:
    """The first place where the clock was set back and went on from there."""
    if good.all() or np.count_nonzero(good) < 3:
        return None
    good_rows = np.flatnonzero(good)
    step = float(np.median(np.diff(time[good_rows])))
    late = ~good & (time != latest) & np.isfinite(time)
    starts, stops = run_ends(~good)
    # Runs of lost or repeated stamps only are none; good stamps between the runs are never late.
    for k in np.flatnonzero(np.logical_or.reduceat(late, starts)):
        start, stop = int(starts[k]), int(stops[k])
        finite = start + np.flatnonzero(np.isfinite(time[start:stop]))
        if not _goes_on_steadily(time[finite], step, stop - start, at_start=start == 0):
            continue
        low = int(good_rows[max(int(np.searchsorted(good_rows, start)) - CLOCK.beside, 0)])
        high = int(good_rows[min(int(np.searchsorted(good_rows, stop)) + CLOCK.beside, len(good_rows)) - 1])
        is_last, known = stop == len(time), np.concatenate((finite, [stop])).astype(int)
        known = known[: len(known) - is_last]
        if start == 0:
            rows, elapsed = int(known[-1] - known[0]), (time[known[-1]] - time[known[0]]) / step
        elif is_last:
            rows, elapsed = stop - start, 0.0
        else:  # rows that only changed places leave as much time as there are rows around them
            rows, elapsed = high - low, (time[high] - time[low]) / step
        known = known if start == 0 else np.insert(known, 0, start - 1)
        if rows - elapsed > CLOCK.set_back and (stop - start > 2 or not is_last):
            fall = int(np.argmax(np.diff(time[known]) <= 0))
            last, first = int(known[fall]), int(known[fall + 1])
            return Break(first, float(time[last] + (first - last) * step - time[first]))
    return None


def _goes_on_steadily(stamps: FloatArray, step: float, rows: int, at_start: bool) -> bool:
    """Whether stamps that are too late or too early are those of a clock that runs, and no garbage.

    Args:
        stamps: the finite ones of a run of rows [s].
        step: usual step [s].
        rows: number of rows of the run.
        at_start: whether the log begins with the run; a few stamps are no piece of their own there.
    """
    steps = np.diff(stamps)
    if rows < 4 or len(steps) == 0:
        return not at_start
    usual = float(np.median(steps))
    return bool(np.mean(steps > 0) > 0.8 and step / 4 < usual < 4 * step)
