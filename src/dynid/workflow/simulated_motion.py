"""Motion by simulation of the closed loop: torques, references and the control law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.core.finding import Finding, Level, Name, gravest_first
from dynid.estimators.closed_loop.iv import IV
from dynid.estimators.closed_loop.loop_checks import check_law
from dynid.estimators.closed_loop.output_error import OutputError
from dynid.estimators.closed_loop.strategy import transient, with_measured_starts, with_memories
from dynid.estimators.essential import Essential
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.strategy import Strategy
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.preparation.suggestion import STILL_AXES, Suggestion, suggest, suggest_for_instruments
from dynid.problem.closed_loop import LoopProblem, build_loop_problem, with_held_torques
from dynid.problem.loop_clock import on_controller_clock, without_trims
from dynid.problem.replay import LoopModel, replay
from dynid.simulation.controller import Controller
from dynid.simulation.controller_file import controller_to_toml
from dynid.simulation.reference import reference_of_log
from dynid.simulation.setup import Accuracy
from dynid.trajectories.reference import Reference
from dynid.validation.model import IdentifiedModel
from dynid.validation.validation import Validation, validate
from dynid.validation.verdict import Verdict
from dynid.workflow.motion_source import MotionSource, Progress, UnseenMotion, longest_log
from dynid.workflow.usable_log import UsableLog

CONTROLLER, ACCURACY = "controller", "accuracy"
"""Keys under which a result keeps the control law and how it was simulated."""


@dataclass(frozen=True, eq=False)
class SimulatedMotion(MotionSource):
    """The robot simulated along the reference under its control law.

    Args:
        controller: the law the robot ran under.
        accuracy: friction model and integration.
        measured: whether torques of unseen logs are predicted along their measured motion, where they have
            one: the method identifies along it, and needs no law that holds.
    """

    controller: Controller
    accuracy: Accuracy = field(default_factory=Accuracy)
    measured: bool = False
    torques_suffice: ClassVar[bool] = True
    regresses: ClassVar[bool] = False

    def suggestion(self, logs: Sequence[UsableLog], strategy: Strategy) -> Suggestion:
        """From the measured positions where those are used (IV), else from the band of the reference."""
        used = longest_log(logs)
        log, reference = clocked_pair(used, self.controller, Preparation())
        found = self._suggestion(log, reference, _inner(strategy))
        # What was done to the log to put it on the controller's clock is said before anything else.
        steps = [step for step in log.history[len(used.log.history) :] if step.note]
        why = {step.name: f"{step.name.capitalize()}: {step.note}." for step in steps}
        return replace(found, why={**why, **found.why})

    def _suggestion(self, log: Log, reference: Reference, inner: Strategy) -> Suggestion:
        if "position" not in log.channels:
            return _without_filter(suggest(_log_along_reference(log, reference)))
        if isinstance(inner, IV):
            return suggest_for_instruments(log)
        if isinstance(inner, OutputError) and inner.open_loop:
            return suggest(log)
        return suggest(_log_along_reference(log, reference))

    def estimate(
        self,
        robot: Robot,
        logs: Sequence[UsableLog],
        plan: Preparation,
        strategy: Strategy,
        progress: Progress,
    ) -> tuple[Estimate, tuple[Motion, ...]]:
        """Simulate and identify, by turns."""
        inner = _inner(strategy)
        progress("simulating and identifying")
        problem = self.problem(robot, logs, plan, isinstance(inner, OutputError) and inner.open_loop)
        estimate = identify(problem, strategy)
        return estimate, estimate.problem.motions or ()

    def problem(
        self, robot: Robot, logs: Sequence[UsableLog], plan: Preparation, open_loop: bool = False
    ) -> LoopProblem:
        """Logs, references and motions at the controller's samples.

        Args:
            robot: the robot.
            logs: of the experiments.
            plan: preparation of their motions.
            open_loop: whether simulations begin at the measured start.
        """
        pairs, rows = [clocked_pair(used, self.controller, plan) for used in logs], without_trims(plan)
        measured = all("position" in log.channels for log, _ in pairs)
        return build_loop_problem(
            robot,
            [log for log, _ in pairs],
            self.controller,
            [reference for _, reference in pairs],
            rows,
            motions=[prepare(log, rows) for log, _ in pairs] if measured else None,
            starts=[_start_of(log, reference) for log, reference in pairs] if open_loop else None,
            accuracy=self.accuracy,
        )

    def unseen(self, model: IdentifiedModel, logs: Sequence[UsableLog], plan: Preparation) -> UnseenMotion:
        """Simulate the model along the references, with the measured torques, or take the measured motion.

        Where a log has positions, the law is asked first whether it made the torques of the log.

        Raises:
            NotTrustworthyError: when the simulation fails.
        """
        if self.measured and _have_positions(logs):
            T = self.controller.sample_time
            motions = (prepare(used.log, plan) for used in logs)
            return UnseenMotion(tuple(m if T is None else with_held_torques(m, T) for m in motions))
        pairs = [clocked_pair(used, self.controller, plan) for used in logs]
        problem = build_loop_problem(
            model.robot,
            [log for log, _ in pairs],
            self.controller,
            [reference for _, reference in pairs],
            without_trims(plan),
            accuracy=self.accuracy,
            base=model.base,
        )
        found = [check_law(replace(problem, experiments=(e,))) for e in problem.experiments]
        judged = zip(problem.experiments, (f.outcome for f in found), strict=True)
        mismatches = tuple((e.name, outcome) for e, outcome in judged if outcome is not None)
        memories = [m for f in found for m in f.memories]
        # Integrals belong to the state in which they were found: both are taken from the log, or neither.
        own = not self.controller.law.memory or any(m is not None and len(m.values) for m in memories)
        known = with_memories(with_measured_starts(problem), memories) if own else problem
        try:
            return UnseenMotion(_simulated_motions(known, model.values), mismatches)
        except NotTrustworthyError as error:
            if not mismatches:
                raise
            name, law = mismatches[0]
            raise NotTrustworthyError(
                f"The control law does not hold on validation log {name!r}. {law.text} {error}"
            ) from error

    def conclusion(
        self,
        found: Validation,
        unseen: UnseenMotion,
        model: IdentifiedModel,
        logs: Sequence[UsableLog],
        plan: Preparation,
    ) -> Validation:
        """Say where the law does not hold, or where the robot did not move as it was simulated."""
        if self.measured and _have_positions(logs):
            return found
        notes = _pushed_robot(found, model, [used.log for used in logs], plan)
        findings = gravest_first((*found.verdict.findings, *notes))
        verdict = replace(found.verdict, findings=findings)
        if unseen.mismatches:
            verdict = _with_mismatch(verdict, unseen.mismatches)
        return replace(found, verdict=verdict)

    @property
    def facts(self) -> Mapping[str, Any]:
        """The law as the text of a controller file, None of a Python function, and how it was simulated."""
        try:
            text = controller_to_toml(self.controller)
        except DynidError:
            text = None
        return {CONTROLLER: text, ACCURACY: asdict(self.accuracy)}


def clocked_pair(used: UsableLog, controller: Controller, plan: Preparation) -> tuple[Log, Reference]:
    """Log and reference at the controller's samples, trimmed as the plan says."""
    if controller.sample_time is None:
        return used.log, _reference_of(used)  # refused with a sentence where the problem is built
    reference = _reference_of(used, controller.sample_time).resampled(controller.sample_time)
    return on_controller_clock(used.log, reference, plan)


