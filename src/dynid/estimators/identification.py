"""The verb: identify the base parameters of a problem by a strategy, and judge the result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.finding import FINE, Finding, Level, Name, Where
from dynid.core.kinds import require_kinds
from dynid.estimators.consistent import projected_covariance
from dynid.estimators.data_rows import data_rows_of
from dynid.estimators.estimate import Estimate, Further
from dynid.estimators.fit import Fit
from dynid.estimators.linear.least_squares import MEDIAN_OF_NORMAL
from dynid.estimators.strategy import Strategy
from dynid.estimators.uncertainty import Classical, Doubt, Uncertainty, uncertainty_of
from dynid.problem.factor import RANK_TOLERANCE
from dynid.problem.problem import Problem

if TYPE_CHECKING:
    from dynid.problem.closed_loop import LoopProblem

POOR_CONDITION, HOPELESS_CONDITION = 100.0, 1e4
"""Column-scaled condition numbers above which a note is given (100 is the usual rule for exciting motions),
and above which no value is trusted: errors of a hundredth of a per cent in the torques then move values by
their own size."""
OUTLIER_RATIO = 3.0
"""σ̂ over its robust counterpart above which outliers dominate; Gaussian errors give 1."""
_LISTED = 12
"""Names written out in a sentence; the others are counted."""


def identify(problem: Problem | LoopProblem, strategy: Strategy) -> Estimate:
    """Estimate the base parameters with their uncertainty, and judge the result.

    Args:
        problem: from ``build_problem``, or from ``build_loop_problem`` for strategies that simulate the
            closed loop.
        strategy: OLS(), WLS(), IRLS(), TLS(), Ridge(), Separable(), DIDIM(), IV(), OutputError(), or
            Essential(…) or Consistent(…) around one of them.

    Returns:
        The estimate; ``estimate.outcome`` says how it ended, and never lies by silence.
    """
    require_kinds(identify, locals())
    solved = strategy.solution(problem)
    rows, fit, scored = solved.problem, solved.fit, solved.scored_problem
    outcome, findings = judge(scored, fit)
    solvable = fit.degrees > 0 and fit.root.shape[1] > 0
    kind = uncertainty_of(strategy.uncertainty) if solvable else Classical()
    doubt = doubt_of(kind, scored, fit)
    symmetric = (doubt.covariance + doubt.covariance.T) / 2
    return Estimate(
        problem=rows,
        strategy=strategy.to_dict(),
        values=fit.values,
        covariance=_covariance_over_base(symmetric, fit.kept),
        kept=fit.kept,
        joint_sigma=fit.joint_sigma,
        uncertainty=doubt.used or kind.name,
        iterations=fit.iterations,
        outcome=outcome,
        findings=(*findings, *doubt.findings),
        facts=_facts(rows, fit, doubt),
        further=_further(fit, symmetric),
        information=data_rows_of(rows.base, fit) if solvable else None,
    )


def doubt_of(kind: Uncertainty, problem: Problem, fit: Fit) -> Doubt:
    """Covariance of a fit's columns, counting how far a choice took them; the classical one does not ask."""
    whole = fit.beside
    if fit.project is not None and whole is not None:
        found = doubt_of(kind, problem, whole)
        return replace(found, covariance=projected_covariance(fit, found.covariance))
    if whole is None or kind.name == Classical.name:
        return kind.doubt(problem, fit)
    found = kind.doubt(problem, whole)
    same = np.append(fit.kept[whole.kept], np.ones(len(whole.root) - int(whole.kept.sum()), dtype=bool))
    moved = whole.column_values[same] - fit.column_values
    return replace(found, covariance=found.covariance[np.ix_(same, same)] + np.outer(moved, moved))


def _covariance_over_base(covariance: FloatArray, kept: NDArray[np.bool_]) -> FloatArray:
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


