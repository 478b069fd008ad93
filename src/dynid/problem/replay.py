"""Simulated motions of a closed-loop problem for a set of parameters: what DIDIM, IV and OE share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.base.find import base_of
from dynid.compile.kernels import kernels
from dynid.core.arrays import FloatArray
from dynid.core.finding import FINE, Finding
from dynid.model.parameters import DRIVE_INERTIA
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.problem.closed_loop import LoopExperiment, LoopProblem, Memory
from dynid.simulation.batch import Batch
from dynid.simulation.controller import Controller
from dynid.simulation.inertia import joint_inertias, smallest_eigenvalue
from dynid.simulation.outcomes import (
    friction_too_stiff,
    judge_path,
    not_positive_definite,
    tolerance_not_reached,
)
from dynid.simulation.programs import STICK
from dynid.simulation.setup import MAX_SUBSTEPS, REST_WIDTH, Setup, loop_inputs, prepare_loop
from dynid.simulation.simulator import Paths
from dynid.simulation.substeps import integrate

_CHECKED = 200
"""Samples of a reference at which M(q) is looked at."""
STEADY = 0.005
"""Least eigenvalue of the scaled M(q) that is simulated as it is; real arms have more than 0.02."""
_FIRST_SHARE, _LAST_SHARE = 0.01, 1e4
"""First and last drive inertia that is added, as a share of what the controller was tuned for."""


@dataclass(frozen=True, eq=False)
class Replayed:
    """Simulated signals of all experiments at the logs' stamps.

    Args:
        motions: simulated q, q̇, q̈ with the measured torques.
        torques: simulated torques, per experiment (samples, coordinates).
        substeps: integration steps per sample used.
        outcome: the gravest of the simulations.
    """

    motions: tuple[Motion, ...]
    torques: tuple[FloatArray, ...]
    substeps: int
    outcome: Finding


@dataclass(frozen=True, eq=False)
class LoopModel:
    """A set of parameters a closed loop is simulated with.

    Args:
        robot: the robot they belong to; the regular start may have drive inertias the problem's has not.
        base: its base parameters.
        values: (base,).
        start: whether it is the regular start, which has nothing of the robot's inertia.
    """

    robot: Robot
    base: BaseMap
    values: FloatArray
    start: bool = False

    @classmethod
    def of(cls, problem: LoopProblem, values: FloatArray) -> LoopModel:
        """The problem's robot with base parameters (base,)."""
        return cls(problem.robot, problem.base, values)

    @cached_property
    def standard(self) -> FloatArray:
        """Standard parameters that move the same."""
        return self.base.expand(self.values)

    def with_drive_inertia(self, amounts: FloatArray) -> LoopModel:
        """The same model with more drive inertia on every coordinate [kg m² or kg]."""
        robot, base = _with_drives(self.robot)
        named = self.robot.table.mapping(self.standard)
        for j, amount in zip(robot.coordinates, amounts, strict=True):
            name = DRIVE_INERTIA + robot.joints[j].label
            named[name] = named.get(name, 0.0) + float(amount)
        return LoopModel(robot, base, base.regroup(named))


@lru_cache(maxsize=16)
def _with_drives(robot: Robot) -> tuple[Robot, BaseMap]:
    """The robot with drive inertias among its parameters, and its base."""
    terms = robot.terms if DRIVE_INERTIA in robot.terms else (*robot.terms, DRIVE_INERTIA)
    wider = robot.with_terms(*terms)
    return wider, base_of(wider)


def regular_start(problem: LoopProblem, inertias: FloatArray | None = None) -> LoopModel:
    """χ = 0 but for drive inertias of one, so that M(q) is the identity (P0 eq 61–62).

    A robot without drive inertias is given some: this start never depends on the order of its axes.

    Args:
        problem: the problem.
        inertias: other drive inertias than one, per coordinate.
    """
    n = problem.robot.n_coordinates
    nothing = LoopModel.of(problem, np.zeros(len(problem.base)))
    return replace(nothing.with_drive_inertia(np.ones(n) if inertias is None else inertias), start=True)


