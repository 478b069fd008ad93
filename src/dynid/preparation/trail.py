"""Where motions went: their positions, as coarse as telling one motion from another allows.

A result folder keeps the trails of the fit's motions, so that a motion can be recognised later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dynid.logs.spool import Samples
from dynid.preparation.motion import Motion

FloatArray = NDArray[np.float64]
_STEP = 0.1
"""RMS travel between two samples, in standard deviations of the positions: a straight line between them
misses a sine by 0.2 % of that."""
_MOST_SAMPLES = 20_000
"""Samples of all trails together: 80 kB per coordinate at most."""
_LOOKED_AT = 200_000
"""Samples that mean values are taken over; more would only take memory."""


class PositionSeries(Protocol):
    """Positions over time: a ``Motion`` or a ``Trail``."""

    @property
    def time(self) -> FloatArray:
        """Stamps [s]."""

    @property
    def q(self) -> Samples:
        """Positions (samples, coordinates)."""

    @property
    def rate_hz(self) -> float:
        """Samples per second."""

    @property
    def samples(self) -> int:
        """Number of samples."""


@dataclass(frozen=True, eq=False)
class Trail:
    """Positions of one motion.

    Args:
        rate_hz: samples per second.
        q: positions (samples, coordinates) [rad or m].
    """

    rate_hz: float
    q: FloatArray

    @property
    def samples(self) -> int:
        """Number of samples."""
        return len(self.q)

    @property
    def time(self) -> FloatArray:
        """Stamps from zero [s], (samples,)."""
        return np.asarray(np.arange(self.samples) / self.rate_hz, dtype=float)


@dataclass(frozen=True, eq=False)
class Spread:
    """How far some paths reach, which makes coordinates comparable.

    Args:
        moving: which coordinates move, (coordinates,).
        middle: mean of those that do.
        scale: their standard deviation.
    """

    moving: NDArray[np.bool_]
    middle: FloatArray
    scale: FloatArray

    def speed(self, motion: Motion) -> float:
        """RMS speed of a motion in standard deviations per second; zero when nothing moves."""
        if not np.any(self.moving):
            return 0.0
        speeds = motion.qd[:: 1 + motion.samples // _LOOKED_AT][:, self.moving]
        return float(np.sqrt(np.mean((speeds / self.scale) ** 2)))


def spread_of(paths: Sequence[PositionSeries]) -> Spread:
    """The spread of all positions together."""
    every = 1 + sum(path.samples for path in paths) // _LOOKED_AT
    seen = np.concatenate([path.q[::every] for path in paths])
    spread = seen.std(axis=0)
    moving = spread > 1e-4 * spread.max(initial=0.0)
    return Spread(moving, seen.mean(axis=0)[moving], spread[moving])


def seconds_of(paths: Sequence[PositionSeries]) -> float:
    """How long all of them last together [s]."""
    return sum(path.samples / path.rate_hz for path in paths)


def sampled_positions(path: PositionSeries, step: float) -> FloatArray:
    """Positions every so many seconds from the beginning, (samples, coordinates)."""
    return _positions_at(path, np.arange(0.0, float(path.time[-1] - path.time[0]) + 1e-9, step))


def _positions_at(path: PositionSeries, times: FloatArray) -> FloatArray:
    stamps = path.time - path.time[0]
    return np.stack([np.interp(times, stamps, path.q[:, j]) for j in range(path.q.shape[1])], axis=1)


def trails_of(motions: Sequence[Motion]) -> tuple[Trail, ...]:
    """What a result folder keeps of the fit's motions, at nearly one rate for all.

    Args:
        motions: prepared motions of the fit.
    """
    if not motions:
        return ()
    spread = spread_of(motions)
    speed = max(spread.speed(motion) for motion in motions)
    least = max(seconds_of(motions) / _MOST_SAMPLES, *(1.0 / motion.rate_hz for motion in motions))
    step = max(_STEP / speed, least) if speed > 0 else max(least, 1.0)
    return tuple(_trail_of(motion, step) for motion in motions)


def _trail_of(motion: Motion, step: float) -> Trail:
    """A motion from its first to its very last sample, in steps that are no longer."""
    seconds = float(motion.time[-1] - motion.time[0])
    count = int(np.ceil(seconds / step)) if seconds > 0 else 0
    rate = count / seconds if count else motion.rate_hz
    return Trail(rate, _positions_at(motion, np.linspace(0.0, seconds, count + 1)))
