"""From logs to a judged model: check, prepare, regress, identify, validate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from dynid.errors import DynidError, NotTrustworthyError
from dynid.estimators.estimate import Estimate
from dynid.estimators.identify import identify
from dynid.estimators.strategy import Strategy
from dynid.model.robot import Robot
from dynid.problem.build import build_problem
from dynid.signals.check import DataCheck, check_log
from dynid.signals.convert import to_joint_side
from dynid.signals.log import Log, Step
from dynid.signals.motion import Motion
from dynid.signals.preparation import Preparation
from dynid.signals.prepare import prepare
from dynid.signals.repair import repair_log
from dynid.signals.suggest import Suggestion, suggest
from dynid.validation.validate import validate
from dynid.validation.validation import Validation

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
    """The main job on logs that fit into memory.

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
        NotTrustworthyError: when a log is not usable.
    """
    if not logs:
        raise DynidError("There is no log to fit; give at least one.", name="logs")
    joint_side = [to_joint_side(log, robot) for log in logs]
    held = [to_joint_side(log, robot) for log in unseen]
    progress("checking the data")
    checks = [check_log(log, robot) for log in joint_side]
    if repair:
        joint_side = [repair_log(log) for log in joint_side]
        held = [repair_log(log) for log in held]
    for log, check in zip(joint_side, checks, strict=True):
        # The report shows what was found; what counts is what is left of it.
        refuse_unusable(log, check_log(log, robot) if repair else check)
    if split is not None:
        parts = [split_log(log, split) for log in joint_side]
        joint_side, held = [a for a, _ in parts], [*held, *(b for _, b in parts)]
    suggestion = None
    if plan is None:
        suggestion = suggest(max(joint_side, key=lambda log: log.samples))
        plan = replace(suggestion.plan, **overrides)
    progress("filtering and differentiating")
    motions = tuple(prepare(log, plan) for log in joint_side)
    progress("building the regression")
    problem = build_problem(robot, motions, plan)
    progress("identifying")
    estimate = identify(problem, strategy)
    progress("validating")
    own = validate(estimate, motions, plan, seen=True)
    new = tuple(prepare(log, plan) for log in held)
    return FitResult(
        tuple(joint_side),
        tuple(checks),
        suggestion,
        plan,
        motions,
        strategy,
        estimate,
        own,
        new,
        validate(estimate, new, plan, fit=own) if new else None,
    )


def refuse_unusable(log: Log, check: DataCheck) -> None:
    """Stop at a log that the data check calls not usable."""
    if check.verdict == "not usable":
        worst = [finding.sentence for finding in check.findings if finding.severity == "error"]
        raise NotTrustworthyError(
            f"Log {log.name!r} is not usable: {' '.join(worst[:3])} See dynid check for all findings.",
            name="log",
            value=log.name,
        )


def split_log(log: Log, share: float) -> tuple[Log, Log]:
    """The first share of a log and the rest."""
    if not 0 < share < 1:
        raise DynidError(
            f"The share of the log to fit is {share:g}; it must lie between 0 and 1.",
            name="split",
            value=share,
        )
    cut = int(log.samples * share)

    def part(name: str, rows: slice) -> Log:
        step = Step("split", {"share": share, "part": name})
        return log.part(rows).changed(step, name=f"{log.name} ({name})")

    return part(f"first {share:.0%}", slice(0, cut)), part(f"last {1 - share:.0%}", slice(cut, None))