def supported_model(problem: LoopProblem, model: LoopModel) -> tuple[LoopModel, float]:
    """A model that can be simulated: as it is, or with drive inertia added until M(q) is well positive.

    While parameters are still far off, or where small ones are hardly seen, M(q) may lose its positive
    definiteness; the closed loop hides a little more inertia: the simulated motion stays near the real one.

    Returns:
        The model and what was added, as a share of each joint's own inertia; 0 when nothing was.
    """
    q = np.vstack([_rows(e.reference.q) for e in problem.experiments])
    M = kernels(model.robot).inertia_matrix(model.standard, q)
    if _steadiness(M) >= STEADY:
        return model, 0.0
    law = problem.controller.law
    known = law.damped_inertia() if law.tuned_inertia is None else np.array(law.tuned_inertia)
    # A joint whose inertia came out absurdly small gets at least half of what its controller reckons with.
    amounts = np.maximum(0.5 * known - np.einsum("kii->ki", M).min(axis=0), 0.0)
    M = M + np.diag(amounts)
    share = 0.0
    while share < _LAST_SHARE and _steadiness(M + share * np.diag(known)) < STEADY:
        share = max(2 * share, _FIRST_SHARE)
    amounts += share * known
    return model.with_drive_inertia(amounts), float(np.max(amounts / known))


def _steadiness(M: FloatArray) -> float:
    """Smallest eigenvalue of M_ij/√(M_ii M_jj): 1 for decoupled joints, 0 where M(q) is singular."""
    diagonal = np.einsum("kii->ki", M)
    if np.any(diagonal <= 0):
        return -1.0
    root = np.sqrt(diagonal)
    return float(np.linalg.eigvalsh(M / (root[:, :, None] * root[:, None, :]))[:, 0].min())


def _rows(q: FloatArray) -> FloatArray:
    return np.asarray(q[np.linspace(0, len(q) - 1, min(_CHECKED, len(q))).astype(int)], dtype=float)


def replay(
    problem: LoopProblem,
    model: LoopModel,
    controller: Controller,
    trim_s: float = 0.0,
    guess: int | None = None,
    *,
    checked: bool = True,
) -> Replayed:
    """Simulate every experiment with a model.

    Args:
        problem: experiments and accuracy.
        model: parameters to simulate with.
        controller: with the gains to simulate with.
        trim_s: seconds left out at the beginning of each experiment.
        guess: integration steps per sample to begin with, as those of the pass before.
        checked: whether their number is held against twice as many.
    """
    motions, torques = [], []
    worst, used = FINE, 0
    for experiment in problem.experiments:
        run = run_experiment(problem, experiment, model, controller, guess=guess, checked=checked)
        paths, outcome = run.paths, run.outcome
        if not outcome.trustworthy or paths is None:
            return Replayed((), (), run.substeps, outcome)
        worst, used = (outcome if worst == FINE else worst), max(used, run.substeps)
        motions.append(simulated_motion(problem, experiment, model, paths, trim_s))
        torques.append(paths.tau[0, experiment.samples[_after(experiment, trim_s)]])
    return Replayed(tuple(motions), tuple(torques), used, worst)


def _after(experiment: LoopExperiment, trim_s: float) -> NDArray[np.bool_]:
    return np.asarray(experiment.time >= experiment.time[0] + trim_s)


def simulated_motion(
    problem: LoopProblem, experiment: LoopExperiment, model: LoopModel, paths: Paths, trim_s: float
) -> Motion:
    """Simulated q, q̇, q̈ at the stamps of an experiment, with its measured torques."""
    keep = _after(experiment, trim_s)
    time, rows = experiment.time[keep], experiment.samples[keep]
    q, qd, qdd, tau = (getattr(paths, name)[0, rows] for name in ("q", "qd", "qdd", "tau"))
    if problem.accuracy.friction == STICK:
        qd = held_speeds(problem, model, q, qd, qdd, tau)
    rate = float(1.0 / np.median(np.diff(time)))
    return Motion(
        experiment.name,
        time,
        q,
        qd,
        qdd,
        experiment.tau[keep],
        rate,
        experiment.history,
        experiment.sources,
    )


