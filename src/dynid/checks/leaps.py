"""Positions that leap: counters that wrap, single wild samples, encoders that slip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.checks.limits import garbage_limits, sane
from dynid.checks.survey import AxisSurvey
from dynid.checks.thin import thinned
from dynid.logs.log import Log
from dynid.model.joint import JointKind
from dynid.model.robot import Robot

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
TURN = 2 * np.pi
_BESIDE = 5
"""Changes to each side that tell how the axis moves there."""
_TIMES = 8.0
"""How many times they differ among themselves a change must differ from them."""
_NOISE = 12.0
"""How many times the noise."""
_STEPS = 3.0
"""How many times the least change."""
_LEAST = 0.005
"""Share of the travel below which a leap does no harm."""
_WILD_TORQUE = 3.0
"""How many times the usual range of a torque its spikes must reach: controllers give short peaks too."""
_WIDEST = 5
"""Samples of the widest spike."""
_LOOKED_AT = 5_000
"""Samples, spread over the log, that tell what is usual."""
_BLOCK = 250_000
OVERLAP = 50
"""Samples of a long log that are looked at together, and those beside them."""


@dataclass(frozen=True, eq=False)
class Leaps:
    """Where the position of an axis leaps.

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

    def within(self, start: int, count: int) -> Leaps:
        """Those at ``count`` samples from ``start`` on."""

        def inside(at: IndexArray) -> NDArray[np.bool_]:
            return (at >= start) & (at < start + count)

        jumps = inside(self.jumps)
        return Leaps(
            self.wraps[inside(self.wraps)],
            self.jumps[jumps],
            self.spikes[inside(self.spikes)],
            self.sizes[jumps],
        )

    def moved(self, samples: int) -> Leaps:
        """The same of a log with so many samples before."""
        return Leaps(self.wraps + samples, self.jumps + samples, self.spikes + samples, self.sizes)

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(len(self.wraps) or len(self.jumps) or len(self.spikes))


_NOWHERE: IndexArray = np.empty(0, dtype=np.intp)
_NONE = Leaps(_NOWHERE, _NOWHERE, _NOWHERE, np.empty(0))


def find_leaps(x: FloatArray, time: FloatArray, turns: bool = True) -> Leaps:
    """Leaps of an axis; a long one is looked at in blocks, so that it is not held several times.

    Args:
        x: one axis, (samples,); what is not finite or garbage is left out.
        time: stamps; a change over a gap counts for the time it takes.
        turns: whether the axis turns, so that a leap by 2π may be a wrap.
    """
    low, high = garbage_limits(thinned(x, _LOOKED_AT)[:, 0])
    threes = thinned(x, _LOOKED_AT, 3)
    with np.errstate(invalid="ignore"):
        threes = threes[((threes >= low) & (threes <= high)).all(axis=1)]
    floor = least_leap(AxisSurvey(low, high, low, high, threes[:, 0], threes))
    parts = []
    for start in range(0, len(x), _BLOCK):
        block = slice(max(start - OVERLAP, 0), start + _BLOCK + OVERLAP)
        good = sane(x[block], low, high)
        found = leaps_in(x[block], time[block], good, floor, turns)
        parts.append(found.within(start - block.start, _BLOCK).moved(block.start))
    return joined(parts)


def joined(parts: Sequence[Leaps]) -> Leaps:
    """Leaps of successive blocks as one."""
    if not parts:
        return _NONE
    fields = ("wraps", "jumps", "spikes", "sizes")
    return Leaps(*(np.concatenate([getattr(part, name) for part in parts]) for name in fields))


def leaps_in(
    x: FloatArray, time: FloatArray, good: NDArray[np.bool_] | None, floor: float, turns: bool
) -> Leaps:
    """Changes between samples that neither the speed around them nor the noise explains.

    Args:
        x: one axis, (samples,).
        time: stamps.
        good: which values are measurements; None when all are.
        floor: the least leap, as ``least_leap`` tells it.
        turns: whether the axis turns.
    """
    kept = np.arange(len(x)) if good is None else np.flatnonzero(good)
    if len(kept) < 4 * _BESIDE:
        return _NONE
    x, time = (x, time) if good is None else (x[kept], time[kept])
    change = np.diff(x)
    second = np.abs(np.diff(change))
    doubtful = np.flatnonzero(np.minimum(np.append(second, np.inf), np.insert(second, 0, np.inf)) > floor)
    if len(doubtful) == 0:
        return _NONE
    places, beyond, spread = _far(change, doubtful, floor)
    whole = np.abs(np.abs(beyond) - TURN) < _TIMES * spread + 0.05 * TURN
    wraps, rest = places[turns & whole], places[~(turns & whole)].tolist()
    spikes, jumps = _pairs(change, rest)
    jumped = np.array([i for i in jumps if _stays(change, time, i, floor)], dtype=np.intp)
    return Leaps(
        kept[wraps],
        kept[jumped],
        kept[np.array(spikes, dtype=np.intp)],
        change[jumped],
    )


