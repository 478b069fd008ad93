"""The data check: is a log fit to be fitted, and if not, why, and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynid.model.robot import Robot
from dynid.signals.convert import to_joint_side
from dynid.signals.log import Log
from dynid.signals.quality.columns import plain_columns, robot_columns
from dynid.signals.quality.delay import EXPLAINED, EXPLAINED_PLAINLY, check_delay, unexplained
from dynid.signals.quality.excitation import check_excitation
from dynid.signals.quality.finding import Checked, DataCheck, Finding, judged
from dynid.signals.quality.gravity import check_gravity
from dynid.signals.quality.levels import check_levels
from dynid.signals.quality.light import Light, light_motion
from dynid.signals.quality.scales import check_scales
from dynid.signals.quality.signs import check_signs
from dynid.signals.quality.stamps import check_stamps
from dynid.signals.quality.values import check_values

__all__ = ["DataCheck", "Finding", "check_log"]

_HARDLY = 0.5
"""Share of the torques left by a plain fit, as a median over the axes, that is worth a warning."""


def check_log(log: Log, robot: Robot | None = None) -> DataCheck:
    """Judge a log: stamps, values, levels, units, signs, delay, and with a robot gravity and excitation.

    The log is not changed; what is repairable is named, and ``repair_log`` mends it on request.

    Args:
        log: raw, motor or joint side.
        robot: what was moved; its drives bring a motor-side log to the joints.

    Raises:
        ShapeError: when the log's axes are not the robot's.
        ModelError: when the log is on the motor side and the robot has no drives.
    """
    raw = [check_stamps(log), check_values(log), check_levels(log)]
    if any(f.name in ("too short", "clock", "missing channel", "no motion") for c in raw for f in c.findings):
        return judged(log.name, tuple(raw))
    joint = log if robot is None else to_joint_side(log, robot)
    light = light_motion(joint)
    parts = [*raw, check_scales(joint, light, robot)]
    if light is not None:
        parts += _against_model(light, robot)
    return judged(log.name, tuple(parts))


def _against_model(light: Light, robot: Robot | None) -> list[Checked]:
    """Checks that ask whether the motion explains the torques."""
    columns = plain_columns(light) if robot is None else robot_columns(robot, light)
    still = _still(light)
    facts: dict[str, Any] = {
        "unexplained_per_axis": [float(share) for share in unexplained(light, columns)],
        "still_axes": [axis + 1 for axis in still],
    }
    explained = EXPLAINED_PLAINLY if robot is None else EXPLAINED
    parts = [Checked((), facts), check_delay(light, columns, explained), check_signs(light, columns)]
    if robot is not None:
        parts.append(_hardly_explained(facts["unexplained_per_axis"], robot))
        parts += [check_gravity(light, robot), check_excitation(light, robot, still)]
    return parts


def _hardly_explained(shares: list[float], robot: Robot) -> Checked:
    """Torques that no parameters of this robot would give."""
    known = [share for share in shares if np.isfinite(share)]
    if not known or float(np.median(known)) < _HARDLY:
        return Checked()
    shown = ", ".join(f"{100 * share:.0f}" for share in shares)
    sentence = f"No parameters of robot {robot.name!r} explain the torques: {shown} % per axis are left."
    remedy = "Check the robot, the order and zeros of the axes, and whether all axes were driven."
    return Checked((Finding("hardly explained", "warning", sentence, remedy, "torque"),))


def _still(light: Light) -> tuple[int, ...]:
    """Axes (from 0) whose travel is nothing beside the others', or nothing at all."""
    travel = np.ptp(light.q, axis=0)
    return tuple(int(axis) for axis in np.flatnonzero(travel < max(1e-4, 1e-4 * float(travel.max()))))
