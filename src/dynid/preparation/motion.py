"""A prepared motion, ready for a regressor, and its trail.

A trail is where a motion went: its positions, as coarse as telling one motion from another allows. A result
folder keeps the trails of the fit's motions, so that a motion can be recognised later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import BoolArray, FloatArray
from dynid.core.errors import ShapeError
from dynid.logs.log import Source, Step
from dynid.logs.spool import TILE, Samples, Spool, blocks, cut_rows

SIGNALS = ("q", "qd", "qdd", "tau")
Coordinates = Sequence[int] | NDArray[np.intp]


@dataclass(frozen=True)
class TrailRules:
    """How coarse trails are.

    Args:
        step: RMS travel between two samples, in standard deviations of the positions: a straight line between
            them misses a sine by 0.2 % of that.
        most_samples: of all trails together: 80 kB per coordinate at most.
        looked_at: samples that mean values are taken over; more would only take memory.
    """

    step: float = 0.1
    most_samples: int = 20_000
    looked_at: int = 200_000


TRAIL = TrailRules()


CONSTANT_TORQUE = "constant torque"
"""Step of a motion with torques that never change, and are not zero: they say nothing."""


@dataclass(frozen=True, eq=False, repr=False)
class Motion:
    """Filtered signals of one experiment at one constant rate.

    Args:
        name: name of the experiment.
        time: stamps [s], (samples,).
        q: positions (samples, coordinates) [rad or m]: an array, or a spool on disk where the log is long.
        qd: speeds.
        qdd: accelerations.
        tau: torques [N m or N].
        rate_hz: samples per second.
        history: what was done to the log, oldest first.
        sources: files it came from.
        made_up: samples whose torques were interpolated, (samples,), as in the log; None when none were.
        stretch_of: number of the log that it is a stretch of; None where it is a whole log.
        at_rest: samples in which a coordinate is so slow that friction may hold it, (samples, coordinates),
            where these are not to be judged; None where the regression's mask is all.
        condition: name of the robot's condition that it was taken in; "" when none.
    """

    name: str
    time: FloatArray
    q: Samples
    qd: Samples
    qdd: Samples
    tau: Samples
    rate_hz: float
    history: tuple[Step, ...] = ()
    sources: tuple[Source, ...] = ()
    made_up: BoolArray | None = None
    stretch_of: int | None = None
    at_rest: BoolArray | None = None
    condition: str = ""

    def __post_init__(self) -> None:
        """Check that all signals have the same shape and are finite."""
        for name in SIGNALS:
            given = getattr(self, name)
            values = given if isinstance(given, Spool) else np.ascontiguousarray(given, dtype=float)
            if values.shape != np.shape(self.q) or values.ndim != 2 or len(values) != len(self.time):
                raise ShapeError(
                    f"{name} of motion {self.name!r} has shape {values.shape}; expected "
                    f"({len(self.time)}, {np.shape(self.q)[-1]})."
                )
            if count_not_finite(values):
                raise ShapeError(
                    f"{name} of motion {self.name!r} holds values that are not finite; run the data check."
                )
            object.__setattr__(self, name, values)

    def __repr__(self) -> str:
        """Name, size and rate."""
        axes, steps = np.shape(self.q)[1], ", ".join(step.name for step in self.history)
        return f"Motion {self.name!r}: {self.samples} samples of {axes} axes at {self.rate_hz:g} Hz ({steps})"

    @property
    def states(self) -> tuple[Samples, Samples, Samples]:
        """Positions, speeds and accelerations."""
        return self.q, self.qd, self.qdd

    @property
    def samples(self) -> int:
        """Number of samples."""
        return len(self.time)

    @property
    def on_disk(self) -> bool:
        """Whether its signals are kept on disk, because they are long."""
        return any(isinstance(getattr(self, name), Spool) for name in SIGNALS)

    @property
    def nbytes(self) -> int:
        """Size of its signals and stamps, wherever they are kept."""
        return self.time.nbytes + self.q.nbytes + self.qd.nbytes + self.qdd.nbytes + self.tau.nbytes

    @property
    def silent_axes(self) -> tuple[int, ...]:
        """Axes, from 0, whose torques say nothing: their rows are left out."""
        steps = [step for step in self.history if step.name == CONSTANT_TORQUE]
        return tuple(axis - 1 for step in steps for axis in step.options["axes"])

    def part(self, rows: slice) -> Motion:
        """Consecutive samples of it."""
        q, qd, qdd, tau = (cut_rows(getattr(self, name), rows) for name in SIGNALS)
        made_up, at_rest = (None if mask is None else mask[rows] for mask in (self.made_up, self.at_rest))
        return replace(
            self, time=self.time[rows], q=q, qd=qd, qdd=qdd, tau=tau, made_up=made_up, at_rest=at_rest
        )

    def counted_values(self, rows: slice, values: FloatArray, joints: Coordinates) -> FloatArray:
        """Values of some samples, zero where the torques were made up or the coordinate is at rest.

        Zero in W and in y alike leaves τ = W χ as it is, also behind a low-pass, and weighs nothing.

        Args:
            rows: the samples.
            values: (any, samples).
            joints: the coordinate of each of the values, (any,).
        """
        if self.made_up is not None:
            values = values * ~self.made_up[rows]
        return self.moving_values(rows, values, joints)

    def moving_values(self, rows: slice, values: FloatArray, joints: Coordinates) -> FloatArray:
        """The same, zero only where the coordinate is at rest: its speeds, for a mask behind a low-pass."""
        return values if self.at_rest is None else values * ~self.at_rest[rows].T[list(joints)]

    def pieces(self, size: int = TILE) -> Iterator[Motion]:
        """The motion itself, or, where it is kept on disk, its parts one after the other, in memory.

        Args:
            size: samples of such a part.
        """
        if not self.on_disk:
            yield self
            return
        for rows in blocks(self.samples, size):
            yield self.part(rows)


def count_not_finite(values: Samples) -> int:
    """How many values are not finite, looked at axis by axis where they are on disk."""
    parts = (values[:, axis] for axis in range(values.shape[1])) if isinstance(values, Spool) else (values,)
    return sum(int(np.count_nonzero(~np.isfinite(part))) for part in parts)


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
        speeds = motion.qd[:: 1 + motion.samples // TRAIL.looked_at][:, self.moving]
        return float(np.sqrt(np.mean((speeds / self.scale) ** 2)))


def spread_of(paths: Sequence[PositionSeries]) -> Spread:
    """The spread of all positions together."""
    every = 1 + sum(path.samples for path in paths) // TRAIL.looked_at
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
    least = max(seconds_of(motions) / TRAIL.most_samples, *(1.0 / motion.rate_hz for motion in motions))
    step = max(TRAIL.step / speed, least) if speed > 0 else max(least, 1.0)
    return tuple(_trail_of(motion, step) for motion in motions)


def _trail_of(motion: Motion, step: float) -> Trail:
    """A motion from its first to its very last sample, in steps that are no longer."""
    seconds = float(motion.time[-1] - motion.time[0])
    count = int(np.ceil(seconds / step)) if seconds > 0 else 0
    rate = count / seconds if count else motion.rate_hz
    return Trail(rate, _positions_at(motion, np.linspace(0.0, seconds, count + 1)))
