"""The TX40 of P1 as a simulated experiment: physical arm, motion, law and noise of our own, and its study."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.base.find import base_of
from dynid.casestudies.haptic_runs import centred_log
from dynid.core.arrays import FloatArray
from dynid.core.executor import Executor, LocalExecutor, Progress, no_progress
from dynid.estimators.essential import Essential
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.linear.least_squares import OLS
from dynid.logs.log import Log
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.problem.build import build_problem
from dynid.resolution.request import SensorRequest
from dynid.resolution.resolution_study import ResolutionStudy
from dynid.simulation.controller import Controller, Velocity
from dynid.simulation.inertia import joint_inertias
from dynid.simulation.laws import Bandwidth
from dynid.simulation.sensors import Sensors
from dynid.simulation.simulation import simulate
from dynid.trajectories.point_to_point import PointToPoint
from dynid.trajectories.reference import Reference
from dynid.workflow.resolution import study_resolution

RATE_HZ, SECONDS, BANDWIDTH_HZ = 5000.0, 57.0, 15.0
POSES = 400
REACH = np.array([2.65, 2.0, 1.93, 1.71, 1.72, 1.58])
"""How far poses are drawn from the middle [rad]: joints 2 and 3 so far that gravity changes its sign, which
tells MX2R from the offset of joint 2."""
SPEEDS = np.radians([287.0, 287.0, 430.0, 410.0, 320.0, 700.0])
"""The arm's largest speeds [rad/s]."""
ACCELERATIONS = np.array([118.0, 44.0, 126.0, 83.0, 113.0, 136.0])
"""Chosen so that joint 1 has the rms of about 27 rad/s² that table 3 needs [rad/s²]."""
SENSORS = Sensors(resolution=np.radians(2e-4), torque_noise_relative=0.05)
"""P1's encoders, 2e-4 degrees per count, and torque noise of our own."""
PLAN = Preparation(cutoff_hz=50.0, order=4, decimation=40, drop_samples=300)
"""Both low-passes at 50 Hz, as P1 has them: 0.4 · 5000/40 = 50."""
PAPERS = OLS(uncertainty="classical")
MOTOR_FRICTION = {"Fvm6": 0.613, "Fcm6": 1.99}
"""Friction of the coupled wrist, assumed: from the fit of the measured log."""
RULES = ("sigma", "residual")


@cache
def robot() -> Robot:
    """The arm of the catalog with the friction of its coupled wrist."""
    arm = load_robot("tx40").with_terms("Ia", "Fv", "Fc", "off", "Fvm", "Fcm")
    return replace(arm, parameters={**arm.parameters, **MOTOR_FRICTION})


@cache
def base() -> BaseMap:
    """Its 60 base parameters."""
    return base_of(robot())


def truth() -> dict[str, float]:
    """The base parameters that are not zero: table 2, and those that are assumed, SI."""
    return base().own_values


def reference(rng: np.random.Generator) -> Reference:
    """Moves between drawn poses with phases of constant speed and large accelerations (P1 §4.1.1)."""
    poses = np.vstack([np.zeros(6), rng.uniform(-1.0, 1.0, (POSES, 6)) * REACH])
    whole = PointToPoint(poses, SPEEDS, ACCELERATIONS, cruise=0.36).sample(1.0 / RATE_HZ)
    n = int(SECONDS * RATE_HZ) + 1
    assert whole.qd is not None
    assert whole.qdd is not None
    return replace(whole, q=whole.q[:n], qd=whole.qd[:n], qdd=whole.qdd[:n])


def controller() -> Controller:
    """P0's PD law tuned for the arm, all axes alike."""
    law = Bandwidth((2 * np.pi * BANDWIDTH_HZ,) * 6)
    own = Controller(law, 1.0 / RATE_HZ, Velocity("exact"), posture=(0.0,) * 6)
    return own.scaled(joint_inertias(robot(), robot().table.vector(robot().parameters), own).tolist())


@dataclass(frozen=True, eq=False)
class Tx40Runs:
    """One experiment and everything that is found of it.

    Args:
        seed: of poses, noise and rounding.
    """

    seed: int

    @cached_property
    def log(self) -> Log:
        """57 s at 5 kHz."""
        rng = np.random.default_rng((self.seed, 40))
        path = reference(rng)
        return centred_log(simulate(robot(), None, controller(), path, sensors=SENSORS, rng=rng).log)

    @cached_property
    def full(self) -> Estimate:
        """All 60 base parameters."""
        return identify(build_problem(robot(), [prepare(self.log, PLAN)], PLAN, base()), PAPERS)

    @cached_property
    def essential(self) -> dict[str, Estimate]:
        """Essential parameters by rule."""
        return {rule: identify(self.full.problem, Essential(PAPERS, rule=rule)) for rule in RULES}

    def study(
        self,
        request: SensorRequest,
        executor: Executor = LocalExecutor(workers=None),  # noqa: B008 - frozen
        progress: Progress = no_progress,
    ) -> ResolutionStudy:
        """A study of the essential parameters by the 20 % rule, with P1's ordinary least squares."""
        return study_resolution(
            robot(), [self.log], request, strategy=PAPERS, plan=PLAN, executor=executor, progress=progress
        )[0]


def values_of(estimate: Estimate) -> dict[str, float]:
    """Values by name."""
    return dict(zip(estimate.names, estimate.values.tolist(), strict=True))


def attenuation(ratio: FloatArray) -> FloatArray:
    """κ = 1/ratio − 1."""
    return np.asarray(1.0 / ratio - 1.0, dtype=float)
