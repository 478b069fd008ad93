"""The data check: is a log fit to be fitted, and if not, why, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
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
from dynid.signals.quality.jumps import check_leaps
from dynid.signals.quality.levels import check_levels
from dynid.signals.quality.light import Light, light_motion
from dynid.signals.quality.mend import sound
from dynid.signals.quality.scales import check_scales
from dynid.signals.quality.signs import check_signs
from dynid.signals.quality.smoothness import ROUGH, check_smoothness, roughness
from dynid.signals.quality.stamps import check_stamps
from dynid.signals.quality.values import check_values

__all__ = ["DataCheck", "Finding", "check_log"]

_FATAL = ("too short", "clock", "missing channel", "no motion")
"""Findings after which nothing else can be said."""
_LONG = 350_000
"""Samples beyond which a part of the log stands for all of it against a model."""
_HARDLY, _NOT_AT_ALL = 0.5, 0.9
"""Share of the torques left by a plain fit, as a median over the axes: worth a warning, and an error."""


def check_log(log: Log, robot: Robot | None = None, base: Sequence[int] | None = None) -> DataCheck:
    """Judge a log: stamps, values, levels, units, signs, delay, and with a robot gravity and excitation.

    The log is not changed; what is repairable is named, and ``repair_log`` mends it on request.

    Args:
        log: raw, motor or joint side.
        robot: what was moved; its drives bring a motor-side log to the joints.
        base: its base parameters (indices of standard ones), where they are known; found when None.

    Raises:
        ShapeError: when the log's axes are not the robot's.
        ModelError: when the log is on the motor side and the robot has no drives.
    """
    raw = [check_stamps(log), check_values(log), check_levels(log)]
    if any(f.name in _FATAL for c in raw for f in c.findings):
        return judged(log.name, tuple(raw))
    raw += [check_smoothness(log), check_leaps(log, robot)]
    mended = sound(log, tuple(f for c in raw for f in c.findings), robot)
    joint = mended if robot is None else to_joint_side(mended, robot)
    light = light_motion(joint)
    parts = [*raw, check_scales(joint, light, robot)]
    if light is not None:
        parts += [_looked_at(joint, light), *_against_model(joint, light, robot, base)]
    return judged(log.name, tuple(parts))


def _against_model(log: Log, light: Light, robot: Robot | None, base: Sequence[int] | None) -> list[Checked]:
    """Checks that ask whether the motion explains the torques."""
    columns, W = (plain_columns(light), None) if robot is None else robot_columns(robot, light)
    still = _still(light)
    shares = [float(share) for share in unexplained(light, columns)]
    facts: dict[str, Any] = {
        "unexplained_per_axis": shares,
        "still_axes": [axis + 1 for axis in still],
    }
    explained = EXPLAINED_PLAINLY if robot is None else EXPLAINED
    parts = [Checked((), facts), check_delay(light, columns, explained), check_signs(light, columns)]
    moving = [axis for axis in range(log.axes) if axis not in still and np.isfinite(shares[axis])]
    if robot is None or W is None:
        parts.append(_without_motion(log, shares, moving))
    else:
        parts.append(_hardly_explained(shares, moving, robot))
        parts += [check_gravity(light, robot, W), check_excitation(light, robot, still, W, base)]
    return parts


def _looked_at(log: Log, light: Light) -> Checked:
    """A long log is held against a model in part; that is said."""
    if log.samples <= _LONG:
        return Checked()
    sentence = (
        f"The log is long: delay, sign, gravity and excitation were looked at in {len(light.q)} of its "
        f"{log.samples} samples, from the middle."
    )
    return Checked((Finding("long log", "note", sentence, "Check other parts of it as logs of their own."),))


def _hardly_explained(shares: list[float], moving: list[int], robot: Robot) -> Checked:
    """Torques that no parameters of this robot would give; axes at rest have hardly any to explain."""
    middle = float(np.median([shares[axis] for axis in moving])) if moving else 0.0
    if middle < _HARDLY:
        return Checked()
    shown = ", ".join(f"{100 * share:.0f}" for share in shares)
    sentence = f"No parameters of robot {robot.name!r} explain the torques: {shown} % per axis are left."
    remedy = "Check the robot, the order and zeros of the axes, and whether all axes were driven."
    severity = "error" if middle > _NOT_AT_ALL else "warning"
    return Checked((Finding("hardly explained", severity, sentence, remedy, "torque"),))


def _without_motion(log: Log, shares: list[float], moving: list[int]) -> Checked:
    """Torques that are noise, as far as can be told without the robot: rough, and not told by the motion."""
    if not moving or min(shares[axis] for axis in moving) < _NOT_AT_ALL:
        return Checked()
    rough = [axis for axis in moving if roughness(log.channels["torque"][:, axis]) > ROUGH]
    shown = ", ".join(f"{100 * share:.0f}" for share in shares)
    sentence = f"The torques have nothing to do with the motion: {shown} % per axis are left by a plain fit."
    remedy = "Check the columns of the torques and the order of the rows; give the robot for a sharper look."
    severity = "error" if len(rough) == len(moving) else "warning"
    return Checked((Finding("hardly explained", severity, sentence, remedy, "torque"),))


def _still(light: Light) -> tuple[int, ...]:
    """Axes (from 0) whose travel is nothing beside the others', or nothing at all."""
    travel = np.ptp(light.q, axis=0)
    return tuple(int(axis) for axis in np.flatnonzero(travel < max(1e-4, 1e-4 * float(travel.max()))))
