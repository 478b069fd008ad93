"""Three ways to a payload: the arm fixed, refitted, or cancelled by the difference of loaded and free runs.

All of them solve y = W_arm χ_arm + W_L χ_L over loaded motions. Which columns of the arm are estimated, and
which are held at values that a model gives, is the only difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.base.find import base_of
from dynid.calibration.same_motion import runs_of_one_motion
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.fit import Fit
from dynid.estimators.identification import doubt_of, identify, judge
from dynid.estimators.strategy import Strategy
from dynid.estimators.uncertainty import Classical, uncertainty_of
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem.build import build_problem
from dynid.problem.factor import Factor
from dynid.problem.problem import Problem
from dynid.problem.regression import Cell, Regression
from dynid.validation.model import IdentifiedModel, as_model, nonlinear_part

FIXED, REFITTED, DIFFERENCE = WAYS = ("fixed", "refitted", "difference")
_FRICTION = ("friction", "motor")
"""Families of parameters that change with temperature and wear, and are estimated beside the payload."""


@dataclass(frozen=True, eq=False)
class PayloadFit:
    """What the rows say of the payload's columns.

    Args:
        problem: the problem that was solved, torques less what was held.
        fit: its solution.
        columns: places of the payload's parameters among the base parameters.
        matrix: K, these as functions of XXL … ML, (columns, 10).
        values: (columns,).
        covariance: with the doubt of what was held, (columns, columns).
        metric: a covariance of full rank of the same size: blocks of time alone span few directions.
        undetermined: which the rows cannot tell at all, (columns,).
        held_covariance: of base parameters that were held, (base, base), zero elsewhere; None without.
        uncertainty: how it was found.
        findings: what deserves attention.
        facts: figures by name.
    """

    problem: Problem
    fit: Fit
    columns: NDArray[np.intp]
    matrix: FloatArray
    values: FloatArray
    covariance: FloatArray
    metric: FloatArray
    undetermined: NDArray[np.bool_]
    uncertainty: str
    held_covariance: FloatArray | None = None
    findings: tuple[Finding, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


def fit_refitted(
    robot: Robot, motions: Sequence[Motion], plan: Preparation, strategy: Strategy
) -> PayloadFit:
    """Arm and payload together from free and loaded motions (P2 eq 27 without gains).

    Args:
        robot: with its payload, in conditions free and loaded.
        motions: of both conditions.
        plan: decimation and masks.
        strategy: how to estimate.
    """
    problem = build_problem(robot, motions, plan)
    return _solve(problem, np.ones(len(problem.base), dtype=bool), strategy)


def fit_fixed(
    robot: Robot,
    motions: Sequence[Motion],
    plan: Preparation,
    strategy: Strategy,
    model: IdentifiedModel,
    *,
    refit_friction: bool = True,
) -> PayloadFit:
    """The payload from loaded motions, with the inertias of the arm held at those of a model.

    χ̂_L = argmin ‖Λ(y − W_i χ̂_i − W_f χ_f − W_L χ_L)‖, and with B = ∂χ̂_L/∂χ̂_i from the triangular factor
    C_L = C_rows + B C_i Bᵀ.

    Args:
        robot: with its payload, in conditions free and loaded.
        motions: loaded ones.
        plan: decimation and masks.
        strategy: how to estimate.
        model: of the arm without payload.
        refit_friction: whether friction and offsets are estimated anew.
    """
    found = _held_fit(robot, motions, plan, strategy, model, refit_friction=refit_friction)
    if model.covariance is None:
        said = "The model of the arm has no covariance, so σ of the payload counts the loaded logs only."
        note = Finding(Name.POORLY_KNOWN, Level.CARE, said, "Give the folder of a fit, which has one.")
        return replace(found, findings=(*found.findings, note))
    S = found.problem.stacked_factor(found.fit.weights)[:, :-1]
    held = ~found.fit.kept
    moved = _with_doubt_of_arm(found, -S[:, found.fit.kept].T @ S[:, held], held, model.covariance)
    full = np.zeros((len(held), len(held)))
    full[np.ix_(held, held)] = model.covariance[np.ix_(held[: len(model.base)], held[: len(model.base)])]
    return replace(moved, held_covariance=full)


def _with_doubt_of_arm(
    found: PayloadFit, cross: FloatArray, columns: NDArray[np.bool_], covariance: FloatArray
) -> PayloadFit:
    """C + B C_arm Bᵀ, B = T Tᵀ Σ Λ² W_kᵀ ∂y/∂χ_arm.

    Args:
        found: the fit.
        cross: Σ Λ² W_kᵀ ∂y/∂χ_arm, (kept, arm columns).
        columns: which base parameters these are, (base,).
        covariance: of the arm's base parameters.
    """
    T = found.fit.root
    B = (T @ (T.T @ cross))[_places(found.fit.kept, found.columns)]
    chosen = np.flatnonzero(columns)
    arm = B @ covariance[np.ix_(chosen, chosen)] @ B.T
    share = float(arm[-1, -1] / max(arm[-1, -1] + found.covariance[-1, -1], 1e-300))
    facts = {**found.facts, "mass_variance_share_of_model": share}
    return replace(found, covariance=found.covariance + arm, metric=found.metric + arm, facts=facts)


def fit_difference(
    robot: Robot,
    free: Sequence[Motion],
    loaded: Sequence[Motion],
    plan: Preparation,
    strategy: Strategy,
    model: IdentifiedModel | None,
) -> PayloadFit:
    """The payload from the difference of loaded and free torques of the same motion.

    τ_l − τ_f = W_L χ_L + (W_l − W_f) χ_arm: what a model lacks is the same in both runs and cancels. The
    second term, because a loaded robot does not follow quite the same path, is corrected by a model: the one
    given, or the free motions' own. Changes of friction and offsets between the runs are estimated.

    Args:
        robot: with its payload, in conditions free and loaded.
        free: free motions.
        loaded: loaded motions, each with a free one that is the same.
        plan: decimation and masks.
        strategy: how to estimate.
        model: of the arm without payload; fitted to the free motions when None.
    """
    arm = _arm_of(robot, free, plan, strategy) if model is None else model
    pairs = [runs_of_one_motion(arm, motion, free) for motion in loaded]
    cleared = [pair.cleared for pair in pairs]
    found = _held_fit(robot, cleared, plan, strategy, arm, refit_friction=True, nonlinear=False)
    if arm.covariance is not None and found.problem.has_rows:
        along_free = build_problem(robot, [pair.free for pair in pairs], plan, found.problem.base)
        known = np.arange(len(found.problem.base)) < len(arm.base)
        cross = _cross_of_paths(found, along_free)[:, known]
        found = _with_doubt_of_arm(found, cross, known, arm.covariance)
    worst = max(pairs, key=lambda pair: pair.correction)
    facts = {
        **found.facts,
        "correction_percent": 100 * worst.correction,
        "apart_percent": 100 * max(pair.apart for pair in pairs),
        "pairs": [[pair.cleared.name, pair.free.name, pair.delay_s] for pair in pairs],
    }
    said = (
        f"Loaded and free runs differ by at most {facts['apart_percent']:.2g} % of a joint's travel; the "
        f"model's correction for it is {facts['correction_percent']:.2g} % of the torque difference."
    )
    note = Finding(
        Name.PAYLOAD_CORRECTION, Level.NOTE, said, figures={"percent": facts["correction_percent"]}
    )
    return replace(found, findings=(*found.findings, note), facts=facts)


def _cross_of_paths(found: PayloadFit, along_free: Problem) -> FloatArray:
    """Σ Λ² W_kᵀ (W_f − W_l), W_l of held columns only, over samples that both runs use, (kept, base)."""
    kept, width = found.fit.kept, len(found.fit.kept)
    cross = np.zeros((int(kept.sum()), width))
    for j, weight in enumerate(found.fit.row_weights):
        loaded, free = found.problem.rows(j), along_free.rows(j)
        span = 1 + max(loaded.sample.max(initial=0), free.sample.max(initial=0))
        keys = [rows.experiment * span + rows.sample for rows in (loaded, free)]
        _, a, b = np.intersect1d(keys[0], keys[1], assume_unique=True, return_indices=True)
        W = loaded.wide(width)[a]
        cross += weight * W[:, kept].T @ (free.wide(width)[b] - np.where(kept, 0.0, W))
    return cross


def _arm_of(robot: Robot, free: Sequence[Motion], plan: Preparation, strategy: Strategy) -> IdentifiedModel:
    """A model of the arm from its free motions, over the columns of the loaded robot."""
    bare = replace(robot, joints=robot.joints[:-1], conditions=(), parameters={})
    motions = [replace(motion, condition="") for motion in free]
    return as_model(identify(build_problem(bare, motions, plan), strategy))


def _held_fit(
    robot: Robot,
    motions: Sequence[Motion],
    plan: Preparation,
    strategy: Strategy,
    model: IdentifiedModel,
    *,
    refit_friction: bool,
    nonlinear: bool = True,
) -> PayloadFit:
    """The payload, and if wanted friction, with all other columns held at a model's values."""
    base = base_of(robot)
    if base.names[: len(model.base)] != model.base.names:
        raise DynidError(
            f"The model of {model.robot.name!r} has other base parameters than robot {robot.name!r} without "
            "its payload; fit the model with the same robot file and the same terms."
        )
    if nonlinear and model.further is not None:
        motions = [_without_nonlinear(model, motion) for motion in motions]
    families = np.array([robot.table.entries[c].family for c in base.columns])
    symbols = np.array([robot.table.entries[c].symbol for c in base.columns])
    is_payload = np.arange(len(base)) >= len(model.base)
    friction = np.isin(families, _FRICTION) & (symbols != "Iam")
    kept = is_payload | (friction & refit_friction)
    values = np.zeros(len(base))
    values[: len(model.base)] = model.values
    problem = _without_known(build_problem(robot, motions, plan, base), np.where(kept, 0.0, values))
    return _solve(problem, kept, strategy)


