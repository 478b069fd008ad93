"""The triangular factor of [W y]: all that least squares needs of any number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import NotTrustworthyError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Factor:
    """R of Q R = [W y] for the rows of one joint: ‖y − W χ‖ = ‖R [−χ; 1]‖ for every χ.

    Args:
        columns: base parameters (indices into the base) that can move this joint's torque.
        R: upper triangular, (columns + 1, columns + 1); the last column belongs to the torque.
        rows: number of rows folded in.
    """

    columns: tuple[int, ...]
    R: FloatArray
    rows: int

    @classmethod
    def empty(cls, columns: Sequence[int]) -> Factor:
        """The factor of no rows."""
        k = len(columns) + 1
        return cls(tuple(columns), np.zeros((k, k)), 0)

    def fold(self, W: FloatArray, y: FloatArray) -> Factor:
        """The factor with further rows: QR of the stacked R and the new rows, never normal equations.

        Args:
            W: (columns, rows), every column contiguous.
            y: torques (rows,) [N m or N].
        """
        if not y.size:
            return self
        k = len(self.columns)
        stack = np.empty((k + 1 + len(y), k + 1), order="F")
        stack[: k + 1] = self.R
        stack[k + 1 :, :k] = W.T
        stack[k + 1 :, k] = y
        return Factor(self.columns, triangular(stack), self.rows + len(y))

    def wide(self, width: int) -> FloatArray:
        """R with its columns spread over all base parameters, (columns + 1, width + 1)."""
        spread = np.zeros((len(self.R), width + 1))
        spread[:, [*self.columns, width]] = self.R
        return spread

    def residual(self, values: FloatArray) -> FloatArray:
        """A short vector of the same norm as the residual y − W χ.

        Args:
            values: base parameters, (base,).
        """
        return np.asarray(self.R[:, -1] - self.R[:, :-1] @ values[list(self.columns)], dtype=float)

    @property
    def torque_norm(self) -> float:
        """‖y‖ [N m or N]."""
        return float(np.linalg.norm(self.R[:, -1]))


def triangular(stack: FloatArray) -> FloatArray:
    """R (columns, columns) of a QR; fewer rows than columns leave zero rows at the bottom.

    Args:
        stack: (rows, columns); column-major order is fastest.
    """
    rows, columns = stack.shape
    if rows == columns and not np.any(np.tril(stack, -1)):
        return _finite(np.ascontiguousarray(stack))  # a factor already: reflections would not change it
    R = np.zeros((columns, columns))
    R[: min(rows, columns)] = np.linalg.qr(stack, mode="r")
    return _finite(R)


def _finite(R: FloatArray) -> FloatArray:
    if not np.all(np.isfinite(R)):
        raise NotTrustworthyError(
            "The regressor or the torques hold values that are not finite or overflow; run the data check on "
            "the log and look for garbage values and positions beyond 1e6 rad."
        )
    return R


def merged(factors: Sequence[Factor]) -> Factor:
    """One factor of the rows of several, of the same joint."""
    if len(factors) == 1:
        return factors[0]
    stack = np.vstack([factor.R for factor in factors])
    return Factor(factors[0].columns, triangular(stack), sum(factor.rows for factor in factors))
