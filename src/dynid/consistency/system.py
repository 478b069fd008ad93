"""What a log says about base parameters, as rows of unit noise: ‖A (χ − χ̂)‖² of any estimate."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray

_LARGEST = 1e5
"""Largest norm of the torques over σ̂: beyond, their errors are too small for the precision of the solver, and
are taken as larger."""


@dataclass(frozen=True, eq=False)
class DataRows:
    """min ‖A χ − b‖² over base parameters χ, in units of the standard deviation of the errors.

    Args:
        base: base parameters of the robot.
        A: (any, base), at most as many rows as base parameters: its size does not depend on the log.
        b: A χ̂, (rows,).
        remainder: ‖weighted residual‖ over σ̂ of the estimate itself: the root of the degrees of freedom.
    """

    base: BaseMap
    A: FloatArray
    b: FloatArray
    remainder: float

    @classmethod
    def of_estimate(
        cls, base: BaseMap, A: FloatArray, values: FloatArray, variance: float, degrees: int
    ) -> DataRows:
        """Rows of an estimate.

        Args:
            base: base parameters.
            A: its information is AᵀA over the variance, (rows, base).
            values: the estimate χ̂, (base,).
            variance: of the errors of the rows.
            degrees: of freedom.
        """
        b = A @ values
        size = float(np.linalg.norm(b)) or 1.0
        scale = min(variance**-0.5 if variance > 0 else np.inf, _LARGEST / size)
        return cls(base, scale * A, scale * b, float(max(degrees, 1)) ** 0.5)

    @classmethod
    def from_factor(cls, base: BaseMap, factor: FloatArray, rows: int) -> DataRows:
        """Rows of least squares on a factor of [W y], weighted.

        Args:
            base: base parameters.
            factor: triangular, (base + 1, base + 1).
            rows: how many were folded into it.
        """
        degrees = max(rows - len(base), 1)
        found = np.linalg.lstsq(factor[:-1, :-1], factor[:-1, -1], rcond=None)[0]
        values = np.asarray(found, dtype=float)
        return cls.of_estimate(base, factor[:-1, :-1], values, float(factor[-1, -1]) ** 2 / degrees, degrees)

    def norm(self, values: FloatArray) -> float:
        """‖weighted residual‖ over σ̂ of base parameters (base,)."""
        return float(np.hypot(np.linalg.norm(self.A @ values - self.b), self.remainder))

    def weaker(self, share: float) -> DataRows:
        """The rows with a share of their weight."""
        return replace(self, A=share * self.A, b=share * self.b)

    def mirror(self) -> DataRows:
        """The rows with all torques of the other sign."""
        return replace(self, b=-self.b)

    @property
    def standard(self) -> FloatArray:
        """A K: the same rows over standard parameters, (base, standard)."""
        return np.asarray(self.A @ self.base.matrix, dtype=float)
