"""The main job by methods that simulate the closed loop: torques, references and the control law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.checks.physical import impossible_values
from dynid.core.errors import DynidError
from dynid.estimators.closed_loop.output_error import OutputError
from dynid.estimators.essential import Essential
from dynid.estimators.identification import identify
from dynid.estimators.strategy import Strategy
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepare import prepare
from dynid.problem.closed_loop import build_loop_problem
from dynid.simulation.controller import Controller
from dynid.simulation.reference import Reference, reference_of_log
from dynid.simulation.setup import Accuracy
from dynid.validation.validate import validate
from dynid.workflow.fit import FitResult, Progress
from dynid.workflow.held import predicted, with_note
from dynid.workflow.identity import identity_of, refuse_duplicates
from dynid.workflow.loop_held import hold_loop, loop_facts, pushed, replayed
from dynid.workflow.loop_plan import chosen_loop_plan
from dynid.workflow.screening import screened

State = tuple[NDArray[np.float64], NDArray[np.float64]]


def fit_loop(
    robot: Robot,
    logs: Sequence[Log],
    strategy: Strategy,
    controller: Controller,
    references: Sequence[Reference] | None = None,
    *,
    plan: Preparation | None = None,
    overrides: Mapping[str, Any] = MappingProxyType({}),
    unseen: Sequence[Log] = (),
    unseen_references: Sequence[Reference] | None = None,
    accuracy: Accuracy | None = None,
    progress: Progress = lambda text: None,
) -> FitResult:
    """Identify with DIDIM, IV or output error, and validate by closed-loop simulation of unseen motion.

    Args:
        robot: the robot.
        logs: experiments, motor or joint side; torques are needed, positions only where the method says so.
        strategy: DIDIM, IV or OutputError, or Essential around one of them. Output error in open loop starts
            at the first measured position with the speed of the reference.
        controller: the law the robot ran under.
        references: one per log; the logs' own reference channels when None.
        plan: preparation; when None suggested from the reference, for IV from the measured positions.
        overrides: keys of the suggested preparation to replace.
        unseen: experiments kept for validation.
        unseen_references: one per unseen log; their own reference channels when None.
        accuracy: friction model and integration.
        progress: told what is being done.
    """
    joint_side = [to_joint_side(log, robot) for log in logs]
    identities = tuple(identity_of(log) for log in joint_side)
    refuse_duplicates(identities)
    progress("checking the data")
    checks = [screened(log, robot).check for log in joint_side if "position" in log.channels]
    held = hold_loop(unseen, robot, identities)
    given = [reference_of_log(log) for log in joint_side] if references is None else list(references)
    if len(given) != len(joint_side):
        raise DynidError(f"{len(given)} references were given for {len(joint_side)} logs; give one each.")
    chosen, suggestion = chosen_loop_plan(joint_side, given, strategy, plan, overrides)
    motions = _measured(joint_side, chosen)
    progress("simulating and identifying")
    problem = build_loop_problem(
        robot,
        joint_side,
        controller,
        given,
        chosen,
        motions=motions,
        starts=_starts(joint_side, given) if _in_open_loop(strategy) else None,
        accuracy=accuracy,
    )
    estimate = identify(problem, strategy)
    progress("validating")
    shown = estimate.problem.motions or ()
    own = validate(estimate, shown, chosen, seen=True)
    new: tuple[Motion, ...] = ()
    proof = None
    if held.logs:
        values, others = estimate.values, unseen_references
        run = replayed(problem.base, values, held.logs, controller, others, chosen, accuracy)
        new = run.motions
        proof = predicted(estimate, new, held.own, shown, chosen, own)
        remark = pushed(estimate, held, chosen, proof)
        proof = run.told(proof if remark is None else with_note(proof, remark))
    return FitResult(
        logs=tuple(joint_side),
        checks=tuple(checks),
        suggestion=suggestion,
        plan=chosen,
        motions=shown,
        strategy=strategy,
        estimate=estimate,
        own=own,
        unseen_motions=new,
        unseen=proof,
        unseen_checks=held.checks,
        concerns=impossible_values(estimate, shown),
        identities=identities,
        loop=loop_facts(controller, problem.accuracy),
    )


def _measured(logs: Sequence[Log], plan: Preparation) -> list[Motion] | None:
    """Prepared measured motions, where all logs have positions."""
    if not all("position" in log.channels for log in logs):
        return None
    return [prepare(log, plan) for log in logs]


def _in_open_loop(strategy: Strategy) -> bool:
    inner = strategy.strategy if isinstance(strategy, Essential) else strategy
    return isinstance(inner, OutputError) and inner.open_loop


def _starts(logs: Sequence[Log], references: Sequence[Reference]) -> list[State | None]:
    """Where robots started: the first measured position, at the speed of the reference.

    None where a log does not begin with its reference; the method says what it misses.
    """
    found: list[State | None] = []
    for log, reference in zip(logs, references, strict=True):
        together = abs(log.time[0] - reference.start) < reference.sample_time / 2
        known = together and "position" in log.channels
        assert reference.qd is not None  # a reference fills it in
        found.append((log.channel("position")[0], reference.qd[0]) if known else None)
    return found
