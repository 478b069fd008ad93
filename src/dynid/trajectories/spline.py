"""Quintic splines: through waypoints, or designed, at rest at both ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.trajectories.quintics import PiecewiseTrajectory, Quintics, increasing_stamps
from dynid.trajectories.trajectory import MotionSpace, finite_array, require_positive

MOST_KNOTS = 10_000
_TIED = 3
"""Control points that are equal at each end: position, speed and acceleration there depend on no others."""


@dataclass(frozen=True, eq=False)
class QuinticSpline(PiecewiseTrajectory):
    """The smoothest motion through waypoints that begins and ends at rest.

    Of all such motions it has the least ∫ jerk² dt; four derivatives are continuous.

    Args:
        time: instants of the waypoints, from 0, increasing, (points,) [s].
        position: the waypoints, (points, axes) [rad or m].
    """

    time: FloatArray
    position: FloatArray

    def __post_init__(self) -> None:
        """Check shapes and values."""
        stamps = increasing_stamps(self.time)
        object.__setattr__(self, "time", stamps)
        if len(stamps) > MOST_KNOTS:
            raise DynidError(f"The spline has {len(stamps)} waypoints; at most {MOST_KNOTS:,} are taken.")
        points = finite_array(self.position, (len(stamps), None), "position of the waypoints")
        object.__setattr__(self, "position", points)

    @cached_property
    def quintics(self) -> Quintics:
        """The pieces between the waypoints."""
        from scipy.interpolate import make_interp_spline

        rest = [(order, np.zeros(self.position.shape[1])) for order in (1, 2)]
        spline = make_interp_spline(self.time, self.position, k=5, bc_type=(rest, rest))
        qd, qdd = (spline(self.time, order) for order in (1, 2))
        qd[[0, -1]], qdd[[0, -1]] = 0.0, 0.0
        return Quintics(self.time, self.position, qd, qdd)


@dataclass(frozen=True)
class SplineSpace(MotionSpace):
    """Quintic B-splines on equal intervals, at rest at both ends; the end pose is free unless closed.

    c are the control points less the start pose: the motion stays between the least and the largest of
    them (and the start), and each of them acts on six intervals only. The last one is the end pose.

    Args:
        duration: T [s].
        knots: between the ends; at least 1.
        closed: whether motions end where they begin.
    """

    duration: float = 10.0
    knots: int = 10
    closed: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot move."""
        require_positive(duration=self.duration)
        if not 1 <= self.knots <= MOST_KNOTS:
            raise DynidError(
                f"{self.knots} knots were asked for; a quintic spline at rest at both ends has 1 to "
                f"{MOST_KNOTS:,} between them."
            )

    @property
    def size(self) -> int:
        """A coefficient per knot, and the way to the end pose."""
        return self.knots + (not self.closed)

    @property
    def words(self) -> str:
        """Number of the knots."""
        return f"a quintic spline with {self.knots} knots between its ends"

    @property
    def time(self) -> FloatArray:
        """Both ends and the knots, (knots + 2,) [s]."""
        return np.linspace(0.0, self.duration, self.knots + 2)

    @cached_property
    def _columns(self) -> Any:
        """The columns of B as one B-spline."""
        from scipy.interpolate import BSpline

        control = np.zeros((self.knots + 2 * _TIED, self.size))
        control[_TIED : _TIED + self.knots, : self.knots] = np.eye(self.knots)
        control[_TIED + self.knots :, self.knots :] = 1.0
        return BSpline(np.pad(self.time, 5, mode="edge"), control, 5)

    def matrix(self, time: ArrayLike, order: int = 0) -> FloatArray:
        """B or a derivative at instants, (instants, size)."""
        return np.asarray(self._columns(np.asarray(time, dtype=float), order), dtype=float)

    def trajectory(self, start: ArrayLike, coefficients: ArrayLike) -> QuinticSpline:
        """The spline through what the motion has at the knots."""
        pose, c = self.motion_input(start, coefficients)
        return QuinticSpline(self.time, pose + self.matrix(self.time) @ c.T)
