"""How much of each limit a motion uses, proved between samples where a proof is possible."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dynid.compile.kernels import kernels
from dynid.core.arrays import FloatArray
from dynid.dynamics.expansion import expand
from dynid.dynamics.operations import NUMERIC
from dynid.excitation.clearance import CollisionScene
from dynid.excitation.clearance_proof import LeastClearance, verified_clearance
from dynid.excitation.limits import QUANTITIES, MotionLimits, limited_joints
from dynid.model.joint import JointKind
from dynid.model.robot import Robot
from dynid.trajectories.trajectory import Trajectory

RATE_HZ = 1000.0
"""Rate of the grid on which torques are checked, and limits of joints that follow others."""
TOLERANCE = 1e-6
"""Excess over a limit that rounding may leave, as a share of the limit's size."""
_REST = 1e-12
"""Speed and acceleration below which an axis rests [rad/s or m/s, per s]."""
_FINEST = 1e-5
"""Tolerance of clearances below which a proof would take too long [m]."""
_UNITS = {JointKind.REVOLUTE: "rad", JointKind.PRISMATIC: "m"}


@dataclass(frozen=True)
class LimitUse:
    """What a motion makes of one limit.

    Args:
        joint: whose.
        quantity: "position", "velocity", "acceleration", "jerk" or "torque".
        unit: of the numbers.
        low: least value allowed; None where there is no limit.
        high: largest value allowed, likewise.
        least: least value of the motion.
        largest: largest value of the motion.
        verified: whether no instant can lie beyond least … largest; else they are those of a grid.
    """

    joint: str
    quantity: str
    unit: str
    low: float | None
    high: float | None
    least: float
    largest: float
    verified: bool

    @property
    def share(self) -> float:
        """How much of the limit is used, from the middle of the range: 1 at its ends; 0 without one."""
        if self.low is None or self.high is None:
            return 0.0
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        return max(self.largest - middle, middle - self.least) / half

    @property
    def kept(self) -> bool:
        """Whether the limit holds."""
        ends = [end for end in (self.low, self.high) if end is not None]
        air = TOLERANCE * max((abs(end) for end in ends), default=0.0)
        below = self.high is None or self.largest <= self.high + air
        return below and (self.low is None or self.least >= self.low - air)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        limited = self.low is not None and self.high is not None
        return {**asdict(self), "used_percent": 100 * self.share if limited else None}


def motion_uses(trajectory: Trajectory, robot: Robot, limits: MotionLimits) -> list[LimitUse]:
    """Positions, speeds, accelerations and jerks of all movable joints, bounded at every instant."""
    found = []
    for order, quantity in enumerate(QUANTITIES):
        least, largest = _joint_extremes(trajectory, limits, order)
        for i, j in enumerate(limited_joints(robot)):
            unit = _unit(robot, j, order)
            low, high = (_known(bounds[order][i]) for bounds in (limits.low, limits.high))
            use = LimitUse(
                limits.joints[i], quantity, unit, low, high, float(least[i]), float(largest[i]), True
            )
            found.append(use)
    return found + _loop_uses(trajectory, robot)


def _loop_uses(trajectory: Trajectory, robot: Robot) -> list[LimitUse]:
    """Positions, speeds and accelerations of the joints that follow loops, on a grid of 1 kHz."""
    followers = [j for j in robot.movable if j not in limited_joints(robot)]
    if not followers:
        return []
    q, qd, qdd = (list(values.T) for values in states_of(trajectory, _grid(trajectory, RATE_HZ)))
    tree = expand(robot, q, NUMERIC)
    motion = (tree.positions, tree.speeds(qd), tree.accelerations(qd, qdd))
    found = []
    for j in followers:
        own = robot.joints[j].limits
        bounds = ((own.lower, own.upper), *((-x, x) for x in (own.velocity, own.acceleration)))
        for order, (low, high) in enumerate(bounds):
            ends = float(np.min(motion[order][j])), float(np.max(motion[order][j]))
            use = LimitUse(
                robot.joints[j].name,
                QUANTITIES[order],
                _unit(robot, j, order),
                _known(low),
                _known(high),
                *ends,
                False,
            )
            found.append(use)
    return found


def _unit(robot: Robot, j: int, order: int) -> str:
    return _UNITS[robot.joints[j].kind] + ("", "/s", "/s²", "/s³")[order]


def _joint_extremes(
    trajectory: Trajectory, limits: MotionLimits, order: int
) -> tuple[FloatArray, FloatArray]:
    """Extremes of the movable joints; of one that follows others from a grid and its curvature between."""
    least, largest = trajectory.extremes(order)
    low, high = np.empty(len(limits.joints)), np.empty(len(limits.joints))
    low[list(limits.own)], high[list(limits.own)] = least, largest
    followers = [i for i in range(len(limits.joints)) if i not in limits.own]
    if followers:
        time = _grid(trajectory, RATE_HZ)
        values = limits.joint_values(trajectory.at(time, order), order)[:, followers]
        step = time[1] - time[0]
        curvature = np.max(np.abs(trajectory.extremes(order + 2)), axis=0)
        between = step**2 / 8 * (np.abs(limits.matrix[followers]) @ curvature)
        low[followers], high[followers] = values.min(axis=0) - between, values.max(axis=0) + between
    return low, high


def expected_torques(robot: Robot, trajectory: Trajectory, time: FloatArray) -> FloatArray | None:
    """Torques of the a-priori values at instants, (instants, coordinates); None where there are none."""
    if not robot.parameters:
        return None
    return kernels(robot).inverse(robot.parameters, *states_of(trajectory, time))


def states_of(trajectory: Trajectory, time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """q, q̇ and q̈ at instants; what rounding leaves of rest is rest, or friction would take its sign."""
    q, qd, qdd = (trajectory.at(time, order) for order in range(3))
    return q, np.where(np.abs(qd) < _REST, 0.0, qd), np.where(np.abs(qdd) < _REST, 0.0, qdd)


def torque_uses(trajectory: Trajectory, robot: Robot, limits: MotionLimits) -> list[LimitUse]:
    """Torques of the a-priori values on a grid of 1 kHz, with the sign of friction as it is."""
    torques = expected_torques(robot, trajectory, _grid(trajectory, RATE_HZ))
    found: list[LimitUse] = []
    if torques is None:
        return found
    for i, j in enumerate(robot.coordinates):
        joint, most = robot.joints[j], _known(limits.effort[i])
        unit = "N m" if joint.kind is JointKind.REVOLUTE else "N"
        least, largest = float(torques[:, i].min()), float(torques[:, i].max())
        low = None if most is None else -most
        found.append(LimitUse(joint.name, "torque", unit, low, most, least, largest, False))
    return found


def least_clearance(trajectory: Trajectory, scene: CollisionScene, tolerance: float = 1e-3) -> LeastClearance:
    """The smallest clearance of the motion beyond its margin, proved at every instant.

    Args:
        trajectory: the motion.
        scene: links and workcell.
        tolerance: how far the bound may lie below the true one [m].
    """
    speeds = np.max(np.abs(trajectory.extremes(1)), axis=0)
    least = verified_clearance(scene, trajectory.at, trajectory.duration, speeds, tolerance)
    if least.bound < 0 < least.value:  # too coarse to tell whether the margin is kept
        finer = max(least.value / 2, _FINEST)
        least = verified_clearance(scene, trajectory.at, trajectory.duration, speeds, finer)
    return least


def _grid(trajectory: Trajectory, rate_hz: float) -> FloatArray:
    count = max(2, round(trajectory.duration * rate_hz)) + 1
    return np.linspace(0.0, trajectory.duration, count)


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
