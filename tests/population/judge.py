"""What a judge makes of a case: told, cause, size, error on clean motion, error after its advice."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import dynid
from dynid.core.errors import DynidError
from dynid.estimators import WLS, Estimate, identify
from dynid.estimators.linear.least_squares import weighted_fit
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation import Preparation, prepare, suggest
from dynid.problem import build_problem
from dynid.results.view import predicted_torques
from dynid.validation.model import as_model
from population.cases import Case
from population.remedies import Act

Array = NDArray[np.float64]
RIGHT_SIZE = 0.2
"""How far a size may be off to be right, as a share of the true one."""
MATTERS = 0.05
"""Error of a joint's torque, and of a parameter, from which a defect must be told."""
FRICTION_LAWS = ("Stribeck", "flattening", "load friction", "asymmetry")
"""Defects that are another law of friction: sound logs have some of it too."""
MATTERS_SIGMA = 5.0
"""And how many σ such a parameter must be off."""


@dataclass(frozen=True)
class Cause:
    """One thing that a judge holds to be wrong.

    Args:
        names: defects of the population that it stands for; the first judge's words may cover several.
        joint: from 0; None where it means all or does not say.
        size: in the unit of ``Case.size``, or one per defect that it stands for; None where it does not say.
        words: as the judge has it.
        level: "note", "care" or "fail".
        act: what its remedy asks for; None where that cannot be done at the desk.
        alike: causes that the judge names beside it, because the log cannot tell them apart.
    """

    names: frozenset[str]
    joint: int | None = None
    size: float | Mapping[str, float] | None = None
    words: str = ""
    level: str = "care"
    act: Act | None = None
    alike: tuple[Cause, ...] = ()

    def names_defect(self, case: Case) -> bool:
        """Whether it, or one that looks alike, is the defect of the case, on its joint where it has one."""
        return self._naming(case) is not None

    def _naming(self, case: Case) -> Cause | None:
        right_joint = case.joint is None or case.axes == 1 or self.joint == case.joint
        if case.defect in self.names and right_joint:
            return self
        return next((one for one in self.alike if one.names_defect(case)), None)

    def right_size(self, case: Case) -> bool | None:
        """Whether the size of what names the defect is right; None where there is no size to tell."""
        naming = self._naming(case)
        if case.size is None or naming is None:
            return None
        size = naming.size.get(case.defect) if isinstance(naming.size, Mapping) else naming.size
        return size is not None and bool(abs(abs(size) - case.size) <= RIGHT_SIZE * case.size)


@dataclass(frozen=True, eq=False)
class Ruling:
    """What a judge says about logs.

    Args:
        level: "good", "care" or "fail"; that no unseen motion was given does not count.
        causes: the most likely first, of those that lower the level.
        estimate: what was fitted; None where the logs were refused.
    """

    level: str
    causes: tuple[Cause, ...]
    estimate: Estimate | None


class Judge(Protocol):
    """Whoever rules on logs. The one place where a mechanism of the package plugs in."""

    def rule(self, robot: Robot, logs: Sequence[Log]) -> Ruling:
        """Level, ranked causes and the fit."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fit against the truth.

    Args:
        overall: relative error on the clean motion.
        errors: the same per joint, (joints,).
        names: of the base parameters.
        values: of them.
        sigma: their standard deviations; infinite where they were not estimated.
        plan: preparation of the fit.
        estimate: behind it.
    """

    overall: float
    errors: Array
    names: tuple[str, ...]
    values: Array
    sigma: Array
    plan: Preparation | None = None
    estimate: Estimate | None = None


def fitted(
    case: Case,
    estimate: Estimate | None,
    robot: Robot,
    logs: Sequence[Log],
    plan: Preparation | None = None,
) -> Fitted | None:
    """The fit of a ruling, or a plain one where the judge refused the logs; None where none can be made."""
    try:
        made = estimate or _plain_fit(robot, logs, plan)
        clean = case.clean
        predicted = predicted_torques(as_model(made), clean.q, clean.qd, clean.qdd)
    except (DynidError, np.linalg.LinAlgError, ValueError):
        return None
    overall, errors = clean.errors(predicted)
    covariance = made.covariance
    known = np.zeros(len(made.values)) if covariance is None else np.sqrt(np.diag(covariance))
    sigma = np.where(made.kept & (known > 0), known, np.inf)  # what was not estimated has not moved
    return Fitted(overall, errors, made.problem.base.names, made.values, sigma, made.problem.plan, made)


def _plain_fit(robot: Robot, logs: Sequence[Log], plan: Preparation | None = None) -> Estimate:
    """Weighted least squares without any check."""
    sides = [to_joint_side(log, robot) for log in logs]
    plan = plan or suggest(max(sides, key=lambda log: log.duration)).plan
    return identify(build_problem(robot, [prepare(log, plan) for log in sides], plan), WLS())


