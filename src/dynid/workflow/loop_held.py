"""Logs kept for validation under their control law: the identified model is simulated along the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.core.finding import Finding, Level, Name, gravest_first
from dynid.estimators.closed_loop.law_checks import check_law
from dynid.estimators.closed_loop.strategy import Gains, measured_starts, remembering, transient
from dynid.estimators.estimate import Estimate
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepare import prepare
from dynid.problem.closed_loop import LoopProblem, build_loop_problem
from dynid.problem.replay import LoopModel, replay
from dynid.simulation.controller import Controller
from dynid.simulation.controller_file import controller_to_toml
from dynid.simulation.reference import Reference
from dynid.simulation.setup import Accuracy
from dynid.validation.model import Model as IdentifiedModel
from dynid.validation.validate import validate
from dynid.validation.validation import Validation
from dynid.validation.verdict import Verdict
from dynid.workflow.held import Held
from dynid.workflow.identity import LogIdentity, identity_of, own_logs
from dynid.workflow.screening import screened

FloatArray = NDArray[np.float64]
CONTROLLER, ACCURACY = "controller", "accuracy"
"""Keys under which a result keeps the control law and how it was simulated."""


def hold_loop(logs: Sequence[Log], robot: Robot, fitted: Sequence[LogIdentity]) -> Held:
    """Check logs that are kept for validation, where they have positions to check.

    Args:
        logs: motor or joint side, with torques at least.
        robot: the robot.
        fitted: the logs of the fit.

    Raises:
        NotTrustworthyError: when one of them is not usable.
    """
    joint_side = tuple(to_joint_side(log, robot) for log in logs)
    known = [log for log in joint_side if "position" in log.channels]
    checks = tuple(screened(log, robot, use="validation").check for log in known)
    return Held(joint_side, checks, own_logs([identity_of(log) for log in joint_side], fitted))


@dataclass(frozen=True, eq=False)
class Replay:
    """Held logs along their simulated motions.

    Args:
        motions: simulated, with the measured torques.
        lawless: per log on which the control law does not hold, by its own positions, name and why.
    """

    motions: tuple[Motion, ...]
    lawless: tuple[tuple[str, Finding], ...] = ()

    def told(self, found: Validation) -> Validation:
        """The validation, with the law in the first place where it does not hold."""
        if not self.lawless:
            return found
        names = ", ".join(repr(name) for name, _ in self.lawless)
        logs = f"log{'s' * (len(self.lawless) > 1)} {names}"
        _, worst = self.lawless[0]
        verdict = found.verdict
        law = Finding(
            Name.CONTROL_LAW_MISMATCH,
            Level.CARE if verdict.trustworthy else Level.FAIL,
            f"The control law does not hold on validation {logs}, so a simulation under it proves nothing "
            f"about the parameters, good or bad. {worst.sentence}",
            worst.remedy,
        )
        sentence = f"The control law does not hold on {logs}, so this proves nothing. {verdict.sentence}"
        return replace(found, verdict=Verdict(sentence, gravest_first((law, *verdict.findings))))


def replayed(
    base: BaseMap,
    values: FloatArray,
    logs: Sequence[Log],
    controller: Controller,
    references: Sequence[Reference] | None,
    plan: Preparation,
    accuracy: Accuracy | None,
) -> Replay:
    """Motions of the closed loop with an identified model, with the measured torques.

    Where a log has positions, the law is asked first whether it made the torques of the log.

    Args:
        base: base parameters of the robot.
        values: what was identified, (base,).
        logs: joint side.
        controller: the law the robot ran under.
        references: one per log; the logs' own reference channels when None.
        plan: preparation.
        accuracy: friction model and integration.

    Raises:
        NotTrustworthyError: when the simulation fails.
    """
    problem = build_loop_problem(base.robot, logs, controller, references, plan, accuracy=accuracy, base=base)
    found = [check_law(replace(problem, experiments=(e,))) for e in problem.experiments]
    pairs = zip(problem.experiments, (f.outcome for f in found), strict=True)
    lawless = tuple((e.name, outcome) for e, outcome in pairs if outcome is not None)
    memories = [m for f in found for m in f.memories]
    # Integrals belong to the state in which they were found: both are taken from the log, or neither.
    own = any(m is not None and len(m.values) for m in memories)
    known = remembering(measured_starts(problem), memories) if own else problem
    try:
        return Replay(_simulated(known, values), lawless)
    except NotTrustworthyError as error:
        if not lawless:
            raise
        name, law = lawless[0]
        raise NotTrustworthyError(
            f"The control law does not hold on validation log {name!r}. {law.text} {error}"
        ) from error


def _simulated(problem: LoopProblem, values: FloatArray) -> tuple[Motion, ...]:
    """Where the start is not known, the loop's transient is left out."""
    trim = transient(None, Gains(problem.controller, None), problem)
    found = replay(problem, LoopModel(problem.robot, problem.base, values), problem.controller, trim)
    if not found.outcome.trustworthy:
        raise NotTrustworthyError(f"The unseen motion cannot be simulated: {found.outcome.text}")
    return found.motions


def pushed(
    model: IdentifiedModel | Estimate, held: Held, plan: Preparation, found: Validation
) -> Finding | None:
    """A note where a model fails along the simulated motion, but not along the measured one.

    Args:
        model: what was identified.
        held: the logs, joint side.
        plan: preparation.
        found: the validation along the simulated motions.
    """
    if found.trustworthy or not all("position" in log.channels for log in held.logs):
        return None
    measured = validate(model, [prepare(log, plan) for log in held.logs], plan)
    if not measured.trustworthy:
        return None
    return Finding(
        Name.PUSHED_FROM_OUTSIDE,
        Level.NOTE,
        f"Along the measured positions the model misses only {measured.judged.overall_percent:.3g} % of the "
        "torque: the robot did not move as it was simulated. Something else pushed it, or law or reference "
        "are not those of the log; that is no sign against the parameters.",
    )


def loop_facts(controller: Controller, accuracy: Accuracy) -> dict[str, Any]:
    """The control law as the text of a controller file, and how it was simulated, for the result folder.

    Args:
        controller: the law; None is kept of a Python function, which is code and not data.
        accuracy: friction model and integration.
    """
    try:
        text = controller_to_toml(controller)
    except DynidError:
        text = None
    return {CONTROLLER: text, ACCURACY: asdict(accuracy)}
