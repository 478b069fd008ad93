"""The iiwa of P4 as simulated experiments: controller with a model, real arm, and all that is found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.base.find import base_of
from dynid.compile.kernels import kernels
from dynid.core.arrays import FloatArray
from dynid.estimators.closed_loop.instruments import instrument_rows
from dynid.estimators.closed_loop.iv import IV
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.linear.least_squares import OLS, WLS
from dynid.estimators.recursive.instants import instants_of
from dynid.estimators.recursive.prior import ParameterPrior
from dynid.estimators.recursive.recursion import Recursion, RecursionOptions
from dynid.estimators.recursive.riv import InstrumentRecursion
from dynid.estimators.recursive.rls import LeastSquaresRecursion
from dynid.logs.log import Log
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.problem.build import build_problem
from dynid.problem.closed_loop import LoopProblem, at_motions, build_loop_problem, reference_motions
from dynid.problem.problem import Problem
from dynid.simulation.controller import Controller, Velocity
from dynid.simulation.controller_file import load_controller
from dynid.simulation.sensors import Sensors
from dynid.simulation.simulation import Simulation, simulate
from dynid.trajectories.point_to_point import PointToPoint, random_poses
from dynid.trajectories.reference import Reference
from dynid.workflow.commanded import chosen_samples
from dynid.workflow.controller_model import P4_PLAN, ControllerModel, identify_controller_model


@dataclass(frozen=True)
class IiwaSetting:
    """Numbers of the experiment; P4's where it prints them.

    Args:
        rate_hz: of controller and log (P4 §4.2).
        every: samples of the log of which one is kept, for P4's 50 Hz.
        fine: noise of good encoders on the joint side [rad].
        coarse: noise of bad ones [rad].
        slow: speed of any joint below which a sample is dropped (P4 §4.2) [rad/s].
        ends: samples at 50 Hz dropped at both ends, where filters and differences know one side only.
        deviation: largest deviation of a parameter of the real arm from that in its controller, as a share of
            it; assumed.
    """

    rate_hz: float = 1000.0
    every: int = 20
    fine: float = 2e-5
    coarse: float = 3e-4
    slow: float = 0.01
    ends: int = 10
    deviation: float = 0.02


SETTING = IiwaSetting()
BOTH = "noise of .05/.02 N m"
NOISES = {
    "without noise": (0.0,) * 7,
    "noise of .02 N m": (0.02,) * 7,
    "noise of .05 N m": (0.05,) * 7,
    BOTH: (*(0.05,) * 4, *(0.02,) * 3),
}
"""Of the commanded torque; .05 on joints 1 to 4 and .02 on 5 to 7 is also that of the sensed torque."""
TABLE_3_NOISE = (*(0.05,) * 4, *(0.01,) * 3)
"""Of commanded torques in Table 3: with .02 N m joint 7, which has .19 N m, is at 11 %; P4 has 4 and 5 %."""
FILTERED = Preparation(cutoff_hz=3.5, order=2, torque_cutoff_hz=3.5)
RAW = Preparation()
COMMANDS = replace(P4_PLAN, difference_points=5)
"""Of commanded signals: not filtered, 50 Hz, then differences that reach over five samples."""
FRICTION = {
    "Fv": (0.3, 0.3, 0.2, 0.2, 0.1, 0.05, 0.05),
    "Fc": (0.5, 0.5, 0.3, 0.3, 0.1, 0.05, 0.04),
    "off": (0.2, -0.3, 0.1, -0.1, 0.05, 0.03, -0.02),
}
"""Friction and torque offsets of the real arm, assumed: P4 prints none [N m s/rad, N m, N m]."""


@dataclass(frozen=True)
class Pace:
    """How fast a motion is.

    Args:
        share: of the arm's largest speeds.
        acceleration: of every joint [rad/s²].
        poses: how many it visits.
    """

    share: float
    acceleration: float
    poses: int = 51


IDENTIFIED = Pace(0.6, 2.0)
VALIDATED = (Pace(0.7, 3.0, 21), Pace(0.4, 1.0, 21))
"""P4's two validation trajectories, ours: of the second joint 1 has less than half the torque."""


@cache
def model() -> Robot:
    """The model inside the controller: the arm of the catalog, with the values of Table 2."""
    return load_robot("iiwa14")


@cache
def base() -> BaseMap:
    """Its 64 base parameters."""
    return base_of(model())