def shown_sigmas(case: Case, sound: Fitted) -> float:
    """How many standard errors a test of the one right column would be from nothing, at most.

    √Σ_j (ρ² − ρ₀²)/σ_j², what a fit leaves of the torque with the defect and without it, under the same
    preparation and weights 1/σ_j. Near zero the parameters take the defect up: no residual can show it. That
    errors are alike in time, which a test has to allow for, is not counted.
    """
    if sound.estimate is None or sound.plan is None:
        return np.inf
    before = sound.estimate.problem
    weights = 1.0 / np.maximum(before.residual_norms(sound.values) / np.sqrt(before.row_counts), 1e-300)
    try:
        after = _plain_fit(case.robot, case.logs, sound.plan).problem
    except (DynidError, np.linalg.LinAlgError, ValueError):
        return np.inf
    squares, torque = [], before.torque_norms()
    for problem in (before, after):
        scale = weights * torque / np.maximum(problem.torque_norms(), 1e-300)  # a gain scales noise too
        fit = weighted_fit(problem, scale, np.ones(len(problem.base.names), dtype=bool))
        squares.append(np.sum((scale * problem.residual_norms(fit.values)) ** 2))
    return float(np.sqrt(max(squares[1] - squares[0], 0.0)))


def caused_error(damaged: Fitted, sound: Fitted) -> Array:
    """√(e² − e₀²) per joint: what the defect adds to the error on clean motion."""
    return np.sqrt(np.maximum(damaged.errors**2 - sound.errors**2, 0.0))


def moved_parameters(damaged: Fitted, sound: Fitted, redefined: Collection[str] = ()) -> tuple[float, float]:
    """The parameter farthest from where sound logs have it, in σ, of those off by 5 %; and its share.

    Args:
        damaged: fit with a defect.
        sound: fit without it.
        redefined: parameters that are not looked at: Fv and Fc of a joint whose friction has another law are
            other coefficients, not wrong ones.
    """
    known = {name: i for i, name in enumerate(sound.names)}
    worst, share = 0.0, 0.0
    for i, name in enumerate(damaged.names):
        if name not in known or name in redefined:
            continue
        before = sound.values[known[name]]
        off = abs(damaged.values[i] - before)
        if off > MATTERS * abs(before) and off > 0:
            sigmas = off / max(float(damaged.sigma[i]), float(sound.sigma[known[name]]), 1e-300)
            if sigmas > worst:
                worst, share = float(sigmas), float(off / max(abs(before), 1e-300))
    return worst, share


def redefined_by(case: Case) -> tuple[str, ...]:
    """Friction coefficients and offset of the joint whose friction law a defect changes."""
    if case.joint is None or case.defect not in FRICTION_LAWS:
        return ()
    label = case.robot.joints[case.robot.coordinates[case.joint]].label
    return tuple(f"{symbol}{label}" for symbol in ("Fv", "Fc", "off"))


def judge(case: Case, judge: Judge, sound: Fitted | None = None) -> tuple[dict[str, Any], Fitted | None]:
    """One row of figures about a case, and its fit.

    Args:
        case: sound or damaged.
        judge: who rules.
        sound: fit of the same case without its defect.
    """
    begun = time.perf_counter()
    ruling = judge.rule(case.robot, case.logs)
    seconds = time.perf_counter() - begun
    fit = fitted(case, ruling.estimate, case.robot, case.logs)
    row: dict[str, Any] = {
        "half": case.half,
        "index": case.index,
        "defect": case.defect,
        "grade": case.grade,
        "axes": case.axes,
        "logs": len(case.experiments),
        "joint": case.joint,
        "size": case.size,
        "level": ruling.level,
        "refused": ruling.estimate is None,
        "causes": [[c.words, c.joint, c.size, c.level] for c in ruling.causes],
        "seconds": round(seconds, 2),
    }
    row |= _cause_figures(case, ruling)
    if fit is not None:
        row |= {"error": fit.overall, "worst": float(np.max(fit.errors))}
    if fit is not None and sound is not None:
        sigmas, share = moved_parameters(fit, sound, redefined_by(case))
        caused = float(np.max(caused_error(fit, sound)))
        row |= {"caused": caused, "moved_sigma": sigmas, "moved_share": share}
        row["sound_worst"] = float(np.max(sound.errors))
        row["matters"] = caused > MATTERS or sigmas > MATTERS_SIGMA
        row["shows"] = shown_sigmas(case, sound) if row["matters"] else None
    row |= _advice_figures(case, ruling)
    return row, fit


def _cause_figures(case: Case, ruling: Ruling) -> dict[str, Any]:
    right = [i for i, cause in enumerate(ruling.causes) if cause.names_defect(case)]
    first = bool(right) and right[0] == 0
    size = ruling.causes[right[0]].right_size(case) if right else None
    return {"told": ruling.level != "good", "first": first, "named": bool(right), "right_size": size}


def _advice_figures(case: Case, ruling: Ruling) -> dict[str, Any]:
    """Errors on the clean motion after the advice about the first cause was followed."""
    act = ruling.causes[0].act if ruling.causes else None
    if act is None:
        return {}
    advice = act(case.robot, case.logs)
    try:
        estimate = dynid.fit(advice.robot, advice.logs, add=advice.add).estimate
    except DynidError:
        estimate = None
    fit = fitted(case, estimate, advice.robot, advice.logs)
    if fit is None:
        return {"advised_error": None, "advised_worst": None}
    return {"advised_error": fit.overall, "advised_worst": float(np.max(fit.errors))}
