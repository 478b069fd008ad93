"""From logs to a judged model: check, hold out, prepare, identify, validate, judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from dynid.checks.accelerations import acceleration_findings
from dynid.checks.excitation import few_rows
from dynid.checks.physical import impossible_values
from dynid.consistency.knowledge import Knowledge
from dynid.core.errors import DynidError
from dynid.core.finding import Finding
from dynid.core.kinds import require_kinds
from dynid.core.lazy import later
from dynid.core.threads import with_one_blas_thread
from dynid.estimators.estimate import Estimate
from dynid.estimators.linear.least_squares import WLS
from dynid.estimators.linear.terms import NonlinearTerm
from dynid.estimators.strategy import Strategy
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.spectrum import spectrum_of_log
from dynid.preparation.suggestion import Suggestion
from dynid.problem.build import require_thresholds
from dynid.resolution.digits import digits_finding, significant_digits
from dynid.suspects.judgement import SuspectJudgement, judge_stretches, judge_suspects
from dynid.validation.model import as_model
from dynid.validation.validation import validate as validate_motions
from dynid.workflow.added_terms import (
    NONE,
    Addition,
    TermRequest,
    add_terms,
    term_request,
    with_trials_told,
)
from dynid.workflow.motion_source import MeasuredMotion, MotionSource, Progress, longest_log, refuse_long
from dynid.workflow.possibility import (
    ALWAYS,
    AUTO,
    judge_possibility,
    no_possible_robot,
    possible_estimate,
    require_choice,
)
from dynid.workflow.preparation_choice import choose_preparation
from dynid.workflow.proof import data_checks, prove
from dynid.workflow.result import FitResult
from dynid.workflow.since import KnownModel
from dynid.workflow.usable_log import (
    NO_REPAIR,
    UsableLog,
    as_accepted,
    as_logs,
    logs_to_fit,
    logs_to_validate,
    one_reference_each,
    require_share,
    split_logs,
)

if TYPE_CHECKING:
    from dynid.simulation.controller import Controller
    from dynid.simulation.setup import Accuracy
    from dynid.trajectories.reference import Reference

# Least squares should not wait for the simulator.
_simulated_motion = later("dynid.workflow.simulated_motion", "SimulatedMotion")
_WLS = WLS()


@with_one_blas_thread
def fit(
    robot: Robot,
    logs: Log | Sequence[Log],
    strategy: Strategy = _WLS,
    *,
    plan: Preparation | None = None,
    overrides: Mapping[str, Any] = MappingProxyType({}),
    validate: Log | Sequence[Log] = (),
    split: float | None = None,
    repair: bool = False,
    accept: Iterable[str] = (),
    add: str | NonlinearTerm | TermRequest | Sequence[str | NonlinearTerm] = NONE,
    consistent: str = AUTO,
    known: Knowledge | None = None,
    controller: Controller | None = None,
    references: Sequence[Reference] | None = None,
    accuracy: Accuracy | None = None,
    digits: bool = False,
    progress: Progress | None = None,
) -> FitResult:
    """The main job: identify a robot's parameters from logs, and prove them on motion that was not used.

    Args:
        robot: the robot.
        logs: one or more experiments, motor or joint side.
        strategy: the estimator. DIDIM, IV and OutputError simulate the closed loop: they need the controller,
            and torques suffice where the method does not use positions.
        plan: preparation; suggested from the longest log when None.
        overrides: keys of the suggested preparation to replace.
        validate: experiments kept for validation.
        split: share of every log used for the fit, the rest for validation.
        repair: whether repairable defects are repaired (and recorded).
        accept: names of findings of the data check that you know better about; the report says so.
        add: terms beside the robot's own, for OLS and WLS: "none", "auto" (those that predict parts of the
            logs better that were not used), names such as "load@2,3", or terms of your own.
        consistent: whether the values are those of a robot that can exist: "auto" (where it predicts parts of
            the logs that were not used as well as least squares), "always" or "never".
        known: bounds of links and values known beforehand; a file is read by ``load_knowledge``.
        controller: the law the robot ran under.
        references: what the controller followed: one for all logs, or one per log with those of ``validate``
            last; the logs' own reference channels when None.
        accuracy: friction model and integration of the simulation.
        digits: whether the digits that rounding leaves of the values are found by stochastic arithmetic.
        progress: told what is being done; nobody is when None.

    Raises:
        DynidError: when a log is given twice, or the strategy lacks something.
        NotTrustworthyError: when a log is not usable.
    """
    require_kinds(fit, locals())
    if split is not None:
        require_share(split)
    request = term_request(add, robot, strategy)
    choice = require_choice(consistent, strategy, known)
    if strategy.simulates and choice == ALWAYS:
        strategy = strategy.held_to(known or Knowledge())
    if request.terms:
        strategy = strategy.with_terms(request.terms)
    progress = progress or (lambda text: None)
    given, unseen = as_logs(logs, accept), as_logs(validate, accept)
    source = _motion_source(strategy, controller, references, accuracy, repair)
    described = f"{len(given)} logs to fit and {len(unseen)} to validate"
    followed = one_reference_each(references, len(given) + len(unseen), described)
    progress("checking the data")
    options = {"repair": repair, "torques_suffice": source.torques_suffice}
    used = logs_to_fit(robot, given, followed[: len(given)], **options)
    identities = tuple(one.identity for one in used)
    held = logs_to_validate(robot, unseen, identities, followed[len(given) :], **options)
    if split is not None:
        used, rest = split_logs(robot, used, split)
        held = (*held, *rest)
    if not request.empty:
        refuse_long(used, strategy.with_terms(tuple(request.catalogue.values())))
    progress("choosing the preparation")
    chosen, suggestion = preparation_of(robot, source, used, strategy, plan, overrides)
    estimate, motions = source.estimate(robot, used, chosen, strategy, progress)
    progress("looking for suspects")
    estimate, strategy, addition = add_terms(estimate, strategy, request, source.regresses)
    suspects = _suspects_of(estimate, motions, used, request, addition) if source.regresses else None
    lacking = suspects is not None and suspects.lacks_physics
    progress("looking for a possible robot")
    own_knowledge = strategy.knowledge_held
    possibility = judge_possibility(estimate, choice, own_knowledge or known)
    taken = possibility is not None and possibility.is_recommended and source.regresses
    if taken and own_knowledge is None:
        estimate, strategy = possible_estimate(estimate, strategy, known)
    progress("validating")
    model = as_model(estimate)
    own = validate_motions(model, motions, chosen, seen=True)
    proof = None
    if held:
        trusted = KnownModel.of_fit(estimate, suspects) if estimate.outcome.trustworthy else None
        proof = prove(
            model, held, source, chosen, fitted=motions, fit=own.judged, lacking=lacking, known=trusted
        )
    return FitResult(
        robot=robot,
        logs=tuple(one.log for one in used),
        checks=data_checks(used),
        suggestion=suggestion,
        plan=chosen,
        motions=motions,
        strategy=strategy,
        estimate=estimate,
        own=own,
        proof=proof,
        concerns=as_accepted(
            (
                *_bias_findings(estimate, used, source),
                *(() if suspects is None else suspects.findings),
                *(no_possible_robot(estimate) if possibility is None else possibility.findings),
                *impossible_values(estimate, motions),
                *few_rows(estimate),
                *addition.findings,
                *(_health(estimate) if digits else ()),
            ),
            used,
        ),
        identities=identities,
        loop=source.facts,
        suspects=suspects,
        possibility=possibility,
    )


def _health(estimate: Estimate) -> tuple[Finding, ...]:
    """Significant digits of the kept parameters, as least squares finds them from the factors."""
    kept = estimate.kept
    factor = estimate.problem.stacked_factor(estimate.facts["weights"])[:, np.append(kept, True)]
    names = tuple(name for name, own in zip(estimate.names, kept, strict=True) if own)
    return (digits_finding(names, significant_digits(factor, np.random.default_rng(0))),)


def _suspects_of(
    estimate: Estimate,
    motions: Sequence[Motion],
    logs: Sequence[UsableLog],
    request: TermRequest,
    addition: Addition,
) -> SuspectJudgement | None:
    """The suspects of a fit, with what was tried of them and what the user has accepted."""
    ledger = addition.ledger
    found = judge_stretches(estimate, motions) if ledger is None else judge_suspects(estimate, ledger)
    if found is None:
        return None
    findings = found.findings
    if request.auto and ledger is not None:
        findings = with_trials_told(findings, ledger, addition.untried)
    return replace(found, findings=as_accepted(findings, logs))


def _motion_source(
    strategy: Strategy,
    controller: Controller | None,
    references: Sequence[Reference] | None,
    accuracy: Accuracy | None,
    repair: bool,
) -> MotionSource:
    """Measured motion, or simulated motion for strategies that need it."""
    name = type(strategy).__name__
    if not strategy.simulates:
        if controller is not None or references is not None or accuracy is not None:
            raise DynidError(
                f"{name} works on measured motions and simulates nothing; leave out controller, references "
                "and accuracy, or use a strategy that simulates the closed loop, such as DIDIM."
            )
        return MeasuredMotion()
    if controller is None:
        raise DynidError(
            f"{name} simulates the robot under its control law; give the controller, and references where "
            "the logs hold none."
        )
    if repair:
        raise DynidError(NO_REPAIR)
    options = {} if accuracy is None else {"accuracy": accuracy}
    source: MotionSource = _simulated_motion(controller, measured=strategy.predicts_measured, **options)
    return source


def preparation_of(
    robot: Robot,
    source: MotionSource,
    logs: Sequence[UsableLog],
    strategy: Strategy,
    plan: Preparation | None,
    overrides: Mapping[str, Any],
) -> tuple[Preparation, Suggestion | None]:
    """The plan given, or the one that the logs suggest, with the user's keys in place."""
    if plan is not None:
        return plan, None
    suggestion = source.suggestion(logs, strategy).with_keys(overrides)
    require_thresholds(robot, suggestion.plan)
    if source.regresses:
        suggestion = choose_preparation(robot, [used.log for used in logs], suggestion, overrides)
    return suggestion.plan, suggestion


def _bias_findings(
    estimate: Estimate, logs: Sequence[UsableLog], source: MotionSource
) -> tuple[Finding, ...]:
    """What noise, filters and differences of the positions do to them."""
    if not source.regresses:
        return ()
    return acceleration_findings(estimate, spectrum_of_log(longest_log(logs).log, estimate.problem.plan))
