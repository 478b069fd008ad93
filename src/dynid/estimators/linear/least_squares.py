"""Ordinary, weighted and total least squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray, singular_values, svd
from dynid.core.errors import DynidError
from dynid.core.finding import Finding, Level, Name
from dynid.core.lazy import later
from dynid.estimators.fit import Fit
from dynid.estimators.strategy import Strategy
from dynid.problem.factor import triangular
from dynid.problem.problem import Problem

if TYPE_CHECKING:
    from dynid.estimators.linear.terms import NonlinearTerm

_separable = later("dynid.estimators.linear.separable", "Separable")
MEDIAN_OF_NORMAL = 0.6744897501960817
"""Median of |x| of a standard normal x: over it, a median absolute residual is a robust σ̂."""
FLOOR = 1e-9
"""Errors below this share of a joint's torque are rounding, and are not trusted as weights."""
_AT_REST = 1e-8
"""Relative change of σ̂_j at which reweighting has come to rest."""
_LIGHT = 1e-4
"""Norm of an undriven joint's rows over that of the driven ones when these alone should fix what both feel:
light enough to move nothing they see, far above rounding."""
_ABSURD = 3.0
"""Torque residual over that of least squares above which total least squares is refused: it then blames the
regressor for more than noise explains."""


def own_sigma(problem: Problem) -> FloatArray:
    """σ̂_j of each joint from least squares on its own rows alone: ‖ρ_j‖² / (r_j − b_j) (P2 §II.C).

    b_j is the rank of joint j's own rows, so a joint that sees few parameters loses few degrees of freedom.

    Returns:
        (coordinates,) [N m or N]; not a number where a joint has no rows to spare.
    """
    spectra = problem.joint_spectra
    norms, ranks = (np.array([getattr(own, name) for own in spectra]) for name in ("residual_norm", "rank"))
    return with_undriven_sigma(problem, residual_sigma(problem, norms, problem.row_counts - ranks))


def with_undriven_sigma(problem: Problem, sigma: FloatArray) -> FloatArray:
    """σ̂_j with those of undriven joints taken from the fit of the driven ones.

    The rows 0 = W_j χ of a joint without torque are solved by χ = 0 without any error, so its own rows say
    nothing about their error. Its parameters are fixed by the driven joints first, what these leave open by
    its own rows at next to no weight, and σ̂_j is what its rows then miss. Taking σ̂_j from later fits again
    would draw the parameters to zero wherever the driven joints hardly feel them.

    Args:
        problem: the problem.
        sigma: σ̂_j from each joint's own rows, (coordinates,).
    """
    undriven = problem.undriven
    if not undriven.any() or undriven.all():
        return sigma
    sizes = np.array([np.linalg.norm(factor.R[:, :-1]) for factor in problem.regression.joints])
    weights = np.where(undriven, 0.0, weights_of(np.where(undriven, np.nan, sigma)))
    light = _LIGHT * float(np.linalg.norm(weights * sizes))
    weights = np.where(undriven, light / np.maximum(sizes, 1e-300), weights)
    anchored = weighted_fit(problem, weights, kept_mask(problem, None))
    return np.where(undriven, anchored.joint_sigma, sigma)


def residual_sigma(problem: Problem, norms: FloatArray, degrees: NDArray[Any]) -> FloatArray:
    """σ̂_j = ‖ρ_j‖ / √degrees_j; not a number where a joint has no rows to spare.

    Args:
        problem: the problem.
        norms: ‖ρ_j‖ of each joint's residual [N m or N], (coordinates,).
        degrees: rows of each joint less the parameters that they spend, (coordinates,).
    """
    sigma = np.where(degrees > 0.5, norms / np.sqrt(np.maximum(degrees, 0.5)), np.nan)
    return above_rounding(problem, sigma)


def leverages(problem: Problem, root: FloatArray, weights: FloatArray) -> FloatArray:
    """h_j = w_j² tr(W_j T Tᵀ W_jᵀ): parameters spent by each joint's rows, (coordinates,).

    Args:
        problem: the problem.
        root: T over all base parameters, (base, rank), of the weighted system.
        weights: w, (coordinates,).
    """
    spent = [
        (w * np.linalg.norm(factor.R[:, :-1] @ root[list(factor.columns)])) ** 2
        for factor, w in zip(problem.regression.joints, weights, strict=True)
    ]
    return np.array(spent)


def above_rounding(problem: Problem, sigma: FloatArray) -> FloatArray:
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


