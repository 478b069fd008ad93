"""Total least squares: errors in the regressor as well as in the torques."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.finding import Finding, Level, Name
from dynid.estimators.fit import Fit
from dynid.estimators.least_squares import weighted_fit
from dynid.estimators.strategy import Strategy
from dynid.estimators.weights import all_kept, own_sigma, weights_of
from dynid.problem.factor import triangular
from dynid.problem.problem import Problem

FloatArray = NDArray[np.float64]

_ABSURD = 3.0
"""A torque residual this many times that of least squares blames the regressor for more than it can hold."""


@dataclass(frozen=True, kw_only=True)
class TLS(Strategy):
    """Total least squares: the smallest singular vector of [W Y] (Golub and Van Loan 1980; Van Huffel 1991).

    With A = W D the solution is (AᵀA − s² I)⁻¹ Aᵀ Y, s the smallest singular value of [A Y]. It assumes
    errors of the same size in every entry of [A Y], which unit columns come nearest to; without noise it is
    least squares.

    Args:
        scaled: bring all columns of [W Y] to unit length first (data-scaled TLS). Without it the result
            depends on the units of the parameters.
        weighted: divide each joint's rows by σ̂_j as WLS does.
    """

    scaled: bool = True
    weighted: bool = True

    def fit(self, problem: Problem, kept: NDArray[np.bool_] | None = None) -> Fit:
        """Solve from the singular values of the factor."""
        chosen = all_kept(problem, kept)
        sigma = own_sigma(problem) if self.weighted else None
        weights = weights_of(sigma) if sigma is not None else np.ones(len(problem.regression.joints))
        start = weighted_fit(problem, weights, chosen, sigma)
        if start.spectrum.rank < int(chosen.sum()) or start.degrees <= 0:
            return start
        factor = problem.stacked_factor(weights)[:, np.append(chosen, True)]
        return self._from_factor(factor, start)

    def _from_factor(self, factor: FloatArray, start: Fit) -> Fit:
        lengths = np.linalg.norm(factor, axis=0)
        torque = lengths[-1] or 1.0
        scale = np.append(lengths[:-1] / torque, 1.0) if self.scaled else np.ones(len(lengths))
        s = float(np.linalg.svd(factor / scale, compute_uv=False)[-1])
        R = triangular(factor / scale)
        A, y = R[:, :-1], R[:, -1]
        U, sv, Vt = np.linalg.svd(A, full_matrices=False)
        gap = sv**2 - s**2
        if not gap[-1] > 1e-12 * sv[0] ** 2:
            return replace(start, problem_outcome=_no_solution())
        x = Vt.T @ (sv * (U.T @ y) / gap)
        floor = 1e-9 * float(np.linalg.norm(y))
        if np.linalg.norm(y - A @ x) > _ABSURD * max(start.spectrum.residual_norm, floor):
            return replace(start, problem_outcome=_no_solution())
        root = (Vt.T / np.sqrt(gap)) / scale[:-1, None]
        variance = s**2 / start.degrees * (1.0 + float(x @ x))
        values = np.zeros_like(start.values)
        values[start.kept] = x / scale[:-1]
        return replace(
            start,
            values=values,
            root=root,
            covariance=variance * root @ root.T,
            sigma=float(np.sqrt(variance)),
            facts={"smallest_singular_value": s},
        )


def _no_solution() -> Finding:
    return Finding(
        Name.NOT_GENERIC,
        Level.FAIL,
        "The errors are as large as the weakest direction of the motion, so total least squares has no "
        "stable solution; the values are those of least squares.",
        "Excite the robot more, remove parameters that are not essential, or use WLS or IRLS.",
    )
