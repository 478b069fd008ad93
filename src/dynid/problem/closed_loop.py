"""Closed-loop problems: torques, references and the controller, for methods that simulate the robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid.base.base_map import BaseMap
from dynid.base.find import base_of
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.logs.log import Log, Source, Step
from dynid.model.robot import Robot
from dynid.preparation.derivative import DIFFERENCE_POINTS, central_difference
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem.build import build_problem
from dynid.problem.loop_clock import LOOP_CLOCK, log_samples, nearest_samples, on_controller_clock
from dynid.problem.problem import Problem
from dynid.simulation.controller import Controller
from dynid.simulation.reference import reference_of_log
from dynid.simulation.setup import Accuracy
from dynid.trajectories.reference import Reference

_ROUNDING = 1e-5
"""Relative difference up to which accelerations are central differences of the speeds."""


@dataclass(frozen=True, eq=False)
class Memory:
    """What a law remembers, such as integrals, and how sure that is.

    Args:
        values: (memory,).
        covariance: (memory, memory).
    """

    values: FloatArray
    covariance: FloatArray


@dataclass(frozen=True, eq=False)
class LoopExperiment:
    """One experiment under a known controller.

    Args:
        name: of the experiment.
        time: stamps of the log [s], (samples,).
        tau: torques, joint side (samples, coordinates) [N m or N].
        reference: what the controller followed, at its own rate.
        samples: number of the controller's sample that belongs to each stamp, (samples,).
        position: measured positions, joint side, as they are; None when unknown.
        start: q and q̇ at the first sample of the reference; those of the reference when None.
        memory: what the law remembers there, such as integrals; zeros when None.
        motion: the prepared measured motion, for methods that use it; None when there is none.
        sources: files it came from.
        history: what was done to the log.
    """

    name: str
    time: FloatArray
    tau: FloatArray
    reference: Reference
    samples: NDArray[np.int64]
    position: FloatArray | None = None
    start: tuple[FloatArray, FloatArray] | None = None
    memory: Memory | None = None
    motion: Motion | None = None
    sources: tuple[Source, ...] = ()
    history: tuple[Step, ...] = ()


@dataclass(frozen=True, eq=False)
class LoopProblem:
    """What closed-loop estimators solve; built by ``build_loop_problem``.

    Args:
        robot: the robot.
        base: its base parameters.
        controller: the law the robot ran under.
        experiments: what was recorded.
        plan: decimation, masks and convention of the linear step.
        accuracy: friction model and integration of the simulation.
    """

    robot: Robot
    base: BaseMap
    controller: Controller
    experiments: tuple[LoopExperiment, ...]
    plan: Preparation
    accuracy: Accuracy = field(default_factory=Accuracy)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters."""
        return self.base.names

    def linear(self, motions: Sequence[Motion], *, masked: bool = True) -> Problem:
        """The linear problem of motions; the sign of friction is as smooth as in the simulation.

        Args:
            motions: measured or simulated, with the measured torques.
            masked: leave out rows at low speed, as the plan says.
        """
        plan = self.plan if masked else replace(self.plan, speed_thresholds=())
        return build_problem(self.accuracy.regressed_robot(self.robot), motions, plan, self.base)


def build_loop_problem(
    robot: Robot,
    logs: Sequence[Log],
    controller: Controller,
    references: Sequence[Reference] | None = None,
    plan: Preparation | None = None,
    *,
    motions: Sequence[Motion] | None = None,
    starts: Sequence[tuple[ArrayLike, ArrayLike] | None] | None = None,
    accuracy: Accuracy | None = None,
    base: BaseMap | None = None,
) -> LoopProblem:
    """A closed-loop problem from logs of torques.

    Args:
        robot: the robot.
        logs: experiments, joint side; only torques are needed, positions serve output error.
        controller: the law the robot ran under.
        references: one per log; the logs' own reference channels when None.
        plan: decimation and masks of the linear step.
        motions: prepared measured motions, one per log, for instrumental variables.
        starts: q and q̇ at the first sample of each reference; the reference's own when None.
        accuracy: friction model and integration.
        base: base parameters; found when None.
    """
    controller.check_robot(robot)
    if controller.sample_time is None:
        raise DynidError(
            "A continuous law cannot be simulated as often as an estimator needs; give the controller the "
            "sample time it runs at."
        )
    if not logs:
        raise DynidError("There is no log to fit; give at least one.")
    T = controller.sample_time
    given = [reference_of_log(log, T) for log in logs] if references is None else list(references)
    for what, things in (("references", given), ("motions", motions), ("starts", starts)):
        if things is not None and len(things) != len(logs):
            raise DynidError(f"{len(things)} {what} were given for {len(logs)} logs; give one each.")
    plan, experiments = Preparation() if plan is None else plan, []
    for k, (log, reference) in enumerate(zip(logs, given, strict=True)):
        own = _experiment(robot, log, reference.resampled(T), plan)
        own = own if motions is None else replace(own, motion=motions[k])
        experiments.append(own if starts is None else replace(own, start=_start(robot, starts[k])))
    return LoopProblem(
        robot,
        base_of(robot) if base is None else base,
        controller,
        tuple(experiments),
        plan,
        Accuracy() if accuracy is None else accuracy,
    )


