"""Recursive instrumental variables (P4 eq 10) on a factor of [Z W y]."""

from __future__ import annotations

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.estimators.recursive.recursion import Recursion, shortest_solution
from dynid.problem.factor import RANK_TOLERANCE, spectrum


class InstrumentRecursion(Recursion):
    """χ_k = χ_{k−1} + K (y − W χ_{k−1}), K = P Zᵀ (I + W P Zᵀ)⁻¹ (P4 eq 10), P⁻¹ = P₀⁻¹ + Σ ZᵀW.

    The rows [Z W y] are reflected until Z is triangular: with R = [Rz Rw ry], P⁻¹ = RzᵀRw and Rw χ = ry.
    P itself is neither symmetric nor kept. The covariance of χ is (RwᵀRw)⁻¹ for unit noise: that of least
    squares on Ŵ = Z (ZᵀZ)⁻¹ZᵀW. A prior is rows with Z = W.
    """

    @staticmethod
    def _width(base: int) -> int:
        return 2 * base + 1

    def _set_information(self, root: FloatArray) -> None:
        self._folded.set_factor(np.hstack([root[:, :-1], root]))
        self._solve()

    def _parts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        p, factor = len(self.names), self._folded.factor
        return factor[:, :p], factor[:, p : 2 * p], factor[:, 2 * p]

    def _solve(self) -> None:
        """Rw χ = ry by Gauss; by singular values where Rw is not regular."""
        _, Rw, ry = self._parts()
        lengths = np.linalg.norm(Rw, axis=0)
        self._regular = bool(lengths.min() > 0)
        if self._regular:
            try:
                values = np.linalg.solve(Rw / lengths, ry) / lengths
            except np.linalg.LinAlgError:
                self._regular = False
            else:
                # A solution that does not solve: columns that cannot be told apart.
                left = np.linalg.norm(Rw @ values - ry)
                self._regular = bool(left <= np.sqrt(RANK_TOLERANCE) * (np.linalg.norm(ry) + 1e-300))
                self._values: FloatArray = np.asarray(values, dtype=float)
        if not self._regular:
            self._values = shortest_solution(np.column_stack([Rw, ry]))

    def _fold(self, W: FloatArray, y: FloatArray, Z: FloatArray | None) -> float:
        if Z is None:
            raise DynidError("Instrumental variables need instruments with every update; give Z, or use RLS.")
        np.matmul(W, self._values, out=self.predicted)
        np.subtract(y, self.predicted, out=self.innovation)
        self._write_rows(self._folded.new_rows, W, y, Z)
        self._folded.fold()
        self._solve()
        weighted = self.innovation * self.weights
        return float(weighted @ weighted)

    def _add_variance(self, variance: FloatArray) -> None:
        """P + D with Rz as it is: Rw = Rz⁻ᵀ (P + D)⁻¹, ry = Rw χ."""
        Rz, Rw, _ = self._parts()
        if not np.all(np.isfinite(variance)):
            raise DynidError("Instrumental variables cannot forget a parameter whole; give a finite sigma.")
        inverse = np.linalg.inv(np.linalg.inv(Rz.T @ Rw) + np.diag(variance))
        changed = np.linalg.solve(Rz.T, inverse)
        self._folded.set_factor(np.column_stack([Rz, changed, changed @ self._values]))
        self._solve()

    @property
    def values(self) -> FloatArray:
        """χ, (base,)."""
        values: FloatArray = self._values
        return values

    @property
    def root(self) -> FloatArray:
        """Rw⁻¹, (base, rank): the root of (ŴᵀŴ)⁻¹."""
        _, Rw, _ = self._parts()
        if self._regular:
            return np.asarray(np.linalg.inv(Rw), dtype=float)
        return spectrum(np.column_stack([Rw, np.zeros(len(Rw))])).root

    def lost_parameters(self) -> FloatArray:
        """Parameters of null directions, (base,) of bool."""
        lost = np.zeros(len(self.names), dtype=bool)
        if not self._regular:
            _, Rw, ry = self._parts()
            for group in spectrum(np.column_stack([Rw, ry])).confused_columns:
                lost[list(group)] = True
        return lost
