"""The clock of a log that comes in pieces: every stamp is judged once, wherever the pieces are cut."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.checks.clock import (
    BESIDE,
    MOST_BREAKS,
    SHORT_GAP,
    Break,
    bad_counts,
    goes_on,
    good_stamps,
    set_back,
)

FloatArray = NDArray[np.float64]
_MOST_HELD = 200_000
"""Stamps that may wait for a decision; by then a clock that fell behind was set back."""


@dataclass(frozen=True)
class FoundBreak:
    """A place where the clock was set back.

    Args:
        place: the sample after it, and by how much.
        time: stamp before it [s].
        joined: whether the motion goes on over it.
    """

    place: Break
    time: float
    joined: bool


@dataclass
class Stamps:
    """What the stamps of a log came to.

    Args:
        samples: rows.
        good: good stamps.
        first_bad: number of the first that is not; −1 without any.
        repeated: stamps equal to the one before.
        backward: stamps earlier than one before.
        lost: stamps that are not finite.
        duration: sum of the steps between good stamps [s].
        shortest: shortest step that is no gap [s].
        longest: longest such step [s].
        short_gaps: gaps that interpolation may bridge.
        short_missing: samples missing in them.
        short_time: stamp before the first of them [s].
        long_gaps: other gaps.
        widest: samples missing in the widest gap.
        widest_time: stamp before it [s].
        stretch: good stamps since the last long gap.
        longest_stretch: most good stamps between two long gaps.
        breaks: where the clock was set back.
    """

    samples: int = 0
    good: int = 0
    first_bad: int = -1
    repeated: int = 0
    backward: int = 0
    lost: int = 0
    duration: float = 0.0
    shortest: float = np.inf
    longest: float = -np.inf
    short_gaps: int = 0
    short_missing: int = 0
    short_time: float = np.nan
    long_gaps: int = 0
    widest: int = 0
    widest_time: float = np.nan
    stretch: int = 0
    longest_stretch: int = 0
    breaks: tuple[FoundBreak, ...] = ()


class ClockStream:
    """Judges stamps piece by piece.

    A few rows wait until it is known what follows them: the last ones, and a run of bad stamps that has not
    ended yet.

    Args:
        step: usual step [s].
        longest_step: step beyond which samples are missing [s].
        travel: width of the positions in the whole log, (axes,).
        look_for_breaks: whether a clock that was set back is believed from there on.
    """

    def __init__(
        self, step: float, longest_step: float, travel: FloatArray, look_for_breaks: bool = True
    ) -> None:
        """Begin before the first stamp."""
        self._step, self._longest_step, self._travel = step, longest_step, travel
        self._look = look_for_breaks
        self._found = Stamps()
        self._time: FloatArray = np.empty(0)
        """Stamps that are held, with the breaks so far taken back."""
        self._raw: FloatArray = np.empty(0)
        self._q: FloatArray = np.empty((0, len(travel)))
        self._was_good: NDArray[np.bool_] = np.empty(0, dtype=bool)
        """Of those held, the ones that are judged already."""
        self._latest = -np.inf
        self._last: tuple[float, float] | None = None
        """The last good stamp, as it counts and as it was."""
        self._shift = 0.0
        self._plain: ClockStream | None = None
        """The same without any break, for a clock that has too many."""

    def take(self, time: FloatArray, q: FloatArray, last: bool) -> None:
        """The next stamps [s], (samples,), their positions, (samples, axes), and whether none follow."""
        before = self._copied() if self._look and self._plain is None else None
        if self._plain is not None:
            self._plain.take(time, q, last)
        if len(self._found.breaks) <= MOST_BREAKS:
            self._judge(time, q, last)
        if before is not None and self._found.breaks:
            self._plain = before
            self._plain.take(time, q, last)

    def finish(self) -> Stamps:
        """What they came to, after the last of them."""
        many = len(self._found.breaks) > MOST_BREAKS
        return self._plain.finish() if many and self._plain is not None else self._found

    def _copied(self) -> ClockStream:
        """The same state, without looking for breaks; arrays are never changed in place."""
        other = copy(self)
        other._found, other._look = copy(self._found), False
        return other

    def _judge(self, time: FloatArray, q: FloatArray, last: bool) -> None:
        done = len(self._was_good)
        self._raw = np.concatenate([self._raw, time]) if len(self._raw) else time
        shifted = time + self._shift if self._shift else time
        self._time = np.concatenate([self._time, shifted]) if len(self._time) else shifted
        self._q = np.concatenate([self._q, q]) if len(self._q) else q
        good, before = self._looked_at(done)
        stop = len(self._time) if last else max(len(self._time) - BESIDE, done)
        forced = last or len(self._time) - done > _MOST_HELD
        while self._look and not good.all() and len(self._found.breaks) <= MOST_BREAKS:
            found = set_back(self._time, good, before, self._step, max(done, 1), forced)
            if found is None:
                break
            if found.index + BESIDE > len(self._time) and not last:
                stop = min(stop, _run_start(good, found.index))
                break
            self._break(found)
            good, before = self._looked_at(done)
        if not forced and stop < len(good) and stop > done and not good[stop] and not good[stop - 1]:
            stop = max(_run_start(good, stop), done)
        if not forced and stop > done and not good[done:].all():
            # A run of bad stamps that reaches the end has not ended yet.
            tail = _run_start(good, len(good) - 1) if not good[-1] else len(good)
            stop = max(min(stop, tail), done)
        self._settle(good, before, done, stop)

    def _looked_at(self, done: int) -> tuple[NDArray[np.bool_], FloatArray]:
        """Which of the stamps held are good, and the latest before each."""
        previous = float(self._time[done - 1]) if done else -np.inf
        fresh, before = good_stamps(
            self._time[done:], self._latest, previous if np.isfinite(previous) else -np.inf
        )
        if not done:
            return fresh, before
        return np.concatenate([self._was_good, fresh]), np.concatenate([self._time[:done], before])

    def _break(self, found: Break) -> None:
        """Take a break of the clock back."""
        self._time = self._time.copy()
        self._time[found.index :] += found.back_s
        self._shift += found.back_s
        place = Break(self._found.samples - len(self._was_good) + found.index, found.back_s)
        joined = bool(len(self._travel)) and goes_on(self._q, found.index, self._travel)
        told = FoundBreak(place, float(self._raw[found.index - 1]), joined)
        self._found.breaks = (*self._found.breaks, told)

    def _settle(self, good: NDArray[np.bool_], before: FloatArray, done: int, stop: int) -> None:
        """Count the stamps that are judged, and keep a few of them beside those that wait."""
        found, rows = self._found, slice(done, stop)
        repeated, backward, lost = bad_counts(self._time[rows], good[rows], before[rows])
        found.repeated += repeated
        found.backward += backward
        found.lost += lost
        if found.first_bad < 0 and not good[rows].all():
            found.first_bad = found.samples + int(np.argmin(good[rows]))
        found.samples += stop - done
        time, raw = self._time[rows], self._raw[rows]
        self._count_steps(*((time, raw) if good[rows].all() else (time[good[rows]], raw[good[rows]])))
        # Bad stamps are never later than the last good one, but those that leap ahead; these do not count.
        self._latest = -np.inf if self._last is None else self._last[0]
        low = max(stop - BESIDE - 1, 0)
        self._time, self._raw, self._q = self._time[low:], self._raw[low:], self._q[low:]
        self._was_good = good[low:stop]

    def _count_steps(self, time: FloatArray, raw: FloatArray) -> None:
        """The steps to these good stamps."""
        found = self._found
        found.good += len(time)
        if not len(time):
            return
        if self._last is not None:
            time, raw = np.insert(time, 0, self._last[0]), np.insert(raw, 0, self._last[1])
        else:
            found.stretch = found.longest_stretch = 1
        self._last = float(time[-1]), float(raw[-1])
        steps = np.diff(time)
        found.duration += float(np.sum(steps))
        gaps = np.flatnonzero(steps > self._longest_step)
        usual = steps if not len(gaps) else np.delete(steps, gaps)
        found.shortest = min(found.shortest, float(usual.min(initial=np.inf)))
        found.longest = max(found.longest, float(usual.max(initial=-np.inf)))
        edges = [0]
        for gap in gaps.tolist():
            missing = int(np.round(steps[gap] / self._step)) - 1
            if missing <= SHORT_GAP:
                found.short_time = raw[gap] if not found.short_gaps else found.short_time
                found.short_gaps += 1
                found.short_missing += missing
            else:
                found.long_gaps += 1
                found.stretch += gap - edges[-1]
                found.longest_stretch = max(found.longest_stretch, found.stretch)
                found.stretch = 1
                edges.append(gap + 1)
            if missing > found.widest:
                found.widest, found.widest_time = missing, float(raw[gap])
        found.stretch += len(steps) - edges[-1]
        found.longest_stretch = max(found.longest_stretch, found.stretch)


def _run_start(good: NDArray[np.bool_], index: int) -> int:
    """Where the run of bad stamps around one begins; the index itself where that is good."""
    while index > 0 and not good[index] and not good[index - 1]:
        index -= 1
    return index
