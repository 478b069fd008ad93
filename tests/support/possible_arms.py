"""Random robots that can exist, with a short log of each and another motion to try a fit on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.compile.kernels import kernels
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem import build_problem
from dynid.problem.problem import Problem
from population.motions import draw_path
from population.robots import draw_bodies, draw_robot, generator

Array = NDArray[np.float64]
RATE_HZ = 200.0


@dataclass(frozen=True, eq=False)
class PossibleArm:
    """A robot with its truth.

    Args:
        robot: as its file has it, without values.
        truth: standard parameters by name.
        problem: of one short log with noise on its torques.
        unseen: another motion, with exact torques.
    """

    robot: Robot
    truth: dict[str, float]
    problem: Problem
    unseen: Motion

    @property
    def base_truth(self) -> Array:
        """The true base parameters."""
        return self.problem.base.regroup(self.truth)

    def error(self, values: Array) -> float:
        """‖τ − τ̂‖ / ‖τ‖ of base parameters along the unseen motion."""
        W = kernels(self.robot, self.problem.base.columns).regressor(*self.unseen.states)
        tau = np.asarray(self.unseen.tau)
        return float(np.linalg.norm(W @ values - tau) / np.linalg.norm(tau))


def draw_arm(
    half: str, number: int, *, speed: float = 0.8, noise: float = 0.03, seconds: float = 4.0
) -> PossibleArm:
    """Robot ``number`` of a half, with bodies, friction, motion and noise of its own.

    Args:
        half: "setting" or "showing".
        number: of the case.
        speed: rms speed of the log [rad/s].
        noise: standard deviation of the torque's error as a share of its rms.
        seconds: of the log.
    """
    rng = generator(half, 12, number)
    robot = replace(draw_robot(half, number % 24).robot.with_drives(None), parameters={})
    truth = draw_bodies(robot, rng)
    n = robot.n_coordinates
    table = robot.table
    size = {"Ia": 0.2, "Fv": 1.0, "Fc": 1.0, "off": 0.3}
    truth |= {e.name: size[e.symbol] * rng.uniform(0.1, 1.0) for e in table if e.symbol in size}
    path = draw_path(robot, "fourier", speed, seconds, rng)
    time = np.arange(0, seconds, 1 / RATE_HZ)
    states = path.at(time)
    compiled, vector = kernels(robot), table.vector(truth)
    tau = compiled.inverse(vector, *states)
    error = noise * np.sqrt(np.mean(tau**2, axis=0)) * rng.standard_normal((len(time), n))
    motion = Motion("log", time, *states, tau + error, rate_hz=RATE_HZ)
    later = np.arange(0, 10.0, 1 / RATE_HZ)
    other = draw_path(robot, "fourier", 1.0, 10.0, rng).at(later)
    unseen = Motion("unseen", later, *other, compiled.inverse(vector, *other), rate_hz=RATE_HZ)
    return PossibleArm(robot, truth, build_problem(robot, [motion], Preparation()), unseen)
