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

    def _off_middle(self, start: FloatArray, b: FloatArray) -> FloatArray:
        """q_0 less the middle of the range; ranges without end have none."""
        middle = (self.limits.high[0] + self.limits.low[0]) / 2
        offset = start + b @ (1.0 / self._pulsations)
        return np.where(np.isfinite(middle), offset - np.where(np.isfinite(middle), middle, 0.0), 0.0)