def judge(problem: Problem, fit: Fit) -> tuple[Finding, tuple[Finding, ...]]:
    """The gravest outcome of a fit, and what else deserves attention."""
    ratio = outlier_ratios(problem, fit)
    # What the data tell badly is decided where values are held to possible robots: no failure then.
    held = fit.project is not None
    weak = _under_excited(problem, fit)
    found = (
        fit.problem_outcome
        or _no_torque(problem, fit)
        or _too_few_rows(problem, fit)
        or _rank_deficient(problem, fit)
        or _scale_unknown(problem, fit)
        or _not_converged(fit)
        or (None if held else weak)
        or _outliers(problem, fit, ratio)
        or FINE
    )
    beside = [*fit.findings, *_unseen_parameters(problem, fit)]
    beside += [_decided_otherwise(weak)] if held and weak is not None else []
    condition = _condition(problem, fit)
    if found.trustworthy and condition > POOR_CONDITION:
        beside.append(
            Finding(
                Name.POOR_CONDITION,
                Level.NOTE,
                f"The column-scaled condition number is {condition:.0f} (good is below "
                f"{POOR_CONDITION:.0f}): {_weakest_names(problem, fit)} are hard to tell apart.",
                "A more exciting motion or fewer parameters would help.",
                figures={"condition_scaled": condition},
            )
        )
    robust = fit.score_weights is not None
    if robust and np.nanmax(ratio, initial=0.0) > OUTLIER_RATIO:
        beside.append(
            Finding(
                Name.OUTLIERS,
                Level.NOTE,
                "Outliers are many or large; they were given little weight, but look for their cause.",
            )
        )
    return found, tuple(beside)


def outlier_ratios(problem: Problem, fit: Fit) -> FloatArray:
    """Per joint, RMS of the residual over its robust counterpart; not a number without rows."""
    ratios = np.full(len(problem.regression.joints), np.nan)
    if not problem.has_rows:
        return ratios
    for j in range(len(ratios)):
        rows = problem.rows(j)
        if not len(rows):
            continue
        residual = rows.residual(fit.values) if fit.further is None else fit.further.residual[j]
        rms = float(np.sqrt(np.mean(residual**2)))
        robust = float(np.median(np.abs(residual))) / MEDIAN_OF_NORMAL
        if rms > fit.exact * np.sqrt(np.mean(rows.y**2)) and robust > 0:
            ratios[j] = rms / robust
    return ratios


def _no_torque(problem: Problem, fit: Fit) -> Finding | None:
    """Joints whose torques never change, and say nothing, in all experiments."""
    silent = [problem.robot.joints[problem.robot.coordinates[j]].name for j in np.flatnonzero(problem.silent)]
    if not silent:
        return None
    return Finding(
        Name.TOO_FEW_ROWS,
        Level.FAIL,
        f"The torque of {', '.join(silent)} never changes, so that its rows were left out: parameters that "
        "no other joint feels are open.",
        "Record the torque of this joint; parameters with a finite σ come from the others.",
    )


def _too_few_rows(problem: Problem, fit: Fit) -> Finding | None:
    rows, wanted = int(problem.row_counts.sum()), fit.root.shape[1]
    short = [
        problem.robot.joints[problem.robot.coordinates[j]].name
        for j, own in enumerate(problem.joint_spectra)
        if problem.row_counts[j] <= own.rank
    ]
    if rows > int(fit.kept.sum()) and not short:
        return None
    where = f" joints without rows to spare: {', '.join(short)};" if short else ""
    return Finding(
        Name.TOO_FEW_ROWS,
        Level.FAIL,
        f"{rows} rows are left for {max(wanted, int(fit.kept.sum()))} parameters;{where} the errors cannot "
        "be judged.",
        "Record longer, decimate less, or lower the speed thresholds.",
    )


def _rank_deficient(problem: Problem, fit: Fit) -> Finding | None:
    columns = fit.spectrum.s.size
    unseen, groups = _lost_columns(problem, fit)
    if not (groups or unseen) or _held_parameters(problem, fit):
        return None
    causes = []
    if groups:
        causes.append(f"cannot be told apart: {'; '.join(_name_list(group) for group in groups)}")
    if unseen:
        causes.append(f"not seen at all: {_name_list(unseen)}")
    return Finding(
        Name.RANK_DEFICIENT,
        Level.FAIL,
        f"The rows show {fit.spectrum.rank} of {columns} directions; {' and '.join(causes)}.",
        "Move the joints concerned, each at several speeds and in both directions, leave such parameters "
        "out, or give a prior with Ridge.",
    )


def _lost_columns(problem: Problem, fit: Fit) -> tuple[list[str], list[list[str]]]:
    """Parameters that no row shows at all, and groups of those that cannot be told apart."""
    if fit.spectrum.rank == fit.spectrum.s.size:
        return [], []
    names = _column_names(problem, fit)
    groups = [[names[i] for i in group] for group in fit.spectrum.confused_columns]
    return [group[0] for group in groups if len(group) == 1], [g for g in groups if len(g) > 1]


def _held_parameters(problem: Problem, fit: Fit) -> list[str]:
    """Drives and friction that no row shows, where nothing else is lost: those of joints held in place."""
    unseen, groups = _lost_columns(problem, fit)
    entries = [problem.robot.table.entries[column] for column in problem.base.columns]
    own = {n for n, e in zip(problem.names, entries, strict=True) if e.family in ("drive", "friction")}
    return unseen if not groups and own.issuperset(unseen) else []


