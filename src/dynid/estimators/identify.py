"""The verb: identify the base parameters of a problem by a strategy."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dynid.estimators.estimate import Estimate, Further
from dynid.estimators.fit import Fit
from dynid.estimators.least_squares import OLS, WLS
from dynid.estimators.outcomes import judge
from dynid.estimators.strategy import Strategy
from dynid.estimators.uncertainties import uncertainty_of
from dynid.estimators.uncertainty import Classical, Doubt
from dynid.problem.problem import Problem

if TYPE_CHECKING:
    from dynid.estimators.bootstrap import Bootstrap
    from dynid.estimators.didim import DIDIM
    from dynid.estimators.essential import Essential
    from dynid.estimators.hac import HAC
    from dynid.estimators.irls import IRLS
    from dynid.estimators.iv import IV
    from dynid.estimators.output_error import OutputError
    from dynid.estimators.ridge import Ridge
    from dynid.estimators.separable import Separable
    from dynid.estimators.terms import LOAD, STRIBECK, NonlinearTerm
    from dynid.estimators.tls import TLS
    from dynid.problem.closed_loop import LoopProblem

FloatArray = NDArray[np.float64]
__all__ = [
    "DIDIM",
    "HAC",
    "IRLS",
    "IV",
    "LOAD",
    "OLS",
    "STRIBECK",
    "TLS",
    "WLS",
    "Bootstrap",
    "Classical",
    "Essential",
    "Estimate",
    "NonlinearTerm",
    "OutputError",
    "Ridge",
    "Separable",
    "identify",
]


_HOME = {
    "Bootstrap": "bootstrap",
    "DIDIM": "didim",
    "Essential": "essential",
    "HAC": "hac",
    "IRLS": "irls",
    "IV": "iv",
    "LOAD": "terms",
    "NonlinearTerm": "terms",
    "OutputError": "output_error",
    "Ridge": "ridge",
    "STRIBECK": "terms",
    "Separable": "separable",
    "TLS": "tls",
}
"""What is loaded when first used, by module, with all that it needs."""


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"dynid.estimators.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def identify(problem: Problem | LoopProblem, strategy: Strategy) -> Estimate:
    """Estimate the base parameters with their uncertainty, and judge the result.

    Args:
        problem: from ``build_problem``, or from ``build_loop_problem`` for strategies that simulate the
            closed loop.
        strategy: OLS(), WLS(), IRLS(), TLS(), Ridge(), Separable(), DIDIM(), IV(), OutputError(), or
            Essential(…) around one of them.

    Returns:
        The estimate; ``estimate.outcome`` says how it ended, and never lies by silence.
    """
    solved = strategy.solution(problem)
    rows, fit, scored = solved.problem, solved.fit, solved.scored
    outcome, findings = judge(scored, fit)
    solvable = fit.degrees > 0 and fit.root.shape[1] > 0
    kind = solved.uncertainty or uncertainty_of(strategy.uncertainty) if solvable else Classical()
    doubt = kind.doubt(scored, fit)
    symmetric = (doubt.covariance + doubt.covariance.T) / 2
    return Estimate(
        problem=rows,
        strategy=strategy.to_dict(),
        values=fit.values,
        covariance=_spread(symmetric, fit.kept),
        kept=fit.kept,
        joint_sigma=fit.joint_sigma,
        uncertainty=kind.name,
        iterations=fit.iterations,
        outcome=outcome,
        findings=(*findings, *doubt.findings),
        facts=_facts(rows, fit, doubt),
        further=_further(fit, symmetric),
    )


def _spread(covariance: FloatArray, kept: NDArray[np.bool_]) -> FloatArray:
    """Covariance over all base parameters: zero where removed."""
    count = int(kept.sum())
    full = np.zeros((len(kept), len(kept)))
    full[np.ix_(kept, kept)] = covariance[:count, :count]
    return full


def _further(fit: Fit, covariance: FloatArray) -> Further | None:
    if fit.further is None:
        return None
    parameters = fit.further.parameters
    where = np.append(fit.kept, np.ones(len(parameters.values), dtype=bool))
    full = np.zeros((len(where), len(where)))
    full[np.ix_(where, where)] = covariance
    return replace(parameters, covariance=full)


def _facts(problem: Problem, fit: Fit, doubt: Doubt) -> dict[str, Any]:
    conditions = problem.conditions(fit.weights, fit.kept)
    norms = fit.residual_norms(problem)
    torque = problem.torque_norms()
    lost = [name for name, out in zip(problem.names, fit.undetermined, strict=True) if out]
    return {
        "rows": int(problem.row_counts.sum()),
        "rows_per_joint": problem.row_counts.tolist(),
        "degrees_of_freedom": fit.degrees,
        "rank": fit.spectrum.rank,
        "sigma": float(np.linalg.norm(norms)) / max(fit.degrees, 1) ** 0.5,
        "sigma_weighted": fit.sigma,
        "weights": fit.weights.tolist(),
        "condition": conditions.plain,
        "condition_scaled": conditions.scaled,
        "condition_weighted": conditions.weighted,
        "condition_weighted_scaled": conditions.weighted_scaled,
        "relative_residual": _percent(float(np.linalg.norm(norms)), float(np.linalg.norm(torque))),
        "relative_residual_per_joint": [_percent(n, t) for n, t in zip(norms, torque, strict=True)],
        "residual_norm": float(np.linalg.norm(norms)),
        "torque_norm": float(np.linalg.norm(torque)),
        "undetermined": lost,
        "removed": [],
        **fit.facts,
        **doubt.facts,
    }


def _percent(part: float, whole: float) -> float:
    return 100.0 * float(part) / float(whole) if whole > 0 else 0.0
