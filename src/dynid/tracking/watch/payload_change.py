"""A payload as a recursion on its own ten columns, with the arm's model held: seen, and weighed.

A payload on the last link adds X(q, q̇, q̈) θ to the torques, with θ = (XX XY XZ YY YZ ZZ MX MY MZ M) in that
link's frame. In normal equations A = Σ Xᵀ X, b = Σ Xᵀ r of weighted rows it is

    θ = (A + Λ)⁻¹ b,    gain  G = bᵀ (A + Λ)⁻¹ b,

where Λ says what bodies look like: of a mass m the centre is within about L of the flange and the inertia is
about m L². Only the mass is free, so it is what the first second shows; the other nine follow with motion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.tracking.watch.memory import LearntState


@dataclass(frozen=True, eq=False)
class WeighedPayload:
    """What rows say about a payload.

    Args:
        values: θ, (10,) SI.
        covariance: of θ, (10, 10).
        gain: how much of the weighted squares Σ r² it explains.
    """

    values: FloatArray
    covariance: FloatArray
    gain: float

    @property
    def mass(self) -> float:
        """[kg]."""
        return float(self.values[9])

    @property
    def mass_sigma(self) -> float:
        """[kg]."""
        return float(np.sqrt(max(self.covariance[9, 9], 0.0)))


NOTHING = WeighedPayload(np.zeros(10), np.full((10, 10), np.inf), 0.0)


_HEAVIEST = 1e4
"""Mass beyond which no robot's payload is [kg]; keeps the equations within the range of numbers."""


def fit_payload(A: FloatArray, b: FloatArray, length_m: float, passes: int = 2) -> WeighedPayload:
    """θ from normal equations of weighted rows; the scale of Λ is the mass itself, found in a few passes.

    Args:
        A: (10, 10).
        b: (10,).
        length_m: L [m].
        passes: solutions, each with the Λ of the one before.
    """
    if not A[9, 9] > 0.0:
        return NOTHING
    mass, values, root = abs(b[9]) / A[9, 9], b, np.zeros((10, 10))
    shape = np.array([length_m**2] * 6 + [length_m] * 3 + [1.0])
    for _ in range(passes):
        # In units of the deviations Λ, equations are regular whatever the motion has shown.
        unit = shape * min(max(mass, 1e-9), _HEAVIEST)
        unit[9] = 1e6 / np.sqrt(A[9, 9])
        scaled = A * np.outer(unit, unit) + np.eye(10)
        if not (np.all(np.isfinite(scaled)) and np.all(np.isfinite(b))):
            return NOTHING
        try:
            root = unit[:, None] * np.linalg.inv(np.linalg.cholesky(scaled)).T
        except np.linalg.LinAlgError:  # rounding of equations far beyond any payload's
            return NOTHING
        values = np.asarray(root @ (root.T @ b), dtype=float)
        mass = max(abs(float(values[9])), float(np.sqrt(values[6:9] @ values[6:9])) / (2.0 * length_m))
    return WeighedPayload(values, np.asarray(root @ root.T, dtype=float), float(b @ values))


class PayloadWindow(LearntState):
    """Normal equations over an exponential window, and the recursion that weighs when nothing is forgotten.

    Args:
        keep: share of the equations that is kept from update to update; 1 forgets nothing.
    """

    def __init__(self, keep: float = 1.0) -> None:
        """No rows yet."""
        self._keep = keep
        self.A = np.zeros((10, 10))
        self.b = np.zeros(10)
        self.rows = 0

    def take(self, squares: FloatArray, products: FloatArray, updates: int = 1) -> None:
        """Add Xᵀ X (10, 10) and Xᵀ r (10,) of the weighted rows of some updates."""
        if self._keep < 1.0:
            self.A *= self._keep**updates
            self.b *= self._keep**updates
        self.A += squares
        self.b += products
        self.rows += updates

    def clear(self) -> None:
        """Start anew."""
        self.A[:], self.b[:], self.rows = 0.0, 0.0, 0


def onset_of(time: FloatArray, residual: FloatArray, columns: FloatArray, length_m: float) -> float:
    """When a payload came: the latest start of rows that explains nearly all that any start explains.

    Args:
        time: of the rows, oldest first (rows,).
        residual: weighted (rows, joints).
        columns: weighted (rows, joints, 10).
        length_m: see ``fit_payload``.
    """
    count = len(time)
    spans = np.unique(np.geomspace(2, count, 12).astype(int))
    gains = []
    A, b, done = np.zeros((10, 10)), np.zeros(10), 0
    for span in spans:
        part = slice(count - span, count - done)
        X, r = columns[part].reshape(-1, 10), residual[part].ravel()
        A, b, done = A + X.T @ X, b + X.T @ r, int(span)
        gains.append(fit_payload(A, b, length_m).gain)
    enough = np.flatnonzero(np.array(gains) >= 0.9 * max(gains))
    return float(time[count - spans[enough[0]]])
