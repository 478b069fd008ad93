"""Room that a motion leaves to its limits: on its samples, or P3's conservative bounds on its amplitudes.

Both give slacks scaled to 1 at the middle of the range, positive inside, as functions of the values v of the
variables in SI units. ``DesignProblem`` makes a logarithmic barrier of them, of which gradient and Hessian
are exact; other solvers get their least values as constraints.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dynid.core.arrays import BoolArray, FloatArray
from dynid.excitation.limits import MotionLimits
from dynid.trajectories.fourier import FourierSpace

TIGHTER = 1e-3
"""Share of a limit kept free on the samples, for what the motion does between them."""
SHARPNESS = 1000.0
"""ρ of the soft minimum: it lies at most log(samples)/ρ, some 0.6 % of a range, below the true one; a larger
one bends the constraints more sharply than solvers like."""


def soft_least(slacks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """−ρ⁻¹ log Σ exp(−ρ s) over the last axis, never above the least s, and its gradient by s."""
    least = slacks.min(axis=-1, keepdims=True)
    shares = np.exp(SHARPNESS * (least - slacks))
    total = shares.sum(axis=-1, keepdims=True)
    return (least - np.log(total) / SHARPNESS)[..., 0], shares / total


class Room(ABC):
    """Slacks s of all limits of a motion, (rows, instants), and their derivatives by v, (axes, variables)."""

    @abstractmethod
    def slacks(self, v: FloatArray) -> FloatArray:
        """Positive inside, 1 in the middle."""

    @abstractmethod
    def slopes(self, v: FloatArray, weights: FloatArray) -> FloatArray:
        """Σ weight · ∂s/∂v, (axes, variables), of weights like the slacks."""

    @abstractmethod
    def curvature(self, v: FloatArray) -> FloatArray:
        """Hessian of ``barrier`` by v, (axes, variables, axes, variables)."""

    @abstractmethod
    def least(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Least slack of every row, softly, (rows,), and its gradients by v, (rows, axes, variables)."""

    def barrier(self, v: FloatArray) -> tuple[float, FloatArray]:
        """−Σ log s, a mean over the instants, and its gradient by v; infinite outside."""
        slacks = self.slacks(v)
        if not np.all(slacks > 0):
            return np.inf, np.zeros_like(v)
        instants = slacks.shape[1]
        return -float(np.sum(np.log(slacks))) / instants, self.slopes(v, -1.0 / (instants * slacks))

    def reach(self, v: FloatArray, step: FloatArray) -> float:
        """How much of a step may be tried so that a tenth of every slack is left."""
        kept, share = 0.1 * self.slacks(v), 1.0
        while share > 1e-12 and not np.all(self.slacks(v + share * step) >= kept):
            share *= 0.8
        return share