def held_speeds(
    problem: LoopProblem,
    model: LoopModel,
    q: FloatArray,
    qd: FloatArray,
    qdd: FloatArray,
    tau: FloatArray,
) -> FloatArray:
    """Speeds that tell the friction of joints at rest: those at which a sign of tiny width gives its share.

    At rest Coulomb friction is what holds the joint, Fc s with s in [−1, 1], and not Fc sign(0). With up and
    down for the torques of either direction, s = (2 τ − up − down)/(up − down); the smooth sign
    c (3 − c²)/2 of c = q̇/w is s at c = 2 sin(arcsin(s)/3).
    """
    resting = np.abs(qd) < REST_WIDTH
    if not np.any(resting):
        return qd
    inverse = kernels(problem.accuracy.regressed_robot(model.robot)).inverse
    up, down = (
        inverse(model.standard, q, np.where(resting, side * REST_WIDTH, qd), qdd) for side in (1.0, -1.0)
    )
    band = up - down
    share = np.divide(2 * tau - up - down, band, out=np.zeros_like(band), where=np.abs(band) > 0)
    tiny = 2 * REST_WIDTH * np.sin(np.arcsin(np.clip(share, -1.0, 1.0)) / 3)
    return np.asarray(np.where(resting, tiny, qd), dtype=float)


@dataclass(frozen=True, eq=False)
class SimulatedRun:
    """One simulated experiment, and what is needed to run it again.

    Args:
        setup: the compiled loop with its numbers.
        state: where it starts, (states,).
        inputs: of every sample of the controller.
        substeps: integration steps per sample.
        paths: the signals; None when nothing could be simulated.
        outcome: how it ended.
    """

    setup: Setup
    state: FloatArray
    inputs: FloatArray
    substeps: int
    paths: Paths | None
    outcome: Finding


def run_experiment(
    problem: LoopProblem,
    experiment: LoopExperiment,
    model: LoopModel,
    controller: Controller,
    torque: FloatArray | None = None,
    guess: int | None = None,
    checked: bool = True,
) -> SimulatedRun:
    """Simulate one experiment with a model.

    Args:
        problem: its accuracy is used.
        experiment: reference and start.
        model: parameters to simulate with.
        controller: with the gains to simulate with.
        torque: torque from outside at every sample of the controller, as open loop needs.
        guess: integration steps per sample to begin with.
        checked: whether their number is held against twice as many.
    """
    setup = prepare_loop(
        model.robot, model.standard, controller, experiment.reference, problem.accuracy, model.base
    )
    r, state = setup.reference, start_state(setup, experiment)
    inputs = loop_inputs(setup, torque=torque)
    rows = np.linspace(0, r.samples - 1, min(_CHECKED, r.samples)).astype(int)
    value, where = smallest_eigenvalue(setup.robot, setup.standard, r.q[rows])
    if value <= 0:
        return SimulatedRun(
            setup, state, inputs, 0, None, not_positive_definite(value, float(r.time[rows[where]]))
        )
    done = integrate(Batch([setup], state[None], [inputs]), problem.accuracy, guess, checked=checked)[0]
    if done.paths is None:
        return SimulatedRun(setup, state, inputs, done.substeps, None, friction_too_stiff(MAX_SUBSTEPS))
    outcome = judge_path(setup.robot, setup.standard, done.paths.q[0], r, setup.robot.driven)
    if outcome == FINE and not done.reached:
        outcome = tolerance_not_reached(done.error, problem.accuracy.tolerance, done.substeps)
    return SimulatedRun(setup, state, inputs, done.substeps, done.paths, outcome)


def start_state(setup: Setup, experiment: LoopExperiment) -> FloatArray:
    """State vector at the first sample of the reference."""
    r = setup.reference
    assert r.qd is not None
    q, qd = (r.q[0], r.qd[0]) if experiment.start is None else experiment.start
    return _with_memory(setup, setup.simulator.start(q, qd, setup.controller), experiment.memory)


def _with_memory(setup: Setup, state: FloatArray, memory: Memory | None) -> FloatArray:
    """The state at the start with what the law remembers of the time before."""
    law = setup.controller.law
    if memory is None or not law.memory:
        return state
    first = memory_place(setup)
    return np.concatenate([state[:first], memory.values, state[first + law.memory :]])


def memory_place(setup: Setup) -> int:
    """Place of the law's own memory in the state vector, behind that of the speed estimate."""
    own = setup.controller.velocity.memory(setup.controller.axes)
    return setup.simulator.plan.sizes.plant + own


def inertias_of(model: LoopModel, controller: Controller) -> FloatArray:
    """J_j of a model by the controller's own rule."""
    return joint_inertias(model.robot, model.standard, controller)
