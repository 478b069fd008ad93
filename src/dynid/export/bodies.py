"""The moving links of a robot as rigid bodies: composite inertias, and whether two robots are the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, ModelError
from dynid.export.loops import loop_difference
from dynid.model.geometry import placement
from dynid.model.inertia import LinkInertia, check_physical
from dynid.model.joint import BASE, Joint
from dynid.model.parameters import INERTIAL
from dynid.model.robot import Robot

_SAME = 1e-9
"""Positions [m] and rotations this near are equal: more would show in the torques that are compared."""


@dataclass(frozen=True, eq=False)
class MovingLink:
    """A joint that moves, and all that moves with it.

    Args:
        joint: the joint.
        antecedent: name of the joint whose link carries it; "" for the base.
        rotation: R of its frame in that link's frame at q = 0, (3, 3).
        position: p of its origin there, three values [m].
        inertia: of its link and of the links fixed to it, in its frame.
        carried: names of the fixed joints whose links are part of it.
    """

    joint: Joint
    antecedent: str
    rotation: FloatArray
    position: FloatArray
    inertia: LinkInertia
    carried: tuple[str, ...]


def moving_links(robot: Robot, standard: FloatArray) -> dict[str, MovingLink]:
    """The moving links by the names of their joints, antecedents first, without what is fixed to the base.

    Args:
        robot: the robot.
        standard: its standard parameters in table order, SI.
    """
    values = robot.table.mapping(standard)
    found: dict[str, MovingLink] = {}
    hosts: list[tuple[str, FloatArray, FloatArray]] = []  # host of each link: name, R and p of the link in it
    for joint in robot.joints:
        host, R_host, p_host = ("", np.eye(3), np.zeros(3))
        if joint.antecedent != BASE:
            host, R_host, p_host = hosts[joint.antecedent]
        R, p = placement(joint)
        R, p = R_host @ R, p_host + R_host @ p
        inertia = LinkInertia.from_standard([values[symbol + joint.label] for symbol in INERTIAL])
        if joint.movable:
            found[joint.name] = MovingLink(joint, host, R, p, inertia, ())
            hosts.append((joint.name, np.eye(3), np.zeros(3)))
            continue
        hosts.append((host, R, p))
        if host:
            link = found[host]
            total, names = link.inertia + inertia.expressed_in(R, p), (*link.carried, joint.name)
            found[host] = MovingLink(link.joint, link.antecedent, link.rotation, link.position, total, names)
    return found


def require_bodies(links: Mapping[str, MovingLink], *, massless: bool) -> None:
    """Refuse links that no rigid body can be.

    Args:
        links: the moving links.
        massless: whether a link may be without any mass and inertia.

    Raises:
        DynidError: with the first link that has no positive mass or an inertia that no body has.
    """
    for name, link in links.items():
        what = f"The link of joint {name!r}"
        if massless and not link.inertia.standard().any():
            continue
        if link.inertia.mass <= 0:
            raise DynidError(
                f"{what} has the mass {link.inertia.mass:g} kg; a body has a positive mass, so the model "
                "cannot be written as bodies; fit again, so that a possible robot is sought."
            )
        mass, com, tensor = link.inertia.com_form()
        try:
            check_physical(mass, com, tensor, what)
        except ModelError as error:
            raise DynidError(
                f"{str(error).rstrip('.')}, so the model cannot be written as bodies; fit again, so that a "
                "possible robot is sought."
            ) from None
        low, middle, high = np.linalg.eigvalsh(tensor)
        if high > (low + middle) * (1 + _SAME):
            raise DynidError(
                f"{what} has the principal moments {low:.4g}, {middle:.4g} and {high:.4g} kg m², and none of "
                "a body's can be above the sum of the others, so the model cannot be written as bodies; fit "
                "again, so that a possible robot is sought."
            )


Equation = tuple[float, Mapping[str, float]]
"""q = offset + Σ factor · q of other joints: offset [rad or m], factors by joint name."""


def equations_of(robot: Robot) -> dict[str, Equation]:
    """The equations of the joints that follow others, in terms of the coordinates."""
    if robot.coupling is None:
        return {}
    names = [robot.joints[j].name for j in robot.movable]
    coordinates = [names[c] for c in robot.coupling.coordinates]
    return {
        name: (offset, {c: g for c, g in zip(coordinates, row, strict=True) if g})
        for name, row, offset in zip(names, robot.coupling.matrix, robot.coupling.offset, strict=True)
        if name not in coordinates
    }


def mimics_of(robot: Robot) -> dict[str, Equation]:
    """The equations with one leader or none, which are those that URDF and MJCF hold."""
    return {name: equation for name, equation in equations_of(robot).items() if len(equation[1]) <= 1}


def first_difference(
    robot: Robot, file: Robot, equations: Mapping[str, Equation] | None = None, *, loops: bool = True
) -> str:
    """The first difference between the mechanics of two robots, as a clause; empty when there is none.

    Args:
        robot: the robot of a result.
        file: the robot of a file.
        equations: those that the file should have of joints that follow others; those of ``robot`` when None.
        loops: whether the file should have the loops of ``robot``; they stand for their equations then.
    """
    ours, theirs = (moving_links(each, np.zeros(len(each.table))) for each in (robot, file))
    if len(ours) != len(theirs):
        return f"it has {len(theirs)} moving joints and the result's robot {len(ours)}"
    for name, link in ours.items():
        if name not in theirs:
            return f"it has no joint {name!r} that moves"
        if difference := _link_difference(link, theirs[name]):
            return f"joint {name!r} {difference}"
    if file.closure is not None or (loops and robot.closure is not None):
        return loop_difference(robot, file)
    wanted, given = equations_of(robot) if equations is None else equations, equations_of(file)
    for name in ours:
        if wanted.get(name) != given.get(name):
            return f"joint {name!r} follows other joints, or otherwise, than that of the result's robot"
    return ""


def _link_difference(ours: MovingLink, theirs: MovingLink) -> str:
    if ours.joint.kind is not theirs.joint.kind:
        return f"is {theirs.joint.kind} and that of the result's robot {ours.joint.kind}"
    if ours.antecedent != theirs.antecedent:
        named = [repr(link.antecedent) if link.antecedent else "the base" for link in (theirs, ours)]
        return f"hangs on {named[0]} and that of the result's robot on {named[1]}"
    if np.abs(ours.position - theirs.position).max() > _SAME:
        places = [f"({', '.join(f'{x:.10g}' for x in p)}) m" for p in (theirs.position, ours.position)]
        return f"is at {places[0]} and that of the result's robot at {places[1]}"
    if np.abs(ours.rotation - theirs.rotation).max() > _SAME:
        cosine = (np.trace(ours.rotation.T @ theirs.rotation) - 1) / 2
        return f"is turned by {np.arccos(np.clip(cosine, -1, 1)):.6g} rad against that of the result's robot"
    return ""
