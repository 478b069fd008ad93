"""Robots from URDF: links and joints only; collisions are read by ``attach_shapes``, visuals never."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar
from xml.etree.ElementTree import Element

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, ModelError, unknown_name
from dynid.core.files import naming_file, read_text
from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, JointKind, Limits
from dynid.model.loaders.tree import SNAP_RAD, Held, Mimic, Segment, assemble, place_segments
from dynid.model.loaders.urdf_transmissions import drives_of_transmissions
from dynid.model.loaders.xml_safe import number, numbers, parse_xml, required_text
from dynid.model.orientation import from_rpy, snap_angle, unit
from dynid.model.robot import Robot
from dynid.model.robot_source import RobotSource, folder_of

_KINDS = {
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.REVOLUTE,
    "prismatic": JointKind.PRISMATIC,
    "fixed": JointKind.FIXED,
}
_USUAL_ROUNDING = 1e-5
"""Distance from a right angle [rad] that the usual digits (1.5708, 3.1416) leave, and no note is worth."""


def from_urdf(path: str | Path, *, snap_rad: float = SNAP_RAD) -> Robot:
    """Load a robot from a URDF file.

    Fixed joints are merged into the link that carries them, mimic joints become a coupling, and the inertias,
    damping and friction of the file become a-priori values. Limits of 0, which exporters write where nothing
    is known, and infinite ones are read as unknown. The inertia of what is fixed to the base is left out.
    Transmissions become drives where they tell the gears of all coordinates; else ``drives_note`` says why
    not. Identification needs the kinematics only, so inertias, friction and limits that no robot has are left
    out with a note; without inertias the robot cannot be simulated (``inverse_only``).

    Args:
        path: the file.
        snap_rad: angles nearer than this to a multiple of π/2, or written with its decimals (1.57), are taken
            as it, because 1.5708 instead of π/2 splits base parameters that belong together; 0 keeps the
            file's digits [rad].
    """
    file = Path(path)
    text = read_text(file, "URDF file", as_it_is=True)
    root = parse_xml(text, f"URDF file {file.name}")
    with naming_file(file, "Robot file"):
        robot = robot_from_urdf(root, default_name=file.stem, snap_rad=snap_rad, source=file.name)
    return replace(robot, origin=RobotSource(file.name, "urdf", text, folder_of(file)))


def from_urdf_text(text: str, *, snap_rad: float = SNAP_RAD) -> Robot:
    """Load a robot from the text of a URDF; see ``from_urdf``."""
    robot = robot_from_urdf(parse_xml(text, "URDF text"), snap_rad=snap_rad)
    return replace(robot, origin=RobotSource("robot.urdf", "urdf", text))


def robot_from_urdf(
    root: Element, *, default_name: str = "robot", snap_rad: float = SNAP_RAD, source: str = ""
) -> Robot:
    """Build a robot from the root element of a URDF."""
    tree = _tree_of(root)
    links, joints, edges, order = tree.links, tree.joints, tree.edges, tree.order
    read = _read_segments(tree, snap_rad)
    segments = [segment for segment, _ in read]
    mimics = [m for name in order for m in _mimics(name, joints[name])]
    robot_name = root.get("name", "").strip() or default_name
    robot = assemble(robot_name, segments, mimics=mimics, snap_rad=snap_rad, source=source)
    robot = _without_bodies(robot, [left.inertial for _, left in read if left.inertial])
    drives, note = drives_of_transmissions(robot, root, joints)
    notes = [sentence for _, left in read for sentence in left.notes]
    held = {end for edge in edges.values() for end in (edge.parent, edge.child)}
    if alone := [repr(name) for name in links if name not in held]:
        notes.append(f"Left out, as they hang on no joint and carry none: links {', '.join(alone)}.")
    notes += _rounded_angles({name: joints[name] for name in order}, snap_rad)
    return replace(robot, drives=drives, drives_note=note, notes=tuple(notes))


@dataclass(frozen=True, eq=False)
class _UrdfTree:
    """Links and joints of a file by name, what the joints join, and the joints from the root on."""

    links: Mapping[str, Element]
    joints: Mapping[str, Element]
    edges: Mapping[str, Edge]
    order: Sequence[str]


def _tree_of(root: Element) -> _UrdfTree:
    if root.tag != "robot":
        raise ModelError(f"The root element is <{root.tag}>; a URDF has <robot>.")
    if any(element.tag.startswith("xacro:") for element in root.iter()):
        raise ModelError("The file holds xacro macros; expand it with xacro first.")
    links = elements_by_name(root.findall("link"), "link")
    joints = elements_by_name(root.findall("joint"), "joint")
    edges = {name: edge_of(name, element, links) for name, element in joints.items()}
    return _UrdfTree(links, joints, edges, joint_order(links, edges))


def _read_segments(tree: _UrdfTree, snap_rad: float) -> list[tuple[Segment, _LeftOut]]:
    place = {tree.edges[name].child: i for i, name in enumerate(tree.order)}
    return [
        _segment(
            name,
            tree.joints[name],
            place.get(tree.edges[name].parent, BASE),
            tree.links[tree.edges[name].child],
            snap_rad,
        )
        for name in tree.order
    ]


def links_of_urdf(root: Element, snap_rad: float) -> list[tuple[Element, Element, Held]]:
    """Each joint of a URDF with the link it carries, and where that link is held in the robot read from it.

    Args:
        root: the root element.
        snap_rad: as for ``from_urdf``.
    """
    tree = _tree_of(root)
    segments = [segment for segment, _ in _read_segments(tree, snap_rad)]
    held = place_segments(segments, snap_rad)[2]
    return [
        (tree.joints[name], tree.links[tree.edges[name].child], place)
        for name, place in zip(tree.order, held, strict=True)
    ]


def _without_bodies(robot: Robot, reasons: Sequence[str]) -> Robot:
    """The robot without inertias where some of them cannot be: sums over its links would be wrong."""
    inertial = {entry.name for entry in robot.table if entry.family == "inertial"}
    if reasons:
        why = f"the inertias of its file were left out ({reasons[0].rstrip('.')})"
        kept = {name: value for name, value in robot.parameters.items() if name not in inertial}
        return replace(robot, parameters=kept, inverse_only=why)
    if not any(robot.parameters.get(name) for name in inertial):
        return replace(robot, inverse_only="its file gives no link an <inertial>")
    return robot


def _rounded_angles(joints: Mapping[str, Element], snap_rad: float) -> list[str]:
    """A note of angles that were taken as right angles although they are farther from them than rounding."""
    found = []
    for name, joint in joints.items():
        for angle in _rpy(joint, f"Joint {name!r}"):
            if abs(snap_angle(angle, snap_rad) - angle) > _USUAL_ROUNDING:
                found.append(f"{angle:.10g} at joint {name!r}")
    if not found:
        return []
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return [f"Angles near right angles were read as these: {', '.join(found[:3])}{more}."]


@dataclass(frozen=True)
class _LeftOut:
    """What was left out of a joint and its link: why the inertia, and sentences about the rest."""

    inertial: str
    notes: tuple[str, ...]


Part = TypeVar("Part")


def _readable(read: Callable[[], Part], otherwise: Part) -> tuple[Part, str]:
    """What a part of the file says; where it cannot be, something else and the sentence that says why."""
    try:
        return read(), ""
    except DynidError as error:
        return otherwise, str(error)


def _segment(
    name: str, joint: Element, parent: int, link: Element, snap_rad: float
) -> tuple[Segment, _LeftOut]:
    where = f"Joint {name!r}"
    kind = joint.get("type", "")
    if kind in ("floating", "planar"):
        raise ModelError(
            f"{where} is {kind}; only joints of one degree of freedom on an immobile base are read, so "
            "make it fixed or replace it by revolute and prismatic joints."
        )
    if kind not in _KINDS:
        raise unknown_name(f"type of joint {name!r}", kind, _KINDS)
    R, p = origin_of(joint, where, snap_rad)
    element = joint.find("axis")
    axis = (1.0, 0.0, 0.0)
    if element is not None and kind != "fixed":
        axis = numbers(element.attrib, "xyz", f"{where}: <axis>", axis)  # type: ignore[assignment]
    inertia, no_inertia = _readable(lambda: _inertia(link, snap_rad), LinkInertia.zero())
    limits, no_limits = _readable(lambda: _limits(joint, where, kind), Limits())
    no_values: dict[str, float] = {}
    drive, no_friction = _readable(lambda: _dynamics(joint, where), no_values)
    segment = Segment(
        name=name,
        parent=parent,
        kind=_KINDS[kind],
        rotation=R,
        position=p,
        axis=unit(axis, f"{where}: axis", snap_rad),
        inertia=inertia,
        limits=limits,
        drive=drive,
        actuated=kind != "fixed" and joint.find("mimic") is None,
    )
    told = (("inertias", no_inertia), ("limits", no_limits), ("friction", no_friction))
    notes = tuple(f"Left out, as no robot has them: {what}. {why}" for what, why in told if why)
    return segment, _LeftOut(no_inertia, notes)


def origin_of(element: Element, where: str, snap_rad: float) -> tuple[FloatArray, FloatArray]:
    """Rotation and position of an element by its ``<origin>``."""
    xyz = numbers(_origin_attributes(element), "xyz", f"{where}: <origin>", (0.0, 0.0, 0.0))
    roll, pitch, yaw = (snap_angle(angle, snap_rad) for angle in _rpy(element, where))
    return from_rpy(roll, pitch, yaw), np.array(xyz)


def _rpy(element: Element, where: str) -> tuple[float, ...]:
    return numbers(_origin_attributes(element), "rpy", f"{where}: <origin>", (0.0, 0.0, 0.0))


def _origin_attributes(element: Element) -> Mapping[str, str]:
    origin = element.find("origin")
    return {} if origin is None else origin.attrib


def _inertia(link: Element, snap_rad: float) -> LinkInertia:
    inertial = link.find("inertial")
    if inertial is None:
        return LinkInertia.zero()
    where = f"Link {link.get('name')!r}"
    mass, inertia = inertial.find("mass"), inertial.find("inertia")
    if mass is None or inertia is None:
        missing = "mass" if mass is None else "inertia"
        raise ModelError(
            f"{where}: its <inertial> has no <{missing}>; add it, or leave out <inertial> for a massless "
            "link."
        )
    required_text(mass.attrib, "value", f"{where}: <mass>")
    xx, xy, xz, yy, yz, zz = (
        number(inertia.attrib, key, f"{where}: <inertia>", 0.0)
        for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    R, com = origin_of(inertial, f"{where}: <inertial>", snap_rad)
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return LinkInertia.from_com(
        number(mass.attrib, "value", f"{where}: <mass>", 0.0), com, R @ tensor @ R.T, where
    )


def _limits(joint: Element, where: str, kind: str) -> Limits:
    element = joint.find("limit")
    if element is None or kind == "fixed":
        return Limits()
    where = f"{where}: <limit>"
    values: dict[str, float] = {}
    for key in ("velocity", "effort"):
        bound = _bound(element, key, where)
        if bound != 0.0:
            values[key] = bound
    lower, upper = (_bound(element, key, where) for key in ("lower", "upper"))
    if kind != "continuous" and (lower, upper) != (0.0, 0.0):
        values |= {"lower": -math.inf if math.isinf(lower) else lower, "upper": upper}
    try:
        return Limits(**values)
    except DynidError as error:
        raise ModelError(f"{where}: {error}") from None


def _bound(element: Element, key: str, where: str) -> float:
    """A bound of the file; what is infinite of either sign, written as inf or 1e999, is unknown: +inf."""
    try:
        if math.isinf(float(element.get(key, ""))):
            return math.inf
    except ValueError:
        pass  # not a number: ``number`` says so
    # Exporters write the largest double where there is no limit.
    return number(element.attrib, key, where, 0.0, bound=math.inf)


def _dynamics(joint: Element, where: str) -> dict[str, float]:
    element = joint.find("dynamics")
    values: dict[str, float] = {}
    if element is None:
        return values
    for key, symbol in (("damping", "Fv"), ("friction", "Fc")):
        if key in element.attrib:
            values[symbol] = number(element.attrib, key, f"{where}: <dynamics>", 0.0)
            if values[symbol] < 0:
                raise ModelError(
                    f"{where}: {key} is {values[symbol]:g}; friction takes energy, so it cannot be negative."
                )
    return values


def _mimics(name: str, joint: Element) -> list[Mimic]:
    element = joint.find("mimic")
    if element is None or joint.get("type") == "fixed":
        return []
    where = f"Joint {name!r}: <mimic>"
    leader = required_text(element.attrib, "joint", where)
    ratio = number(element.attrib, "multiplier", where, 1.0)
    return [Mimic(name, leader, ratio, number(element.attrib, "offset", where, 0.0))]


@dataclass(frozen=True, slots=True)
class Edge:
    """The links a joint stands between."""

    parent: str
    child: str


def elements_by_name(elements: Iterable[Element], what: str) -> dict[str, Element]:
    """Elements by name; a name that is missing or used twice is refused."""
    result: dict[str, Element] = {}
    for element in elements:
        name = required_text(element.attrib, "name", f"A <{what}>")
        if name in result:
            raise ModelError(f"Two {what}s are named {name!r}; names must be unique.")
        result[name] = element
    return result


def edge_of(name: str, element: Element, links: Mapping[str, Element]) -> Edge:
    """The parent and child of a joint, which must be links of the file."""
    ends = []
    for side in ("parent", "child"):
        where = f"The <{side}> of joint {name!r}"
        end = element.find(side)
        if end is None:
            raise ModelError(f'Joint {name!r} has no <{side}>; give <{side} link="..."/>.')
        link = required_text(end.attrib, "link", where)
        if link not in links:
            raise unknown_name(f"{side} link of joint {name!r}", link, links)
        ends.append(link)
    return Edge(ends[0], ends[1])


def joint_order(links: Mapping[str, Element], edges: Mapping[str, Edge]) -> list[str]:
    """Names of the joints from the root joint_order, depth first, in the order of the file.

    Raises:
        ModelError: when links and joints are not one tree.
    """
    carried: dict[str, str] = {}
    children: dict[str, list[str]] = {name: [] for name in links}
    for name, edge in edges.items():
        if edge.child in carried:
            raise ModelError(
                f"Link {edge.child!r} is the child of both joint {carried[edge.child]!r} and joint {name!r}; "
                "a link hangs on one joint."
            )
        carried[edge.child] = name
        children[edge.parent].append(name)
    if not links:
        raise ModelError("The file has no <link>.")
    roots = [name for name in links if name not in carried]
    roots = [name for name in roots if children[name]] or roots
    if len(roots) > 1:
        raise ModelError(
            f"The links {', '.join(repr(r) for r in roots[:5])} hang on no joint; one root link is "
            "allowed, so join them with fixed joints."
        )
    order: list[str] = []
    stack = list(reversed(children[roots[0]])) if roots else []
    while stack:
        name = stack.pop()
        order.append(name)
        stack += reversed(children[edges[name].child])
    reached = set(order)
    lost = [name for name in edges if name not in reached]
    if lost:
        raise ModelError(
            f"The joints {', '.join(repr(n) for n in lost[:5])} form a circle or hang on one; a URDF is a "
            "tree that starts at one root link."
        )
    return order