def _have_positions(logs: Sequence[UsableLog]) -> bool:
    return all("position" in used.log.channels for used in logs)


def _inner(strategy: Strategy) -> Strategy:
    return strategy.strategy if isinstance(strategy, Essential) else strategy


def _reference_of(used: UsableLog, sample_time: float | None = None) -> Reference:
    return reference_of_log(used.log, sample_time) if used.reference is None else used.reference


def _start_of(log: Log, reference: Reference) -> tuple[FloatArray, FloatArray] | None:
    """Where the robot started: the first measured position, at the speed of the reference.

    None where a log does not begin with its reference; the method says what it misses.
    """
    together = abs(log.time[0] - reference.start) < reference.sample_time / 2
    if not together or "position" not in log.channels:
        return None
    assert reference.qd is not None  # a reference fills it in
    return log.channel("position")[0], reference.qd[0]


def _log_along_reference(log: Log, reference: Reference) -> Log:
    """The log with its reference in place of the positions, for the spectrum of the motion."""
    q = np.column_stack([np.interp(log.time, reference.time, column) for column in reference.q.T])
    return replace(log, channels={**log.channels, "position": q})


def _without_filter(found: Suggestion) -> Suggestion:
    """What is left of a suggestion where no position is filtered: decimation and speeds."""
    plan = Preparation(decimation=found.plan.decimation, speed_thresholds=found.plan.speed_thresholds)
    band, motion = plan.band_hz(float(found.facts["rate_hz"])), found.facts["motion_hz"]
    reason = (
        f"Torques and simulated columns are decimated by {plan.decimation}, which keeps the band up to "
        f"{band:.3g} Hz"
    )
    reason += (
        "." if motion is None else f" (99 % of the reference's acceleration lies below {motion:.3g} Hz)."
    )
    kept = {key: why for key, why in found.why.items() if key in (STILL_AXES, "speed_thresholds")}
    facts = {key: found.facts[key] for key in ("rate_hz", "speed_hz", "motion_hz")} | {"band_hz": band}
    return Suggestion(plan, {"decimation": reason, **kept}, facts)


