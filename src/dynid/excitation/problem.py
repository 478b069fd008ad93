"""A design as an optimisation without equations: variables, motion, criterion, and room to the limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.excitation.clearance import CollisionScene
from dynid.excitation.criteria import Criterion, SingularError
from dynid.excitation.information import InformationModel, Observation
from dynid.excitation.limits import MotionLimits
from dynid.excitation.room import TIGHTER, AmplitudeRoom, SampledRoom, soft_least
from dynid.trajectories.fourier import FourierSpace
from dynid.trajectories.trajectory import MotionSpace, Trajectory

_CLEARANCE_UNIT = 0.1
"""Length by which clearances are measured in the barrier [m]."""
_AMPLITUDE_WEIGHT = 0.1
"""Weight of P3's bounds in the barrier beside limits at samples. They are nearly reached all the time, not only
at peaks; at full weight they lead to poorer motions (log det 539 instead of 544, TX-90, mean of 16 starts)."""


@dataclass(frozen=True, eq=False)
class DesignProblem:
    """min J(q(x)) over q(t) = q_start + B(t) c within limits of motion, torque and space.

    x is (axes, size) or, with a free start, (axes, size + 1): c in units of the speed limits, then the start
    in units of the range of the joint about ``pose``.

    Args:
        model: W and G along a motion.
        criterion: J.
        space: B(t), at rest at both ends.
        limits: of motion and torque.
        pose: where the motion starts, or about where when ``free_start``, (axes,).
        free_start: whether the start pose is a variable too.
        samples: of the motion in criterion and limits.
        scene: links and what they must not touch; None leaves space free.
        conservative: P3's bounds (15)–(17) on sums of amplitudes instead of the motion itself.
    """

    model: InformationModel
    criterion: Criterion
    space: MotionSpace
    limits: MotionLimits
    pose: FloatArray
    free_start: bool
    samples: int
    scene: CollisionScene | None = None
    conservative: bool = False

    def __post_init__(self) -> None:
        """The conservative bounds need a Fourier series."""
        if self.conservative and not isinstance(self.space, FourierSpace):
            raise DynidError(
                "The conservative bounds are sums of amplitudes of a Fourier series, and the motion is a "
                f"{type(self.space).__name__}; ask for exact limits."
            )
        if self.conservative and not np.array_equal(self.limits.matrix, np.eye(len(self.pose))):
            raise DynidError("The conservative bounds hold for robots without coupled joints; ask for exact.")

    @property
    def shape(self) -> tuple[int, int]:
        """Axes and variables of each."""
        return len(self.pose), self.space.size + self.free_start

    @cached_property
    def time(self) -> FloatArray:
        """Instants of the samples [s]; the end is left out, as it repeats the start or rests."""
        return np.asarray(np.arange(self.samples) * (self.space.duration / self.samples), dtype=float)

    @cached_property
    def orders(self) -> tuple[int, ...]:
        """Derivatives that are needed: the jerk only where it is limited."""
        return (0, 1, 2, 3) if np.any(np.isfinite(self.limits.high[3])) else (0, 1, 2)

    @cached_property
    def matrices(self) -> tuple[FloatArray, ...]:
        """B and its derivatives at the samples, with a column for a free start, (samples, variables) each."""
        found = [self.space.matrix(self.time, order) for order in self.orders]
        if self.free_start:
            found = [np.column_stack([B, np.full(len(B), float(k == 0))]) for k, B in enumerate(found)]
        return tuple(found)

    @cached_property
    def units(self) -> FloatArray:
        """Sizes of the variables, as ``shape``."""
        sizes = np.repeat(self.limits.speeds[:, None], self.space.size, axis=1)
        if not self.free_start:
            return sizes
        return np.column_stack([sizes, self.half_ranges])

    @cached_property
    def half_ranges(self) -> FloatArray:
        """Half the range of each coordinate, 1 where it has no end, (axes,)."""
        width = (self.limits.high[0] - self.limits.low[0])[list(self.limits.own)]
        return np.where(np.isfinite(width), width / 2, 1.0)

    def motion(self, x: FloatArray) -> list[FloatArray]:
        """q, q̇, q̈ (and the jerk) at the samples, (samples, axes) each."""
        values = x * self.units
        made = [B @ values.T for B in self.matrices]
        made[0] = made[0] + self.pose
        return made

    def trajectory(self, x: FloatArray) -> Trajectory:
        """The motion of some variables as a function of time."""
        return self.space.trajectory(*self.split(x))

    def split(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Start pose (axes,) and coefficients (axes, size) of some variables."""
        values = x * self.units
        start = self.pose + values[:, -1] if self.free_start else self.pose
        return start, values[:, : self.space.size]

    def observe(self, x: FloatArray) -> Observation:
        """W, G and torques of some variables."""
        return self.model.observe(*self.motion(x)[:3])

    def value(self, x: FloatArray) -> float:
        """J alone; infinite where the motion shows nothing of some parameter."""
        try:
            return self.criterion.grade(self.observe(x).information)[0]
        except SingularError:
            return np.inf

    def objective(self, x: FloatArray) -> tuple[float, FloatArray]:
        """J and its gradient by x, whatever the limits; infinite where some parameter does not show."""
        seen = self.observe(x)
        try:
            value, by_information = self.criterion.grade(seen.information)
        except SingularError:
            return np.inf, np.zeros(self.shape)
        return value, self._by_variables(self.model.gradient(seen, by_information, None))

    def _by_variables(self, by_motion: Sequence[FloatArray]) -> FloatArray:
        """∂/∂x of something from its gradients by q and as many derivatives as it depends on."""
        parts = [part.T @ B for part, B in zip(by_motion, self.matrices, strict=False)]
        return np.asarray(sum(parts) * self.units, dtype=float)

    # ── limits as constraints ─────────────────────────────────────────────────────────────────────────────

    def constraints(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rows that must not be negative, (rows,), and their Jacobian (rows, variables of all axes).

        Soft minima over the samples: one per order, joint and side (P3's bounds where ``conservative``), one
        of all clearances, one per torque. They never lie above the true minimum: keeping them keeps the limits.
        """
        motion = self.motion(x)
        if isinstance(self.room, AmplitudeRoom):
            values, gradients = self.room.least(*self.split(x))
        else:
            values, gradients = self.room.least(motion, self.matrices)
        rows = [(values, gradients[..., : self.shape[1]] * self.units)]
        if self.scene is not None and self.scene.pairs:
            closest = self.scene.at(motion[0])
            least, shares = soft_least(closest.clearances.ravel() / _CLEARANCE_UNIT)
            by_q = closest.gradient(shares.reshape(closest.clearances.shape) / _CLEARANCE_UNIT)
            rows.append((least[None], self._by_variables([by_q])[None]))
        if self._torques_limited:
            rows.append(self._torque_rows(motion))
        jacobian = np.concatenate([slopes.reshape(len(slopes), -1) for _, slopes in rows])
        return np.concatenate([values for values, _ in rows]), jacobian

    @property
    def _torques_limited(self) -> bool:
        return self.model.values is not None and bool(np.any(np.isfinite(self.limits.effort)))

    def _torque_rows(self, motion: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Soft least slack of each limited torque and its gradient by x, (rows, axes, variables)."""
        seen = self.model.observe(*motion[:3])
        share = seen.torques / self.limits.effort[:, None]
        least, shares = soft_least((1.0 - TIGHTER) ** 2 - share * share)
        slopes = -2.0 * share * shares / self.limits.effort[:, None]
        limited = np.flatnonzero(np.isfinite(self.limits.effort))
        seeds = [slopes * (np.arange(len(slopes)) == j)[:, None] for j in limited]
        return least[limited], np.array(
            [self._by_variables(self.model.gradient(seen, None, seed)) for seed in seeds]
        )

    # ── the barrier ───────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def room(self) -> SampledRoom | AmplitudeRoom:
        """How the limits of the motion are asked."""
        if self.conservative:
            assert isinstance(self.space, FourierSpace)
            return AmplitudeRoom(self.limits, self.orders, self.space)
        return SampledRoom(self.limits, self.orders)

    def barrier(self, x: FloatArray, weight: float, criterion: Criterion) -> tuple[float, FloatArray]:
        """J − μ Σ log slack and its gradient by x; infinite outside the limits.

        Cheap limits are asked first, so that a step too far costs no kernel.

        Args:
            x: variables.
            weight: μ.
            criterion: J, or a smoother one on the way.
        """
        motion, slopes = self.motion(x), _Slopes(self)
        inside = self._limit_barrier(x, motion, slopes) and self._clearance_barrier(motion[0], slopes)
        if not inside:
            return np.inf, slopes.by_x
        seen = self.model.observe(*motion[:3])
        by_torque = self._torque_barrier(seen.torques, slopes)
        if by_torque is None:
            return np.inf, slopes.by_x
        try:
            value, by_information = criterion.grade(seen.information)
        except SingularError:
            return np.inf, slopes.by_x
        by_state = self.model.gradient(seen, by_information, weight * by_torque if len(by_torque) else None)
        for k, part in enumerate(slopes.by_motion):
            slopes.by_motion[k] = weight * part + (by_state[k] if k < len(by_state) else 0.0)
        gradient = weight * slopes.by_x + self._by_variables(slopes.by_motion)
        return value + weight * slopes.total, gradient

    def _limit_barrier(self, x: FloatArray, motion: list[FloatArray], slopes: _Slopes) -> bool:
        """−Σ log slack of the limits of q and its derivatives, means over the samples; whether inside."""
        if isinstance(self.room, AmplitudeRoom):
            start, coefficients = self.split(x)
            slacks = self.room.slacks(start, coefficients)
            if not np.all(slacks > 0):
                return False
            slopes.total -= _AMPLITUDE_WEIGHT * float(np.sum(np.log(slacks)))
            by_start, by_coefficients = self.room.slopes(start, coefficients, -_AMPLITUDE_WEIGHT / slacks)
            both = [by_coefficients, by_start[:, None]] if self.free_start else [by_coefficients]
            slopes.by_x += np.hstack(both) * self.units
            return True
        sides = self.room.slacks(motion)
        if not all(np.all(side > 0) for pair in sides for side in pair):
            return False
        bounded = [side[np.isfinite(side)] for pair in sides for side in pair]
        slopes.total -= sum(float(np.sum(np.log(side))) for side in bounded) / self.samples
        weights = [(-1.0 / (self.samples * above), -1.0 / (self.samples * below)) for above, below in sides]
        slopes.by_motion = self.room.slopes(weights)
        return True

    def _clearance_barrier(self, q: FloatArray, slopes: _Slopes) -> bool:
        """−Σ log clearance, means over the samples; whether nothing touches."""
        if self.scene is None:
            return True
        closest = self.scene.at(q)
        clear = closest.clearances
        if not np.all(clear > 0):
            return False
        slopes.total -= float(np.sum(np.log(clear / _CLEARANCE_UNIT))) / self.samples
        slopes.by_motion[0] += closest.gradient(-1.0 / (clear * self.samples))
        return True

    def _torque_barrier(self, torques: FloatArray, slopes: _Slopes) -> FloatArray | None:
        """−Σ log slack of the torques; its gradient by them, empty without limits, None outside."""
        effort = self.limits.effort[:, None]
        if not self._torques_limited:
            return np.empty(0)
        share = torques / effort
        free = (1.0 - TIGHTER) ** 2 - share * share
        if not np.all(free > 0):
            return None
        slopes.total -= float(np.sum(np.log(free))) / self.samples
        return np.asarray(2.0 * share / (free * effort * self.samples), dtype=float)


class _Slopes:
    """Sums that the limits fill: −Σ log slack, and its gradients by the motion and by the variables."""

    def __init__(self, problem: DesignProblem) -> None:
        self.total = 0.0
        self.by_motion = [np.zeros((problem.samples, problem.shape[0])) for _ in problem.orders]
        self.by_x = np.zeros(problem.shape)
