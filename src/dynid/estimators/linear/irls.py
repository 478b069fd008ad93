"""Iteratively reweighted least squares: rows far off the model count less or nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, unknown_name
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.fit import Fit
from dynid.estimators.linear.least_squares import (
    MEDIAN_OF_NORMAL,
    WLS,
    above_rounding,
    kept_mask,
    leverages,
    root_over_base,
    weights_of,
)
from dynid.estimators.strategy import Strategy
from dynid.problem.factor import Spectrum, spectrum, triangular
from dynid.problem.problem import Problem
from dynid.problem.regression import JointRows

TUNINGS = {"huber": 1.345, "bisquare": 4.685}
"""95 % efficiency with Gaussian errors (Holland and Welsch 1977)."""
_AT_REST = 1e-7
"""Share of a joint's error by which its predicted torques may still move at rest."""
_FEW_OUTLIERS = 0.02
"""Share of rows that may count less than half before it is said; Gaussian errors give 0.7 %."""


@dataclass(frozen=True, kw_only=True)
class IRLS(Strategy):
    """Robust M-estimate: χ̂ = argmin Σ_j Σ_t loss((y − W χ)/σ̂_j), by reweighted least squares.

    σ̂_j is the median absolute residual of joint j over 0.6745, found anew at every pass. The bisquare, which
    ignores gross outliers altogether, starts from the Huber solution, because it has several minima.

    Args:
        loss: "huber" or "bisquare".
        tuning: residual, in σ̂_j, from which a row counts less; 95 % efficiency when None.
        iterations: passes at most.
    """

    loss: str = "huber"
    tuning: float | None = None
    iterations: int = 100

    def __post_init__(self) -> None:
        """Refuse losses and tunings that mean nothing."""
        super().__post_init__()
        if self.loss not in TUNINGS:
            raise unknown_name("loss", self.loss, TUNINGS)
        if self.tuning is not None and not 0 < self.tuning < np.inf:
            raise DynidError(f"The tuning of IRLS is {self.tuning}; it must be positive and finite.")

    def fit(self, problem: Problem, kept: NDArray[np.bool_] | None = None) -> Fit:
        """Reweight until the values come to rest."""
        chosen = kept_mask(problem, kept)
        rows = tuple(problem.rows(j) for j in range(len(problem.regression.joints)))
        state = WLS().fit(problem, chosen)
        for loss in ("huber", "bisquare") if self.loss == "bisquare" else ("huber",):
            k = TUNINGS[loss] if self.tuning is None or loss != self.loss else self.tuning
            state = _reweight(problem, rows, state, loss, k, self.iterations)
        return state


def _reweight(
    problem: Problem, rows: tuple[JointRows, ...], start: Fit, loss: str, k: float, passes: int
) -> Fit:
    kept, values, root, weights = start.kept, start.values, start.root, start.weights
    solved, converged, sigma = start.spectrum, False, start.joint_sigma
    used = 0
    while not converged and used < passes:
        used += 1
        residuals = [part.residual(values) for part in rows]
        robust = _robust_sigma(problem, residuals, root_over_base(root, kept), weights)
        sigma = np.where(problem.undriven, start.joint_sigma, robust)
        weights = weights_of(sigma)
        omega = [_omega(w * r, loss, k) for w, r in zip(weights, residuals, strict=True)]
        solved = _weighted_spectrum(rows, [w * np.sqrt(o) for w, o in zip(weights, omega, strict=True)], kept)
        step, values, root = -values, np.zeros(len(kept)), solved.root
        values[kept] = solved.solution
        step += values
        converged = _is_at_rest(problem, step, weights)
    return _result(problem, rows, values, kept, solved, sigma, loss, k, start.iterations + used, converged)


def _is_at_rest(problem: Problem, step: FloatArray, weights: FloatArray) -> bool:
    """Whether no joint's predicted torque moves by more than a small share of its error, or than rounding."""
    joints = problem.regression.joints
    moved = np.array([np.linalg.norm(f.R[:, :-1] @ step[list(f.columns)]) for f in joints])
    torque = problem.torque_norms()
    rounding = 1e-11 * np.linalg.norm(torque)
    return bool(np.all(moved <= np.maximum(_AT_REST * np.sqrt(problem.row_counts) / weights, rounding)))


