"""What a user does when a judge has named a defect: acts on the robot, the logs or the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.suspects.geometry import with_length
from dynid.suspects.log_defects import GravityTilt


@dataclass(frozen=True, eq=False)
class Advice:
    """What is fitted after advice was followed: robot, logs, and terms to add."""

    robot: Robot
    logs: Sequence[Log]
    add: str = "none"


Act = Callable[[Robot, Sequence[Log]], Advice]
Change = Callable[[Log, int | None, float], Log]


def act_of(suspect: str, joint: int | None, size: float | Sequence[float]) -> Act | None:
    """What the remedy of a suspect asks for; None where it is nothing that can be done at the desk.

    Args:
        suspect: its key, such as ``zero@3``.
        joint: from 0; None where it concerns all.
        size: as the suspect has it, SI.
    """
    name = suspect.split("@")[0]
    if name in _ADDED:
        return lambda robot, logs: Advice(robot, logs, "auto")
    if name == "gravity direction":
        return lambda robot, logs: Advice(_tilted(robot, np.atleast_1d(size)), logs)
    if name.startswith("length ") and isinstance(size, float) and joint is not None:
        return lambda robot, logs: Advice(with_length(robot, joint, name.split()[1], size), logs)
    if name in _LOGS and isinstance(size, float):
        change, number = _LOGS[name], size
        return lambda robot, logs: Advice(
            robot, [change(to_joint_side(log, robot), joint, number) for log in logs]
        )
    return None


def turn_torque(joint: int) -> Act:
    """The other sign of a joint's torque."""
    return lambda robot, logs: Advice(
        robot, [_scaled_torque(to_joint_side(log, robot), joint, -1.0) for log in logs]
    )


def point_gravity(direction: Sequence[float]) -> Act:
    """Another gravity in the robot file."""
    x, y, z = (float(g) for g in direction)
    return lambda robot, logs: Advice(robot.with_gravity(x, y, z), logs)


def _tilted(robot: Robot, size: np.ndarray) -> Robot:
    g = GravityTilt(None, gravity=robot.gravity).direction(size)
    return robot.with_gravity(*(float(x) for x in g))


def _later_torques(log: Log, joint: int | None, seconds: float) -> Log:
    """Torques of so many seconds later; the ends that have none are left out."""
    tau = log.array("torque").copy()
    for j in range(log.axes) if joint is None else (joint,):
        tau[:, j] = np.interp(log.time + seconds, log.time, tau[:, j])
    cut = int(np.ceil(abs(seconds) * log.rate_hz)) + 1
    return replace(log, channels={**log.channels, "torque": tau}).part(slice(cut, -cut))


def _scaled_torque(log: Log, joint: int | None, by: float) -> Log:
    tau = log.array("torque").copy()
    tau[:, slice(None) if joint is None else joint] *= by
    return replace(log, channels={**log.channels, "torque": tau})


def _scaled_position(log: Log, joint: int | None, by: float) -> Log:
    """Positions times a factor, and logged speeds with them."""
    made = {name: log.array(name).copy() for name in log.channels}
    for name in made.keys() - {"torque"}:
        made[name][:, slice(None) if joint is None else joint] *= by
    return replace(log, channels=made)


def _moved_position(log: Log, joint: int | None, by: float) -> Log:
    q = log.array("position").copy()
    q[:, slice(None) if joint is None else joint] += by
    return replace(log, channels={**log.channels, "position": q})


def _other_clock(log: Log, by: float) -> Log:
    """Stamps times a factor; logged speeds, which had another clock, are left out."""
    kept = {name: log.array(name) for name in log.channels if name in ("position", "torque")}
    return replace(log, time=log.time * by, channels=kept)


_LOGS: Mapping[str, Change] = {
    "delay": _later_torques,
    "zero": _moved_position,
    "position scale": lambda log, joint, size: _scaled_position(log, joint, 1 + size),
    "torque gain": lambda log, joint, size: _scaled_torque(log, joint, 1 / (1 + size)),
    "gear ratio": lambda log, joint, size: _scaled_torque(
        _scaled_position(log, joint, 1 + size), joint, 1 / (1 + size)
    ),
    "clock": lambda log, joint, size: _other_clock(log, 1 / (1 + size)),
}
"""Changes of a log, joint side, that mend a suspect of a size."""
_ADDED = (
    "stribeck",
    "load",
    "flattening",
    "asymmetry",
    "spring",
    "viscous",
    "dry",
    "offset",
    "inertia",
    "ripple",
    "counterbalance",
)
"""Suspects whose remedy is ``--add auto``."""