@dataclass(frozen=True, eq=False)
class SampledRoom(Room):
    """Slacks of q, q̇, q̈ and the jerk of all movable joints at all samples: linear in v.

    Args:
        limits: what must hold.
        orders: derivatives that are limited.
        matrices: by which they follow from the variables of an axis, (orders, samples, variables).
        pose: what is added to the positions, (axes,).
    """

    limits: MotionLimits
    orders: tuple[int, ...]
    matrices: FloatArray
    pose: FloatArray

    @cached_property
    def _units(self) -> FloatArray:
        """Half ranges, 1 where one side or both are free, (orders, joints)."""
        low, high = self.limits.low[list(self.orders)], self.limits.high[list(self.orders)]
        return np.where(np.isfinite(high - low), (high - low) / 2, 1.0)

    @cached_property
    def _ends(self) -> FloatArray:
        """Room above and below at rest in the pose, the limits a little tighter, (2, orders, joints)."""
        low, high = self.limits.low[list(self.orders)], self.limits.high[list(self.orders)]
        air = np.where(np.isfinite(high - low), TIGHTER, 0.0)
        rest = np.zeros_like(low)
        rest[0] = self.limits.joint_values(self.pose[None, :], 0)[0]
        return np.array([high - rest, rest - low]) / self._units - air

    @cached_property
    def _mask(self) -> BoolArray:
        return np.isfinite(self._ends)

    def slacks(self, v: FloatArray) -> FloatArray:
        """Room above, then below, at every sample."""
        moved = (self.limits.matrix @ v) @ self.matrices.transpose(0, 2, 1) / self._units[:, :, None]
        above, below = self._mask
        ends = self._ends[self._mask]
        return np.asarray(ends[:, None] + np.concatenate([-moved[above], moved[below]]), dtype=float)

    def slopes(self, v: FloatArray, weights: FloatArray) -> FloatArray:
        """Through the matrices, back."""
        above, below = self._both_sides(weights)
        by_joint = np.sum(((below - above) / self._units[:, :, None]) @ self.matrices, axis=0)
        return np.asarray(self.limits.matrix.T @ by_joint)

    def curvature(self, v: FloatArray) -> FloatArray:
        """Σ ∇s ∇sᵀ/s²."""
        both = self._both_sides(1.0 / self.slacks(v) ** 2).sum(axis=0)
        weights = both / (both.shape[2] * self._units[:, :, None] ** 2)
        scaled = weights[:, :, None, :] * self.matrices.transpose(0, 2, 1)[:, None]
        of_joints = np.sum(scaled @ self.matrices[:, None], axis=0)
        outer = self.limits.matrix[:, :, None] * self.limits.matrix[:, None, :]
        return np.tensordot(outer, of_joints, axes=(0, 0)).transpose(0, 2, 1, 3)

    def least(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Over the samples."""
        values, shares = soft_least(self.slacks(v))
        side, order, joint = np.nonzero(self._mask)
        signs = np.where(side == 0, -1.0, 1.0) / self._units[order, joint]
        by_joint = np.einsum("rs,rsv->rv", shares, self.matrices[order])
        return values, (signs[:, None] * self.limits.matrix[joint])[:, :, None] * by_joint[:, None, :]

    def _both_sides(self, rows: FloatArray) -> FloatArray:
        """Rows as (2, orders, joints, samples), zero where there is no limit."""
        full = np.zeros((*self._mask.shape, rows.shape[1]))
        full[self._mask] = rows
        return full


@dataclass(frozen=True, eq=False)
class AmplitudeRoom(Room):
    """Slacks of P3's bounds (15)–(17): Σ √(a² + b²) (ω l)^(k−1) against the half range, k = 0, 1, 2 (3).

    For the position the distance of the offset q_0 from the middle of the range is added, or taken away: two
    rows, as |q_0 − middle| has no gradient where a motion is best. For the same reason the roots have a
    little more under them, √(a² + b² + ε²): best motions lack some harmonics.

    Args:
        limits: what must hold; without coupled joints.
        orders: derivatives that are limited.
        space: the Fourier series.
        pose: what is added to the start, (axes,).
        rounding: ε as a share of the speed limits.
    """

    limits: MotionLimits
    orders: tuple[int, ...]
    space: FourierSpace
    pose: FloatArray
    rounding: float

    @cached_property
    def _middle(self) -> FloatArray:
        return self.limits.middle

    @cached_property
    def _bounds(self) -> FloatArray:
        """(ω l)^(k−1) over the half range, (1 + orders, axes, harmonics); position twice, zero if free."""
        orders = [0, *self.orders]
        half = (self.limits.high - self.limits.low)[orders] / 2
        powers = self.space.pulsations ** (np.array(orders)[:, None] - 1.0)
        return np.asarray(powers[:, None, :] / half[:, :, None], dtype=float)

    @cached_property
    def _by_offset(self) -> FloatArray:
        """∂s/∂q_0, (1 + orders, axes)."""
        slopes = np.zeros(self._bounds.shape[:2])
        slopes[:2] = np.array([[-1.0], [1.0]]) / ((self.limits.high - self.limits.low)[0] / 2)
        return slopes

    @cached_property
    def _mask(self) -> BoolArray:
        return np.asarray(self._bounds[:, :, 0] > 0)

    def _series(self, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """a, b, rounded amplitudes (axes, harmonics), and the offset from the middle (axes,)."""
        a, b = self.space.series(v[:, : self.space.size])
        start = self.pose + (v[:, -1] if v.shape[1] > self.space.size else 0.0)
        rounded = np.sqrt(a * a + b * b + (self.rounding * self.limits.speeds[:, None]) ** 2)
        return a, b, rounded, start + b @ (1.0 / self.space.pulsations) - self._middle

    def slacks(self, v: FloatArray) -> FloatArray:
        """1 − bound/half range, at all instants the same."""
        _, _, amplitudes, offset = self._series(v)
        every = 1.0 - np.einsum("kil,il->ki", self._bounds, amplitudes) + self._by_offset * offset
        return np.asarray(every[self._mask][:, None])

    def slopes(self, v: FloatArray, weights: FloatArray) -> FloatArray:
        """Through amplitudes and offset."""
        full = np.zeros(self._mask.shape)
        full[self._mask] = weights[:, 0]
        return np.asarray(self._back(v, full[None])[0], dtype=float)

    def _back(self, v: FloatArray, weights: FloatArray) -> FloatArray:
        """Gradients of sums of slacks, (sums, axes, variables), of weights (sums, 1 + orders, axes)."""
        a, b, amplitudes, _ = self._series(v)
        along = -np.einsum("rki,kil->ril", weights, self._bounds) / amplitudes
        by_offset = np.einsum("rki,ki->ri", weights, self._by_offset)
        by_b = along * b + by_offset[:, :, None] / self.space.pulsations
        by_v = np.concatenate([along * a, by_b], axis=2) @ self.space.basis
        by_start = by_offset[:, :, None]
        return np.concatenate([by_v, by_start], axis=2)[:, :, : v.shape[1]]

    def curvature(self, v: FloatArray) -> FloatArray:
        """Σ ∇s ∇sᵀ/s² and the curvature of the amplitudes."""
        slacks, slopes = self.least(v)
        ratios = (slopes / slacks[:, None, None]).reshape(len(slacks), -1)
        total = (ratios.T @ ratios).reshape(*v.shape, *v.shape)
        a, b, amplitudes, _ = self._series(v)
        full = np.zeros(self._mask.shape)
        full[self._mask] = 1.0 / slacks
        weights = np.einsum("ki,kil->il", full, self._bounds) / amplitudes
        cosine, sine = a / amplitudes, b / amplitudes
        A, B = np.split(self.space.basis, 2)
        size, axes = self.space.size, np.arange(len(v))
        for left, right, share in ((A, A, 1 - cosine**2), (B, B, 1 - sine**2), (A, B, -cosine * sine)):
            block = (left.T * (weights * share)[:, None, :]) @ right
            total[axes, :size, axes, :size] += block if left is right else block + block.transpose(0, 2, 1)
        return np.asarray(total, dtype=float)

    def least(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The slacks themselves."""
        rows, axes = np.nonzero(self._mask)
        weights = np.zeros((len(rows), *self._mask.shape))
        weights[np.arange(len(rows)), rows, axes] = 1.0
        return self.slacks(v)[:, 0], self._back(v, weights)