def _result(
    problem: Problem,
    rows: tuple[JointRows, ...],
    values: FloatArray,
    kept: NDArray[np.bool_],
    solved: Spectrum,
    sigma: FloatArray,
    loss: str,
    k: float,
    iterations: int,
    converged: bool,
) -> Fit:
    """Huber's covariance: B⁻¹ (Σ ψ² W Wᵀ) B⁻¹ B from the mean slope of ψ (Huber 1981, §7.6)."""
    weights = weights_of(sigma)
    scaled = [w * part.residual(values) for w, part in zip(weights, rows, strict=True)]
    slope = np.array([max(_slope(u, loss, k).mean(), 0.05) if u.size else 1.0 for u in scaled])
    root = problem.spectrum(weights * np.sqrt(slope), kept).root
    full = root_over_base(root, kept)
    spent = leverages(problem, full, weights)
    meat = np.zeros((root.shape[1], root.shape[1]))
    for j, factor in enumerate(problem.regression.joints):
        psi = _omega(scaled[j], loss, k) * scaled[j]
        variance = psi @ psi / max(len(psi) - spent[j], 1.0)
        white = weights[j] * factor.R[:, :-1] @ full[list(factor.columns)]
        meat += variance * white.T @ white
    degrees = int(problem.row_counts.sum()) - solved.rank
    omega = [_omega(u, loss, k) for u in scaled]
    share = float(np.mean(np.concatenate(omega) < 0.5)) if degrees > 0 else 0.0
    findings: tuple[Finding, ...] = ()
    if share >= _FEW_OUTLIERS:
        said = f"{100 * share:.1f} % of the rows count less than half."
        findings = (Finding(Name.OUTLIERS, Level.NOTE, said, figures={"downweighted_share": share}),)
    return Fit(
        values=values,
        kept=kept,
        root=root,
        covariance=root @ meat @ root.T,
        spectrum=solved,
        row_weights=slope * weights**2,
        score_weights=tuple(w**2 * o for w, o in zip(weights, omega, strict=True)),
        joint_sigma=sigma,
        sigma=float(
            np.sqrt(sum(float(u @ (o * u)) for u, o in zip(scaled, omega, strict=True)) / max(degrees, 1))
        ),
        degrees=degrees,
        weights=weights,
        iterations=iterations,
        converged=converged,
        findings=findings,
        facts={"downweighted_share": share},
    )


def _weighted_spectrum(
    rows: tuple[JointRows, ...], scales: list[FloatArray], kept: NDArray[np.bool_]
) -> Spectrum:
    """Spectrum of the kept columns with every row multiplied by its own weight."""
    width = len(kept)
    stack = []
    for part, scale in zip(rows, scales, strict=True):
        k = len(part.columns)
        block = np.empty((len(part), k + 1), order="F")
        np.multiply(part.W, scale[:, None], out=block[:, :k])
        block[:, k] = part.y * scale
        wide = np.zeros((k + 1, width + 1))
        wide[:, [*part.columns, width]] = triangular(block) if len(part) else 0.0
        stack.append(wide)
    return spectrum(np.vstack(stack)[:, np.append(kept, True)])


def _robust_sigma(
    problem: Problem, residuals: list[FloatArray], root: FloatArray, weights: FloatArray
) -> FloatArray:
    """Median absolute residual over 0.6745, corrected for the parameters spent."""
    rows = problem.row_counts
    spent = np.minimum(leverages(problem, root, weights), 0.9 * rows)
    spread_of = [np.median(np.abs(r)) / MEDIAN_OF_NORMAL if r.size else np.nan for r in residuals]
    return above_rounding(problem, np.array(spread_of) * np.sqrt(rows / np.maximum(rows - spent, 1e-300)))


def _omega(u: FloatArray, loss: str, k: float) -> FloatArray:
    """ψ(u)/u: what a row counts."""
    a = np.abs(u)
    if loss == "huber":
        return np.asarray(np.where(a <= k, 1.0, k / np.maximum(a, k)), dtype=float)
    return np.asarray(np.where(a < k, (1 - (u / k) ** 2) ** 2, 0.0), dtype=float)


def _slope(u: FloatArray, loss: str, k: float) -> FloatArray:
    """dψ/du."""
    v = (u / k) ** 2
    if loss == "huber":
        return np.asarray(v <= 1, dtype=float)
    return np.asarray(np.where(v < 1, (1 - v) * (1 - 5 * v), 0.0), dtype=float)