@cache
def real_arm() -> Robot:
    """The arm itself: near its model, with friction and offsets."""
    rng = np.random.default_rng(4)
    own = {name: v * (1 + SETTING.deviation * rng.uniform(-1, 1)) for name, v in model().parameters.items()}
    friction = {f"{name}{j + 1}": v for name, values in FRICTION.items() for j, v in enumerate(values)}
    return model().with_parameters({**own, **friction})


def truth() -> FloatArray:
    """Base parameters of the real arm, (64,)."""
    return base().regroup(real_arm().parameters)


def controller() -> Controller:
    """The controller of the catalog: PD around the model, which is fed forward along the reference."""
    return replace(load_controller("iiwa14", model()), velocity=Velocity("exact"))


def reference(pace: Pace, rng: np.random.Generator) -> Reference:
    """Moves between poses drawn within 80 % of the joints' ranges (P4 §4.2)."""
    limits = [joint.limits for joint in model().joints]
    low, high = (0.8 * np.array([getattr(limit, name) for limit in limits]) for name in ("lower", "upper"))
    speeds = pace.share * np.array([limit.velocity for limit in limits])
    poses = random_poses(low, high, pace.poses, rng)
    return PointToPoint(poses, speeds, np.full(7, pace.acceleration), cruise=0.3).sample(
        1.0 / SETTING.rate_hz
    )


def model_torque(path: Reference) -> FloatArray:
    """Output of the controller's model along commanded positions, (samples, 7) [N m]."""
    assert path.qd is not None
    assert path.qdd is not None
    return kernels(model()).inverse(model().parameters, path.q, path.qd, path.qdd)


def commands(path: Reference, noise: tuple[float, ...], rng: np.random.Generator) -> Log:
    """Commanded positions and torques: input and output of the controller's model (P4 §2.1)."""
    torque = model_torque(path)
    noisy = torque + np.array(noise) * rng.standard_normal(torque.shape)
    return Log("commands", path.time, {"position": path.q, "reference": path.q, "torque": noisy})


def moving_samples(motion: Motion) -> Motion:
    """Its samples in which every joint moves, the ends left out (P4 §4.2)."""
    used = np.all(np.abs(np.asarray(motion.qd)) >= SETTING.slow, axis=1)
    used[: SETTING.ends] = used[-SETTING.ends :] = False
    return chosen_samples(motion, used)


@dataclass(frozen=True, eq=False)
class IiwaRuns:
    """One identified motion, two of validation, and everything that is found of them.

    Args:
        seed: of poses and noise.
    """

    seed: int

    def _rng(self, what: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, 14, what))

    @cached_property
    def path(self) -> Reference:
        """The commanded motion of the identification."""
        return reference(IDENTIFIED, self._rng(0))

    @cached_property
    def models(self) -> dict[str, ControllerModel]:
        """What is found in the controller, by noise of the commanded torque."""
        return {name: self._model(noise, COMMANDS) for name, noise in NOISES.items()}

    @cached_property
    def as_printed(self) -> dict[str, ControllerModel]:
        """The same with differences over three samples."""
        return {name: self._model(noise, P4_PLAN) for name, noise in NOISES.items()}

    def _model(self, noise: tuple[float, ...], plan: Preparation) -> ControllerModel:
        log = commands(self.path, noise, self._rng(1))
        return identify_controller_model(model(), log, plan=plan, feedback=False, base=base())

    @cached_property
    def reconstruction_errors(self) -> tuple[FloatArray, ...]:
        """Torque reconstruction errors on two other trajectories, (7,) each [%] (Table 3)."""
        rng = self._rng(2)
        logs = [commands(reference(pace, rng), TABLE_3_NOISE, rng) for pace in VALIDATED]
        return tuple(self.models[BOTH].reconstruct(log, COMMANDS) for log in logs)

    @cached_property
    def prior(self) -> ParameterPrior:
        """P4 §5.3: variances of .01, 1 and 100 around the model found in the controller."""
        return self.models[BOTH].prior()

    @cached_property
    def fine(self) -> RealRun:
        """The real arm with encoders of 2e-5 rad."""
        return RealRun(self.path, SETTING.fine, self._rng(3))

    @cached_property
    def coarse(self) -> RealRun:
        """The real arm with encoders of 3e-4 rad."""
        return RealRun(self.path, SETTING.coarse, self._rng(4))

    @cached_property
    def whole_torque_model(self) -> ControllerModel:
        """What the log of the real arm says about its controller: all torque, feedback included."""
        return identify_controller_model(model(), self.fine.log, base=base())


