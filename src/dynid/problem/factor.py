"""The triangular factor of [W y]: all that least squares needs of any number of rows; its singular values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dynid.core.arrays import FloatArray, singular_values, svd
from dynid.core.errors import NotTrustworthyError

RANK_TOLERANCE = 1e-10
"""Relative singular value, columns at unit length, below which a direction counts as not seen at all."""
_INVOLVED = 1e-6
"""Entry of a projection onto the null space from which on a parameter takes part in it."""


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


def merge_factors(factors: Sequence[Factor]) -> Factor:
    """One factor of the rows of several, of the same joint."""
    if len(factors) == 1:
        return factors[0]
    stack = np.vstack([factor.R for factor in factors])
    return Factor(factors[0].columns, triangular(stack), sum(factor.rows for factor in factors))


@dataclass(frozen=True, eq=False)
class Spectrum:
    """W D⁻¹ = U S Vᵀ with D the lengths of the columns of W, from R of [W y].

    Args:
        scale: D, (columns,); one where a column is zero.
        s: singular values, largest first.
        V: right singular vectors in columns, (columns, columns).
        projected: Uᵀ y, (columns,).
        remainder: what is left of y outside the span of W, as a norm.
        W: the triangular factor of W, columns as they are, (columns, columns).
    """

    scale: FloatArray
    s: FloatArray
    V: FloatArray
    projected: FloatArray
    remainder: float
    W: FloatArray

    @cached_property
    def rank(self) -> int:
        """Directions that the rows can see."""
        return int(np.sum(self.s > RANK_TOLERANCE * self.s[0])) if self.s.size and self.s[0] > 0 else 0

    @property
    def condition(self) -> float:
        """Condition number with all columns at unit length."""
        return _ratio(self.s)

    @cached_property
    def plain_condition(self) -> float:
        """Condition number of W itself, columns as they are."""
        return _ratio(np.asarray(singular_values(self.W), dtype=float))

    @cached_property
    def root(self) -> FloatArray:
        """T (columns, rank) with T Tᵀ = (WᵀW)⁺: the columns of W T are orthonormal."""
        return np.asarray(self.V[:, : self.rank] / self.s[: self.rank] / self.scale[:, None], dtype=float)

    @cached_property
    def solution(self) -> FloatArray:
        """argmin ‖y − W χ‖; the shortest one in scaled columns where W is rank deficient."""
        return np.asarray(self.root @ self.projected[: self.rank], dtype=float)

    @cached_property
    def residual_norm(self) -> float:
        """‖y − W χ‖ of the solution."""
        return float(np.hypot(self.remainder, np.linalg.norm(self.projected[self.rank :])))

    @cached_property
    def confused_columns(self) -> tuple[tuple[int, ...], ...]:
        """Groups of columns that cannot be told apart, from the null vectors; a lone one is not seen."""
        null = self.V[:, self.rank :]
        linked = np.abs(null @ null.T) > _INVOLVED
        open_ones = {int(i) for i in np.flatnonzero(np.diag(linked))}
        groups = []
        while open_ones:
            group, frontier = set(), {min(open_ones)}
            while frontier:
                group |= frontier
                reached = {int(j) for i in frontier for j in np.flatnonzero(linked[i])}
                frontier = (reached & open_ones) - group
            open_ones -= group
            groups.append(tuple(sorted(group)))
        return tuple(groups)


def spectrum(factor: FloatArray) -> Spectrum:
    """The spectrum of W from the rows of a factor of [W y].

    Args:
        factor: (any rows, columns + 1); need not be triangular.
    """
    k = factor.shape[1] - 1
    square = triangular(factor) if factor.size else np.zeros((k + 1, k + 1))
    W, y = square[:k, :k], square[:k, k]
    lengths = np.linalg.norm(W, axis=0)
    # A column this short beside the longest is rounding: unit length would make it look seen.
    seen = lengths > np.finfo(float).eps * lengths.max(initial=0.0) * 1e-2
    scale = np.where(seen, lengths, 1.0)
    U, s, Vt = svd(np.where(seen, W, 0.0) / scale)
    return Spectrum(scale, s, Vt.T, U.T @ y, abs(float(square[k, k])), W)


def _ratio(s: FloatArray) -> float:
    if not s.size or s[0] == 0:
        return np.inf
    return float(s[0] / s[-1]) if s[-1] > 0 else np.inf
