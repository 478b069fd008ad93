"""Experiments against each other: predicted by a fit on the others, fitted alone, in contradiction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import attrgetter
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, ShapeError
from dynid.core.executor import ONE_BY_ONE, LocalExecutor
from dynid.core.finding import Finding, Level, Name
from dynid.core.plain import plain
from dynid.core.text import two_digits
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.strategy import Strategy
from dynid.problem.problem import Problem
from dynid.validation.validation import validate


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


@dataclass(frozen=True, eq=False)
class Stability:
    """Parameters identified from each experiment alone.

    Args:
        names: base parameters.
        experiments: names of the experiments.
        values: (experiments, base), SI.
        sigma: their standard deviations, (experiments, base).
        gaps: per parameter, the largest |x_a − x_b| / √(σ_a² + σ_b²) over all pairs of experiments; NaN where
            no pair estimated it.
    """

    names: tuple[str, ...]
    experiments: tuple[str, ...]
    values: FloatArray
    sigma: FloatArray
    gaps: FloatArray

    def moved_parameters(self, limit: float = 3.0) -> tuple[str, ...]:
        """Parameters of which two experiments disagree by more than so many combined σ, worst first."""
        order = np.argsort(-np.nan_to_num(self.gaps, nan=-1.0))
        return tuple(self.names[i] for i in order if self.gaps[i] > limit)

    @property
    def contradiction(self) -> Finding | None:
        """That the experiments contradict each other beyond chance, or None."""
        return contradiction(list(gaps_between(self.names, self.experiments, self.values, self.sigma)))

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "names": list(self.names),
            "experiments": list(self.experiments),
            "values": plain(self.values),
            "sigma": plain(self.sigma),
            "gaps": plain(self.gaps),
            "moved": list(self.moved_parameters()),
        }


def cross_validate(
    problem: Problem,
    strategy: Strategy,
    folds: int | None = None,
    executor: LocalExecutor = ONE_BY_ONE,
) -> CrossValidation:
    """k-fold validation over experiments: torques of each predicted by a fit on the others.

    Whole experiments are left out, never single samples: neighbours in time know each other.

    Args:
        problem: of at least two experiments.
        strategy: how to estimate.
        folds: number of groups; one per experiment when None.
        executor: who runs the fits.
    """
    count = len(problem.experiments)
    k = count if folds is None else folds
    _check_count(count, k)
    groups = [[int(e) for e in group] for group in np.array_split(np.arange(count), k)]
    made = executor.map(lambda out: _fold(problem, strategy, out), groups, what="folds")
    lost, whole = (sum(part) for part in zip(*(sizes for _, sizes in made), strict=True))
    return CrossValidation(tuple(fold for fold, _ in made), _percent(lost, whole))


def _fold(problem: Problem, strategy: Strategy, out: Sequence[int]) -> tuple[Fold, tuple[float, float]]:
    """A fit without some experiments, tried on them; squared sizes of its errors and of the torques."""
    kept = [e for e in range(len(problem.experiments)) if e not in out]
    estimate, test = identify(problem.subset(kept), strategy), problem.subset(out)
    errors, torques = _residual_norms(test, estimate), test.torque_norms()
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = 100 * errors / torques
    lost, whole = float(errors @ errors), float(torques @ torques)
    names = tuple(experiment.name for experiment in test.experiments)
    return Fold(names, estimate.values, relative, _percent(lost, whole)), (lost, whole)


def experiment_stability(
    problem: Problem, strategy: Strategy, executor: LocalExecutor = ONE_BY_ONE
) -> Stability:
    """Identify each experiment alone and compare the parameters in units of combined σ.

    Args:
        problem: of at least two experiments.
        strategy: how to estimate.
        executor: who runs the fits.
    """
    count = len(problem.experiments)
    _check_count(count, count)
    found = executor.map(
        lambda k: identify(problem.experiment_problem(k), strategy), range(count), what="experiments"
    )
    values = np.array([estimate.values for estimate in found])
    # What one experiment alone cannot tell is no opinion.
    sigma = np.array([
        np.where(estimate.kept & estimate.outcome.trustworthy, estimate.sigma, 0.0) for estimate in found
    ])  # fmt: skip
    return stability(problem.names, [e.name for e in problem.experiments], values, sigma)


def stability(
    names: Sequence[str], experiments: Sequence[str], values: FloatArray, sigma: FloatArray
) -> Stability:
    """Compare the parameters that several experiments tell, in units of combined σ.

    Args:
        names: base parameters.
        experiments: names of the experiments, at least two.
        values: (experiments, base), SI.
        sigma: standard deviations of the same shape; a zero marks a parameter that was not estimated.
    """
    shape = (len(experiments), len(names))
    for what, array in (("values", values), ("sigma", sigma)):
        if np.shape(array) != shape:
            raise ShapeError(
                f"The {what} have shape {np.shape(array)}; expected {shape}, experiments by parameters."
            )
    if len(experiments) < 2:
        raise DynidError(f"Stability was asked of {len(experiments)} experiment(s); give at least two.")
    gaps = np.full(len(names), np.nan)
    for a, b in combinations(range(len(experiments)), 2):
        known = (sigma[a] > 0) & (sigma[b] > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = np.abs(values[a] - values[b]) / np.hypot(sigma[a], sigma[b])
        gaps = np.where(known, np.fmax(gaps, gap), gaps)
    return Stability(tuple(names), tuple(experiments), np.array(values), np.array(sigma), gaps)


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


@dataclass(frozen=True)
class ContradictionRules:
    """When parameters of one robot differ by more than chance.

    Set on half of 600 pairs of simulated motions of six robots (``tests/validation/test_contradiction.py``
    prints the rates of the other half; docs/uncertainty.md).

    Args:
        beyond: combined σ from which a parameter counts as different; 5 % do by chance.
        share: of all parameters that may do so …
        crowd_gap: … where at least one differs by so many combined σ.
        lone_gap: combined σ from which one parameter is enough, between two motions.
        per_pair: added to both gaps per factor e of pairs compared: of many, the worst is further off.
        matters: share of the larger value below which a difference does not count, however sure both are.
    """

    beyond: float = 2.0
    share: float = 0.1
    crowd_gap: float = 3.5
    lone_gap: float = 4.0
    per_pair: float = 0.25
    matters: float = 0.02


CONTRADICTION = ContradictionRules()


@dataclass(frozen=True)
class Gap:
    """A parameter in two results that both estimate it.

    Args:
        name: of the parameter.
        labels: of the two results.
        values: theirs.
        sigmas: distance in combined σ.
        share: distance as a share of the larger value.
    """

    name: str
    labels: tuple[str, str]
    values: tuple[float, float]
    sigmas: float
    share: float

    @property
    def size(self) -> float:
        """Distance in combined σ; zero where it is too small a share of the value to matter."""
        return self.sigmas if self.share > CONTRADICTION.matters else 0.0

    @property
    def matters(self) -> bool:
        """Whether neither doubt nor size excuses it."""
        return self.size > CONTRADICTION.lone_gap


def gaps_between(
    names: Sequence[str], labels: Sequence[str], values: FloatArray, sigma: FloatArray
) -> Iterator[Gap]:
    """Every parameter in every two results that both estimate it.

    Args:
        names: of the parameters.
        labels: of the results.
        values: (results, names).
        sigma: (results, names); zero, infinite or not a number where a result does not know the parameter.
    """
    known = (sigma > 0) & np.isfinite(sigma)
    for a, b in combinations(range(len(labels)), 2):
        for i in np.flatnonzero(known[a] & known[b]):
            x, y = float(values[a, i]), float(values[b, i])
            size = max(abs(x), abs(y))
            share = abs(x - y) / size if size > 0 else 0.0
            doubt = float(np.hypot(sigma[a, i], sigma[b, i]))
            yield Gap(names[int(i)], (labels[a], labels[b]), (x, y), abs(x - y) / doubt, share)


def contradiction(gaps: Sequence[Gap]) -> Finding | None:
    """That results contradict each other, or None; a note where no difference is large enough to matter.

    Args:
        gaps: of all parameters that may be compared, between all pairs.
    """
    for level, measure in ((Level.CARE, attrgetter("size")), (Level.NOTE, attrgetter("sigmas"))):
        apart = sum(measure(gap) > CONTRADICTION.beyond for gap in gaps)
        worst = max(gaps, key=measure, default=None)
        if worst is not None and _is_no_chance(gaps, apart, measure(worst)):
            return _finding(gaps, apart, worst, level)
    return None


def _is_no_chance(gaps: Sequence[Gap], apart: int, largest: float) -> bool:
    """Whether so many parameters apart, or one so far apart, are more than chance."""
    more = CONTRADICTION.per_pair * float(np.log(len({gap.labels for gap in gaps})))
    crowded = apart > CONTRADICTION.share * len(gaps) and largest > CONTRADICTION.crowd_gap + more
    return crowded or largest > CONTRADICTION.lone_gap + more


def _finding(gaps: Sequence[Gap], apart: int, worst: Gap, level: Level) -> Finding:
    expected = max(1, round(0.05 * len(gaps)))
    chance = f"where {expected} would by chance" if apart > expected else "one of them by more than chance"
    first, second = (
        f"{value:.4g} in {label}" for value, label in zip(worst.values, worst.labels, strict=True)
    )
    return Finding(
        Name.MOTIONS_CONTRADICT,
        level,
        f"The motions give different parameters: {apart} of {len(gaps)} parameters differ by more than "
        f"{CONTRADICTION.beyond:g} combined σ, {chance}; {worst.name} is {first} and "
        f"{second} ({worst.sigmas:.1f} σ, {two_digits(100 * worst.share)} % of the larger).",
        "Friction, load, temperature or an effect that the model lacks was not the same: fit motions of one "
        "condition, add friction terms, or take the difference for the true doubt.",
        figures={"beyond": apart, "compared": len(gaps), "largest_gap_sigma": worst.sigmas},
    )
