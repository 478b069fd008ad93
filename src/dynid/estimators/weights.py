"""How large each joint's error is, and what its rows therefore count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.problem.problem import Problem

FloatArray = NDArray[np.float64]
FLOOR = 1e-9
"""Errors below this share of a joint's torque are rounding, and are not trusted as weights."""


def own_sigma(problem: Problem) -> FloatArray:
    """σ̂_j of each joint from least squares on its own rows alone: ‖ρ_j‖² / (r_j − b_j) (P2 §II.C).

    b_j is the rank of joint j's own rows, so a joint that sees few parameters loses few degrees of freedom.

    Returns:
        (coordinates,) [N m or N]; not a number where a joint has no rows to spare.
    """
    sigma = np.full(len(problem.regression.joints), np.nan)
    for j, own in enumerate(problem.joint_spectra):
        degrees = int(problem.row_counts[j]) - own.rank
        if degrees > 0:
            sigma[j] = own.residual_norm / np.sqrt(degrees)
    return floored(problem, sigma)


def fitted_sigma(problem: Problem, values: FloatArray, root: FloatArray, weights: FloatArray) -> FloatArray:
    """σ̂_j of each joint from the residual of a fit of all joints: ‖ρ_j‖² / (r_j − h_j).

    h_j = w_j² tr(W_j T Tᵀ W_jᵀ) is what joint j's rows spend of the parameters; over all joints it sums to
    the rank.

    Args:
        problem: the problem.
        values: base parameters, (base,).
        root: T over all base parameters, (base, rank), of the weighted system.
        weights: w, (coordinates,).
    """
    spent = leverages(problem, root, weights)
    degrees = problem.row_counts - spent
    norms = problem.residual_norms(values)
    sigma = np.full(len(norms), np.nan)
    some = degrees > 0.5
    sigma[some] = norms[some] / np.sqrt(degrees[some])
    return floored(problem, sigma)


def leverages(problem: Problem, root: FloatArray, weights: FloatArray) -> FloatArray:
    """h_j: parameters spent by each joint's rows, (coordinates,)."""
    spent = [
        (w * np.linalg.norm(factor.R[:, :-1] @ root[list(factor.columns)])) ** 2
        for factor, w in zip(problem.regression.joints, weights, strict=True)
    ]
    return np.array(spent)


def floored(problem: Problem, sigma: FloatArray) -> FloatArray:
    """σ̂_j kept above rounding, so that a perfect joint does not silence the others."""
    rms = problem.torque_norms() / np.sqrt(np.maximum(problem.row_counts, 1))
    largest = float(rms.max(initial=0.0)) or 1.0
    floor = FLOOR * np.maximum(rms, 1e-3 * largest)
    return np.asarray(np.where(np.isnan(sigma), sigma, np.maximum(sigma, floor)), dtype=float)


def weights_of(sigma: FloatArray) -> FloatArray:
    """1/σ̂_j; joints whose error is unknown get the smallest weight of the others."""
    known = np.isfinite(sigma) & (sigma > 0)
    if not known.any():
        return np.ones_like(sigma)
    filled = np.where(known, sigma, sigma[known].max())
    return np.asarray(1.0 / filled, dtype=float)


def spread(root: FloatArray, kept: NDArray[np.bool_]) -> FloatArray:
    """T of the kept parameters over all base parameters: zero rows for the others."""
    full = np.zeros((len(kept), root.shape[1]))
    full[kept] = root[: int(kept.sum())]
    return full


def all_kept(problem: Problem, kept: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """The mask given, or one that keeps everything."""
    return np.ones(len(problem.base), dtype=bool) if kept is None else kept
