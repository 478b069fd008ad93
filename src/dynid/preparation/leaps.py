"""Samples that leap: counters that wrap, single wild samples, encoders that slip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import BoolArray, FloatArray
from dynid.logs.log import Log
from dynid.model.joint import JointKind
from dynid.model.robot import Robot
from dynid.preparation.column import ColumnStatistics, column_statistics
from dynid.preparation.wraps import counter_modulus

IndexArray = NDArray[np.intp]
TURN = 2 * np.pi


@dataclass(frozen=True)
class LeapRules:
    """When a change between two samples is a leap. Chosen by hand; ``tests/checks`` holds them.

    Smaller ratios find smaller leaps and take noise, late samples and short peaks for leaps.

    Args:
        beside: changes to each side that say how the axis moves there.
        outlier: distance of a change from their median, over their median absolute deviation.
        noise: the least leap, over the second difference that one in four exceeds.
        encoder_steps: the least leap, over the step of an encoder without noise.
        harmless: share of the travel below which a leap does no harm.
        sampled_and_held: the least leap where values are logged several times, as from a slower bus, over the
            third largest change of some.
        turn: share of a turn by which a wrap may miss one.
        widest: samples of the widest spike.
        returned: what a spike may leave of its first leap when it is taken back, as a share of it.
        wild_torque: distance of a torque's spike from the median, over the travel: controllers give peaks.
        gap: a position may go anywhere within a step of so many usual ones.
    """

    beside: int = 5
    outlier: float = 8.0
    noise: float = 12.0
    encoder_steps: float = 3.0
    harmless: float = 0.005
    sampled_and_held: float = 2.0
    turn: float = 0.05
    widest: int = 5
    returned: float = 0.25
    wild_torque: float = 3.0
    gap: float = 2.5


LEAP = LeapRules()
_BLOCK, _OVERLAP = 250_000, 50
"""Samples that are looked at together, and those beside them: a block's temporaries fit into the cache."""


@dataclass(frozen=True, eq=False)
class Leaps:
    """Where a column leaps.

    Args:
        wraps: samples before a leap by a full turn.
        jumps: samples before a leap that stays.
        spikes: wild samples themselves.
        sizes: leap after each sample of ``jumps`` [rad or m].
    """

    wraps: IndexArray
    jumps: IndexArray
    spikes: IndexArray
    sizes: FloatArray

    def numbered_from(self, first: int) -> Leaps:
        """The same in a column with so many samples before."""
        return Leaps(self.wraps + first, self.jumps + first, self.spikes + first, self.sizes)

    def between(self, start: int, stop: int) -> Leaps:
        """Those from one sample to before another."""
        wraps, jumps, spikes = ((at >= start) & (at < stop) for at in (self.wraps, self.jumps, self.spikes))
        return Leaps(self.wraps[wraps], self.jumps[jumps], self.spikes[spikes], self.sizes[jumps])

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(len(self.wraps) or len(self.jumps) or len(self.spikes))


def find_leaps(
    x: FloatArray,
    time: FloatArray,
    turn: float = TURN,
    usual: ColumnStatistics | None = None,
    least: float = 0.0,
) -> Leaps:
    """Changes between samples that neither the speed around them nor the noise explains.

    Args:
        x: one axis, (samples,); what is not finite or garbage is left out.
        time: stamps; a change over a gap counts for the time it takes.
        turn: leaps by so much are wraps: 2π of an axis that turns, the range of a counter; 0 when none is.
        usual: what is usual in the column; found when None.
        least: leaps below it do no harm: an axis that hardly moves has a small travel of its own.
    """
    usual = column_statistics(x) if usual is None else usual
    floor, good = max(least_leap(usual), least), usual.measurements(x)
    parts = []
    for start in range(0, max(len(x), 1), _BLOCK):
        first = max(start - _OVERLAP, 0)
        block = slice(first, start + _BLOCK + _OVERLAP)
        found = _leaps_in(x[block], time[block], None if good is None else good[block], floor, turn)
        parts.append(found.numbered_from(first).between(start, start + _BLOCK))
    fields = ("wraps", "jumps", "spikes", "sizes")
    return Leaps(*(np.concatenate([getattr(part, name) for part in parts]) for name in fields))


def axis_turns(robot: Robot | None, log: Log, axis: int) -> bool:
    """Whether an axis turns; all do as far as is known without a robot, and on the motor side."""
    if robot is None or log.side == "motor" or axis >= robot.n_coordinates:
        return True
    return robot.joints[robot.coordinates[axis]].kind is not JointKind.PRISMATIC


def axis_turn(robot: Robot | None, log: Log, axis: int, x: FloatArray, usual: ColumnStatistics) -> float:
    """By how much a position leaps when it wraps: the range of a counter, or 2π; 0 where it does not turn.

    Args:
        robot: says which axes turn.
        log: the log.
        axis: number from 0.
        x: its positions, (samples,).
        usual: what is usual in them.
    """
    turn = TURN if axis_turns(robot, log, axis) else 0.0
    if usual.span == 0:
        return turn
    leaps = np.abs(np.diff(x)) > 0.5 * usual.span  # NaN is none
    modulus = counter_modulus(x, usual) if leaps.any() else 0.0
    return turn if modulus == 0 or abs(modulus - turn) < LEAP.turn * turn else modulus


def find_spikes(x: FloatArray, time: FloatArray, channel: str, usual: ColumnStatistics) -> IndexArray:
    """Wild samples of a position or torque; torques may leap, so theirs must be far beyond the usual range.

    Args:
        x: one axis, (samples,).
        time: stamps.
        channel: "position" or "torque".
        usual: what is usual in the column.
    """
    spikes = find_leaps(x, time, TURN if channel == "position" else 0.0, usual).spikes
    return spikes if channel == "position" else wild_torques(x, spikes, usual)


