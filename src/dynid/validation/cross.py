"""Experiments against each other: each predicted by a fit on the others, each fitted alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.strategy import Strategy
from dynid.problem.problem import Problem
from dynid.validation.numbers import plain
from dynid.validation.stability import Stability, stability
from dynid.validation.validate import validate

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fold:
    """A fit without some experiments, tried on those.

    Args:
        left_out: names of the experiments the fit has not seen.
        values: base parameters found from the others, (base,), SI.
        relative_percent: 100 ‖y_j − W_j χ‖ / ‖y_j‖ on what was left out, (coordinates,).
        overall_percent: the same over all coordinates.
    """

    left_out: tuple[str, ...]
    values: FloatArray
    relative_percent: FloatArray
    overall_percent: float

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "left_out": ", ".join(self.left_out),
            "relative_percent": plain(self.relative_percent),
            "overall_percent": plain(self.overall_percent),
            "values": plain(self.values),
        }


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """All folds.

    Args:
        folds: one per group of experiments left out.
        overall_percent: 100 ‖error‖ / ‖torque‖ over all that was left out.
    """

    folds: tuple[Fold, ...]
    overall_percent: float

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "overall_percent": plain(self.overall_percent),
            "folds": [fold.to_dict() for fold in self.folds],
        }


def cross_validate(problem: Problem, strategy: Strategy, folds: int | None = None) -> CrossValidation:
    """k-fold validation over experiments: torques of each predicted by a fit on the others.

    Whole experiments are left out, never single samples: neighbours in time know each other.

    Args:
        problem: of at least two experiments.
        strategy: how to estimate.
        folds: number of groups; one per experiment when None.
    """
    count = len(problem.experiments)
    k = count if folds is None else folds
    _check_count(count, k)
    made, wrong, size = [], 0.0, 0.0
    for group in np.array_split(np.arange(count), k):
        out = [int(e) for e in group]
        estimate = identify(problem.subset([e for e in range(count) if e not in out]), strategy)
        test = problem.subset(out)
        errors, torques = _residual_norms(test, estimate), test.torque_norms()
        names = tuple(experiment.name for experiment in test.experiments)
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = 100 * errors / torques
        lost, whole = float(errors @ errors), float(torques @ torques)
        made.append(Fold(names, estimate.values, relative, _percent(lost, whole)))
        wrong, size = wrong + lost, size + whole
    return CrossValidation(tuple(made), _percent(wrong, size))


def experiment_stability(problem: Problem, strategy: Strategy) -> Stability:
    """Identify each experiment alone and compare the parameters in units of combined σ.

    Args:
        problem: of at least two experiments.
        strategy: how to estimate.
    """
    count = len(problem.experiments)
    _check_count(count, count)
    found = [identify(problem.experiment_problem(k), strategy) for k in range(count)]
    values = np.array([estimate.values for estimate in found])
    sigma = np.array([np.where(estimate.kept, estimate.sigma, 0.0) for estimate in found])
    return stability(problem.names, [e.name for e in problem.experiments], values, sigma)


def _residual_norms(test: Problem, estimate: Estimate) -> FloatArray:
    """‖y_j − ŷ_j‖ on the rows of a problem the estimate has not seen, (coordinates,)."""
    if estimate.further is None:
        return test.residual_norms(estimate.values)
    if test.motions is None:
        raise DynidError(
            "Cross-validation of friction that is not linear needs the motions, and they did not fit the "
            "memory budget of the problem; use a larger budget_bytes in build_problem, or a linear "
            "estimator."
        )
    checked = validate(estimate, test.motions, test.plan)
    used = checked.judged
    return np.asarray(used.rms * np.sqrt(used.samples), dtype=float)


def _percent(wrong: float, size: float) -> float:
    return float(100 * np.sqrt(wrong / size)) if size > 0 else float("nan")


def _check_count(experiments: int, folds: int) -> None:
    if not 2 <= folds <= experiments:
        raise DynidError(
            f"Cross-validation was asked for {folds} fold(s) of {experiments} experiment(s); it needs at "
            "least two experiments and from two folds up to one per experiment. Give several logs."
        )