def _simulated_motions(problem: LoopProblem, values: FloatArray) -> tuple[Motion, ...]:
    """Where the start is not known, the loop's transient is left out."""
    trim = transient(None, problem)
    model = LoopModel.of(problem, values)
    found = replay(problem, model, problem.controller, trim)
    if not found.outcome.trustworthy:
        raise NotTrustworthyError(f"The unseen motion cannot be simulated: {found.outcome.text}")
    return found.motions


def _pushed_robot(
    found: Validation, model: IdentifiedModel, logs: Sequence[Log], plan: Preparation
) -> tuple[Finding, ...]:
    """A note where a model fails along the simulated motion, but not along the measured one."""
    if found.trustworthy or not all("position" in log.channels for log in logs):
        return ()
    measured = validate(model, [prepare(log, plan) for log in logs], plan)
    if not measured.trustworthy:
        return ()
    return (
        Finding(
            Name.PUSHED_FROM_OUTSIDE,
            Level.NOTE,
            f"Along the measured positions the model misses only {measured.judged.overall_percent:.3g} % of "
            "the torque: the robot did not move as it was simulated. Something else pushed it, or law or "
            "reference are not those of the log; that is no sign against the parameters.",
        ),
    )


def _with_mismatch(verdict: Verdict, mismatches: Sequence[tuple[str, Finding]]) -> Verdict:
    """A verdict that says first that the law does not hold on some logs."""
    names = ", ".join(repr(name) for name, _ in mismatches)
    logs = f"log{'s' * (len(mismatches) > 1)} {names}"
    _, worst = mismatches[0]
    law = Finding(
        Name.CONTROL_LAW_MISMATCH,
        Level.CARE if verdict.trustworthy else Level.FAIL,
        f"The control law does not hold on validation {logs}, so a simulation under it proves nothing "
        f"about the parameters, good or bad. {worst.sentence}",
        worst.remedy,
    )
    sentence = f"The control law does not hold on {logs}, so this proves nothing. {verdict.sentence}"
    return Verdict(sentence, gravest_first((law, *verdict.findings)))
