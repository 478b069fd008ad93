"""From the motors to the joints, through the robot's drives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import ModelError, ShapeError
from dynid.logs.log import Log, Step
from dynid.logs.passive import axes_in_order, with_passive_torques
from dynid.logs.spool import by_rows
from dynid.model.drives import HOW_TO_GIVE, Drives
from dynid.model.robot import Robot

TO_JOINT_SIDE = "to joint side"
"""Step of a log that went through the drives."""


def to_joint_side(log: Log, robot: Robot) -> Log:
    """The log with joint positions and torques: q = R⁻¹ q_m + offset, q̇ = R⁻¹ q̇_m, τ = Rᵀ diag(gain) u.

    Accelerations go the way of the speeds.

    A log on the joint side stays as it is, except that axes which carry the names of the robot's joints in
    another order (as bags often do) are put in the robot's order, and that passive joints get zero torques
    where the log has none.

    Args:
        log: the log; its number of axes must be that of the robot's coordinates.
        robot: the robot, with drives when the log is on the motor side.

    Raises:
        ShapeError: when the log has another number of axes than the robot.
        ModelError: when the log is on the motor side and the robot has no drives.
    """
    log = _in_robot_order(log, robot)
    if log.axes != robot.n_coordinates:
        raise ShapeError(
            f"Log {log.name!r} has {log.axes} axes, but robot {robot.name!r} has {robot.n_coordinates} "
            "coordinates; choose the robot's axes with columns, or joints of [bag], in a mapping."
        )
    log = with_passive_torques(log, robot)
    if log.side == "joint":
        return log
    if robot.drives is None:
        raise ModelError(
            f"Log {log.name!r} is on the motor side, but robot {robot.name!r} has no drives; {HOW_TO_GIVE}; "
            f'or say side = "joint" in the mapping. {robot.drives_note}'.rstrip()
        )
    ways = _conversions(robot.drives)
    channels = {name: by_rows(ways[name], values) for name, values in log.channels.items()}
    options = {"robot": robot.name, "ratio": robot.drives.matrix.tolist(), "gain": list(robot.drives.gain)}
    step = Step(TO_JOINT_SIDE, options, f"Through the drives of {robot.name}.")
    return log.with_step(step, channels=channels, side="joint")


def _conversions(drives: Drives) -> dict[str, Callable[[FloatArray], FloatArray]]:
    def rate_of_change(values: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.solve(drives.matrix, values.T).T, dtype=float)

    return {
        "position": drives.joint_position,
        "reference": drives.joint_position,
        "velocity": rate_of_change,
        "acceleration": rate_of_change,
        "torque": drives.joint_torque,
    }


def _in_robot_order(log: Log, robot: Robot) -> Log:
    """Axes in the robot's order, where both name the same joints."""
    joints = next((s.options["joints"] for s in reversed(log.history) if s.name == "joint order"), None)
    names = [robot.joints[i].name for i in robot.coordinates]
    if not joints or joints == names or not set(names) <= set(joints) or len(joints) != log.axes:
        return log
    order = [joints.index(name) for name in names]
    channels = {channel: axes_in_order(values, order) for channel, values in log.channels.items()}
    step = Step("joint order", {"joints": names}, f"Axes were put in the order of robot {robot.name}.")
    return log.with_step(step, channels=channels)
