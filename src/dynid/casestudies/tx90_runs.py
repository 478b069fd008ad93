"""The TX-90 of P3 as simulated experiments: designs from random starts, and fits of what they would measure.

Table 4's values are the truth. They are not those of a possible robot (M(q) is indefinite), so that torques
are those of the inverse model along motions that are followed exactly; no loop is simulated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.base.find import base_of
from dynid.casestudies.tx90_paper import SIDES_DEG, TABLE_5_EXCITATION
from dynid.compile.kernels import kernels
from dynid.core.arrays import FloatArray
from dynid.core.finding import Name
from dynid.estimators.identification import identify
from dynid.estimators.linear.least_squares import WLS
from dynid.excitation.design import Design, design_motion
from dynid.excitation.limits import LimitChoice, MotionLimits, motion_limits
from dynid.excitation.problem import DesignProblem
from dynid.excitation.starts import random_start
from dynid.excitation.task import DesignTask
from dynid.model.load import load_robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem.build import build_problem
from dynid.trajectories.fourier import Fourier, FourierSpace
from dynid.trajectories.trajectory import Trajectory

CRITERIA = {"J1": "hadamard", "J2": "log-det", "J3": "log-cond"}
RANDOM = "random"
"""The random motion that the designs of a seed begin with."""
RANDOM_FILLING = "random, filling its limits"
RATE_HZ, SAMPLES = 62.5, 625
STAMPS = np.arange(SAMPLES) / RATE_HZ
NOISE = np.array(TABLE_5_EXCITATION)
"""Standard deviation of the white torque noise [N m]: P3's residuals."""
DRAWS = 5
"""Draws of that noise for each motion: the mean square over them is known to 10 %."""
VALIDATED = 10
_VALIDATION_SEED = 1000
"""Of the ten random motions, which are the same for all seeds; no seed of a design is likely to meet it."""
AXES = range(1, len(NOISE) + 1)


@lru_cache(maxsize=1)
def base() -> BaseMap:
    """The base parameters."""
    return base_of(load_robot("tx90"))


@lru_cache(maxsize=1)
def truth() -> FloatArray:
    """Table 4 over all base parameters; zero where it has none, (base,)."""
    return np.asarray(base().regroup(base().robot.parameters), dtype=float)


def design_task(criterion: str) -> DesignTask:
    """P3's: five harmonics of 0.1 Hz from and to q = 0, bounds (15)–(17), 625 samples.

    Accelerations are assumed (2 v_max per second): P3 prints none.
    """
    side = [math.radians(angle) for angle in SIDES_DEG]
    return DesignTask(
        space=FourierSpace(0.1, 5),
        criterion=criterion,
        limits=LimitChoice(lower=tuple(-angle for angle in side), upper=tuple(side)),
        start=np.zeros(len(side)),
        conservative=True,
        rate_hz=RATE_HZ,
        samples=SAMPLES,
    )


@lru_cache(maxsize=1)
def limits() -> MotionLimits:
    """What the designs keep."""
    return motion_limits(base().robot, design_task(CRITERIA["J2"]).limits)


def fourier(problem: DesignProblem, x: FloatArray) -> Fourier:
    """The motion of variables of a design."""
    motion = problem.trajectory(x)
    assert isinstance(motion, Fourier)
    return motion


def observation(trajectory: Trajectory) -> FloatArray:
    """W of one period, (samples, joints, base)."""
    motion = (trajectory.at(STAMPS, order) for order in range(3))
    return kernels(base().robot, base().columns).regressor(*motion)


def stacked_rows(W: FloatArray) -> FloatArray:
    """W as P3 stacks it, (samples · joints, base)."""
    return np.ascontiguousarray(W).reshape(-1, W.shape[-1])


def largest_motion(trajectory: Fourier) -> Fourier:
    """The same motion from q = 0, every axis as large as the bounds (15)–(17) allow."""
    room = np.min([limits().high[order] / trajectory.bound(order) for order in range(3)], axis=0)
    a, b = trajectory.a * room[:, None], trajectory.b * room[:, None]
    return replace(trajectory, a=a, b=b, offset=trajectory.offset * room)


