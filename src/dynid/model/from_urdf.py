"""Robots from URDF: links and joints only; meshes, visuals and collisions are never opened."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError, ModelError, unknown_name
from dynid.core.files import naming_file
from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, JointKind, Limits
from dynid.model.mimic import Mimic
from dynid.model.orientation import from_rpy, snap_angle, unit
from dynid.model.robot import Robot
from dynid.model.tree import Segment, assemble
from dynid.model.urdf_transmissions import transmitted
from dynid.model.urdf_tree import edge_of, named, outward
from dynid.model.xml_safe import number, numbers, parse_xml, read_xml, required

FloatArray = NDArray[np.float64]
SNAP_RAD = 1e-5
"""Angles this near a multiple of π/2 are taken as it: 1.5708 and 3.1416 mean right angles."""
_KINDS = {
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.REVOLUTE,
    "prismatic": JointKind.PRISMATIC,
    "fixed": JointKind.FIXED,
}


def from_urdf(path: str | Path, *, snap_rad: float = SNAP_RAD) -> Robot:
    """Load a robot from a URDF file.

    Fixed joints are merged into the link that carries them, mimic joints become a coupling, and the inertias,
    damping and friction of the file become a-priori values. Limits of 0, which exporters write where nothing
    is known, and infinite ones are read as unknown. The inertia of what is fixed to the base is left out.
    Transmissions become drives where they tell the gears of all coordinates; else ``drives_note`` says why
    not.

    Args:
        path: the file.
        snap_rad: angles nearer than this to a multiple of π/2 are taken as it, because 1.5708 instead of π/2
            splits base parameters that belong together; 0 keeps the file's digits [rad].
    """
    file = Path(path)
    root = read_xml(file, "URDF file")
    with naming_file(file, "Robot file"):
        return robot_from_urdf(root, default_name=file.stem, snap_rad=snap_rad, source=file.name)


def from_urdf_text(text: str, *, snap_rad: float = SNAP_RAD) -> Robot:
    """Load a robot from the text of a URDF; see ``from_urdf``."""
    return robot_from_urdf(parse_xml(text, "URDF text"), snap_rad=snap_rad)


def robot_from_urdf(
    root: Element, *, default_name: str = "robot", snap_rad: float = SNAP_RAD, source: str = ""
) -> Robot:
    """Build a robot from the root element of a URDF."""
    if root.tag != "robot":
        raise ModelError(f"The root element is <{root.tag}>; a URDF has <robot>.")
    if any(element.tag.startswith("xacro:") for element in root.iter()):
        raise ModelError("The file holds xacro macros; expand it with xacro first.")
    links = named(root.findall("link"), "link")
    joints = named(root.findall("joint"), "joint")
    edges = {name: edge_of(name, element, links) for name, element in joints.items()}
    order = outward(links, edges)
    place = {edges[name].child: i for i, name in enumerate(order)}
    segments = [
        _segment(name, joints[name], place.get(edges[name].parent, BASE), links[edges[name].child], snap_rad)
        for name in order
    ]
    mimics = [m for name in order for m in _mimics(name, joints[name])]
    robot_name = root.get("name", "").strip() or default_name
    robot = assemble(robot_name, segments, mimics=mimics, snap_rad=snap_rad, source=source)
    drives, note = transmitted(robot, root, joints)
    return replace(robot, drives=drives, drives_note=note)


def _segment(name: str, joint: Element, parent: int, link: Element, snap_rad: float) -> Segment:
    where = f"Joint {name!r}"
    kind = joint.get("type", "")
    if kind in ("floating", "planar"):
        raise ModelError(
            f"{where} is {kind}; only joints of one degree of freedom on an immobile base are read, so "
            "make it fixed or replace it by revolute and prismatic joints."
        )
    if kind not in _KINDS:
        raise unknown_name(f"type of joint {name!r}", kind, _KINDS)
    R, p = _origin(joint, where, snap_rad)
    element = joint.find("axis")
    axis = (1.0, 0.0, 0.0)
    if element is not None and kind != "fixed":
        axis = numbers(element.attrib, "xyz", f"{where}: <axis>", axis)  # type: ignore[assignment]
    return Segment(
        name=name,
        parent=parent,
        kind=_KINDS[kind],
        rotation=R,
        position=p,
        axis=unit(axis, f"{where}: axis", snap_rad),
        inertia=_inertia(link, snap_rad),
        limits=_limits(joint, where, kind),
        drive=_dynamics(joint, where),
        actuated=kind != "fixed" and joint.find("mimic") is None,
    )


def _origin(element: Element, where: str, snap_rad: float) -> tuple[FloatArray, FloatArray]:
    origin = element.find("origin")
    attributes = {} if origin is None else origin.attrib
    rpy = numbers(attributes, "rpy", f"{where}: <origin>", (0.0, 0.0, 0.0))
    xyz = numbers(attributes, "xyz", f"{where}: <origin>", (0.0, 0.0, 0.0))
    roll, pitch, yaw = (snap_angle(angle, snap_rad) for angle in rpy)
    return from_rpy(roll, pitch, yaw), np.array(xyz)


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
    required(mass.attrib, "value", f"{where}: <mass>")
    xx, xy, xz, yy, yz, zz = (
        number(inertia.attrib, key, f"{where}: <inertia>", 0.0)
        for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    R, com = _origin(inertial, f"{where}: <inertial>", snap_rad)
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
    leader = required(element.attrib, "joint", where)
    ratio = number(element.attrib, "multiplier", where, 1.0)
    return [Mimic(name, leader, ratio, number(element.attrib, "offset", where, 0.0))]