def least_leap(usual: AxisSurvey) -> float:
    """The least leap that is told from noise, from the steps of the encoder, and from what does no harm.

    Args:
        usual: what is usual on the axis.
    """
    first, second, third = usual.threes.T
    if not len(first):
        return np.inf
    some = np.abs(second - first)
    moved = some[some > 0]
    least = float(np.quantile(moved, 0.2)) if len(moved) else 0.0  # a coarse encoder has no smaller change
    # A smooth motion has next to no second differences: they are noise, or steps of the encoder.
    noise = float(np.quantile(np.abs((third - second) - (second - first)), 0.75))
    return max(_NOISE * noise, _STEPS * least if noise == 0 else 0.0, _LEAST * usual.travel)


def _far(change: FloatArray, doubtful: IndexArray, floor: float) -> tuple[IndexArray, FloatArray, FloatArray]:
    """Changes far from those beside them, how far, and how much those differ among themselves."""
    offsets = np.concatenate([np.arange(-_BESIDE, 0), np.arange(1, _BESIDE + 1)])
    around = change[np.clip(doubtful[:, None] + offsets, 0, len(change) - 1)]
    middle = np.median(around, axis=1)
    spread = np.median(np.abs(around - middle[:, None]), axis=1)
    beyond = change[doubtful] - middle
    far = np.abs(beyond) > _TIMES * spread + floor
    return doubtful[far], beyond[far], spread[far]


def _stays(change: FloatArray, time: FloatArray, i: int, floor: float) -> bool:
    """Whether a leap is still there when the time around it is counted.

    A sample that came late, or was held and made up for by the next, leaps for a moment only; over a gap the
    position may go anywhere.
    """
    near = slice(max(i - _BESIDE, 0), i + _BESIDE + 1)
    steps, changes = np.diff(time[near.start : near.stop + 1]), change[near]
    usual = float(np.median(steps[steps > 0])) if np.any(steps > 0) else 1.0
    steps = np.where(np.isfinite(steps) & (steps > 0), steps, usual)
    at = i - near.start
    speeds = np.delete(changes / steps, at)
    speed = float(np.median(speeds))
    window = slice(max(at - 2, 0), at + 3)
    if np.any(steps[window] > 2.5 * usual) or abs(change[i]) < 1.5 * abs(speed) * usual:
        return False
    left = float(np.sum(changes[window]) - speed * np.sum(steps[window]))
    doubt = float(np.median(np.abs(speeds - speed))) * usual
    return bool(abs(left) > max(0.5 * abs(change[i] - speed * usual), floor + _TIMES * doubt))


def _pairs(change: FloatArray, places: Sequence[int]) -> tuple[list[int], list[int]]:
    """Leaps that are taken back within a few samples are spikes; the others stay."""
    spikes, jumps = list[int](), list[int]()
    k = 0
    while k < len(places):
        i = places[k]
        level, back = change[i], None
        for m in range(k + 1, min(k + 1 + _WIDEST, len(places))):
            if places[m] - i > _WIDEST:
                break
            level += change[places[m]]
            if abs(level) < 0.25 * abs(change[i]):
                back = m
                break
        if back is None:
            jumps.append(i)
            k += 1
        else:
            spikes += range(i + 1, places[back] + 1)
            k = back + 1
    return spikes, jumps


def turning(robot: Robot | None, log: Log, axis: int) -> bool:
    """Whether an axis turns; all do as far as is known without a robot, and on the motor side."""
    if robot is None or log.side == "motor" or axis >= robot.n_coordinates:
        return True
    return robot.joints[robot.coordinates[axis]].kind is not JointKind.PRISMATIC


def channel_spikes(log: Log, channel: str, axis: int) -> IndexArray:
    """Wild samples of a channel; torques may leap, so theirs must be far beyond the usual range.

    Args:
        log: the log.
        channel: position or torque.
        axis: from 0.
    """
    x = log.channels[channel][:, axis]
    spikes = find_leaps(x, log.time, turns=channel == "position").spikes
    if channel == "position" or len(spikes) == 0:
        return spikes
    some = thinned(x, _LOOKED_AT)[:, 0]
    some = some[np.isfinite(some)]
    low, high = np.quantile(some, [0.01, 0.99])
    return spikes[wild_torques(x[spikes], float(np.median(some)), float(high - low))]


def wild_torques(values: FloatArray, middle: float, travel: float) -> NDArray[np.bool_]:
    """Which torques are far beyond the usual range.

    Args:
        values: torques.
        middle: their median over the log.
        travel: their usual range.
    """
    return np.asarray(np.abs(values - middle) > _WILD_TORQUE * travel)