@lru_cache(maxsize=1)
def validation_motions() -> tuple[Fourier, ...]:
    """Ten random motions within the limits, drawn as the starts of the designs are."""
    rng = np.random.default_rng(_VALIDATION_SEED)
    problem = design_task(CRITERIA["J2"]).problem(base().robot, rng)
    return tuple(fourier(problem, random_start(problem, rng)) for _ in range(VALIDATED))


@lru_cache(maxsize=2)
def validation_rows(*, full: bool) -> FloatArray:
    """W of the ten random motions, as drawn or filling their limits, (10 · samples, joints, base)."""
    motions = validation_motions()
    return np.concatenate([observation(largest_motion(motion) if full else motion) for motion in motions])


def torque_rms(W: FloatArray, errors: FloatArray) -> FloatArray:
    """RMS over all rows and draws of W (χ̂ − χ), (joints,) [N m].

    Args:
        W: (samples, joints, base).
        errors: χ̂ − χ, (draws, base).
    """
    return np.asarray(np.sqrt(np.mean(np.square(W @ errors.T), axis=(0, 2))), dtype=float)


@dataclass(frozen=True, eq=False)
class WhiteNoiseFits:
    """What weighted least squares makes of one period with white torque noise.

    Args:
        small: RMS of predicted less true torque on the ten random motions as drawn, (joints,) [N m].
        full: the same where the ten motions fill their limits.
        residual: RMS of what the fits leave of the noisy torques, (joints,) [N m].
    """

    small: FloatArray
    full: FloatArray
    residual: FloatArray

    @property
    def on_noisy_motions(self) -> FloatArray:
        """RMS of predicted less measured torque on the ten motions as drawn, with noise, (joints,)."""
        return np.asarray(np.hypot(self.small, NOISE), dtype=float)


def white_noise_fits(trajectory: Trajectory, rng: np.random.Generator) -> WhiteNoiseFits:
    """Fit one period of a motion, ``DRAWS`` times with fresh noise."""
    q, qd, qdd = (trajectory.at(STAMPS, order) for order in range(3))
    W = observation(trajectory)
    found, left = [], []
    for _ in range(DRAWS):
        tau = W @ truth() + NOISE * rng.standard_normal(q.shape)
        motion = Motion("one period", STAMPS, q, qd, qdd, tau, RATE_HZ)
        estimate = identify(
            build_problem(base().robot, [motion], Preparation(), base()), WLS(uncertainty="classical")
        )
        found.append(estimate.values - truth())
        left.append(np.mean(np.square(tau - W @ estimate.values), axis=0))
    errors = np.array(found)
    return WhiteNoiseFits(
        torque_rms(validation_rows(full=False), errors),
        torque_rms(validation_rows(full=True), errors),
        np.sqrt(np.mean(left, axis=0)),
    )


@dataclass(frozen=True, eq=False)
class Tx90Runs:
    """Designs of one seed, and fits of what their motions would measure.

    Args:
        seed: of the random start and of the noise.
    """

    seed: int

    @cached_property
    def designs(self) -> dict[str, Design]:
        """One design by each criterion, all from the same random start."""
        made = {
            name: design_motion(base().robot, design_task(criterion), starts=1, seed=self.seed, workers=1)
            for name, criterion in CRITERIA.items()
        }
        if any(finding.name is Name.INTERRUPTED for design in made.values() for finding in design.findings):
            raise KeyboardInterrupt  # the best so far is no figure to judge
        return made

    @cached_property
    def motions(self) -> dict[str, Fourier]:
        """The designed motions, and the random one that they began with."""
        designed = {name: made.trajectory for name, made in self.designs.items()}
        begun = self.designs["J2"]
        designed |= {RANDOM: begun.problem.trajectory(begun.runs[0].first)}
        return {name: motion for name, motion in designed.items() if isinstance(motion, Fourier)}

    @cached_property
    def observations(self) -> dict[str, FloatArray]:
        """Their W, (samples · joints, base)."""
        return {name: stacked_rows(observation(motion)) for name, motion in self.motions.items()}

    @cached_property
    def white_noise(self) -> dict[str, WhiteNoiseFits]:
        """Fits of one period with white noise, of each motion and of the random one filling its limits."""
        motions = self.motions | {RANDOM_FILLING: largest_motion(self.motions[RANDOM])}
        return {
            name: white_noise_fits(motion, np.random.default_rng((self.seed, k)))
            for k, (name, motion) in enumerate(motions.items())
        }