def wild_torques(x: FloatArray, spikes: IndexArray, usual: ColumnStatistics) -> IndexArray:
    """Those spikes of a torque that are far beyond its usual range."""
    return spikes[np.abs(x[spikes] - usual.median) > LEAP.wild_torque * usual.travel]


def least_leap(usual: ColumnStatistics) -> float:
    """The least leap that stands out from noise and encoder steps, and does harm."""
    first, second, third = usual.threes.T
    if not len(first):
        return np.inf
    changes = np.abs(second - first)
    moved = changes[changes > 0]
    step = float(np.quantile(moved, 0.2)) if len(moved) else 0.0  # a coarse encoder has no smaller change
    # A smooth motion has next to no second differences: they are noise, or steps of the encoder.
    noise = float(np.quantile(np.abs((third - second) - (second - first)), 0.75))
    # Where values are held over several samples, of two neighbouring changes mostly one alone is zero.
    pairs = np.abs(np.diff(usual.threes, axis=1))
    alone, both = (np.count_nonzero(np.count_nonzero(pairs, axis=1) == count) for count in (1, 2))
    often = float(np.sort(pairs, axis=None)[-3]) if alone > both else 0.0
    return max(
        LEAP.noise * noise,
        LEAP.encoder_steps * step if noise == 0 else 0.0,
        LEAP.harmless * usual.travel,
        LEAP.sampled_and_held * often,
    )


def _leaps_in(x: FloatArray, time: FloatArray, good: BoolArray | None, floor: float, turn: float) -> Leaps:
    """Leaps of at least ``floor`` among the good samples."""
    kept = np.arange(len(x)) if good is None else np.flatnonzero(good)
    if len(kept) < 4 * LEAP.beside:
        return _NO_LEAPS
    x, time = (x, time) if good is None else (x[kept], time[kept])
    change = np.diff(x)
    second = np.abs(np.diff(change))
    doubtful = np.flatnonzero(np.minimum(np.append(second, np.inf), np.insert(second, 0, np.inf)) > floor)
    if len(doubtful) == 0:
        return _NO_LEAPS
    places, beyond, spread = _outlying_changes(change, doubtful, floor)
    whole = (np.abs(np.abs(beyond) - turn) < LEAP.outlier * spread + LEAP.turn * turn) & (turn > 0)
    wraps, rest = places[whole], places[~whole].tolist()
    spikes, jumps = _spikes_and_jumps(change, rest)
    stay = np.array([i for i in jumps if _stays(change, time, i, floor)], dtype=np.intp)
    return Leaps(kept[wraps], kept[stay], kept[np.array(spikes, dtype=np.intp)], change[stay])


def _outlying_changes(
    change: FloatArray, doubtful: IndexArray, floor: float
) -> tuple[IndexArray, FloatArray, FloatArray]:
    """Changes far from those beside them, how far, and the median absolute deviation of those."""
    offsets = np.concatenate([np.arange(-LEAP.beside, 0), np.arange(1, LEAP.beside + 1)])
    around = change[np.clip(doubtful[:, None] + offsets, 0, len(change) - 1)]
    median = np.median(around, axis=1)
    spread = np.median(np.abs(around - median[:, None]), axis=1)
    beyond = change[doubtful] - median
    far = np.abs(beyond) > LEAP.outlier * spread + floor
    return doubtful[far], beyond[far], spread[far]


def _spikes_and_jumps(change: FloatArray, places: Sequence[int]) -> tuple[list[int], list[int]]:
    """Leaps that are taken back within a few samples are spikes; the others stay."""
    spikes, jumps = list[int](), list[int]()
    k = 0
    while k < len(places):
        first, level, back = places[k], change[places[k]], None
        for m in range(k + 1, min(k + 1 + LEAP.widest, len(places))):
            if places[m] - first > LEAP.widest:
                break
            level += change[places[m]]
            if abs(level) < LEAP.returned * abs(change[first]):
                back = m
                break
        if back is None:
            jumps.append(first)
            k += 1
        else:
            spikes += range(first + 1, places[back] + 1)
            k = back + 1
    return spikes, jumps


def _stays(change: FloatArray, time: FloatArray, i: int, floor: float) -> bool:
    """Whether a leap is still there when the time around it is counted.

    A sample that came late, or was held and made up for by the next, leaps for a moment only; over a gap the
    position may go anywhere.
    """
    near = slice(max(i - LEAP.beside, 0), i + LEAP.beside + 1)
    steps, changes = np.diff(time[near.start : near.stop + 1]), change[near]
    usual = float(np.median(steps[steps > 0])) if np.any(steps > 0) else 1.0
    steps = np.where(np.isfinite(steps) & (steps > 0), steps, usual)
    at = i - near.start
    speeds = np.delete(changes / steps, at)
    speed = float(np.median(speeds))
    window = slice(max(at - 2, 0), at + 3)
    if np.any(steps[window] > LEAP.gap * usual) or abs(change[i]) < 1.5 * abs(speed) * usual:
        return False
    left = float(np.sum(changes[window]) - speed * np.sum(steps[window]))
    doubt = float(np.median(np.abs(speeds - speed))) * usual
    return bool(abs(left) > max(0.5 * abs(change[i] - speed * usual), floor + LEAP.outlier * doubt))


_NOWHERE: IndexArray = np.empty(0, dtype=np.intp)
_NO_LEAPS = Leaps(_NOWHERE, _NOWHERE, _NOWHERE, np.empty(0))
