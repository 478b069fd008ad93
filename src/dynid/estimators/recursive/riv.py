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
        from scipy.linalg import lu_factor, lu_solve

        _, Rw, ry = self._parts()
        self._lengths = np.linalg.norm(Rw, axis=0)
        self._regular = bool(self._lengths.min() > 0)
        if self._regular:
            self._lu = lu_factor(Rw / self._lengths, check_finite=False)
            pivots = np.abs(np.diag(self._lu[0]))
            # Columns that cannot be told apart leave a pivot of rounding.
            self._regular = bool(pivots.min() > RANK_TOLERANCE * pivots.max())
        if self._regular:
            self._values = lu_solve(self._lu, ry, check_finite=False) / self._lengths
        else:
            self._values = shortest_solution(np.column_stack([Rw, ry]))

    def _fold(self, W: FloatArray, y: FloatArray, Z: FloatArray | None) -> float:
        if Z is None:
            raise DynidError("Instrumental variables need instruments with every update; give Z, or use RLS.")
        np.matmul(W, self._values, out=self.predicted)
        np.subtract(y, self.predicted, out=self.innovation)
        squares = self._innovation_squares(W)
        self._write_rows(self._folded.new_rows, W, y, Z)
        self._folded.fold()
        self._solve()
        return squares

    def _innovation_squares(self, W: FloatArray) -> float:
        """eᵀ S⁻¹ e with S = 1 + W C Wᵀ of weighted rows; as many as rows while the rows do not tell all."""
        if not self._regular:
            return float(len(W))
        from scipy.linalg import lu_solve

        weighted = self.innovation * self.weights
        u = lu_solve(self._lu, (W * self.weights[:, None] / self._lengths).T, trans=1, check_finite=False)
        return float(weighted @ np.linalg.solve(np.eye(len(W)) + u.T @ u, weighted))

    def _add_variance(self, variance: FloatArray) -> None:
        """P ← P + D and C ← C + D, with P = (RzᵀRw)⁻¹ and C = (RwᵀRw)⁻¹.

        Rw = chol((C + D)⁻¹)ᵀ and Rz = ((P + D)⁻¹ Rw⁻¹)ᵀ do both; then both are turned until Rz is triangular.
        """
        Rz, Rw, _ = self._parts()
        if not np.all(np.isfinite(variance)):
            raise DynidError("Instrumental variables cannot forget a parameter whole; give a finite sigma.")
        if not self._regular:
            raise DynidError("Rows do not tell all parameters yet, so none can be set free; wait for more.")
        D, root = np.diag(variance), np.linalg.inv(Rw)
        P = root @ np.linalg.inv(Rz).T
        changed = np.linalg.cholesky(np.linalg.inv(root @ root.T + D)).T
        instruments = np.linalg.solve(changed.T, np.linalg.inv(P + D).T)
        Q, Rz = np.linalg.qr(instruments)
        Rw = Q.T @ changed
        self._folded.set_factor(np.column_stack([Rz, Rw, Rw @ self._values]))
        self._solve()

    @property
    def values(self) -> FloatArray:
        """χ, (base,)."""
        values: FloatArray = self._values
        return values

    @property
    def working_values(self) -> FloatArray:
        """The same."""
        return self.values

    def _left_root(self, root: FloatArray) -> FloatArray:
        """Rz⁻¹."""
        return np.asarray(np.linalg.inv(self._parts()[0]), dtype=float)

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
