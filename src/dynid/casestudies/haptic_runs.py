"""The haptic arm of P1 as simulated experiments: table 6 as truth, law, motions, noise, all estimates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.base.find import base_of
from dynid.compile.kernels import kernels
from dynid.core.arrays import FloatArray
from dynid.estimators.essential import Essential
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.linear.least_squares import WLS
from dynid.logs.log import Log
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.problem.build import build_problem
from dynid.problem.problem import Problem
from dynid.simulation.controller import Controller, Velocity
from dynid.simulation.inertia import joint_inertias
from dynid.simulation.laws import Bandwidth
from dynid.simulation.sensors import Sensors
from dynid.simulation.simulation import simulate
from dynid.trajectories.reference import Reference
from dynid.trajectories.sines import Sines
from dynid.trajectories.triangles import Triangles

RATE_HZ = 1000.0
MIDDLE = (0.0, 0.0, np.pi / 2)
"""q1, q2, q5 in the middle of both motions, farthest from q5 = q2 [rad]."""
TRIANGLES = Triangles(np.array([0.8, 0.6, 0.6]), (7, 9, 11), 100.0, np.array(MIDDLE))
"""Speeds of about 0.25 rad/s, of different periods."""
AMPLITUDES = ((0.8, 0.4, 0.15), (0.35, 0.25, 0.1), (0.35, 0.25, 0.08))
FREQUENCIES_HZ = ((0.11, 0.53, 1.9), (0.17, 0.71, 2.3), (0.23, 0.97, 2.9))
SINES_S = 114.0
BANDWIDTH_HZ = 5.0
SENSORS = Sensors(resolution=2 * np.pi / 4000, torque_noise_relative=0.03)
"""P1's encoders, 4000 counts per revolution, taken on the joint side, and torque noise of our own."""
PRINTED_HZ, CUTOFF_HZ = 10.0, 20.0
"""Cut-off of the positions as printed, and ours: where Coulomb friction turns, speeds have corners."""
DECIMATION = 40
"""Low-pass of the rows at 0.4 · 1000/40 = 10 Hz, as printed."""
RULES = ("sigma", "residual")


@cache
def robot() -> Robot:
    """The arm of the catalog."""
    return load_robot("haptic")


@cache
def base() -> BaseMap:
    """Its 30 base parameters."""
    return base_of(robot())


def truth() -> dict[str, float]:
    """The base parameters that are not zero: table 6, SI."""
    return base().own_values


def controller() -> Controller:
    """P0's PD law tuned for the arm, all axes alike."""
    law = Bandwidth((2 * np.pi * BANDWIDTH_HZ,) * 3)
    own = Controller(law, 1.0 / RATE_HZ, Velocity("exact"), posture=MIDDLE)
    inertias = joint_inertias(robot(), robot().table.vector(robot().parameters), own)
    return own.scaled(inertias.tolist())


def references(rng: np.random.Generator) -> tuple[Reference, Reference]:
    """Triangles at constant low speed, and sines of various frequencies with phases drawn (P1 §4.2)."""
    phases = tuple(tuple(row) for row in rng.uniform(0.0, 2 * np.pi, (3, 3)).tolist())
    sines = Sines(AMPLITUDES, FREQUENCIES_HZ, phases, MIDDLE)
    return TRIANGLES.sample(1.0 / RATE_HZ), sines.sample(1.0 / RATE_HZ, SINES_S)


def centred_log(log: Log) -> Log:
    """Each torque as the mean of those held before and after its sample.

    A torque that is held until the next sample belongs to the middle of that time; taken for its beginning,
    half a sample is lost and shows as viscous friction.
    """
    held = log.array("torque")
    torque = (held[:-1] + held[1:]) / 2
    return Log(log.name, log.time[1:], {"position": log.array("position")[1:], "torque": torque})


def plan(cutoff_hz: float) -> Preparation:
    """Filter and decimation; 0.2 s are dropped at both ends, where a zero-phase filter knows one side."""
    return Preparation(cutoff_hz=cutoff_hz, order=4, drop_samples=200, decimation=DECIMATION)


@dataclass(frozen=True, eq=False)
class HapticRuns:
    """Experiments and estimates of one seed.

    Args:
        seed: of phases and noise.
    """

    seed: int

    @cached_property
    def logs(self) -> tuple[Log, ...]:
        """Triangles, then sines."""
        rng = np.random.default_rng(self.seed)
        law = controller()
        return tuple(
            centred_log(simulate(robot(), None, law, reference, sensors=SENSORS, rng=rng, name=name).log)
            for name, reference in zip(("triangles", "sines"), references(rng), strict=True)
        )

    def motions(self, cutoff_hz: float = CUTOFF_HZ) -> list[Motion]:
        """Both logs, filtered and differentiated."""
        return [prepare(log, plan(cutoff_hz)) for log in self.logs]

    def problem(self, cutoff_hz: float = CUTOFF_HZ) -> Problem:
        """Both logs as one problem."""
        return build_problem(robot(), self.motions(cutoff_hz), plan(cutoff_hz))

    @cached_property
    def full(self) -> Estimate:
        """All 30 base parameters."""
        return identify(self.problem(), WLS(uncertainty="classical"))

    @cached_property
    def essential(self) -> dict[str, Estimate]:
        """Essential parameters by rule."""
        problem = self.problem()
        return {rule: identify(problem, Essential(WLS(uncertainty="classical"), rule=rule)) for rule in RULES}

    @cached_property
    def as_printed(self) -> Estimate:
        """Essential parameters by the 20 % rule with positions filtered at 10 Hz."""
        return identify(self.problem(PRINTED_HZ), Essential(WLS(uncertainty="classical")))

    def predicted_torque(self, motion: Motion, rule: str = RULES[0]) -> FloatArray:
        """Torques of the essential parameters along a motion, (samples, coordinates) [N m]."""
        W = kernels(robot(), base().columns).regressor(*(np.asarray(signal) for signal in motion.states))
        return np.asarray(W @ self.essential[rule].values, dtype=float)


def kept_names(estimate: Estimate) -> set[str]:
    """Parameters that were kept."""
    return {name for name, kept in zip(estimate.names, estimate.kept, strict=True) if kept}


def deviations(estimate: Estimate) -> dict[str, float]:
    """|estimate/truth − 1| of the 14 parameters of table 6."""
    values = dict(zip(estimate.names, estimate.values.tolist(), strict=True))
    return {name: abs(values[name] / true - 1.0) for name, true in truth().items()}
