"""The chain of an identification, walked again with coarser sensors: read, filter, differentiate, regress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, ModelError, unknown_name
from dynid.estimators.linear.least_squares import weighted_fit
from dynid.estimators.recursive.strategies import run_over
from dynid.logs.log import Log
from dynid.model.drives import HOW_TO_GIVE
from dynid.model.robot import Robot
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.problem.build import build_problem
from dynid.resolution.rounding import mode_of

ENCODER, TORQUE = "encoder", "torque"
CHANNELS = {ENCODER: "position", TORQUE: "torque"}
"""Channel of a log that each sensor gives."""
STEPS = {ENCODER: (1e-15, 1e6), TORQUE: (1e-9, 1.0)}
"""Smallest and largest step [rad or m; share of the largest torque]."""
JOINT, MOTOR = "joint", "motor"
SIDES = (JOINT, MOTOR)


@dataclass(frozen=True)
class SensorSetting:
    """One sensor made coarser.

    Args:
        channel: "encoder" or "torque".
        mode: name of the rounding mode.
        step: Δ; encoders: [rad or m], torque sensors: share of each axis' largest torque.
        method: name of the estimator.
    """

    channel: str
    mode: str
    step: float
    method: str = "LS"

    def __post_init__(self) -> None:
        """Refuse a sensor that there is not, and a step that is none."""
        if self.channel not in CHANNELS:
            raise unknown_name("sensor", self.channel, CHANNELS)
        mode_of(self.mode)
        least, most = STEPS[self.channel]
        if not least <= self.step <= most:
            raise DynidError(
                f"The step of the {self.channel} is {self.step:g}; it must be above 0, from {least:g} to "
                f"{most:g}."
            )

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)

    @property
    def key(self) -> str:
        """A name of its own, for answers that are kept."""
        return f"{self.method} {self.channel} {self.mode} {self.step!r}"


@dataclass(frozen=True, eq=False)
class Sensing:
    """Where sensors sit, and how their axes differ.

    Args:
        side: "joint", or "motor": a gear then divides the step, and a coupled wrist shares it.
        ratios: Δ of each axis' encoder over the step of a setting, (axes,); 0 leaves an axis as it is.
    """

    side: str
    ratios: FloatArray

    def coarse_log(self, log: Log, robot: Robot, setting: SensorSetting, rng: np.random.Generator) -> Log:
        """The log as a coarser sensor would have given it, joint side."""
        channel = CHANNELS[setting.channel]
        there, back = self._ways(robot, setting.channel)
        values = there(log.array(channel))
        sizes = self.ratios if setting.channel == ENCODER else np.abs(values).max(axis=0, initial=0.0)
        coarse = back(mode_of(setting.mode).read(values, setting.step * sizes, rng))
        return replace(log, channels={**log.channels, channel: coarse})

    def joint_root(self, robot: Robot) -> FloatArray:
        """L (coordinates, axes): errors of the joints are L times unit errors of the encoders per unit Δ."""
        if self.side == JOINT:
            return np.diag(self.ratios)
        return np.asarray(np.linalg.inv(drives_matrix(robot)) * self.ratios, dtype=float)

    def _ways(
        self, robot: Robot, channel: str
    ) -> tuple[Callable[[FloatArray], FloatArray], Callable[[FloatArray], FloatArray]]:
        """To the sensor's side, and back to the joints."""
        if self.side == JOINT:
            return (lambda values: values), (lambda values: values)
        drives_matrix(robot)
        assert robot.drives is not None
        if channel == ENCODER:
            return robot.drives.motor_position, robot.drives.joint_position
        return robot.drives.motor_torque, robot.drives.joint_torque


def drives_matrix(robot: Robot) -> FloatArray:
    """R of the drives, which sensors on the motors need.

    Raises:
        ModelError: when the robot has none.
    """
    if robot.drives is None:
        raise ModelError(
            f"Sensors were asked for on the motor side, but robot {robot.name!r} has no drives; "
            f"{HOW_TO_GIVE}, or study the joint side."
        )
    return robot.drives.matrix


@dataclass(frozen=True, eq=False)
class Chain:
    """From logs to parameters, the way the reference estimate went (P1 eq 15–17).

    The parameters are the essential ones and the weights of the joints those of the reference, so that
    runs differ by the sensor alone.

    Args:
        robot: the robot.
        base: the parameters that are estimated.
        logs: joint side, as measured.
        plan: the whole preparation.
        weights: of the joints' rows, (coordinates,).
        sensing: where the sensors sit.
        seed: of all runs; run k has the same draws at every step, so that curves over Δ are smooth.
    """

    robot: Robot
    base: BaseMap
    logs: tuple[Log, ...]
    plan: Preparation
    weights: FloatArray
    sensing: Sensing
    seed: int = 0

    def coarse_logs(self, setting: SensorSetting, run: int) -> tuple[Log, ...]:
        """All logs of one run."""
        rng = np.random.default_rng([self.seed, run])
        return tuple(self.sensing.coarse_log(log, self.robot, setting, rng) for log in self.logs)

    def estimate(self, setting: SensorSetting, run: int) -> FloatArray:
        """X_CESTAC of one run, (base,) (P1 eq 17)."""
        motions = [prepare(log, self.plan) for log in self.coarse_logs(setting, run)]
        problem = build_problem(self.robot, motions, self.plan, self.base, budget_bytes=0)
        return weighted_fit(problem, self.weights, np.ones(len(self.base), dtype=bool)).values


@dataclass(frozen=True, eq=False)
class RecursiveChain:
    """The same chain with recursive least squares in place of the batch: rows in the order of time (P4 eq 9).

    Args:
        chain: its preparation, weights and parameters are used.
    """

    chain: Chain

    def estimate_of(self, logs: Sequence[Log]) -> FloatArray:
        """Parameters from some logs, (base,)."""
        own = self.chain
        motions = [prepare(log, own.plan) for log in logs]
        problem = build_problem(own.robot, motions, own.plan, own.base)
        return run_over(problem, np.ones(len(own.base), dtype=bool), own.weights).values.copy()

    def estimate(self, setting: SensorSetting, run: int) -> FloatArray:
        """Parameters of one run, (base,)."""
        return self.estimate_of(self.chain.coarse_logs(setting, run))