@dataclass(frozen=True, eq=False)
class RealRun:
    """The real arm under its controller.

    Args:
        path: what it follows.
        encoder: noise of its encoders [rad].
        rng: of the noise.
    """

    path: Reference
    encoder: float
    rng: np.random.Generator

    @cached_property
    def simulation(self) -> Simulation:
        """What happened."""
        sensors = Sensors(position_noise=self.encoder, torque_noise=NOISES[BOTH])
        return simulate(real_arm(), None, controller(), self.path, sensors=sensors, rng=self.rng)

    @cached_property
    def log(self) -> Log:
        """Sensed signals; each torque is the mean of those held before and after its sample."""
        log = self.simulation.log
        held = log.array("torque")
        channels = {name: log.array(name)[1:] for name in ("position", "reference")}
        return Log("iiwa", log.time[1:], {**channels, "torque": (held[:-1] + held[1:]) / 2})

    @cached_property
    def filtered_motion(self) -> Motion:
        """3.5 Hz, order 2, forward and backward, then 50 Hz (P4 §4.2)."""
        return moving_samples(chosen_samples(prepare(self.log, FILTERED), slice(None, None, SETTING.every)))

    @cached_property
    def raw_motion(self) -> Motion:
        """Not filtered: 50 Hz, then differences."""
        return moving_samples(prepare(self.log.part(slice(None, None, SETTING.every)), RAW))

    def problem(self, motion: Motion) -> Problem:
        """The rows of a motion."""
        return build_problem(model(), [motion], RAW, base())

    @cached_property
    def loop(self) -> LoopProblem:
        """The raw motion beside the reference, which makes its instruments."""
        motions = [self.raw_motion]
        return build_loop_problem(
            model(), [self.log], controller(), [self.path], RAW, motions=motions, base=base()
        )

    @cached_property
    def instrument_problem(self) -> tuple[Problem, tuple[FloatArray, ...]]:
        """The raw rows and Z of the commanded position, per joint (rows, 64), as IV("reference") has them."""
        measured = at_motions(self.loop, "RIV")
        rows = measured.linear([self.raw_motion])
        return rows, instrument_rows(rows, measured.linear(reference_motions(measured), masked=False))

    @cached_property
    def plain_batch(self) -> dict[str, Estimate]:
        """All joints weigh alike, as P4 prints eq 6, 9 and 10."""
        return self._batch(OLS(uncertainty="classical"))

    @cached_property
    def weighted_batch(self) -> dict[str, Estimate]:
        """Each joint's rows over the σ of its torque."""
        return self._batch(WLS(uncertainty="classical"))

    def _batch(self, step: OLS | WLS) -> dict[str, Estimate]:
        """Least squares, filtered and raw, and instruments of the reference on the raw motion."""
        return {
            "RLS": identify(self.problem(self.filtered_motion), step),
            "raw RLS": identify(self.problem(self.raw_motion), step),
            "RIV": identify(self.loop, IV(step=step, instruments="reference", uncertainty="classical")),
        }

    def course(
        self, kind: str, prior: ParameterPrior | None = None, joint_sigma: FloatArray | None = None
    ) -> FloatArray:
        """Parameters after every sample, (samples, 64).

        Args:
            kind: "RLS" (filtered), "raw RLS" or "RIV".
            prior: where it starts; nothing is known when None.
            joint_sigma: σ of each joint's torque; ones, as P4 prints eq 9 and 10, when None.
        """
        told = None
        if kind == "RIV":
            problem, told = self.instrument_problem
        else:
            problem = self.problem(self.filtered_motion if kind == "RLS" else self.raw_motion)
        made: type[Recursion] = LeastSquaresRecursion if told is None else InstrumentRecursion
        sigma = np.ones(7) if joint_sigma is None else joint_sigma
        recursion = made(base().names, sigma, prior, RecursionOptions(blocks=0))
        found = []
        for instant in instants_of(problem, np.ones(len(base()), dtype=bool), told):
            recursion.update(instant.W, instant.y, instant.Z)
            found.append(recursion.values.copy())
        return np.array(found)
