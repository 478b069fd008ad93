"""An MJCF model made from a robot's own tree, for robots that did not come from one."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dynid.export.bodies import MovingLink, mimics_of
from dynid.export.joint_values import HeldValues, JointValues
from dynid.export.loops import equality_tags, mjcf_holds_loops, site_lines, start_tags
from dynid.export.urdf_tree import finite_limit
from dynid.export.xml_edit import comment, numbers_text, tag
from dynid.model.geometry import placement
from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, Joint, JointKind
from dynid.model.robot import Robot


def mjcf_of_tree(robot: Robot, links: Mapping[str, MovingLink], held: HeldValues) -> str:
    """The text of an MJCF model: a body per joint of the robot, frames as in its MDH table, axes z.

    The inertia of fixed links is in the bodies that carry them; fixed links are bodies without mass. Every
    driven coordinate has a motor that gives joint torques. Loops are equalities of sites, closed at the
    keyframe "home".

    Args:
        robot: the robot.
        links: its moving links.
        held: drive, friction and springs by joint.
    """
    lines = [
        f"<{tag('mujoco', {'model': robot.name})}>",
        '  <compiler angle="radian" autolimits="true" inertiafromgeom="false"/>',
        f"  <{tag('option', {'gravity': numbers_text(robot.gravity)})}/>",
        "  <worldbody>",
        *(f"    {line}" for line in [*site_lines(robot, BASE), *_bodies(robot, BASE, links, held)]),
        "  </worldbody>",
    ]
    mimics = {} if mjcf_holds_loops(robot) else mimics_of(robot)
    followed = [_equality(name, *equation) for name, equation in mimics.items()]
    lines += _section("equality", followed + equality_tags(robot))
    lines += _section("keyframe", start_tags(robot))
    driven = [robot.joints[j].name for j, has in zip(robot.coordinates, robot.driven, strict=True) if has]
    lines += _section("actuator", [tag("motor", {"name": name, "joint": name}) for name in driven])
    return "\n".join([*lines, "</mujoco>", ""])


def inertial_attributes(inertia: LinkInertia) -> dict[str, str]:
    """The attributes of ``<inertial>``; the full tensor, which reads back without a change of axes.

    Args:
        inertia: in the frame of the body.
    """
    mass, com, J = inertia.com_form()
    full = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    return {"mass": numbers_text([mass]), "pos": numbers_text(com), "fullinertia": numbers_text(full)}


def joint_numbers(values: JointValues) -> dict[str, float]:
    """The values of a joint by MJCF's names, SI; those that are zero are not needed."""
    return {
        "armature": values.armature,
        "damping": values.damping,
        "frictionloss": values.friction,
        "stiffness": values.stiffness,
        "springref": values.rest,
    }


def carried_comment(names: tuple[str, ...]) -> list[str]:
    """What is told beside an inertia that holds that of other links."""
    return [comment(f"with the inertia of what is fixed to it: {', '.join(names)}")] if names else []


def _bodies(robot: Robot, parent: int, links: Mapping[str, MovingLink], held: HeldValues) -> list[str]:
    """The bodies that hang on a link, each with those that hang on it."""
    lines = []
    for j, joint in enumerate(robot.joints):
        if joint.antecedent != parent:
            continue
        R, p = placement(joint)
        facts = {"name": f"{joint.name}_link", "pos": numbers_text(p)}
        if not np.array_equal(R, np.eye(3)):
            facts["xyaxes"] = numbers_text([*R[:, 0], *R[:, 1]])
        inside = []
        if joint.movable:
            link = links[joint.name]
            inside = carried_comment(link.carried)
            inside.append(f"<{tag('inertial', inertial_attributes(link.inertia))}/>")
            inside.append(f"<{tag('joint', _joint(joint, held.of(joint.name)))}/>")
        inside += site_lines(robot, j) + _bodies(robot, j, links, held)
        lines += [f"<{tag('body', facts)}>", *(f"  {line}" for line in inside), "</body>"]
    return lines


def _joint(joint: Joint, values: JointValues) -> dict[str, str]:
    limits = joint.limits
    facts = {"name": joint.name, "type": "hinge" if joint.kind is JointKind.REVOLUTE else "slide"}
    facts["axis"] = "0 0 1"
    if math.isfinite(limits.lower) or math.isfinite(limits.upper):
        facts["range"] = numbers_text([finite_limit(limits.lower), finite_limit(limits.upper)])
    if math.isfinite(limits.effort) and limits.effort > 0:
        facts["actuatorfrcrange"] = numbers_text([-limits.effort, limits.effort])
    return facts | {key: numbers_text([value]) for key, value in joint_numbers(values).items() if value}


def _equality(name: str, offset: float, factors: Mapping[str, float]) -> str:
    """q = offset + factor · q of the leader; a joint without a leader is held at the offset."""
    leader = {"joint2": next(iter(factors))} if factors else {}
    coefficients = [offset, sum(factors.values()), 0.0, 0.0, 0.0]
    return tag("joint", {"joint1": name, **leader, "polycoef": numbers_text(coefficients)})


def _section(name: str, elements: list[str]) -> list[str]:
    if not elements:
        return []
    return [f"  <{name}>", *(f"    <{element}/>" for element in elements), f"  </{name}>"]
