"""Least squares from a triangular factor by singular values of scaled columns: solution, rank, doubt."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.problem.factor import triangular

FloatArray = NDArray[np.float64]
RANK_TOLERANCE = 1e-10
"""Relative singular value, columns at unit length, below which a direction counts as not seen at all."""
_INVOLVED = 1e-6


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
        return _ratio(np.asarray(np.linalg.svd(self.W, compute_uv=False), dtype=float))

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
    def confused(self) -> tuple[tuple[int, ...], ...]:
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
    U, s, Vt = np.linalg.svd(np.where(seen, W, 0.0) / scale)
    return Spectrum(scale, s, Vt.T, U.T @ y, abs(float(square[k, k])), W)


def _ratio(s: FloatArray) -> float:
    if not s.size or s[0] == 0:
        return np.inf
    return float(s[0] / s[-1]) if s[-1] > 0 else np.inf
