"""Recursive least squares in square-root information form (P4 eq 9)."""

from __future__ import annotations

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.estimators.recursive.limits import with_variance
from dynid.estimators.recursive.recursion import Recursion, is_full, shortest_solution
from dynid.problem.factor import spectrum


class LeastSquaresRecursion(Recursion):
    """χ_k = χ_{k−1} + K (y − W χ_{k−1}), P_k = P_{k−1} − K W P_{k−1} (P4 eq 9), with P⁻¹ = RᵀR and R χ = z.

    Rows are reflected into R, so P stays symmetric and definite however long it runs, nothing needs to be
    known at the start, and the end is that of the batch: the same factor.
    """

    @staticmethod
    def _width(base: int) -> int:
        return base + 1

    def _set_information(self, root: FloatArray) -> None:
        self._folded.set_factor(root)
        self._solve()

    def _solve(self) -> None:
        self._ratio = self._folded.solve()

    def _fold(self, W: FloatArray, y: FloatArray, Z: FloatArray | None) -> float:
        squares, self._ratio = self._folded.update(W, y, self.weights)
        n = len(y)
        self.predicted, self.innovation = self._folded.out[:n], self._folded.out[n : 2 * n]
        return squares

    def _add_variance(self, variance: FloatArray) -> None:
        self._set_information(with_variance(self._folded.factor, variance))

    @property
    def values(self) -> FloatArray:
        """χ, (base,); the shortest one while rows do not tell all."""
        if is_full(self._ratio):
            return self._folded.solution[: len(self.names)]
        return shortest_solution(self._folded.factor)

    @property
    def working_values(self) -> FloatArray:
        """R x = z by substitution; zero where a pivot is."""
        return self._folded.solution[: len(self.names)]

    @property
    def root(self) -> FloatArray:
        """R⁻¹, (base, rank)."""
        if is_full(self._ratio):
            from scipy.linalg import solve_triangular

            R = self._folded.factor[:, :-1]
            return np.asarray(solve_triangular(R, np.eye(len(R)), check_finite=False), dtype=float)
        return spectrum(self._folded.factor).root

    def lost_parameters(self) -> FloatArray:
        """Parameters of null directions, (base,) of bool."""
        lost = np.zeros(len(self.names), dtype=bool)
        if not is_full(self._ratio):
            for group in spectrum(self._folded.factor).confused_columns:
                lost[list(group)] = True
        return lost
