"""Small closed-loop problems of the SCARA with known truth, and the strategies that solve them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dynid.base import BaseMap, find_base
from dynid.estimators import DIDIM, IV, OLS, OutputError
from dynid.estimators.closed_loop.strategy import LoopStrategy
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.problem import LoopProblem, build_loop_problem
from dynid.simulation import Accuracy, Bandwidth, Controller, Reference, Simulation, Sines, Velocity, simulate
from dynid.simulation.inertia import joint_inertias

Array = NDArray[np.float64]
PERIOD = 5e-3
PLAN = Preparation(decimation=4)
ACCURACY = Accuracy(substeps=8)
"""One integration for the robot and its model: without noise the truth must come back to rounding."""


@cache
def scara() -> tuple[BaseMap, Array]:
    """The SCARA and its true base parameters."""
    robot = load_robot("scara")
    base = find_base(robot)
    return base, base.regroup(robot.parameters)


@cache
def controller(velocity: str = "exact") -> Controller:
    """P0's law at 5 and 10 Hz, tuned for the robot."""
    robot = scara()[0].robot
    law = Controller(Bandwidth((10 * np.pi, 20 * np.pi)), PERIOD, Velocity(velocity), posture=(0.0, 0.0))
    return law.scaled(tuple(joint_inertias(robot, robot.table.vector(robot.parameters), law)))


def reference(seed: int, duration: float = 10.0) -> Reference:
    """The reference of an experiment."""
    phases = tuple(map(tuple, np.random.default_rng(seed).uniform(0, 2 * np.pi, (2, 2)).tolist()))
    return Sines(((1.0, 0.5), (0.8, 0.4)), ((0.2, 0.5), (0.3, 0.8)), phases).sample(PERIOD, duration)


@cache
def simulated(seed: int, duration: float = 10.0, velocity: str = "exact") -> Simulation:
    """An experiment with random phases and without any noise."""
    return simulate(
        scara()[0].robot,
        None,
        controller(velocity),
        reference(seed, duration),
        accuracy=ACCURACY,
        name=f"experiment {seed}",
    )


@dataclass(frozen=True)
class Noise:
    """White errors: of torques (share), positions [rad], and of the motion's accelerations (share).

    The errors are added to what was simulated; the loop itself is undisturbed.
    """

    torque: float = 0.0
    position: float = 0.0
    motion: float = 0.0
    seed: int = 0


QUIET = Noise()


def problem(
    noise: Noise = QUIET,
    seeds: tuple[int, ...] = (1, 2),
    plan: Preparation = PLAN,
    duration: float = 10.0,
    velocity: str = "exact",
    starts: bool = False,
) -> LoopProblem:
    """Experiments as a closed-loop problem with everything any strategy needs."""
    runs = [simulated(seed, duration, velocity) for seed in seeds]
    logs, motions, references = [], [], []
    for seed, run in zip(seeds, runs, strict=True):
        rng = np.random.default_rng((noise.seed, seed))
        white = [rng.standard_normal(run.q.shape) for _ in range(5)]
        torque = run.tau + noise.torque * run.tau.std(axis=0) * white[0]
        position = run.q + noise.position * white[1]
        logs.append(replace(run.log, channels={**run.log.channels, "torque": torque, "position": position}))
        moved = {
            name: signal + noise.motion * share * signal.std(axis=0) * error
            for name, signal, share, error in (
                ("q", run.q, 1e-4, white[2]),
                ("qd", run.qd, 1e-4, white[3]),
                ("qdd", run.qdd, 1.0, white[4]),
            )
        }
        motions.append(replace(run.motion, tau=torque, **moved))
        references.append(reference(seed, duration))
    given = [(r.q[0], r.qd[0]) for r in references] if starts else None
    base = scara()[0]
    return build_loop_problem(
        base.robot,
        logs,
        controller(velocity),
        references,
        plan,
        motions=motions,
        starts=given,
        accuracy=ACCURACY,
        base=base,
    )


@dataclass(frozen=True)
class Case:
    """A strategy, its kind of noise, and how near the truth it comes without any."""

    strategy: LoopStrategy
    noise: Noise
    exact: float
    starts: bool = False

    def problem(self, noisy: bool = False, **options: object) -> LoopProblem:
        """The problem of this case."""
        return problem(self.noise if noisy else QUIET, starts=self.starts, **options)  # type: ignore[arg-type]


TORQUE = Noise(torque=0.02)
MOTION = Noise(torque=0.02, motion=0.2)
POSITION = Noise(torque=0.02, position=4e-5)
CASES = {
    "didim": Case(DIDIM(), TORQUE, 5e-3),
    "didim-ols": Case(DIDIM(step=OLS()), TORQUE, 5e-3),
    "iv-model": Case(IV(), MOTION, 1e-7),
    "iv-ols": Case(IV(step=OLS()), MOTION, 1e-7),
    "iv-reference": Case(IV(instruments="reference"), MOTION, 1e-7),
    "iv-both": Case(IV(instruments="both"), MOTION, 1e-7),
    "oe": Case(OutputError(), POSITION, 1e-6),
    "oe-ols": Case(OutputError(step=OLS()), POSITION, 1e-6),
    "oe-open": Case(OutputError(open_loop=True), Noise(position=4e-5), 1e-5, starts=True),
}
