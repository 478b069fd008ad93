"""The SCARA of P0 as simulated experiments: truth, loop, references, noise, and all estimates of a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dynid.base.find import base_of
from dynid.core.arrays import FloatArray
from dynid.estimators.closed_loop.didim import DIDIM
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
from dynid.problem.closed_loop import LoopProblem, build_loop_problem
from dynid.simulation.controller import Controller, Velocity
from dynid.simulation.inertia import joint_inertias
from dynid.simulation.laws import Bandwidth
from dynid.simulation.sensors import Disturbances, Sensors
from dynid.simulation.simulation import Simulation, simulate
from dynid.trajectories.reference import Reference
from dynid.trajectories.sines import Sines

NAMES = ("ZZ1R", "Fv1", "Fc1", "ZZ2R", "LMX2", "LMY2", "Fv2", "Fc2")
"""The paper's parameters (eq 64), in the order of dynid's base parameters."""
AMPLITUDES, FREQUENCIES_HZ = ((2.0, 1.0), (0.8, 0.4)), ((0.08, 0.15), (0.11, 0.3))
HERTZ = (1.0, 10.0)
RATE_HZ = 200.0
CUTOFF_HZ, DECIMATION = 20.0, 20
ENDS = 100
"""Samples dropped at both ends of filtered positions, where a zero-phase filter knows only one side."""
FOLLOW = "always"
SLOW = 400
"""One sample of 400 at 200 Hz: the 0.5 Hz of section C."""


@dataclass(frozen=True)
class Noise:
    """What disturbs an experiment.

    Args:
        encoder: rms of the measured positions [rad].
        disturbance: torque inside the loop as a share of the rms torque along the reference.
        torque: noise of the logged torque as a share of its rms.
    """

    encoder: float = 4e-5
    disturbance: float = 0.025
    torque: float = 0.05


FULL, WHITE, NONE = Noise(), Noise(0.0, 0.0), Noise(0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class ScaraExperiment:
    """A simulated experiment and what is known about it.

    Args:
        robot: the robot.
        controller: the law it truly ran under.
        reference: what it followed.
        simulation: what happened and what was logged.
    """

    robot: Robot
    controller: Controller
    reference: Reference
    simulation: Simulation

    @property
    def log(self) -> Log:
        """Positions, torques and references as logged."""
        return self.simulation.log


def truth() -> FloatArray:
    """The paper's eight parameters (table 2), SI."""
    robot = load_robot("scara")
    return paper_units(base_of(robot).regroup(robot.parameters), robot)


def paper_units(values: FloatArray, robot: Robot | None = None) -> FloatArray:
    """Base parameters as the paper gives them: LMX2 and LMY2 are L times the first moments."""
    length = (load_robot("scara") if robot is None else robot).lengths["L"]
    scale = np.array([length if name.startswith("LM") else 1.0 for name in NAMES])
    return np.asarray(values * scale, dtype=float)


def sines(rng: np.random.Generator, duration: float, rate_hz: float = RATE_HZ) -> Reference:
    """References without holds, phases drawn."""
    phases = tuple(tuple(row) for row in rng.uniform(0.0, 2 * np.pi, (2, 2)).tolist())
    return Sines(AMPLITUDES, FREQUENCIES_HZ, phases).sample(1.0 / rate_hz, duration)


def loop(robot: Robot, frequencies: Sequence[float], sample_time: float) -> Controller:
    """P0's PD law (eq 53, 57, ζ = 1) tuned for the robot: J1 = ZZ1R + ZZ2R + 2 LMX2, J2 = ZZ2R.

    Args:
        robot: the robot.
        frequencies: ω_n per axis [rad/s].
        sample_time: of control [s].
    """
    # J1 is M11 at q2 = 0. The law uses q̇ itself: the paper does not say how its speeds are measured.
    own = Controller(Bandwidth(tuple(frequencies)), sample_time, Velocity("exact"), posture=(0.0, 0.0))
    return own.scaled(joint_inertias(robot, robot.table.vector(robot.parameters), own).tolist())