def _condition(problem: Problem, fit: Fit) -> float:
    """Column-scaled condition number of the parameters that are seen."""
    spectrum = fit.spectrum
    if not _held_parameters(problem, fit) or spectrum.rank == 0:
        return spectrum.condition
    return float(spectrum.s[0] / spectrum.s[spectrum.rank - 1])


def _unseen_parameters(problem: Problem, fit: Fit) -> tuple[Finding, ...]:
    """What the held joints of this motion hide."""
    held = _held_parameters(problem, fit)
    if not held:
        return ()
    return (
        Finding(
            Name.RANK_DEFICIENT,
            Level.CARE,
            f"Not seen at all: {_name_list(held)}. They are left open (0, σ infinite); the others stand.",
            "Move the joints concerned, each at several speeds and in both directions, if they are needed.",
        ),
    )


def _scale_unknown(problem: Problem, fit: Fit) -> Finding | None:
    """Rows 0 = W_j χ of undriven joints in which no parameter is known from a torque: χ = 0 solves them."""
    undriven = problem.undriven
    if not undriven.any():
        return None
    driven = problem.spectrum(np.where(undriven, 0.0, fit.weights))
    seen = driven.V[:, : driven.rank] / driven.scale[:, None]
    for j in np.flatnonzero(undriven):
        factor = problem.regression.joints[j]
        columns = list(factor.columns)
        if np.linalg.norm(factor.R[:, :-1] @ seen[columns]) > RANK_TOLERANCE * np.linalg.norm(factor.R):
            continue
        joint = problem.robot.joints[problem.robot.coordinates[j]].name
        own = _name_list([problem.names[c] for c in columns])
        return Finding(
            Name.SCALE_UNKNOWN,
            Level.FAIL,
            f"Joint {joint} has no torque, and no driven joint feels {own}: only "
            "their ratios could be known, and zero fits them all.",
            "Add a log in which a motor drives the joint, or one that moves it through the others.",
            where=Where(axis=int(j) + 1),
        )
    return None


def _not_converged(fit: Fit) -> Finding | None:
    if fit.converged:
        return None
    return Finding(
        Name.NOT_CONVERGED,
        Level.FAIL,
        f"The values still moved after {fit.iterations} iterations.",
        "Allow more iterations, start elsewhere, or use a simpler model.",
    )


def _under_excited(problem: Problem, fit: Fit) -> Finding | None:
    condition = _condition(problem, fit)
    if condition <= HOPELESS_CONDITION:
        return None
    return Finding(
        Name.UNDER_EXCITED,
        Level.FAIL,
        f"The column-scaled condition number is {condition:.2g} (good is below {POOR_CONDITION:.0f}): "
        f"{_weakest_names(problem, fit)} hardly differ in what they do to the torques.",
        "Record a more exciting motion, or keep essential parameters only.",
    )


def _outliers(problem: Problem, fit: Fit, ratios: FloatArray) -> Finding | None:
    worst = float(np.nanmax(ratios, initial=0.0)) if np.any(np.isfinite(ratios)) else 0.0
    if fit.score_weights is not None or worst <= OUTLIER_RATIO:
        return None
    joint = int(np.nanargmax(ratios))
    name = problem.robot.joints[problem.robot.coordinates[joint]].name
    return Finding(
        Name.OUTLIERS_DOMINATE,
        Level.FAIL,
        f"The residual of joint {name} is {worst:.1f} times its robust size: a few rows carry most of the "
        "error.",
        "Use IRLS, a median filter on the log, or look at these rows: collisions, dropped samples, stiction.",
    )


def _decided_otherwise(finding: Finding) -> Finding:
    """What the data tell badly, where values are held to possible robots."""
    said = f"{finding.sentence} What is possible and what is known beside the log decide there."
    return replace(finding, level=Level.CARE, sentence=said)


def _weakest_names(problem: Problem, fit: Fit) -> str:
    """Parameters that make up the weakest direction."""
    weight = np.abs(fit.spectrum.V[:, -1])
    names = _column_names(problem, fit)
    order = [i for i in np.argsort(-weight) if weight[i] > 0.3 * weight.max()]
    return _name_list([names[i] for i in order])


def _column_names(problem: Problem, fit: Fit) -> list[str]:
    names = [name for name, kept in zip(problem.names, fit.kept, strict=True) if kept]
    return names + (list(fit.further.parameters.names) if fit.further is not None else [])


def _name_list(names: list[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")