def root_over_base(root: FloatArray, kept: NDArray[np.bool_]) -> FloatArray:
    """T of the kept parameters over all base parameters: zero rows for the others."""
    full = np.zeros((len(kept), root.shape[1]))
    full[kept] = root[: int(kept.sum())]
    return full


def kept_mask(problem: Problem, kept: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """The mask given, or one that keeps everything."""
    return np.ones(len(problem.base), dtype=bool) if kept is None else kept


@dataclass(frozen=True, kw_only=True)
class OLS(Strategy):
    """Ordinary least squares: χ̂ = argmin ‖Y − W χ‖², C = σ̂² (WᵀW)⁻¹ (P1 eq 9–11)."""

    @property
    def is_least_squares(self) -> bool:
        """It is."""
        return True

    @property
    def takes_terms(self) -> bool:
        """Yes: separable least squares without weights has them."""
        return True

    def with_terms(self, terms: tuple[NonlinearTerm, ...]) -> Strategy:
        """Separable least squares without weights."""
        made: Strategy = _separable(terms=terms, weighted=False, uncertainty=self.uncertainty)
        return made

    def fit(self, problem: Problem, kept: NDArray[np.bool_] | None = None) -> Fit:
        """Solve with every row counting the same."""
        return weighted_fit(problem, np.ones(len(problem.regression.joints)), kept_mask(problem, kept))


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

    @property
    def is_least_squares(self) -> bool:
        """It is."""
        return True

    @property
    def takes_terms(self) -> bool:
        """Yes: separable least squares has them, with weights found beside the terms."""
        return True

    def with_terms(self, terms: tuple[NonlinearTerm, ...]) -> Strategy:
        """Separable least squares."""
        made: Strategy = _separable(terms=terms, uncertainty=self.uncertainty)
        return made

    def fit(self, problem: Problem, kept: NDArray[np.bool_] | None = None) -> Fit:
        """Solve with each joint's rows weighted by its own error."""
        chosen = kept_mask(problem, kept)
        return fit_with_own_weights(
            lambda weights, sigma: weighted_fit(problem, weights, chosen, sigma),
            own_sigma(problem),
            self.iterations,
            problem.undriven,
        )


def fit_with_own_weights(
    solve: Callable[[FloatArray, FloatArray | None], Fit],
    sigma: FloatArray,
    iterations: int,
    fixed: NDArray[np.bool_],
) -> Fit:
    """Solve with weights 1/σ̂_j, and again with those of the fit itself, until they come to rest.

    Args:
        solve: from weights and the σ̂_j to report (those of its own residual when None) to a fit.
        sigma: first σ̂_j, (coordinates,).
        iterations: passes at most.
        fixed: joints whose first σ̂_j stays: undriven ones, see ``with_undriven_sigma``, (coordinates,).
    """
    first, fit = sigma, solve(weights_of(sigma), sigma)
    for passes in range(2, iterations + 1):
        sigma, before = np.where(fixed, first, fit.joint_sigma), sigma
        fit = replace(solve(weights_of(sigma), None), iterations=passes)
        if np.allclose(sigma, before, rtol=_AT_REST, equal_nan=True):
            break
    return fit


def weighted_fit(
    problem: Problem,
    weights: FloatArray,
    kept: NDArray[np.bool_],
    sigma: FloatArray | None = None,
) -> Fit:
    """Least squares with given weights of the joints.

    C = σ̂² (WᵀΛW)⁻¹ with σ̂² the weighted residual over its degrees of freedom: one when the weights are right.

    Args:
        problem: the problem.
        weights: w_j, (coordinates,).
        kept: which base parameters, (base,).
        sigma: σ̂_j to report; from the residual of this fit when None.
    """
    solved = problem.spectrum(weights, kept)
    values = np.zeros(len(kept))
    values[kept] = solved.solution
    degrees = int(problem.row_counts.sum()) - solved.rank
    if sigma is None:
        spent = leverages(problem, root_over_base(solved.root, kept), weights)
        sigma = residual_sigma(problem, problem.residual_norms(values), problem.row_counts - spent)
    return Fit.weighted(values, kept, solved, weights, sigma, solved.residual_norm**2, degrees)


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
        chosen = kept_mask(problem, kept)
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
        s = float(singular_values(factor / scale)[-1])
        R = triangular(factor / scale)
        A, y = R[:, :-1], R[:, -1]
        U, sv, Vt = svd(A, full_matrices=False)
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
            beside=start,
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
