"""A design as an optimisation without equations: variables, motion, criterion, and room to the limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.excitation.clearance import CollisionScene
from dynid.excitation.criteria import Criterion, SingularError
from dynid.excitation.information import InformationModel, Observation
from dynid.excitation.limits import MotionLimits
from dynid.excitation.room import AmplitudeRoom, Room, SampledRoom, soft_least
from dynid.trajectories.fourier import FourierSpace
from dynid.trajectories.trajectory import MotionSpace, Trajectory

_FAINTER = 0.01
"""Factor of prior information on the way: beside all of it a small motion tells nothing, and stays small."""
_TORQUE_AIR = 0.01
"""Share of an effort limit kept free on the samples: the sign of friction jumps between them."""
_AIR = 0.004
"""Clearance kept free on the samples, for what the motion does between them [m]."""
_CLEARANCE_UNIT = 0.1
"""Length by which clearances are measured in the barrier [m]."""
ROUNDING = 0.002
"""ε of the conservative bounds, in speed limits: five harmonics that vanish cost an axis 1 % of its speed."""
_ROUNDER = 5.0
"""Factor of ε for a step back: 0.05 two steps before the end, where amplitudes are still to choose."""


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
        rounding: of these bounds where a harmonic vanishes, as a share of the speed limits.
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
    rounding: float = ROUNDING

    def __post_init__(self) -> None:
        """The conservative bounds need a Fourier series."""
        if self.conservative and not isinstance(self.space, FourierSpace):
            raise DynidError(
                "The conservative bounds are sums of amplitudes of a Fourier series, and the motion is a "
                f"{type(self.space).__name__}; ask for exact limits."
            )
        if self.conservative and not np.array_equal(self.limits.matrix, np.eye(len(self.pose))):
            raise DynidError("The conservative bounds hold for robots without coupled joints; ask for exact.")
        ends = np.isfinite([self.limits.low[0], self.limits.high[0]])
        if self.conservative and np.any(ends[0] != ends[1]):
            raise DynidError(
                "The conservative bounds need both ends of a joint's range or none; ask for exact."
            )

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

    def softer(self, steps: int) -> DesignProblem:
        """A smoother problem for the way, so many steps before the last one."""
        rounding, model = self.rounding * _ROUNDER**steps, self.model
        if model.prior is not None:
            model = replace(model, prior=model.prior * _FAINTER**steps)
        return replace(self, model=model, criterion=self.criterion.softer(steps), rounding=rounding)

    @cached_property
    def room(self) -> Room:
        """How the limits of the motion are asked."""
        if self.conservative:
            assert isinstance(self.space, FourierSpace)
            return AmplitudeRoom(self.limits, self.orders, self.space, self.pose, self.rounding)
        return SampledRoom(self.limits, self.orders, np.array(self.matrices), self.pose)

    @property
    def _torques_limited(self) -> bool:
        return self.model.values is not None and bool(np.any(np.isfinite(self.limits.effort)))

    # ── limits as a barrier ───────────────────────────────────────────────────────────────────────────────

    def barrier(self, x: FloatArray, weight: float) -> tuple[float, FloatArray]:
        """J − μ Σ log slack and its gradient by x; infinite outside the limits.

        Cheap limits are asked first, so that a step too far costs no kernel.

        Args:
            x: variables.
            weight: μ.
        """
        outside = np.inf, np.zeros(self.shape)
        total, by_values = self.room.barrier(x * self.units)
        if not total < np.inf:
            return outside
        motion = self.motion(x)
        closest = None if self.scene is None else self.scene.at(motion[0])
        clear = np.ones(1) if closest is None else closest.clearances - self._air
        if not np.all(clear > 0):
            return outside
        seen = self.model.observe(*motion[:3])
        free, by_torque = self._torque_slacks(seen.torques)
        if not np.all(free > 0):
            return outside
        try:
            value, by_information = self.criterion.grade(seen.information)
        except SingularError:
            return outside
        total -= float(np.sum(np.log(free))) / self.samples
        seed = -weight * by_torque / (free * self.samples) if free.size else None
        by_q, by_speed, by_acceleration = self.model.gradient(seen, by_information, seed)
        if closest is not None:
            total -= float(np.sum(np.log(clear / _CLEARANCE_UNIT))) / self.samples
            by_q = by_q + closest.gradient(-weight / (clear * self.samples))
        gradient = weight * by_values * self.units + self._by_variables((by_q, by_speed, by_acceleration))
        return value + weight * total, gradient

    @cached_property
    def _air(self) -> FloatArray:
        """Clearance kept free on the samples, (pairs,) [m]; less where the start pose has hardly any."""
        assert self.scene is not None
        return np.asarray(np.minimum(_AIR, 0.5 * self.scene.clearances(self.pose[None, :])[0]), dtype=float)

    def limit_barrier(self, x: FloatArray, weight: float) -> tuple[FloatArray, FloatArray]:
        """Gradient (variables of all axes,) and Hessian by x of −μ Σ log slack of the motion alone."""
        values, units = x * self.units, self.units.ravel()
        hessian = self.room.curvature(values).reshape(x.size, x.size)
        gradient = self.room.barrier(values)[1].ravel()
        return weight * units * gradient, weight * units[:, None] * hessian * units

    def reach(self, x: FloatArray, step: FloatArray) -> float:
        """How much of a step keeps away from the limits of the motion, without a kernel."""
        return self.room.reach(x * self.units, step * self.units)

    def _torque_slacks(self, torques: FloatArray) -> tuple[FloatArray, FloatArray]:
        """1 − (τ/τ_max)², a little tighter, and its gradient by τ, (coordinates, samples); empty if free."""
        if not self._torques_limited:
            return np.empty(0), np.empty(0)
        share = torques / self.limits.effort[:, None]
        return (1.0 - _TORQUE_AIR) ** 2 - share * share, -2.0 * share / self.limits.effort[:, None]

    # ── limits as constraints ─────────────────────────────────────────────────────────────────────────────

    def constraints(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rows that must not be negative, (rows,), and their Jacobian (rows, variables of all axes).

        Soft minima over the samples: one per order, joint and side (P3's bounds where ``conservative``), one
        of all clearances, one per torque. They never lie above the true minimum: kept, they keep the limits.
        """
        values, by_values = self.room.least(x * self.units)
        rows, motion = [(values, by_values * self.units)], self.motion(x)
        if self.scene is not None and self.scene.pairs:
            closest = self.scene.at(motion[0])
            clear = (closest.clearances - self._air) / _CLEARANCE_UNIT
            least, shares = soft_least(clear.ravel())
            by_q = closest.gradient(shares.reshape(clear.shape) / _CLEARANCE_UNIT)
            rows.append((least[None], self._by_variables([by_q])[None]))
        if self._torques_limited:
            rows.append(self._torque_rows(self.model.observe(*motion[:3])))
        jacobian = np.concatenate([slopes.reshape(len(slopes), -1) for _, slopes in rows])
        return np.concatenate([values for values, _ in rows]), jacobian

    def _torque_rows(self, seen: Observation) -> tuple[FloatArray, FloatArray]:
        """Soft least slack of each limited torque and its gradient by x, (rows, axes, variables)."""
        slacks, by_torque = self._torque_slacks(seen.torques)
        least, shares = soft_least(slacks)
        limited = np.flatnonzero(np.isfinite(self.limits.effort))
        seeds = [shares * by_torque * (np.arange(len(slacks)) == j)[:, None] for j in limited]
        slopes = [self._by_variables(self.model.gradient(seen, None, seed)) for seed in seeds]
        return least[limited], np.array(slopes)
