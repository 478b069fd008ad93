"""A model that was known before, on new rows: not fitted again, but its doubt counts.

With χ = χ̂ + F u, C = F Fᵀ the covariance of the model and u ~ N(0, 1), the rows w (y − W χ̂) = w W F u + ε are
joined by the rows 0 = u. What W can take of a suspect is then bounded by what was not known of χ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.estimators.fit import Fit
from dynid.estimators.linear.least_squares import weights_of
from dynid.problem.factor import spectrum, triangular
from dynid.problem.problem import Problem

_MOST_ALIKE = 0.98
"""Correlation of neighbouring rows beyond which rows are not taken for still fewer independent ones."""


@dataclass(frozen=True, eq=False)
class Anchor:
    """Least squares that stays near a model.

    Args:
        fit: values near χ̂, and T so that the columns of w W T and of the rows of u together are orthonormal.
        rows: [T_u, −û] of the rows 0 = u, (kept, rank + 1).
    """

    fit: Fit
    rows: FloatArray


def fit_near_model(
    problem: Problem,
    values: FloatArray,
    covariance: FloatArray,
    kept: NDArray[np.bool_],
    joint_sigma: FloatArray,
) -> Anchor:
    """Fit new rows with a model for a prior.

    Rows whose errors are alike count for fewer: w_j = 1 / (κ σ_j) with κ² = (1 + r)/(1 − r), r the
    correlation of neighbouring residuals of the model.

    Args:
        problem: the new rows.
        values: χ̂, (columns,): base parameters, and behind them those of added terms.
        covariance: C, (columns, columns).
        kept: which are in doubt, (columns,).
        joint_sigma: σ_j of the model's fit [N m or N], (coordinates,).
    """
    weights = weights_of(joint_sigma)
    r = _alike(w * problem.rows(j).residual(values) for j, w in enumerate(weights))
    weights = weights * np.sqrt((1.0 - r) / (1.0 + r))
    factors = zip(weights, problem.regression.joints, strict=True)
    R = triangular(np.vstack([w * factor.wide(len(values)) for w, factor in factors]))
    F = _root_of(covariance[np.ix_(kept, kept)])
    W = R[:, :-1]
    new = np.column_stack([W[:, kept] @ F, R[:, -1] - W @ values])
    prior = np.column_stack([np.eye(F.shape[1]), np.zeros(F.shape[1])])
    solved = spectrum(np.vstack([new, prior]))
    found = values.copy()
    found[kept] += F @ solved.solution
    degrees = int(problem.row_counts.sum())
    fit = Fit.weighted(found, kept, solved, weights, joint_sigma, solved.residual_norm**2, degrees)
    rows = np.column_stack([solved.root, -solved.solution])
    return Anchor(replace(fit, root=F @ solved.root), rows)


def _alike(residuals: Iterable[FloatArray]) -> float:
    """Correlation of neighbouring residuals over all joints, 0 … 1."""
    pairs = [(float(e[1:] @ e[:-1]), float(e @ e)) for e in residuals]
    near, whole = np.sum(pairs, axis=0)
    return float(np.clip(near / whole, 0.0, _MOST_ALIKE)) if whole > 0 else 0.0


def _root_of(covariance: FloatArray) -> FloatArray:
    """F with F Fᵀ = C, scaled by σ first: units of parameters differ by orders."""
    sigma = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    scale = np.where(sigma > 0, sigma, 1.0)
    found, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    return np.asarray(scale[:, None] * vectors * np.sqrt(np.maximum(found, 0.0)))