def run_experiment(
    seed: int,
    *,
    noise: Noise = FULL,
    duration: float = 100.0,
    frequencies_hz: Sequence[float] = HERTZ,
    rate_hz: float = RATE_HZ,
    reference: Reference | None = None,
) -> ScaraExperiment:
    """Simulate the robot of table 2 under its loop.

    Args:
        seed: of phases and noise.
        noise: what disturbs it.
        duration: [s].
        frequencies_hz: ω_n/2π of the loop per axis.
        rate_hz: of control and of the log.
        reference: in place of the sines.
    """
    robot, rng = load_robot("scara"), np.random.default_rng(seed)
    drawn = sines(rng, duration, rate_hz)
    followed = drawn if reference is None else reference
    controller = loop(robot, tuple(2 * np.pi * f for f in frequencies_hz), followed.sample_time)
    done = simulate(
        robot,
        None,
        controller,
        followed,
        sensors=Sensors(position_noise=noise.encoder, torque_noise_relative=noise.torque),
        disturbances=Disturbances(noise_relative=noise.disturbance),
        rng=rng,
    )
    return ScaraExperiment(robot, controller, followed, done)


def loop_problem(
    experiment: ScaraExperiment, *, decimation: int = DECIMATION, every: int = 1, bandwidth: float = 1.0
) -> LoopProblem:
    """The problem of DIDIM: torques, reference, and the law with a share of its true bandwidth."""
    law = experiment.controller.law
    assert isinstance(law, Bandwidth)
    slower = tuple(bandwidth * w for w in np.atleast_1d(law.natural_frequency))
    believed = Controller(
        Bandwidth(slower, law.damping, law.inertia),
        experiment.controller.sample_time,
        experiment.controller.velocity,
        posture=experiment.controller.posture,
    )
    log = experiment.log.part(slice(0, None, every))
    return build_loop_problem(
        experiment.robot, [log], believed, [experiment.reference], Preparation(decimation=decimation)
    )


def didim(problem: LoopProblem, start: Estimate | None = None) -> Estimate:
    """DIDIM with weighted steps and gains that always follow (eq 59), from the regular or another start."""
    if start is None:
        return identify(problem, DIDIM(follow_inertia=FOLLOW, uncertainty="classical"))
    values = dict(zip(start.names, start.values.tolist(), strict=True))
    return identify(problem, DIDIM(start=values, follow_inertia=FOLLOW, uncertainty="classical"))


def measured_motion(
    experiment: ScaraExperiment, *, cutoff_hz: float | None = CUTOFF_HZ, every: int = 1
) -> Motion:
    """Positions filtered and differentiated centrally, as section VI.A does."""
    ends = ENDS if cutoff_hz is not None else 0
    plan = Preparation(cutoff_hz=cutoff_hz, order=4, drop_samples=ends)
    return prepare(experiment.log.part(slice(0, None, every)), plan)


def idim(
    experiment: ScaraExperiment,
    *,
    cutoff_hz: float | None = CUTOFF_HZ,
    decimation: int = DECIMATION,
    every: int = 1,
) -> Estimate:
    """The inverse model on measured positions, by weighted least squares."""
    motion = measured_motion(experiment, cutoff_hz=cutoff_hz, every=every)
    plan = Preparation(cutoff_hz=cutoff_hz, order=4, decimation=decimation)
    return identify(build_problem(experiment.robot, [motion], plan), WLS(uncertainty="classical"))


def joint_residuals(estimate: Estimate) -> FloatArray:
    """‖Y − W χ̂‖ / ‖Y‖ of each joint."""
    return np.asarray(estimate.facts["relative_residual_per_joint"], dtype=float) / 100


def overall_residual(estimate: Estimate) -> float:
    """‖Y − W χ̂‖ / ‖Y‖ over all joints."""
    return float(estimate.facts["relative_residual"]) / 100


FAST_HZ = tuple(100.0 * max(row) for row in FREQUENCIES_HZ)
"""ω_n of a loop a hundred times faster than the fastest part of its trajectory."""
FAST_RATE_HZ = 1000.0
"""Such a loop needs quicker samples: at 200 Hz it is unstable."""
NEEDED = {
    "A": ("idim", "from_idim", "regular_start"),
    "B": ("idim", "regular_start", "without_noise", "with_white_noise"),
    "C": ("slow_idim", "slow_didim", "distortion"),
    "D": ("raw_idim", "raw_didim"),
    "E": ("half_bandwidth", "fast_half_bandwidth"),
}
"""What each section of the paper asks of a seed."""


