"""Essential parameters: those without which the torques are explained worse."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, unknown_name
from dynid.estimators.fit import Fit, Solved
from dynid.estimators.linear.least_squares import kept_mask
from dynid.estimators.strategy import Strategy
from dynid.estimators.uncertainty import DEFAULT_KIND, Uncertainty, uncertainty_of
from dynid.estimators.wrapper import Wrapper
from dynid.problem.problem import Problem

if TYPE_CHECKING:
    from dynid.estimators.linear.terms import NonlinearTerm
    from dynid.problem.closed_loop import LoopProblem

THRESHOLDS = {"sigma": (20.0, 0.0, np.inf), "residual": (1.04, 1.0, np.inf), "f-test": (0.01, 0.0, 1.0)}
"""Threshold of each rule, and what it must lie between: %σ (P3, P4), ratio of σ̂_ρ (P1 §2.2), significance."""


@dataclass(frozen=True)
class Removal:
    """One parameter taken out.

    Args:
        name: base parameter.
        relative_sigma: its %σ at that moment.
        value: its value at that moment, SI.
        residual_ratio: σ̂_ρ without it over σ̂_ρ of the full model.
    """

    name: str
    relative_sigma: float
    value: float
    residual_ratio: float


@dataclass(frozen=True)
class Essential(Wrapper):
    """Remove the parameter with the largest %σ, solve again, and so on, until a rule says stop.

    "sigma" stops when every %σ is at most ``threshold`` per cent (P3 §2, P4: 20 %): the default, which finds
    exactly the true set on simulated arms. "residual" stops before σ̂_ρ reaches ``threshold`` times its first
    value (P1 §2.2: 1.04): it removes more. "f-test" stops before the removed ones together are significant at
    level ``threshold``.

    Args:
        strategy: how to solve; its weights and its uncertainty are used at every step (a bootstrap only at
            the end: the steps then use the classical %σ). The σ that comes out counts the removal: it is that
            of the full model, and how far the kept values moved from it; the classical one does not.
        rule: "sigma", "residual" or "f-test".
        threshold: 20 [%], 1.04 or 0.01 when None.
    """

    rule: str = "sigma"
    threshold: float | None = None

    def __post_init__(self) -> None:
        """Take over the uncertainty of the strategy inside; refuse options that cannot work."""
        super().__post_init__()
        if self.rule not in THRESHOLDS:
            raise unknown_name("rule for essential parameters", self.rule, THRESHOLDS)
        if self.strategy.wraps:
            raise DynidError(
                f"Essential wraps a strategy that estimates all parameters, not another "
                f"{type(self.strategy).__name__}."
            )
        default, low, high = THRESHOLDS[self.rule]
        threshold = default if self.threshold is None else self.threshold
        if not low < threshold < high:
            raise DynidError(
                f"The threshold of the rule {self.rule!r} is {threshold}; it must be between {low:g} and "
                f"{high:g}."
            )
        object.__setattr__(self, "threshold", threshold)

    @property
    def linear(self) -> Strategy:
        """The same rule around the linear part of the strategy inside."""
        return Essential(self.strategy.linear, rule=self.rule, threshold=self.threshold)

    def with_terms(self, terms: tuple[NonlinearTerm, ...]) -> Strategy:
        """The same rule around the strategy inside with terms."""
        return Essential(self.strategy.with_terms(terms), rule=self.rule, threshold=self.threshold)

    def solution(self, problem: Problem | LoopProblem) -> Solved:
        """Remove and solve; a strategy that simulates prunes where its simulation has come to rest."""
        self.require_problem(problem)
        if isinstance(problem, Problem):
            return Solved(problem, self.fit(problem))
        return self.strategy.essential_solution(problem, self)

    def fit(self, problem: Problem, kept: NDArray[np.bool_] | None = None) -> Fit:
        """Remove and solve until the rule stops."""
        assert self.threshold is not None
        first = current = self.strategy.fit(problem, kept_mask(problem, kept))
        if first.spectrum.rank < len(first.root) or first.degrees <= 0:
            return first  # no %σ means anything then; the outcome will say so
        doubt = _StepDoubt(problem, uncertainty_of(self.uncertainty)).with_scale_of(first)
        removals: list[Removal] = []
        stopped_by: Removal | None = None
        while current.kept.sum() > 1:
            relative = doubt.relative_sigma(current)
            worst = int(np.argmax(relative))
            if self.rule == "sigma" and relative[worst] <= self.threshold:
                fresh = doubt.with_scale_of(current)
                if fresh is doubt or fresh.relative_sigma(current).max() <= self.threshold:
                    break
                doubt = fresh
                continue
            fewer = current.kept.copy()
            fewer[worst] = False
            trial = self.strategy.fit(problem, fewer)
            ratio = _residual_ratio(first, trial, problem)
            step = Removal(problem.names[worst], float(relative[worst]), float(current.values[worst]), ratio)
            if self.rule != "sigma" and self._loses_too_much(first, trial, ratio, problem):
                stopped_by = step
                break
            removals.append(step)
            current = trial
        final = doubt.with_scale_of(current).relative_sigma(current)[current.kept]
        return replace(
            current,
            beside=first if removals else None,
            facts={**current.facts, **self._facts(removals, stopped_by, final, first, current, problem)},
        )

    def _loses_too_much(self, first: Fit, trial: Fit, ratio: float, problem: Problem) -> bool:
        assert self.threshold is not None
        if self.rule == "residual":
            return ratio >= self.threshold
        return _significance(first, trial, problem) < self.threshold

    def _facts(
        self,
        removals: list[Removal],
        stopped_by: Removal | None,
        final: FloatArray,
        first: Fit,
        last: Fit,
        problem: Problem,
    ) -> dict[str, object]:
        largest = float(final.max(initial=0.0))
        smallest = min((r.relative_sigma for r in removals), default=np.inf)
        return {
            "removed": [r.name for r in removals],
            "removals": [vars(r) for r in removals],
            "essential": {
                "rule": self.rule,
                "threshold": self.threshold,
                "kept": int(last.kept.sum()),
                "largest_kept_relative_sigma": largest,
                "smallest_removed_relative_sigma": smallest if removals else None,
                "gap": smallest / largest if removals and largest > 0 else None,
                "residual_ratio": _residual_ratio(first, last, problem),
                "significance": _significance(first, last, problem) if removals else None,
                "stopped_by": None if stopped_by is None else vars(stopped_by),
            },
        }


@dataclass(frozen=True, eq=False)
class _StepDoubt:
    """%σ of one step of a removal.

    Args:
        problem: the problem.
        kind: the uncertainty of the strategy.
        scale: σ of that kind over the classical one, (base,), as an earlier step has shown it: blocks of time
            are asked at the first step and at the end only.
    """

    problem: Problem
    kind: Uncertainty
    scale: FloatArray | float = 1.0

    def with_scale_of(self, fit: Fit) -> _StepDoubt:
        """The same with the scale of this step; itself where the kind has none."""
        if self.kind.name != DEFAULT_KIND:
            return self
        own, white = (_deviations(c, fit) for c in (self._doubt(fit), fit.covariance))
        scale = np.ones(len(fit.kept))
        scale[fit.kept] = np.divide(own, white, out=np.ones_like(own), where=white > 0)
        return replace(self, scale=scale)

    def relative_sigma(self, fit: Fit) -> FloatArray:
        """%σ over all base parameters; minus infinity where already removed."""
        covariance = self._doubt(fit) if self.kind.name == "hac" else fit.covariance
        sigma = _deviations(covariance, fit) * np.broadcast_to(self.scale, fit.kept.shape)[fit.kept]
        values = np.abs(fit.values[fit.kept])
        relative = np.full(len(fit.kept), -np.inf)
        relative[fit.kept] = np.where(values > 0, 100 * sigma / np.where(values > 0, values, 1.0), np.inf)
        # Torques without noise make even rounding certain: what moves no torque is not known at all.
        relative[fit.kept & (_torque_shares(self.problem, fit.values) < fit.exact)] = np.inf
        return relative

    def _doubt(self, fit: Fit) -> FloatArray:
        return self.kind.doubt(self.problem, fit).covariance


def _deviations(covariance: FloatArray, fit: Fit) -> FloatArray:
    """σ of the kept base parameters."""
    return np.sqrt(np.maximum(np.diag(covariance), 0.0))[: int(fit.kept.sum())]


def _torque_shares(problem: Problem, values: FloatArray) -> FloatArray:
    """The largest share of a joint's torque that each parameter makes, |χ_i| ‖W_ij‖/‖y_j‖, (base,).

    A joint without a motor has no torque: there the shares are those of its largest part.
    """
    shares = np.zeros(len(values))
    for factor in problem.regression.joints:
        own = list(factor.columns)
        parts = np.abs(values[own]) * np.linalg.norm(factor.R[:, :-1], axis=0)
        whole = max(factor.torque_norm, float(np.max(parts, initial=0.0)))
        if whole > 0:
            shares[own] = np.maximum(shares[own], parts / whole)
    return shares


def _squares(problem: Problem, fit: Fit, weights: FloatArray) -> float:
    """‖Λ(Y − Ŷ)‖² with given weights, so that steps are compared on the same scale."""
    return float(np.sum((weights * fit.residual_norms(problem)) ** 2))


def _residual_ratio(first: Fit, now: Fit, problem: Problem) -> float:
    before = _squares(problem, first, first.weights) / first.degrees
    after = _squares(problem, now, first.weights) / now.degrees
    return float(np.sqrt(after / before)) if before > 0 else (1.0 if after == 0 else np.inf)


def _significance(first: Fit, now: Fit, problem: Problem) -> float:
    """Probability of so large a rise of the residual if all removed parameters were zero (F-test)."""
    from scipy.special import fdtrc

    removed = int(first.kept.sum() - now.kept.sum())
    if removed == 0:
        return 1.0
    before = _squares(problem, first, first.weights)
    rise = max(_squares(problem, now, first.weights) - before, 0.0)
    if before == 0:
        return 1.0 if rise == 0 else 0.0
    return float(fdtrc(removed, first.degrees, rise / removed / (before / first.degrees)))
