"""Logs kept for validation: checked as those of the fit are, and asked whether they are new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dynid.checks import DataCheck
from dynid.checks.novelty import novelty
from dynid.core.finding import Finding, gravest_first
from dynid.estimators.estimate import Estimate
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepare import prepare
from dynid.preparation.trail import PositionSeries
from dynid.validation.figures import ErrorFigures
from dynid.validation.model import Model
from dynid.validation.validate import validate
from dynid.validation.validation import Validation
from dynid.workflow.identity import LogIdentity, identity_of, own_logs
from dynid.workflow.screening import screened


@dataclass(frozen=True, eq=False)
class Held:
    """Logs kept for validation.

    Args:
        logs: joint side, repaired if asked for.
        checks: the data check of each.
        own: which of them are logs of the fit itself.
    """

    logs: tuple[Log, ...] = ()
    checks: tuple[DataCheck, ...] = ()
    own: tuple[bool, ...] = ()


def hold(logs: Sequence[Log], robot: Robot, fitted: Sequence[LogIdentity], *, repair: bool = False) -> Held:
    """Check logs that are kept for validation.

    Args:
        logs: motor or joint side.
        robot: the robot.
        fitted: the logs of the fit.
        repair: whether repairable defects are repaired.

    Raises:
        NotTrustworthyError: when one of them is not usable.
    """
    joint_side = [to_joint_side(log, robot) for log in logs]
    own = own_logs([identity_of(log) for log in joint_side], fitted)
    entered = [screened(log, robot, repair=repair, use="validation") for log in joint_side]
    return Held(tuple(e.log for e in entered), tuple(e.check for e in entered), own)


def with_parts(held: Held, parts: Sequence[Log], robot: Robot) -> Held:
    """Held logs and the rests of logs that were split, which the fit has not used.

    Args:
        held: logs kept for validation.
        parts: the rests, joint side and repaired already.
        robot: the robot.
    """
    entered = [screened(part, robot, use="validation") for part in parts]
    checks = (*held.checks, *(e.check for e in entered))
    return Held((*held.logs, *(e.log for e in entered)), checks, (*held.own, *[False] * len(parts)))


def prove(
    estimate: Estimate,
    held: Held,
    fitted: Sequence[Motion],
    plan: Preparation,
    own: Validation,
    *,
    lacking: bool = False,
) -> tuple[tuple[Motion, ...], Validation | None]:
    """Predict held-out motion, and say how much of a proof that is.

    Args:
        estimate: what was identified.
        held: logs kept for validation.
        fitted: motions of the fit.
        plan: preparation.
        own: the validation on the fit's own motions, to compare with.
        lacking: whether the fit shows that the model lacks an effect.

    Returns:
        The prepared motions and their validation; none when nothing was held.
    """
    motions = tuple(prepare(log, plan) for log in held.logs)
    if not motions:
        return (), None
    return motions, predicted(estimate, motions, held.own, fitted, plan, own, lacking=lacking)


def predicted(
    model: Model | Estimate,
    motions: Sequence[Motion],
    own: Sequence[bool],
    fitted: Sequence[PositionSeries],
    plan: Preparation,
    fit: Validation | ErrorFigures | None,
    concerns: Sequence[Finding] = (),
    *,
    lacking: bool = False,
) -> Validation:
    """Predict the torques of motions that were kept for validation, and ask whether they are new.

    Args:
        model: what was identified.
        motions: prepared, or simulated under the controller.
        own: which of them come from logs of the fit.
        fitted: motions of the fit, or their trails.
        plan: preparation.
        fit: the validation on the fit's own motions, or its figures, to compare with.
        concerns: what else is known about the motions.
        lacking: whether the fit shows that the model lacks an effect.
    """
    news = novelty(motions, own, fitted)
    return validate(
        model,
        motions,
        plan,
        fit=fit,
        seen=news.own,
        repeated=news.repeated,
        concerns=(*news.findings, *concerns),
        lacking=lacking,
    )


def with_note(found: Validation, note: Finding) -> Validation:
    """A validation with one more note, which changes no grade."""
    findings = gravest_first((*found.verdict.findings, note))
    return replace(found, verdict=replace(found.verdict, findings=findings))
