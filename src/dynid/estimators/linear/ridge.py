"""Least squares with a prior: CAD or earlier values, as sure as their covariance says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray, svd
from dynid.core.errors import DynidError, ShapeError, unknown_name
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.fit import Fit
from dynid.estimators.linear.least_squares import kept_mask, own_sigma, weighted_fit, weights_of
from dynid.estimators.strategy import Strategy
from dynid.problem.factor import spectrum, triangular
from dynid.problem.problem import Problem

_FLOOR_SHARE = 0.1
"""A prior value near zero gets the deviation of a parameter that makes this share of the torque."""
_MOSTLY_PRIOR = 0.5
"""Posterior over prior variance above which a value is said to come from the prior."""


@dataclass(frozen=True, kw_only=True)
class Ridge(Strategy):
    """min ‖Λ(Y − W χ)‖² + λ (χ − χ₀)ᵀ P⁻¹ (χ − χ₀): with λ = 1 the posterior of χ under the prior N(χ₀, P).

    The covariance is the posterior one, so it includes the prior's doubt but not its mistakes.

    Args:
        prior: χ₀ by base name; the robot's own a-priori values when None. A parameter without a value gets
            zero, with the deviation of one that makes all of the torque: it is hardly held.
        covariance: P (base, base) in base order; from ``relative_sigma`` when None.
        relative_sigma: prior standard deviation as a share of |χ₀|; where χ₀ is nearly zero, of the value
            that would make a tenth of the torque.
        strength: λ, or "auto" for the one that makes the torques most likely (empirical Bayes).
    """

    prior: Mapping[str, float] | None = None
    covariance: NDArray[np.float64] | None = None
    relative_sigma: float = 0.5
    strength: float | str = 1.0

    def __post_init__(self) -> None:
        """Refuse strengths and deviations that mean nothing."""
        super().__post_init__()
        number = isinstance(self.strength, int | float) and 0 <= self.strength < np.inf
        if not number and self.strength != "auto":
            raise DynidError(
                f"The strength of the prior is {self.strength!r}; give a number from 0 on, or 'auto'."
            )
        if not 0 < self.relative_sigma < np.inf:
            raise DynidError(
                f"The relative sigma of the prior is {self.relative_sigma}; it must be positive and finite."
            )

    def fit(self, problem: Problem, kept: NDArray[np.bool_] | None = None) -> Fit:
        """Solve the rows and the prior together."""
        chosen = kept_mask(problem, kept)
        sigma = own_sigma(problem)
        start = weighted_fit(problem, weights_of(sigma), chosen, sigma)
        # σ̂ of the weighted rows is one when the weights are right; with it, λ = 1 is the posterior.
        weights = start.weights / (start.sigma or 1.0)
        factor = problem.stacked_factor(weights)[:, np.append(chosen, True)]
        center = self._center(problem)[chosen]
        half = self._root(factor, center, chosen, self._known(problem)[chosen])  # P = half halfᵀ
        strength = self._strength(factor, center, half)
        pull = np.sqrt(strength) * np.linalg.inv(half)
        joint = spectrum(np.vstack([factor, np.column_stack([pull, pull @ center])]))
        values = np.zeros(len(chosen))
        values[chosen] = joint.solution
        posterior = joint.root @ joint.root.T
        variance = np.sum(half**2, axis=1) / strength if strength > 0 else np.full(len(half), np.inf)
        share = np.clip(np.diag(posterior) / variance, 0.0, 1.0)
        names = [name for name, k in zip(problem.names, chosen, strict=True) if k]
        held = [name for name, s in zip(names, share, strict=True) if s > _MOSTLY_PRIOR]
        findings = []
        if held:
            said = f"The prior says more than the log about {', '.join(held)}."
            findings.append(Finding(Name.PRIOR_DOMINATES, Level.NOTE, said))
        if self.prior is None and not problem.robot.parameters:
            said = "The robot has no a-priori values: the prior holds no parameter."
            findings.append(Finding(Name.NO_PRIOR, Level.NOTE, said))
        return replace(
            start,
            values=values,
            root=joint.root,
            covariance=posterior,
            spectrum=joint,
            row_weights=weights**2,
            findings=tuple(findings),
            facts={"prior_strength": strength, "prior_share": _by_name(names, share), "held_by_prior": held},
        )

    def _center(self, problem: Problem) -> FloatArray:
        if self.prior is None:
            return problem.base.regroup(problem.robot.parameters)
        center = np.zeros(len(problem.base))
        for name, value in self.prior.items():
            if name not in problem.names:
                raise unknown_name("base parameter of the prior", name, problem.names)
            center[problem.names.index(name)] = value
        return center

    def _known(self, problem: Problem) -> NDArray[np.bool_]:
        """Base parameters, (base,), about which the prior or the robot file says anything."""
        if self.prior is not None:
            return np.array([name in self.prior for name in problem.names])
        given = [name in problem.robot.parameters for name in problem.robot.table.names]
        return np.asarray(np.any(problem.base.matrix[:, given] != 0, axis=1))

    def _root(
        self, factor: FloatArray, center: FloatArray, kept: NDArray[np.bool_], known: NDArray[np.bool_]
    ) -> FloatArray:
        """A square root of the prior covariance of the kept parameters."""
        if self.covariance is None:
            lengths = np.linalg.norm(factor, axis=0)
            torque = lengths[-1] or 1.0
            typical = torque / np.where(lengths[:-1] > 0, lengths[:-1], torque)
            sigma = self.relative_sigma * np.maximum(np.abs(center), _FLOOR_SHARE * typical)
            return np.diag(np.where(known, sigma, typical))
        P = np.asarray(self.covariance, dtype=float)
        if P.shape != (len(kept), len(kept)):
            raise ShapeError(
                f"The prior covariance has shape {P.shape}; expected ({len(kept)}, {len(kept)})."
            )
        try:
            return np.asarray(np.linalg.cholesky(P[np.ix_(kept, kept)]), dtype=float)
        except np.linalg.LinAlgError:
            raise DynidError(
                "The prior covariance is not positive definite; give each parameter a positive variance."
            ) from None

    def _strength(self, factor: FloatArray, center: FloatArray, half: FloatArray) -> float:
        """λ given, or the maximum of the marginal likelihood: y − W χ₀ ~ N(0, I + W P Wᵀ/λ)."""
        if not isinstance(self.strength, str):
            return float(self.strength)
        R = triangular(factor)
        U, s, _ = svd(R[:, :-1] @ half, full_matrices=False)
        beta = (U.T @ (R[:, -1] - R[:, :-1] @ center)) ** 2
        grid = np.logspace(-8, 8, 321)
        spread = 1.0 + s[:, None] ** 2 / grid
        misfit = np.sum(np.log(spread) + beta[:, None] / spread, axis=0)
        return float(grid[int(np.argmin(misfit))])


def _by_name(names: list[str], values: FloatArray) -> dict[str, float]:
    return {name: float(value) for name, value in zip(names, values, strict=True)}