def _without_nonlinear(model: IdentifiedModel, motion: Motion) -> Motion:
    """The motion with torques less those of the model's added terms."""
    bare = replace(motion, condition="")
    return replace(motion, tau=np.asarray(motion.tau[:]) - nonlinear_part(model, bare))


def _without_known(problem: Problem, values: FloatArray) -> Problem:
    """The problem with torques less those of known base parameters: y − W χ, in factors and rows alike."""

    def lessen(factor: Factor) -> Factor:
        R = factor.R.copy()
        R[:, -1] -= R[:, :-1] @ values[list(factor.columns)]
        return replace(factor, R=R)

    given = problem.regression
    pieces = given.pieces
    return replace(
        problem,
        regression=Regression(
            tuple(tuple(map(lessen, factors)) for factors in given.experiments),
            tuple(Cell(cell.experiment, tuple(map(lessen, cell.factors))) for cell in given.cells),
            None
            if pieces is None
            else tuple(tuple(replace(rows, y=rows.residual(values)) for rows in piece) for piece in pieces),
        ),
    )


def _solve(problem: Problem, kept: NDArray[np.bool_], strategy: Strategy) -> PayloadFit:
    """Estimate the kept columns, and take out what concerns the payload."""
    robot, base = problem.robot, problem.base
    ten = [k for k, entry in enumerate(robot.table) if entry.joint == len(robot.joints) - 1]
    columns = np.flatnonzero([c in ten for c in base.columns])
    fit = strategy.fit(problem, kept)
    kind = uncertainty_of(strategy.uncertainty) if fit.degrees > 0 and fit.root.shape[1] else Classical()
    doubt = doubt_of(kind, problem, fit)
    outcome, findings = judge(problem, fit)
    places = _places(kept, columns)
    own, white = (C[np.ix_(places, places)] for C in (doubt.covariance, fit.covariance))
    known = np.diag(white) > 0
    ratio = float(np.mean(np.diag(own)[known] / np.diag(white)[known])) if known.any() else 1.0
    return PayloadFit(
        problem,
        fit,
        columns,
        base.matrix[columns][:, ten],
        fit.values[columns],
        (own + own.T) / 2,
        ratio * white,
        fit.undetermined[columns],
        doubt.used or kind.name,
        None,
        tuple(_with_level(f) for f in (outcome, *findings, *doubt.findings) if f.level >= Level.NOTE),
        dict(doubt.facts),
    )


def _with_level(finding: Finding) -> Finding:
    """Outliers spoil single parameters of an arm; those of a payload rest on all joints, and σ holds them."""
    return replace(finding, level=Level.CARE) if finding.name is Name.OUTLIERS_DOMINATE else finding


def _places(kept: NDArray[np.bool_], columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where base parameters stand among the kept ones."""
    return np.asarray((np.cumsum(kept) - 1)[columns], dtype=np.intp)
