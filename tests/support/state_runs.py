"""Simulated motions with noise of encoders and torques, run through a filter on state and parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dynid.base import BaseMap, find_base
from dynid.estimators.recursive.joint_state import AugmentedModel
from dynid.estimators.recursive.kalman import EKF
from dynid.estimators.recursive.prior import ParameterPrior
from dynid.estimators.recursive.state_filter import StateFilter, StateNoise
from dynid.estimators.recursive.unscented import UKF
from dynid.model.joint import Joint
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.simulation import Accuracy, Bandwidth, Controller, Sines, Velocity, simulate
from dynid.simulation.inertia import joint_inertias
from support.robots import with_random_inertias

Array = NDArray[np.float64]
WIDTH = 0.01


def random_arm(axes: int, seed: int) -> Robot:
    """Revolute axes of any direction with a random body on each and drive inertias."""
    rng = np.random.default_rng(seed)
    joints = tuple(
        Joint(
            f"joint{i + 1}",
            i - 1,
            **{name: float(rng.uniform(-3, 3)) for name in ("alpha", "theta")},
            **{name: float(rng.uniform(-0.3, 0.3)) for name in ("d", "r")},
        )
        for i in range(axes)
    )
    return with_random_inertias(Robot("arm", joints), rng)


@dataclass(frozen=True, eq=False)
class StateRun:
    """A motion without noise, and the model that follows it.

    Args:
        model: of the filters.
        truth: base values.
        q: positions, (samples, axes).
        tau: torques, held from each sample on.
        period: [s].
    """

    model: AugmentedModel
    truth: Array
    q: Array
    tau: Array
    period: float

    @property
    def torque_size(self) -> Array:
        """RMS torque of each axis."""
        return np.sqrt(np.mean(self.tau**2, axis=0))

    def filtered(
        self,
        method: EKF | UKF,
        seed: int,
        position: float = 1e-5,
        share: float = 0.02,
        off: float = 0.5,
        samples: int | None = None,
    ) -> StateFilter:
        """A filter behind noisy sensors, from a start up to ``off`` of each value away.

        Args:
            method: which filter.
            seed: of noise and start.
            position: noise of encoders [rad or m].
            share: noise of torques over their RMS.
            off: largest relative error of the start, and its σ.
            samples: how many; all when None.
        """
        rng = np.random.default_rng(seed)
        sigma = share * self.torque_size
        q = self.q + position * rng.normal(size=self.q.shape)
        tau = self.tau + sigma * rng.normal(size=self.tau.shape)
        size = np.maximum(np.abs(self.truth), 0.02 * np.abs(self.truth).max())
        start = self.truth + off * size * rng.uniform(-1, 1, len(self.truth))
        run = method.start(self.model, StateNoise(position, sigma), ParameterPrior(start, off * size))
        for k in range(len(q) if samples is None else samples):
            run.update(k * self.period, q[k], tau[k])
        return run

    def pulls(self, method: EKF | UKF, seed: int, **noise: float) -> Array:
        """(χ̂ − χ)/σ at the end."""
        run = self.filtered(method, seed, **noise)  # type: ignore[arg-type]
        return (run.values - self.truth) / run.sigma()


@cache
def state_run(name: str, seconds: float = 2.0, period: float = 1e-3, axes: int = 0) -> StateRun:
    """A motion of a catalog robot, or of a random arm when ``axes`` are given."""
    robot = random_arm(axes, int(name)) if axes else load_robot(name)
    base: BaseMap = find_base(robot)
    n = robot.n_coordinates
    law = Controller(Bandwidth((10 * np.pi,) * n), period, Velocity("exact"))
    standard = robot.table.vector(robot.parameters)
    law = law.scaled(tuple(joint_inertias(robot, standard, law)))
    phases = tuple(map(tuple, np.random.default_rng(0).uniform(0, 2 * np.pi, (n, 2)).tolist()))
    rates = tuple((0.4 * (1 + 0.3 * j), 0.9 * (1 - 0.2 * j)) for j in range(n))
    size = 0.2 if name == "emps" else 1.0
    reference = Sines(((size, 0.5 * size),) * n, rates, phases).sample(period, seconds)
    found = simulate(robot, None, law, reference, accuracy=Accuracy(width=WIDTH, tolerance=1e-9), base=base)
    assert found.outcome.trustworthy, found.outcome.text
    return StateRun(AugmentedModel(base, WIDTH), base.regroup(robot.parameters), found.q, found.tau, period)
