"""Named lengths of a robot: where they stand in the geometry, and the same robot with other values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from dynid.base.polynomial import Polynomial
from dynid.model.joint import LENGTHS, Joint
from dynid.model.robot import Robot


def joint_length(robot: Robot, joint: Joint, which: str) -> Polynomial | float:
    """A joint's length b, d or r as ± its name where the robot names it, else as a number [m]."""
    value = float(getattr(joint, which))
    named = _named(robot, joint, which)
    if named is None:
        return value
    sign, name = named
    return sign * Polynomial.variable(name)


def _named(robot: Robot, joint: Joint, which: str) -> tuple[float, str] | None:
    text = joint.symbols.get(which, "").replace(" ", "")
    sign, name = (-1.0, text[1:]) if text.startswith("-") else (1.0, text)
    # A length changed without its name would make a formula that lies; one of zero only makes it longer.
    if not robot.lengths.get(name) or not math.isclose(
        sign * robot.lengths[name], getattr(joint, which), rel_tol=1e-12, abs_tol=1e-15
    ):
        return None
    return sign, name


def used_lengths(robot: Robot) -> tuple[str, ...]:
    """Names of the lengths that place the robot's joints, in alphabetical order."""
    found = {_named(robot, joint, which) for joint in robot.joints for which in LENGTHS}
    return tuple(sorted({named[1] for named in found if named is not None}))


def with_lengths(robot: Robot, values: Mapping[str, float]) -> Robot:
    """The same robot with other values of its named lengths [m]."""
    lengths = {**robot.lengths, **values}
    joints = []
    for joint in robot.joints:
        changed: dict[str, float] = {}
        for which in LENGTHS:
            named = _named(robot, joint, which)
            if named is not None:
                changed[which] = named[0] * lengths[named[1]]
        joints.append(replace(joint, **changed))  # type: ignore[arg-type]
    return replace(robot, joints=tuple(joints), lengths=lengths)
