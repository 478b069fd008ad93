"""Synchronous moves from pose to pose with constant-speed phases (P1 §4.1.1, P4 §4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray, as_numbers
from dynid.core.errors import DynidError, ShapeError
from dynid.trajectories.quintics import PiecewiseTrajectory, Quintics
from dynid.trajectories.trajectory import finite_array

MOST_POSES = 10_000
PEAK_ACCELERATION = 1.5
"""Largest acceleration while a quintic changes the speed by Δ in τ, in units of the mean Δ/τ."""
PEAK_JERK = 6.0
"""Largest jerk of the same change, in units of Δ/τ²."""
_SHORTEST = 1e-9
"""Way of a move [rad or m]; no encoder sees less."""
_WITHIN = 1 - 1e-9
"""Share of the limits that is used, so that rounding does not lead beyond them."""


@dataclass(frozen=True, eq=False)
class PointToPoint(PiecewiseTrajectory):
    """Straight moves between poses, all axes in the same time, as fast as the limits allow.

    A move is s(t) from 0 to 1 times the way of each axis: a quintic that accelerates during τ, a constant
    speed v, and the same quintic backwards, so that v (T − τ) = 1. Speed serves gravity and friction,
    acceleration the inertias. v is the largest that speeds, accelerations and jerks allow while at least a
    share ``cruise`` of T is at constant speed.

    Args:
        poses: (poses, axes) [rad or m].
        velocity: largest speed, one for all axes or (axes,) [rad/s or m/s].
        acceleration: likewise [rad/s² or m/s²].
        jerk: likewise [rad/s³ or m/s³]; without a limit when None.
        cruise: least share of a move at constant speed, below 1.
        dwell: rest at every pose between moves [s].
    """

    poses: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    jerk: FloatArray | None = None
    cruise: float = 0.5
    dwell: float = 0.0

    def __post_init__(self) -> None:
        """Check shapes and values."""
        poses = finite_array(self.poses, (None, None), "poses")
        object.__setattr__(self, "poses", poses)
        for name in ("velocity", "acceleration", "jerk"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _limits(getattr(self, name), poses.shape[1], name))
        if not 2 <= len(poses) <= MOST_POSES:
            raise ShapeError(f"There are {len(poses)} poses; give from 2 to {MOST_POSES:,}.")
        same = np.flatnonzero(np.all(np.abs(np.diff(poses, axis=0)) < _SHORTEST, axis=1))
        if len(same):
            k = same[0] + 1
            raise DynidError(
                f"Poses {k} and {k + 1} are the same; leave one out, and give dwell for a rest between moves."
            )
        if not 0 <= self.cruise < 1:
            raise DynidError(f"cruise is {self.cruise!r}; it must be a share from 0 to below 1.")
        if not 0 <= self.dwell < np.inf:
            raise DynidError(f"dwell is {self.dwell!r} s; it must be a time from 0.")

    @cached_property
    def _moves(self) -> tuple[FloatArray, FloatArray]:
        """Speed v of s [1/s] and duration τ of its changes [s] of every move, (moves,) each."""
        way = np.abs(np.diff(self.poses, axis=0))

        def least(limit: FloatArray) -> FloatArray:
            with np.errstate(divide="ignore", over="ignore"):  # axes that stay where they are have no limit
                return np.asarray((_WITHIN * limit / way).min(axis=1), dtype=float)

        ratio = (1 - self.cruise) / (1 + self.cruise)  # the largest v τ
        fastest, acceleration = least(self.velocity), least(self.acceleration) / PEAK_ACCELERATION
        v = np.minimum(fastest, np.sqrt(acceleration * ratio))
        ramp = v / acceleration
        if self.jerk is not None:
            jerk = least(self.jerk) / PEAK_JERK
            v = np.minimum(v, np.cbrt(jerk * ratio**2))
            ramp = np.maximum(v / acceleration, np.sqrt(v / jerk))
        return v, ramp

    @cached_property
    def quintics(self) -> Quintics:
        """Acceleration, constant speed and deceleration of every move, and the rests between."""
        v, ramp = (values[:, None] for values in self._moves)
        way, begin, end = np.diff(self.poses, axis=0), self.poses[:-1], self.poses[1:]
        steps = np.hstack([ramp, 1 / v - ramp, ramp, np.full_like(v, self.dwell)])
        steps[-1, -1] = 0.0  # no rest behind the last move
        reached, zero = v * ramp / 2 * way, np.zeros_like(way)
        q = np.stack([begin + reached, end - reached, end, end], axis=1)
        qd = np.stack([v * way, v * way, zero, zero], axis=1)
        # Phases without length: constant speed where cruise is 0, rests without dwell.
        lasts = steps > 1e-9 * ramp
        time = np.concatenate([[0.0], np.cumsum(steps[lasts])])
        q, qd = np.concatenate([self.poses[:1], q[lasts]]), np.concatenate([zero[:1], qd[lasts]])
        return Quintics(time, q, qd, np.zeros_like(qd), np.zeros_like(qd[1:]))


def _limits(values: ArrayLike, axes: int, name: str) -> FloatArray:
    """A limit of every axis, (axes,)."""
    given = as_numbers(values, name)
    made = finite_array(np.full(axes, given) if given.size == 1 else given, (axes,), name)
    if np.any(made <= 0):
        raise DynidError(f"{name} is {made.tolist()}; it must be above 0 for every axis.")
    return made


def random_poses(
    lower: ArrayLike, upper: ArrayLike, count: int, rng: np.random.Generator, start: ArrayLike | None = None
) -> FloatArray:
    """Poses drawn evenly between limits, (count, axes); P4 takes 50.

    Args:
        lower: least positions, (axes,) [rad or m].
        upper: largest positions, likewise.
        count: how many.
        rng: draws them.
        start: first and last of the poses, when given.
    """
    low = finite_array(lower, (None,), "lower")
    high = finite_array(upper, low.shape, "upper")
    if np.any(low >= high):
        raise DynidError(
            f"The poses are to lie between {low.tolist()} and {high.tolist()}; lower must be less."
        )
    if not 2 <= count <= MOST_POSES:
        raise DynidError(f"{count} poses were asked for; from 2 to {MOST_POSES:,} are drawn.")
    poses = rng.uniform(low, high, (count, len(low)))
    if start is not None:
        poses[[0, -1]] = finite_array(start, low.shape, "start")
    return poses
