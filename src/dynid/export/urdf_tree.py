"""A URDF made from a robot's own tree, for robots that did not come from one."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dynid.export.bodies import MovingLink, mimics_of
from dynid.export.joint_values import HeldValues
from dynid.export.xml_edit import comment, numbers_text, tag
from dynid.model.geometry import placement
from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, Joint, JointKind
from dynid.model.orientation import to_rpy
from dynid.model.robot import Robot

NO_LIMIT = 1e9
"""Written where a limit that URDF asks for is not known: beyond any robot, and all readers take it."""


def urdf_of_tree(robot: Robot, links: Mapping[str, MovingLink], held: HeldValues) -> str:
    """The text of a URDF: a link and a joint per joint of the robot, frames as in its MDH table, axes z.

    The inertia of fixed links is in the links that carry them; fixed links are frames without mass.

    Args:
        robot: the robot.
        links: its moving links.
        held: friction by joint.
    """
    base, names = _link_names(robot)
    lines = ['<?xml version="1.0"?>', f"<{tag('robot', {'name': robot.name})}>"]
    lines.append(f"  <{tag('link', {'name': base})}/>")
    for joint, name in zip(robot.joints, names, strict=True):
        lines += [f"  {line}" for line in _link_lines(name, links.get(joint.name))]
    for joint, name in zip(robot.joints, names, strict=True):
        parent = base if joint.antecedent == BASE else names[joint.antecedent]
        lines += [f"  {line}" for line in _joint_lines(robot, joint, parent, name, held)]
    return "\n".join([*lines, "</robot>", ""])


def inertial_lines(inertia: LinkInertia, also: tuple[str, ...] = ()) -> list[str]:
    """The element ``<inertial>``; no lines for a link without mass and inertia.

    Args:
        inertia: in the frame of the link.
        also: names of the links whose inertia is part of it.
    """
    if not inertia.standard().any():
        return []
    mass, com, J = inertia.com_form()
    keys = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    tensor = {key: numbers_text([J[place]]) for key, place in keys.items()}
    told = comment(f"with the inertia of what is fixed to it: {', '.join(also)}")
    return [
        "<inertial>",
        *([f"  {told}"] if also else []),
        f"  <{tag('origin', {'xyz': numbers_text(com), 'rpy': '0 0 0'})}/>",
        f"  <{tag('mass', {'value': numbers_text([mass])})}/>",
        f"  <{tag('inertia', tensor)}/>",
        "</inertial>",
    ]


def _link_names(robot: Robot) -> tuple[str, list[str]]:
    """Names of the base and of the links, no two alike."""
    names = [f"{joint.name}_link" for joint in robot.joints]
    base = "base_link"
    while base in names:
        base = f"robot_{base}"
    return base, names


def _link_lines(name: str, link: MovingLink | None) -> list[str]:
    inside = [] if link is None else inertial_lines(link.inertia, link.carried)
    start = tag("link", {"name": name})
    if not inside:
        return [f"<{start}/>"]
    return [f"<{start}>", *(f"  {line}" for line in inside), "</link>"]


def _joint_lines(robot: Robot, joint: Joint, parent: str, child: str, held: HeldValues) -> list[str]:
    R, p = placement(joint)
    parts = [
        tag("parent", {"link": parent}),
        tag("child", {"link": child}),
        tag("origin", {"xyz": numbers_text(p), "rpy": numbers_text(to_rpy(R))}),
    ]
    kind = _kind(joint)
    if joint.movable:
        parts.append(tag("axis", {"xyz": "0 0 1"}))
        if limit := _limit(joint, kind):
            parts.append(tag("limit", limit))
        values = held.of(joint.name)
        if values.damping or values.friction:
            friction = {"damping": values.damping, "friction": values.friction}
            parts.append(tag("dynamics", {key: numbers_text([value]) for key, value in friction.items()}))
        if joint.name in (mimics := mimics_of(robot)):
            offset, factors = mimics[joint.name]
            [(leader, ratio)] = factors.items() or {robot.joints[robot.coordinates[0]].name: 0.0}.items()
            facts = {"joint": leader, "multiplier": numbers_text([ratio]), "offset": numbers_text([offset])}
            parts.append(tag("mimic", facts))
    start = tag("joint", {"name": joint.name, "type": kind})
    return [f"<{start}>", *(f"  <{part}/>" for part in parts), "</joint>"]


def _kind(joint: Joint) -> str:
    endless = math.isinf(joint.limits.lower) and math.isinf(joint.limits.upper)
    return "continuous" if joint.kind is JointKind.REVOLUTE and endless else str(joint.kind)


def _limit(joint: Joint, kind: str) -> dict[str, str]:
    """The attributes of ``<limit>``, which URDF asks for unless a joint turns without end."""
    limits = joint.limits
    known = {"effort": limits.effort, "velocity": limits.velocity}
    if kind == "continuous" and all(math.isinf(value) for value in known.values()):
        return {}
    if kind != "continuous":
        known = {"lower": limits.lower, "upper": limits.upper, **known}
    return {key: numbers_text([finite_limit(value)]) for key, value in known.items()}


def finite_limit(value: float) -> float:
    """A limit, or what is written where it is not known."""
    return math.copysign(NO_LIMIT, value) if math.isinf(value) else value
