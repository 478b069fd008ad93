"""Which sensors a study tries: side, steps, rounding modes, runs; and what the motion of logs allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, unknown_name
from dynid.model.robot import Robot
from dynid.preparation.column import column_statistics
from dynid.resolution.chain import JOINT, MOTOR, SIDES, Chain, Sensing, SensorSetting, drives_matrix
from dynid.resolution.rounding import mode_of
from dynid.resolution.study import RUNS

SWEEP = tuple(2.0**k for k in range(-4, 4))
"""Encoder steps of a sweep that nobody chose, over the step that the law expects to shift one by 5 %."""
TORQUE_SWEEP = (0.001, 0.005, 0.025, 0.125)
"""Torque steps, in shares of each axis' largest torque: P1's ratio of 1/5."""


_STILL = 1e-4
"""Travel over the largest one below which an axis stands still."""
MOST_RATIO = 1e4
"""Encoders of two axes that differ by more are two studies."""


@dataclass(frozen=True)
class SensorRequest:
    """Which sensors are tried.

    Args:
        side: where they sit, "joint" or "motor".
        modes: rounding modes of the sweep; thresholds are those of the first.
        steps: encoder steps [rad or m] on that side; chosen around the law's threshold when empty.
        torque_steps: in shares of each axis' largest torque; none when empty.
        ratios: steps of the axes over those of the sweep, one per axis; all 1 when empty, 0 leaves one out.
        runs: N of every setting.
        seed: of all draws.
        thresholds: whether the coarsest sensors are searched for.
    """

    side: str = JOINT
    modes: tuple[str, ...] = ("binary",)
    steps: tuple[float, ...] = ()
    torque_steps: tuple[float, ...] = TORQUE_SWEEP
    ratios: tuple[float, ...] = ()
    runs: int = RUNS
    seed: int = 0
    thresholds: bool = True

    def __post_init__(self) -> None:
        """Refuse sensors that there are not."""
        if self.side not in SIDES:
            raise unknown_name("side of the sensors", self.side, SIDES)
        if not self.modes:
            raise DynidError("No rounding mode was given; give at least one, such as binary (--modes).")
        for mode in self.modes:
            mode_of(mode)
        for what, steps in (("encoder", self.steps), ("torque", self.torque_steps)):
            for step in steps:
                SensorSetting(what, self.modes[0], step)
        if self.runs < 2:
            raise DynidError(f"{self.runs} runs were asked for; a spread needs at least 2 (--runs).")

    def sensors_of(self, robot: Robot) -> Sensing:
        """Where the sensors of a robot sit."""
        n = robot.n_coordinates
        ratios = np.array(self.ratios or (1.0,) * n)
        used = ratios[ratios != 0]
        if len(ratios) != n or not len(used) or not np.all((used >= 1 / MOST_RATIO) & (used <= MOST_RATIO)):
            raise DynidError(
                f"The ratios of the encoders are {list(self.ratios)}; give {n} numbers, one per axis, 0 or "
                f"from {1 / MOST_RATIO:g} to {MOST_RATIO:g}, and not all 0 (--ratios)."
            )
        if self.side == MOTOR:
            drives_matrix(robot)
        return Sensing(self.side, ratios)


def sensor_positions(chain: Chain) -> list[FloatArray]:
    """Positions of all logs as the sensors see them, (samples, axes) each."""
    arrays = [log.array("position") for log in chain.logs]
    drives = chain.robot.drives
    if chain.sensing.side == JOINT or drives is None:
        return arrays
    return [drives.motor_position(array) for array in arrays]


def largest_steps(chain: Chain) -> FloatArray:
    """Step of ratio 1 with which an axis would count its whole travel as one; infinite where none is studied.

    An axis that stands still beside the others does not count.
    """
    travel = np.max([np.ptp(array, axis=0) for array in sensor_positions(chain)], axis=0)
    ratios = chain.sensing.ratios
    counts = (ratios > 0) & (travel > _STILL * np.max(travel[ratios > 0]))
    return np.where(counts, travel / np.where(ratios > 0, ratios, 1.0), np.inf)


def motion_size(chain: Chain) -> float:
    """The largest step of ratio 1 that is smaller than the travel of every axis [rad or m]."""
    return float(np.min(largest_steps(chain)))


def require_smaller_than_motion(chain: Chain, steps: Sequence[float]) -> None:
    """Refuse encoder steps that are larger than the motion.

    Raises:
        DynidError: naming the axis that moves least.
    """
    largest = largest_steps(chain)
    axis = int(np.argmin(largest))
    ratio = chain.sensing.ratios[axis]
    for step in steps:
        if step >= largest[axis]:
            raise DynidError(
                f"The step {ratio * step:.4g} of the encoder is larger than the motion of axis {axis + 1}, "
                f"which is {ratio * largest[axis]:.4g} rad or m on the {chain.sensing.side} side; give "
                "smaller steps (--steps, or more counts)."
            )


def own_steps(chain: Chain) -> FloatArray:
    """Steps that the positions of the logs show already, per axis; 0 where none can be seen."""
    arrays = sensor_positions(chain)
    axes = range(arrays[0].shape[1])
    return np.array([max(column_statistics(a[:, j].copy()).step or 0.0 for a in arrays) for j in axes])
