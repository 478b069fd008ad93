"""A robot as the content of a robot file, so that a result can carry the robot it belongs to."""

from __future__ import annotations

import math
from typing import Any

from dynid.model.joint import GEOMETRY, Joint
from dynid.model.robot import Robot

_LIMITS = ("lower", "upper", "velocity", "acceleration", "effort")


def robot_to_table(robot: Robot) -> dict[str, Any]:
    """The robot in the keys of a robot file, JSON-ready; ``robot_from_table`` gives the robot back."""
    table: dict[str, Any] = {
        "name": robot.name,
        "title": robot.title,
        "source": robot.source,
        "gravity": list(robot.gravity),
        "terms": list(robot.terms),
        "lengths": dict(robot.lengths),
        "joint": [_joint(joint) for joint in robot.joints],
        "friction": [
            {
                "name": term.name,
                "expression": term.expression,
                "unit_revolute": term.unit_revolute,
                "unit_prismatic": term.unit_prismatic,
            }
            for term in robot.friction
        ],
        "parameters": dict(robot.parameters),
    }
    if robot.drives is not None:
        table["drives"] = {
            "ratio": [list(row) for row in robot.drives.ratio],
            "offset": list(robot.drives.offset),
            "gain": list(robot.drives.gain),
        }
    if robot.coupling is not None:
        table["coupling"] = _coupling(robot)
    return table


def _joint(joint: Joint) -> dict[str, Any]:
    limits = joint.limits
    row: dict[str, Any] = {
        "name": joint.name,
        "antecedent": joint.antecedent + 1,
        "kind": joint.kind.value,
        "actuated": joint.actuated,
        "label": joint.label,
        "limits": {name: getattr(limits, name) for name in _LIMITS if math.isfinite(getattr(limits, name))},
    }
    for name in GEOMETRY:
        row[name] = joint.symbols.get(name, getattr(joint, name))
    return row


def _coupling(robot: Robot) -> dict[str, Any]:
    assert robot.coupling is not None
    names = [robot.joints[j].name for j in robot.movable]
    coordinates = [names[c] for c in robot.coupling.coordinates]
    table: dict[str, Any] = {"coordinates": coordinates}
    for name, row, offset in zip(names, robot.coupling.matrix, robot.coupling.offset, strict=True):
        if name not in coordinates:
            table[name] = dict(zip(coordinates, row, strict=True)) | {"offset": offset}
    return table