def _experiment(robot: Robot, log: Log, reference: Reference, plan: Preparation) -> LoopExperiment:
    if "torque" not in log.channels:
        raise DynidError(
            f"Log {log.name!r} has no torque channel (it has {', '.join(sorted(log.channels))}); closed-loop "
            "methods compare torques, so map the torque columns."
        )
    if log.axes != robot.n_coordinates:
        raise DynidError(
            f"Log {log.name!r} has {log.axes} axes, but robot {robot.name!r} has {robot.n_coordinates}."
        )
    reference.check_robot(robot)
    log, at = on_controller_clock(log, reference, plan)
    return LoopExperiment(
        log.name,
        log.time,
        log.array("torque"),
        at,
        log_samples(log, at),
        log.array("position") if "position" in log.channels else None,
        sources=log.sources,
        history=log.history,
    )


def _start(robot: Robot, start: tuple[ArrayLike, ArrayLike] | None) -> tuple[FloatArray, FloatArray] | None:
    if start is None:
        return None
    q, qd = (np.asarray(part, dtype=float) for part in start)
    if q.shape != (robot.n_coordinates,) or qd.shape != q.shape or not np.all(np.isfinite([q, qd])):
        raise DynidError(
            f"A start has shapes {q.shape} and {qd.shape}; give finite positions and speeds "
            f"({robot.n_coordinates},)."
        )
    return q, qd


def at_motions(problem: LoopProblem, owner: str) -> LoopProblem:
    """The problem with experiments at the stamps of their prepared motions, as instruments need them.

    Central differences at the controller's own rate get centred torques: it holds each torque until its
    next sample.

    Args:
        problem: its experiments may have been trimmed by the preparation.
        owner: who needs motions, for the message.
    """
    return replace(problem, experiments=tuple(_at_motion(e, owner) for e in problem.experiments))


def _at_motion(experiment: LoopExperiment, owner: str) -> LoopExperiment:
    motion = experiment.motion
    if motion is None:
        raise DynidError(
            f"{owner} needs the measured motion of experiment {experiment.name!r}; DIDIM does not. Prepare "
            "its positions and give build_loop_problem the motions, or use DIDIM."
        )
    reference = experiment.reference
    remedy = f"prepare it at {1 / reference.sample_time:.6g} Hz or a whole fraction of that"
    samples = nearest_samples(f"motion {motion.name!r}", motion.time, reference, remedy)
    if np.all(np.diff(samples) == 1):
        motion = with_held_torques(motion, reference.sample_time)
    return replace(
        experiment,
        time=motion.time,
        tau=np.asarray(motion.tau),
        samples=samples,
        position=np.asarray(motion.q),
        motion=motion,
    )


def with_held_torques(motion: Motion, sample_time: float) -> Motion:
    """The motion with centred torques where it has central differences at the controller's own rate.

    Args:
        motion: a prepared measured motion.
        sample_time: of the controller, which holds each torque until its next sample [s].
    """
    at_its_rate = abs(motion.rate_hz * sample_time - 1.0) < LOOP_CLOCK.same
    return centred_torques(motion) if at_its_rate and _has_central_differences(motion) else motion


def _has_central_differences(motion: Motion) -> bool:
    """Whether accelerations are central differences of the speeds, and not those of a sample's beginning."""
    for points in DIFFERENCE_POINTS:
        if motion.samples <= 2 * points:
            continue
        inner = slice(points // 2, -(points // 2))
        expected = central_difference(np.asarray(motion.qd), motion.rate_hz, points)[inner]
        off = np.linalg.norm(motion.qdd[inner] - expected)
        if off <= _ROUNDING * np.linalg.norm(expected):
            return True
    return False


def reference_motions(problem: LoopProblem) -> tuple[Motion, ...]:
    """References at the experiments' stamps as if the robot followed them exactly, with measured torques."""
    found = []
    for e in problem.experiments:
        r = e.reference
        assert r.qd is not None
        assert r.qdd is not None
        rate = float(1.0 / np.median(np.diff(e.time)))
        found.append(Motion(e.name, e.time, r.q[e.samples], r.qd[e.samples], r.qdd[e.samples], e.tau, rate))
    return tuple(found)


def centred_torques(motion: Motion) -> Motion:
    """The motion with torques (τ_{k−1} + τ_k)/2: a central difference at k spans both samples they are held.

    Without it a sampled controller's torque comes half a sample before the motion it belongs to, which ends
    up in Fv. Only for motions at the controller's own rate.
    """
    given = np.asarray(motion.tau)
    tau = given.copy()
    tau[1:] = (given[1:] + given[:-1]) / 2
    return replace(motion, tau=tau)
