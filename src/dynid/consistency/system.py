"""What a log says about base parameters, as rows of unit noise: ‖A (χ − χ̂)‖² of any estimate."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray
from dynid.problem.problem import Problem

_LARGEST = 1e5
"""Largest norm of the torques over σ̂: beyond, their errors are too small for the precision of the solver, and
are taken as larger."""


@dataclass(frozen=True, eq=False)
class DataRows:
    """min ‖A χ − b‖² over base parameters χ, in units of the standard deviation of the errors.

    Args:
        base: base parameters of the robot.
        A: triangular factor of the weighted W over σ̂, (base, base); its cost does not depend on the log.
        b: A χ̂, (base,).
        remainder: norm of what no base parameters explain: the root of the degrees of freedom.
    """

    base: BaseMap
    A: FloatArray
    b: FloatArray
    remainder: float

    @classmethod
    def of(
        cls,
        problem: Problem,
        weights: ArrayLike,
        values: FloatArray | None = None,
        sigma: float | None = None,
    ) -> DataRows:
        """The rows of a problem.

        Args:
            problem: the problem.
            weights: what each joint's rows are multiplied by, (coordinates,).
            values: the estimate χ̂ that is the nearest to the data, (base,); least squares when None.
            sigma: σ̂ of the weighted rows, where terms beside the base parameters explain some of the torque;
                from what least squares leaves when None.
        """
        rows = int(problem.row_counts.sum())
        return cls.from_factor(problem.base, problem.stacked_factor(weights), rows, values, sigma)

    @classmethod
    def from_factor(
        cls,
        base: BaseMap,
        factor: FloatArray,
        rows: int,
        values: FloatArray | None = None,
        sigma: float | None = None,
    ) -> DataRows:
        """The rows of a factor of [W y], weighted.

        Args:
            base: base parameters.
            factor: triangular, (base + 1, base + 1).
            rows: how many were folded into it.
            values: see ``of``.
            sigma: see ``of``.
        """
        A, y = factor[:-1, :-1], factor[:-1, -1]
        degrees = max(rows - len(base), 1)
        left = abs(float(factor[-1, -1])) if sigma is None else sigma * degrees**0.5
        size = float(np.linalg.norm(factor[:, -1])) or 1.0
        scale = min(degrees**0.5 / left if left > 0 else np.inf, _LARGEST / size)
        return cls(base, scale * A, scale * (y if values is None else A @ values), degrees**0.5)

    def norm(self, values: FloatArray) -> float:
        """‖weighted residual‖ over σ̂ of base parameters (base,)."""
        return float(np.hypot(np.linalg.norm(self.A @ values - self.b), self.remainder))

    @property
    def least(self) -> float:
        """‖weighted residual‖ over σ̂ of the data's own solution."""
        found = np.linalg.lstsq(self.A, self.b, rcond=None)[0]
        return self.norm(np.asarray(found, dtype=float))

    def mirror(self) -> DataRows:
        """The rows with all torques of the other sign."""
        return replace(self, b=-self.b)

    @property
    def standard(self) -> FloatArray:
        """A K: the same rows over standard parameters, (base, standard)."""
        return np.asarray(self.A @ self.base.matrix, dtype=float)
