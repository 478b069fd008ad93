"""Ordinary and weighted least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError
from dynid.estimators.fit import Fit
from dynid.estimators.strategy import Strategy
from dynid.estimators.weights import all_kept, fitted_sigma, own_sigma, spread, weights_of
from dynid.problem.problem import Problem

FloatArray = NDArray[np.float64]
_AT_REST = 1e-8


@dataclass(frozen=True, kw_only=True)
class OLS(Strategy):
    """Ordinary least squares: χ̂ = argmin ‖Y − W χ‖², C = σ̂² (WᵀW)⁻¹ (P1 eq 9–11)."""

    def fit(self, problem: Problem, kept: NDArray[np.bool_] | None = None) -> Fit:
        """Solve with every row counting the same."""
        return weighted_fit(problem, np.ones(len(problem.regression.joints)), all_kept(problem, kept))


@dataclass(frozen=True, kw_only=True)
class WLS(Strategy):
    """Weighted least squares: joint j's rows are divided by σ̂_j (P2 §II.C, P0 §II).

    The first weights come from least squares on each joint's own rows, with its own rank for the degrees of
    freedom. Further passes take σ̂_j from the weighted fit of all joints together.

    Args:
        iterations: passes at most; one is the papers' method.
    """

    iterations: int = 1

    def __post_init__(self) -> None:
        """Refuse a number of passes that is no number of passes."""
        super().__post_init__()
        if self.iterations < 1:
            raise DynidError(f"WLS was asked for {self.iterations} iterations; give at least 1.")

    def fit(self, problem: Problem, kept: NDArray[np.bool_] | None = None) -> Fit:
        """Solve with each joint's rows weighted by its own error."""
        chosen = all_kept(problem, kept)
        sigma = own_sigma(problem)
        fit = weighted_fit(problem, weights_of(sigma), chosen, sigma)
        for passes in range(2, self.iterations + 1):
            sigma, before = fit.joint_sigma, sigma
            fit = weighted_fit(problem, weights_of(sigma), chosen, None, passes)
            if np.allclose(sigma, before, rtol=_AT_REST, equal_nan=True):
                break
        return fit


def weighted_fit(
    problem: Problem,
    weights: FloatArray,
    kept: NDArray[np.bool_],
    sigma: FloatArray | None = None,
    iterations: int = 1,
) -> Fit:
    """Least squares with given weights of the joints.

    C = σ̂² (WᵀΛW)⁻¹ with σ̂² the weighted residual over its degrees of freedom: one when the weights are right.

    Args:
        problem: the problem.
        weights: w_j, (coordinates,).
        kept: which base parameters, (base,).
        sigma: σ̂_j to report; from the residual of this fit when None.
        iterations: passes so far.
    """
    solved = problem.spectrum(weights, kept)
    values = np.zeros(len(kept))
    values[kept] = solved.solution
    degrees = int(problem.row_counts.sum()) - solved.rank
    variance = solved.residual_norm**2 / degrees if degrees > 0 else 0.0
    found = fitted_sigma(problem, values, spread(solved.root, kept), weights) if sigma is None else sigma
    return Fit(
        values=values,
        kept=kept,
        root=solved.root,
        covariance=variance * solved.root @ solved.root.T,
        spectrum=solved,
        row_weights=weights**2,
        score_weights=None,
        joint_sigma=found,
        sigma=float(np.sqrt(variance)),
        degrees=degrees,
        weights=weights,
        iterations=iterations,
    )
