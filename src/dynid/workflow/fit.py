"""From logs to a judged model: check, prepare, regress, identify, validate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from dynid.checks import DataCheck
from dynid.checks.agreement import disagreements
from dynid.checks.attenuation import attenuation_findings
from dynid.checks.low_rate import low_rate_findings
from dynid.checks.physical import impossible_values
from dynid.core.errors import DynidError
from dynid.core.finding import Finding
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.strategy import Strategy
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log, Step
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepare import prepare
from dynid.preparation.spectrum import spectrum_of_log
from dynid.preparation.suggest import Suggestion, suggest
from dynid.preparation.trail import Trail, trails_of
from dynid.problem.build import build_problem
from dynid.validation.validate import validate
from dynid.validation.validation import Validation
from dynid.workflow.held import Held, hold, prove, with_parts
from dynid.workflow.identity import LogIdentity, identity_of, refuse_duplicates
from dynid.workflow.screening import refuse_unusable as refuse_unusable, screened

Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class FitResult:
    """What the main job yields.

    Args:
        logs: logs of the fit, joint side, as they were prepared.
        checks: the data check of each log of the fit.
        suggestion: why the preparation is what it is; None when the user gave it.
        plan: preparation used.
        motions: prepared motions of the fit.
        strategy: the estimator.
        estimate: parameters with their doubt.
        own: prediction of the fit's own motions.
        unseen_motions: prepared motions that were not used.
        unseen: prediction of those; None when there are none.
        unseen_checks: the data check of each log of those.
        concerns: what was noticed about the parameters beside all that.
        identities: what tells the logs of the fit from others.
        loop: the control law as TOML and the accuracy of the simulation, where there is one.
    """

    logs: tuple[Log, ...]
    checks: tuple[DataCheck, ...]
    suggestion: Suggestion | None
    plan: Preparation
    motions: tuple[Motion, ...]
    strategy: Strategy
    estimate: Estimate
    own: Validation
    unseen_motions: tuple[Motion, ...] = ()
    unseen: Validation | None = None
    unseen_checks: tuple[DataCheck, ...] = ()
    concerns: tuple[Finding, ...] = ()
    identities: tuple[LogIdentity, ...] = ()
    loop: Mapping[str, Any] = field(default_factory=dict)

    @property
    def trails(self) -> tuple[Trail, ...]:
        """Where the robot went, to know the motion again."""
        return trails_of(self.motions)


def fit_logs(
    robot: Robot,
    logs: Sequence[Log],
    strategy: Strategy,
    *,
    plan: Preparation | None = None,
    overrides: Mapping[str, Any] = MappingProxyType({}),
    unseen: Sequence[Log] = (),
    split: float | None = None,
    repair: bool = False,
    progress: Progress = lambda text: None,
) -> FitResult:
    """The main job.

    Args:
        robot: the robot.
        logs: one or more experiments, motor or joint side.
        strategy: the estimator.
        plan: preparation; suggested from the longest log when None.
        overrides: keys of the suggested preparation to replace.
        unseen: experiments kept for validation.
        split: share of every log used for the fit, the rest for validation.
        repair: whether repairable defects are repaired (and recorded).
        progress: told what is being done.

    Raises:
        DynidError: when a log is given twice.
        NotTrustworthyError: when a log is not usable.
    """
    if not logs:
        raise DynidError("There is no log to fit; give at least one.")
    _refuse_long(logs, strategy)
    joint_side = [to_joint_side(log, robot) for log in logs]
    identities = tuple(identity_of(log) for log in joint_side)
    refuse_duplicates(identities)
    progress("checking the data")
    entered = [screened(log, robot, repair=repair) for log in joint_side]
    joint_side = [entry.log for entry in entered]
    held = hold(unseen, robot, identities, repair=repair)
    if split is not None:
        parts = [split_log(log, split) for log in joint_side]
        joint_side = [first for first, _ in parts]
        held = with_parts(held, [rest for _, rest in parts], robot)
    chosen, suggestion = chosen_plan(joint_side, plan, overrides)
    progress("filtering and differentiating")
    motions = tuple(prepare(log, chosen) for log in joint_side)
    progress("building the regression")
    problem = build_problem(robot, motions, chosen)
    progress("identifying")
    estimate = identify(problem, strategy)
    progress("validating")
    checks = tuple(entry.check for entry in entered)
    return judged_fit(joint_side, checks, suggestion, chosen, motions, strategy, estimate, held, identities)


def _refuse_long(logs: Sequence[Log], strategy: Strategy) -> None:
    """Stop where an estimator would hold the motions of a long log in memory."""
    long = [log.name for log in logs if log.on_disk]
    if long and not strategy.streams:
        raise DynidError(
            f"This estimator needs the motions of the whole log, and log {long[0]!r} is too long to be held "
            "in memory; cut it, or use an estimator that is linear in its parameters, such as WLS."
        )


def chosen_plan(
    logs: Sequence[Log], plan: Preparation | None, overrides: Mapping[str, Any]
) -> tuple[Preparation, Suggestion | None]:
    """The plan given, or the one that the longest log suggests, with the user's keys in place."""
    if plan is not None:
        return plan, None
    suggestion = suggest(max(logs, key=lambda log: log.samples)).with_keys(overrides)
    return suggestion.plan, suggestion


def judged_fit(
    logs: Sequence[Log],
    checks: tuple[DataCheck, ...],
    suggestion: Suggestion | None,
    plan: Preparation,
    motions: tuple[Motion, ...],
    strategy: Strategy,
    estimate: Estimate,
    held: Held,
    identities: tuple[LogIdentity, ...],
) -> FitResult:
    """Put an estimate to the test on its own motions and on held-out ones, and look for impossible values.

    Args:
        logs: logs of the fit, joint side.
        checks: their data checks.
        suggestion: why the preparation is what it is.
        plan: preparation used.
        motions: prepared motions of the fit, or some of a long log.
        strategy: the estimator.
        estimate: what it found.
        held: logs kept for validation.
        identities: what tells the logs of the fit from others.
    """
    own = validate(estimate, motions, plan, seen=True)
    apart = disagreements(estimate.problem)
    new, unseen = prove(estimate, held, motions, plan, own, lacking=bool(apart))
    return FitResult(
        logs=tuple(logs),
        checks=checks,
        suggestion=suggestion,
        plan=plan,
        motions=motions,
        strategy=strategy,
        estimate=estimate,
        own=own,
        unseen_motions=new,
        unseen=unseen,
        unseen_checks=held.checks,
        concerns=_concerns(logs, plan, estimate, motions, apart),
        identities=identities,
    )


def _concerns(
    logs: Sequence[Log],
    plan: Preparation,
    estimate: Estimate,
    motions: Sequence[Motion],
    apart: tuple[Finding, ...],
) -> tuple[Finding, ...]:
    spectrum = spectrum_of_log(max(logs, key=lambda log: log.samples), plan)
    return (
        *attenuation_findings(estimate, spectrum),
        *low_rate_findings(estimate, spectrum),
        *apart,
        *impossible_values(estimate, motions),
    )


def split_log(log: Log, share: float) -> tuple[Log, Log]:
    """The first share of a log and the rest."""
    if not 0 < share < 1:
        raise DynidError(f"The share of the log to fit is {share:g}; it must lie between 0 and 1.")
    cut = int(log.samples * share)

    def part(name: str, rows: slice) -> Log:
        step = Step("split", {"share": share, "part": name})
        return log.part(rows).changed(step, name=f"{log.name} ({name})")

    return part(f"first {share:.0%}", slice(0, cut)), part(f"last {1 - share:.0%}", slice(cut, None))