@dataclass(frozen=True, eq=False)
class Runs:
    """Experiments and estimates of one seed.

    Args:
        seed: of phases and noise.
        duration: of the experiments [s]; that of section C is four times as long.
    """

    seed: int
    duration: float = 100.0

    def estimate(self, section: str) -> None:
        """Make all that a section needs, so that seeds can be run side by side."""
        for name in NEEDED[section]:
            getattr(self, name)

    @cached_property
    def experiment(self) -> ScaraExperiment:
        """The experiment of sections A, B, D, E."""
        return run_experiment(self.seed, duration=self.duration)

    @cached_property
    def idim(self) -> Estimate:
        """Inverse model, 20 Hz filter, decimation 20."""
        return idim(self.experiment)

    @cached_property
    def regular_start(self) -> Estimate:
        """DIDIM from the regular start."""
        return didim(loop_problem(self.experiment))

    @cached_property
    def from_idim(self) -> Estimate:
        """DIDIM from the inverse model's estimate."""
        return didim(loop_problem(self.experiment), self.idim)

    @cached_property
    def without_noise(self) -> Estimate:
        """DIDIM on an experiment without noise."""
        return didim(loop_problem(run_experiment(self.seed, noise=NONE, duration=self.duration)))

    @cached_property
    def with_white_noise(self) -> Estimate:
        """DIDIM where nothing but the logged torque is noisy."""
        return didim(loop_problem(run_experiment(self.seed, noise=WHITE, duration=self.duration)))

    @cached_property
    def long_experiment(self) -> ScaraExperiment:
        """The experiment of section C."""
        return run_experiment(self.seed, duration=4 * self.duration)

    @cached_property
    def slow_idim(self) -> Estimate:
        """Inverse model on positions sampled at 0.5 Hz."""
        return idim(self.long_experiment, cutoff_hz=None, decimation=1, every=SLOW)

    @cached_property
    def slow_didim(self) -> Estimate:
        """DIDIM on torques sampled at 0.5 Hz."""
        return didim(loop_problem(self.long_experiment, decimation=1, every=SLOW))

    @cached_property
    def distortion(self) -> FloatArray:
        """Relative errors of speed and acceleration from 0.5 Hz positions, (2, joints): table 6."""
        fine = measured_motion(self.long_experiment, cutoff_hz=RATE_HZ / SLOW)
        coarse = measured_motion(self.long_experiment, cutoff_hz=None, every=SLOW)
        first = round(float(fine.time[0]) * RATE_HZ)
        rows = np.rint(coarse.time * RATE_HZ).astype(int) - first
        kept = (rows >= 0) & (rows < fine.samples)
        pairs = ((fine.qd, coarse.qd), (fine.qdd, coarse.qdd))
        return np.array(
            [
                np.linalg.norm(a[rows[kept]] - b[kept], axis=0) / np.linalg.norm(a[rows[kept]], axis=0)
                for a, b in pairs
            ]
        )

    @cached_property
    def raw_idim(self) -> Estimate:
        """Inverse model without any filter."""
        return idim(self.experiment, cutoff_hz=None, decimation=1)

    @cached_property
    def raw_didim(self) -> Estimate:
        """DIDIM without decimation."""
        return didim(loop_problem(self.experiment, decimation=1))

    @cached_property
    def half_bandwidth(self) -> Estimate:
        """DIDIM that believes in half the bandwidth."""
        return didim(loop_problem(self.experiment, bandwidth=0.5))

    @cached_property
    def fast_half_bandwidth(self) -> Estimate:
        """The same where the loop is a hundred times faster than its trajectory."""
        fast = run_experiment(self.seed, duration=self.duration, frequencies_hz=FAST_HZ, rate_hz=FAST_RATE_HZ)
        return didim(loop_problem(fast, bandwidth=0.5, decimation=round(FAST_RATE_HZ / 10)))
