"""Room that a motion leaves to its limits: on its samples, or P3's conservative bounds on its amplitudes.

Each way gives slacks scaled to 1 at the middle of the range: positive inside. ``DesignProblem`` makes a
logarithmic barrier of them, other solvers get their least values as constraints.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import pi

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.excitation.limits import MotionLimits
from dynid.trajectories.fourier import FourierSpace

TIGHTER = 1e-3
"""Share of a limit kept free on the samples, for what the motion does between them."""

SHARPNESS = 1000.0
"""ρ of the soft minimum: it lies at most log(samples)/ρ, some 0.6 % of a range, below the true one, of which
1/ρ per sample near the extreme is lost in practice; a larger ρ bends the constraints more sharply."""


def soft_least(slacks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """−ρ⁻¹ log Σ exp(−ρ s) over the last axis, never above the least s, and its gradient by s."""
    least = slacks.min(axis=-1, keepdims=True)
    shares = np.exp(SHARPNESS * (least - slacks))
    total = shares.sum(axis=-1, keepdims=True)
    return (least - np.log(total) / SHARPNESS)[..., 0], shares / total


@dataclass(frozen=True, eq=False)
class SampledRoom:
    """Slacks of q, q̇, q̈ and the jerk of all movable joints at all samples.

    Args:
        limits: what must hold.
        orders: derivatives that are limited.
    """

    limits: MotionLimits
    orders: tuple[int, ...]

    @cached_property
    def _bounds(self) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
        """Low, high and unit of each order, the limits a little tighter."""
        found = []
        for order in self.orders:
            low, high = self.limits.low[order], self.limits.high[order]
            half = np.where(np.isfinite(high - low), (high - low) / 2, 1.0)
            air = np.where(np.isfinite(high - low), TIGHTER * half, 0.0)
            found.append((low + air, high - air, half))
        return found

    def slacks(self, motion: list[FloatArray]) -> list[tuple[FloatArray, FloatArray]]:
        """Room above and below, (samples, joints) each, for every order."""
        found = []
        for order, values, (low, high, unit) in zip(self.orders, motion, self._bounds, strict=True):
            joints = self.limits.joint_values(values, order)
            found.append(((high - joints) / unit, (joints - low) / unit))
        return found

    def slopes(self, weights: list[tuple[FloatArray, FloatArray]]) -> list[FloatArray]:
        """Σ weight · ∂slack/∂motion, (samples, coordinates) per order, of weights for each slack."""
        return [
            ((below - above) / unit) @ self.limits.matrix
            for (above, below), (_, _, unit) in zip(weights, self._bounds, strict=True)
        ]

    def least(
        self, motion: list[FloatArray], matrices: tuple[FloatArray, ...]
    ) -> tuple[FloatArray, FloatArray]:
        """Soft least slack of every limited order, joint and side, and its gradient by x/units.

        Args:
            motion: q and its derivatives, (samples, coordinates) each.
            matrices: by which they follow from the variables of an axis, (samples, variables) each.

        Returns:
            Values (rows,) and gradients (rows, coordinates, variables).
        """
        values, gradients = [], []
        for (above, below), B, (low, high, unit) in zip(
            self.slacks(motion), matrices, self._bounds, strict=True
        ):
            for slacks, end, sign in ((above, high, -1.0), (below, low, 1.0)):
                limited = np.isfinite(end)
                least, shares = soft_least(slacks[:, limited].T)
                by_joint = (sign / unit[limited, None]) * self.limits.matrix[limited]
                values.append(least)
                gradients.append(by_joint[:, :, None] * (shares @ B)[:, None, :])
        return np.concatenate(values), np.concatenate(gradients)


@dataclass(frozen=True, eq=False)
class AmplitudeRoom:
    """Slacks of P3's bounds (15)–(17): Σ √(a² + b²) (ω l)^(k−1) against the half range, k = 0, 1, 2 (3).

    For the position the distance of the offset q_0 from the middle of the range is added.

    Args:
        limits: what must hold; without coupled joints.
        orders: derivatives that are limited.
        space: the Fourier series.
    """

    limits: MotionLimits
    orders: tuple[int, ...]
    space: FourierSpace

    @cached_property
    def _pulsations(self) -> FloatArray:
        return np.asarray(
            2 * pi * self.space.frequency_hz * np.arange(1, self.space.harmonics + 1), dtype=float
        )

    @cached_property
    def _half(self) -> FloatArray:
        return np.asarray((self.limits.high - self.limits.low)[list(self.orders)] / 2, dtype=float)

    @cached_property
    def _middle(self) -> FloatArray:
        return self.limits.middle

    def slacks(self, start: FloatArray, coefficients: FloatArray) -> FloatArray:
        """1 − bound/half range, (orders, axes); 1 where there is no limit."""
        a, b = self.space.series(coefficients)
        powers = self._pulsations ** (np.array(self.orders)[:, None] - 1.0)
        sums = powers @ np.hypot(a, b).T
        sums[0] += np.abs(self._off_middle(start, b))
        return np.asarray(1.0 - sums / self._half, dtype=float)

    def slopes(
        self, start: FloatArray, coefficients: FloatArray, weights: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Σ weight · ∂slack by start (axes,) and by coefficients (axes, size), of weights (orders, axes)."""
        a, b = self.space.series(coefficients)
        length = np.hypot(a, b) + 1e-12  # the slope at zero amplitude is any; zero serves
        powers = self._pulsations ** (np.array(self.orders)[:, None] - 1.0)
        shares = -weights / self._half
        along = shares.T @ powers / length
        side = shares[0] * np.sign(self._off_middle(start, b))
        by_b = along * b + side[:, None] / self._pulsations
        return side, np.hstack([along * a, by_b]) @ self.space.basis

    def least(self, start: FloatArray, coefficients: FloatArray) -> tuple[FloatArray, FloatArray]:
        """All slacks that a limit bounds, (rows,), and their gradients by coefficients and start.

        Returns:
            Values (rows,) and gradients (rows, axes, size + 1).
        """
        slacks, limited = self.slacks(start, coefficients), np.isfinite(self._half)
        gradients = np.zeros((*slacks.shape, len(start), coefficients.shape[1] + 1))
        axes = np.arange(len(start))
        for k, weights in enumerate(np.eye(len(slacks))):
            one = np.repeat(weights[:, None], len(start), axis=1)
            by_start, by_coefficients = self.slopes(start, coefficients, one)
            gradients[k, axes, axes] = np.column_stack([by_coefficients, by_start])
        return slacks[limited], gradients[limited]

    def _off_middle(self, start: FloatArray, b: FloatArray) -> FloatArray:
        """q_0 less the middle of the range; ranges without end have none."""
        offset = start + b @ (1.0 / self._pulsations)
        return np.where(np.isfinite(self._half[0]), offset - self._middle, 0.0)
