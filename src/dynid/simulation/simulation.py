"""The verbs: simulate a robot under a controller that follows a reference, once or many times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynid.base.base_map import BaseMap
from dynid.base.find import base_of
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.core.finding import FINE, Finding
from dynid.core.kinds import require_kinds
from dynid.logs.log import Log, Step
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.simulation.adaptive import run_adaptive
from dynid.simulation.added_torques import AddedTorque
from dynid.simulation.batch import Batch
from dynid.simulation.controller import Controller
from dynid.simulation.law import whole_number
from dynid.simulation.outcomes import (
    encoders_round,
    friction_too_stiff,
    judge_path,
    judge_tracking,
    reference_failure,
    tolerance_not_reached,
)
from dynid.simulation.sensors import Disturbances, Sensors
from dynid.simulation.setup import (
    DEFAULT,
    MAX_SUBSTEPS,
    NO_DISTURBANCES,
    NO_SENSORS,
    Accuracy,
    Parameters,
    Setup,
    Start,
    loop_inputs,
    prepare_loop,
    start_of,
)
from dynid.simulation.simulator import Paths
from dynid.simulation.substeps import Integrated, integrate, least_substeps
from dynid.trajectories.reference import Reference


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Signals of a closed loop at the controller's samples, (samples, coordinates) each.

    Args:
        log: position, torque and reference as sensors and controller give them.
        q: true positions [rad or m].
        qd: true speeds.
        qdd: true accelerations just after a torque was set.
        tau: torques of the controller.
        substeps: integration steps per sample.
        error: estimate of the integration error of q [rad or m].
        outcome: how it ended.
        tracking: whether the driven joints followed the reference.
    """

    log: Log
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray
    substeps: int
    error: float
    outcome: Finding
    tracking: Finding = FINE

    def __repr__(self) -> str:
        """Size, accuracy and outcome."""
        size = f"{self.log.samples} samples of {self.log.axes} axes, {self.log.duration:.4g} s"
        names = ", ".join(finding.name for finding in self.findings) or FINE.name
        return f"Simulation: {size}, integration error {self.error:.2g}, {names}"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What there is to say about it, gravest first; none when all is well."""
        told = [finding for finding in (self.outcome, self.tracking) if finding != FINE]
        return tuple(sorted(told, key=lambda finding: -finding.level))

    @property
    def motion(self) -> Motion:
        """The true motion with its torques, free of sensor errors."""
        return Motion(self.log.name, self.log.time, self.q, self.qd, self.qdd, self.tau, self.log.rate_hz)


Generator = np.random.Generator


def simulate(
    robot: Robot,
    parameters: Parameters,
    controller: Controller,
    reference: Reference,
    *,
    sensors: Sensors = NO_SENSORS,
    disturbances: Disturbances = NO_DISTURBANCES,
    accuracy: Accuracy = DEFAULT,
    rng: Generator | None = None,
    start: Start | None = None,
    torque: ArrayLike | None = None,
    added: Sequence[AddedTorque] = (),
    base: BaseMap | None = None,
    name: str = "simulation",
) -> Simulation:
    """Simulate the closed loop M(q) q̈ = τ(law) − N(q, q̇) + disturbances (P0 eq 21 and 53).

    A sampled controller is exact: it sees the state at its samples and its torque is held in between. A
    continuous one is integrated with an adaptive method.

    Args:
        robot: the robot.
        parameters: standard parameters by name or in table order; the robot's own when None.
        controller: law, clock and limits.
        reference: what to follow; taken at the controller's rate.
        sensors: encoders and torque sensing.
        disturbances: torques inside the loop.
        accuracy: friction model and integration.
        rng: source of noise; needed where there is any.
        start: q and q̇ at the beginning; those of the reference when None.
        torque: torque added from outside at every sample (samples, coordinates), as open loop needs.
        added: torques beside those of the parameters, as ``SavedResult.added_torques``.
        base: base parameters of the robot, found when None.
        name: of the log.

    Returns:
        The simulation; its outcome says when it diverged, lost M(q) > 0 or could not follow the friction.
    """
    require_kinds(simulate, locals())
    setup = prepare_loop(
        robot, parameters, controller, reference, accuracy, base, sensors, disturbances, added
    )
    inputs = loop_inputs(setup, disturbances, sensors, rng, torque)
    job = _Job(setup, inputs, start_of(setup.reference, start), sensors, rng, name)
    return _run_jobs([job], accuracy, 1)[0]


def simulate_many(
    robot: Robot,
    parameters: Sequence[Parameters],
    controller: Controller | Sequence[Controller],
    reference: Reference,
    *,
    sensors: Sensors = NO_SENSORS,
    disturbances: Disturbances = NO_DISTURBANCES,
    accuracy: Accuracy = DEFAULT,
    rng: Generator | None = None,
    start: Start | None = None,
    torque: ArrayLike | None = None,
    added: Sequence[AddedTorque] = (),
    base: BaseMap | None = None,
    threads: int = 1,
    name: str = "simulation",
) -> tuple[Simulation, ...]:
    """Simulate many parameter sets side by side, in the lanes of vector registers and in threads.

    Each result is what ``simulate`` gives for its parameters alone. Arguments are those of ``simulate`` but:

    Args:
        robot: the robot.
        parameters: one set per simulation.
        controller: one for all, or one per simulation.
        reference: the same for all.
        sensors: the same for all; noise is drawn anew for each.
        disturbances: likewise.
        accuracy: tolerance; each simulation takes the substeps it needs.
        rng: source of noise; each simulation gets a generator spawned from it.
        start: the same for all.
        torque: the same for all.
        base: base parameters of the robot, found when None.
        threads: how many share the simulations.
        name: logs are called name 1, name 2, …
    """
    controllers = [controller] * len(parameters) if isinstance(controller, Controller) else list(controller)
    if not parameters or len(controllers) != len(parameters):
        raise DynidError(
            f"There are {len(parameters)} parameter sets and {len(controllers)} controllers; give at least "
            "one set, and one controller for all or one per set."
        )
    workers = whole_number(threads)
    if workers is None or workers < 1:
        raise DynidError(f"threads is {threads!r}; give a whole number of at least 1.")
    found = base_of(robot) if base is None else base
    robot = accuracy.robot(robot)
    generators: list[Generator | None] = [None] * len(parameters)
    if rng is not None:
        generators = list(rng.spawn(len(parameters)))
    drawn = rng is not None or bool(np.any(np.asarray(disturbances.noise_relative) > 0))
    shared: dict[Any, FloatArray] = {}
    jobs = []
    for k, (values, own, source) in enumerate(zip(parameters, controllers, generators, strict=True)):
        setup = prepare_loop(robot, values, own, reference, accuracy, found, sensors, disturbances, added)
        same = k if drawn else (own.feedforward, own.sample_time)
        if same not in shared:
            shared[same] = loop_inputs(setup, disturbances, sensors, source, torque)
        begin = start_of(setup.reference, start)
        jobs.append(_Job(setup, shared[same], begin, sensors, source, f"{name} {k + 1}"))
    return tuple(_run_jobs(jobs, accuracy, workers))


@dataclass(frozen=True, eq=False)
class _Job:
    """One simulation to run."""

    setup: Setup
    inputs: FloatArray
    start: tuple[FloatArray, FloatArray]
    sensors: Sensors
    rng: Generator | None
    name: str

    def result(
        self,
        outcome: Finding,
        paths: Paths | None = None,
        row: int = 0,
        substeps: int = 0,
        error: float = np.nan,
    ) -> Simulation:
        """The result; NaN where nothing was simulated."""
        r, names = self.setup.reference, ("q", "qd", "qdd", "tau", "measured")
        if paths is None:
            signals = dict.fromkeys(names, np.full(r.q.shape, np.nan))
        else:
            signals = {k: getattr(paths, k)[row] for k in names}
        measured, torque = signals.pop("measured"), signals["tau"]
        logged = self.sensors.logged_torque(torque, self.rng) if outcome.trustworthy else torque
        step = Step("simulated", {"controller": self.setup.controller.to_dict(), "substeps": substeps})
        channels = {"position": measured, "torque": logged, "reference": r.q}
        log = Log(self.name, r.time, channels, history=(step,))
        tracking = FINE
        if outcome.trustworthy:
            tracking = judge_tracking(self.setup.robot, signals["q"], r, self.setup.follows)
        return Simulation(log, **signals, substeps=substeps, error=error, outcome=outcome, tracking=tracking)


def _run_jobs(jobs: Sequence[_Job], accuracy: Accuracy, threads: int) -> list[Simulation]:
    """Run jobs, those of one compiled loop together."""
    done: dict[int, Simulation] = {}
    groups: dict[str, list[int]] = {}
    for k, job in enumerate(jobs):
        setup = job.setup
        hindrance = reference_failure(setup.robot, setup.standard, setup.reference, setup.added_inertia)
        if hindrance is not None:
            done[k] = job.result(hindrance)
        elif setup.controller.sample_time is None:
            done[k] = _run_continuous(job, accuracy)
        else:
            groups.setdefault(f"{setup.simulator.plan.key} {setup.simulator.plan.sizes}", []).append(k)
    for members in groups.values():
        results = _run_sampled([jobs[k] for k in members], accuracy, threads)
        done |= dict(zip(members, results, strict=True))
    return [done[k] for k in range(len(jobs))]


def _run_continuous(job: _Job, accuracy: Accuracy) -> Simulation:
    setup = job.setup
    paths, outcome = run_adaptive(
        setup.simulator.plan, setup.vector, job.inputs, setup.step, *job.start, accuracy.tolerance
    )
    if outcome == FINE:
        outcome = _judge(job, paths.q[0], paths.tau[0])
    return job.result(outcome, paths, error=accuracy.tolerance)


def _run_sampled(jobs: Sequence[_Job], accuracy: Accuracy, threads: int) -> list[Simulation]:
    """Simulations of one compiled loop."""
    start = jobs[0].setup.simulator.start
    starts = np.array([start(*job.start, job.setup.controller) for job in jobs])
    batch = Batch([job.setup for job in jobs], starts, [job.inputs for job in jobs], threads)
    return [
        _judge_integration(job, done, accuracy)
        for job, done in zip(jobs, integrate(batch, accuracy), strict=True)
    ]


def _judge_integration(job: _Job, done: Integrated, accuracy: Accuracy) -> Simulation:
    """The result of an integration, judged."""
    if done.paths is None:
        return job.result(friction_too_stiff(MAX_SUBSTEPS))
    outcome, setup = _judge(job, done.paths.q[0], done.paths.tau[0]), job.setup
    if not done.reached and done.substeps < least_substeps(setup, accuracy):
        outcome = friction_too_stiff(done.substeps, given=True)  # a number that was chosen is never so small
    elif outcome == FINE and not done.reached:
        outcome = tolerance_not_reached(done.error, accuracy.tolerance, done.substeps)
    elif outcome == FINE and np.any(setup.encoder):
        outcome = encoders_round(float(np.abs(setup.encoder).sum(axis=1).max()))
    return job.result(outcome, done.paths, 0, done.substeps, done.error)


def _judge(job: _Job, q: FloatArray, tau: FloatArray) -> Finding:
    s = job.setup
    return judge_path(s.robot, s.standard, q, s.reference, s.follows, tau, s.added_inertia)
