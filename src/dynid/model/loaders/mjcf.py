"""Robots from MJCF, MuJoCo's model format: bodies, joints, inertias, couplings; no meshes are opened."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

import numpy as np

from dynid.core.errors import ModelError
from dynid.core.files import naming_file, read_text
from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, JointKind
from dynid.model.loaders.mjcf_inertia import Geom, Pose, body_inertia, pose_of, site_pose
from dynid.model.loaders.mjcf_joint import (
    Actuation,
    actuation_of,
    equalities,
    joint_segment,
    refuse_tendon_forces,
)
from dynid.model.loaders.mjcf_loops import WORLD, Places, with_loops
from dynid.model.loaders.mjcf_source import (
    MAIN,
    Defaults,
    Settings,
    defaults_of,
    expand_includes,
    section,
    settings_of,
)
from dynid.model.loaders.tree import SNAP_RAD, Held, Segment, assemble, place_segments
from dynid.model.loaders.xml_safe import parse_xml
from dynid.model.robot import Robot
from dynid.model.robot_source import RobotSource, folder_of

_UNREAD = ("replicate", "attach", "composite", "flexcomp")
_HERE: Pose = (np.eye(3), np.zeros(3))
_NOWHERE = np.array([0.0, 0.0, 1.0])


def from_mjcf(path: str | Path, *, snap_rad: float = SNAP_RAD) -> Robot:
    """Load a robot from an MJCF file.

    Hinges and slides become joints, several joints of one body a chain of massless links, and bodies without
    joints are merged into the link that carries them. Armature, damping, frictionloss and stiffness become
    the a-priori values Ia, Fv, Fc and Ks (with off), equalities of joints a coupling, connect and weld
    equalities loops. Contacts, gravcomp, sensors, fluid drag and the laws of actuators are not part of the
    equations and are left out. The robot keeps the text as its origin; with includes, the one text that they
    make, which has no comments.

    Args:
        path: the file; files it includes must lie in its folder.
        snap_rad: angles nearer than this to a multiple of π/2 are taken as it; 0 keeps the digits [rad].
    """
    file = Path(path)
    text = read_text(file, "MJCF file", as_it_is=True)
    root = parse_xml(text, f"MJCF file {file.name}")
    with naming_file(file, "Robot file"):
        if root.find(".//include") is not None:
            text = tostring(expand_includes(root, file), encoding="unicode")
        robot = robot_from_mjcf(root, default_name=file.stem, snap_rad=snap_rad, source=file.name)
    return replace(robot, origin=RobotSource(file.name, "mjcf", text, folder_of(file)))


def from_mjcf_text(text: str, *, snap_rad: float = SNAP_RAD) -> Robot:
    """Load a robot from the text of an MJCF model without includes; see ``from_mjcf``."""
    robot = robot_from_mjcf(expand_includes(parse_xml(text, "MJCF text"), None), snap_rad=snap_rad)
    return replace(robot, origin=RobotSource("robot.xml", "mjcf", text))


def robot_from_mjcf(
    root: Element, *, default_name: str = "robot", snap_rad: float = SNAP_RAD, source: str = ""
) -> Robot:
    """Build a robot from the root element of an MJCF model."""
    walk = _walk_of(root, snap_rad)
    settings, defaults = walk.settings, walk.defaults
    refuse_tendon_forces(section(root, "tendon"), defaults)
    references = {segment.name: segment.reference for segment in walk.segments}
    found = equalities(section(root, "equality"), defaults, references)
    followers = {mimic.follower for mimic in found.mimics}
    segments = [replace(s, actuated=False) if s.name in followers else s for s in walk.segments]
    robot = assemble(
        root.get("model", "").strip() or default_name,
        segments,
        gravity=settings.gravity,
        mimics=found.mimics,
        snap_rad=snap_rad,
        source=source,
    )
    robot = replace(robot, notes=(*robot.notes, *found.notes))
    if not found.loops:
        return robot
    start = [references[robot.joints[j].name] for j in robot.movable]
    keys = list(section(root, "keyframe"))
    return with_loops(robot, found.loops, walk.places(), start, keys, walk.actuation.joints)


@dataclass(frozen=True, eq=False)
class MjcfBody:
    """A body of an MJCF model.

    Args:
        element: its element.
        joints: its joints' elements by name, with their attributes and those of their class.
        inertial: its element ``<inertial>``; None where it has none.
        geoms: its geoms.
        held: where its frame is held in the robot read from the model.
    """

    element: Element
    joints: Mapping[str, tuple[Element, Mapping[str, str]]]
    inertial: Element | None
    geoms: tuple[Geom, ...]
    held: Held


def bodies_of_mjcf(root: Element, snap_rad: float) -> list[MjcfBody]:
    """The bodies of an MJCF model without includes.

    Args:
        root: the root element.
        snap_rad: as for ``from_mjcf``.
    """
    walk = _walk_of(root, snap_rad)
    held = place_segments(walk.segments, snap_rad)[2]
    return [
        MjcfBody(
            element,
            {name: (joint[0], joint[1]) for name, joint in zip(names, parts.joints, strict=True)},
            parts.inertials[0] if parts.inertials else None,
            tuple(parts.geoms),
            held[index],
        )
        for element, names, parts, index in walk.bodies
    ]


def _walk_of(root: Element, snap_rad: float) -> _Walk:
    if root.tag != "mujoco":
        raise ModelError(f"The root element is <{root.tag}>; an MJCF model has <mujoco>.")
    settings, defaults = settings_of(root), defaults_of(root)
    taken = frozenset(body.get("name", "") for body in root.iter("body"))
    walk = _Walk(settings, defaults, actuation_of(root, defaults), snap_rad, taken)
    for element in root.findall("worldbody"):
        walk.contents(element, BASE, MAIN, still=True)
    return walk


@dataclass(frozen=True, eq=False)
class _Parts:
    """What a body holds itself, gathered through its frames: (attributes, frame in the body)."""

    joints: list[tuple[Element, Mapping[str, str], Pose]] = field(default_factory=list)
    geoms: list[Geom] = field(default_factory=list)
    sites: list[Geom] = field(default_factory=list)
    bodies: list[tuple[Element, str, Pose]] = field(default_factory=list)
    inertials: list[Element] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class _Walk:
    """Walks the bodies depth first and appends their segments."""

    settings: Settings
    defaults: Defaults
    actuation: Actuation
    snap_rad: float
    taken: frozenset[str]
    segments: list[Segment] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    bodies: list[tuple[Element, list[str], _Parts, int]] = field(default_factory=list)
    sites: dict[str, tuple[Geom, int]] = field(default_factory=dict)

    def places(self) -> Places:
        """Where the bodies and sites that have a name sit in the links."""
        held = place_segments(self.segments, self.snap_rad)[2]
        world = Held(BASE, *_HERE)
        bodies = {WORLD: world}
        bodies |= {element.get("name", ""): held[index] for element, _, _, index in self.bodies}
        sites = {}
        for name, (site, index) in self.sites.items():
            pose = site_pose(site.attributes, self.settings, self.snap_rad, f"Site {name!r}")
            carrier = world if index == BASE else held[index]
            inside = _inside((carrier.rotation, carrier.position), _inside(site.frame, pose))
            sites[name] = Held(carrier.host, *inside)
        return Places(bodies, sites)

    def contents(self, element: Element, index: int, childclass: str, *, still: bool) -> None:
        """The bodies inside the world, carried by segment ``index``; ``still`` when nothing moves it."""
        parts = _Parts()
        self._gather(element, childclass, _HERE, parts)
        if element.tag == "worldbody" and parts.joints:
            raise ModelError("The <worldbody> has a joint; the world does not move.")
        self._keep_sites(parts, index)
        for body, inner, frame in parts.bodies:
            self._body(body, index, inner, frame, still=still)

    def _keep_sites(self, parts: _Parts, index: int) -> None:
        for site in parts.sites:
            if name := site.attributes.get("name", ""):
                self.sites[name] = site, index

    def _body(self, element: Element, parent: int, childclass: str, frame: Pose, *, still: bool) -> None:
        name = element.get("name") or self._free_name()
        where = f"Body {name!r}"
        if name in self.names:
            raise ModelError(f"Two bodies are named {name!r}; names must be unique.")
        self.names.add(name)
        childclass = element.get("childclass", childclass)
        self.defaults.check(childclass, where)
        parts = _Parts()
        self._gather(element, childclass, _HERE, parts)
        R, p = _inside(frame, pose_of(element.attrib, self.settings, self.snap_rad, where))
        anchor = np.zeros(3)
        joint_names = []
        for i, (_, attributes, within) in enumerate(parts.joints):
            joint = joint_segment(
                attributes, within, self.settings, self.snap_rad, default_name=f"{name}_joint{i + 1}"
            )
            joint = self.actuation.driven(joint)
            joint_names.append(joint.name)
            # The chain's frames keep the body's orientation; each sits on its joint's anchor.
            p = p + R @ (joint.position - anchor)
            anchor = joint.position
            self.segments.append(replace(joint, parent=parent, rotation=R, position=p))
            parent, R, p, still = len(self.segments) - 1, np.eye(3), np.zeros(3), False
        inertia = LinkInertia.zero() if still else self._inertia(parts, where)
        self.segments.append(
            Segment(f"{name} (body)", parent, JointKind.FIXED, R, p - R @ anchor, _NOWHERE, inertia)
        )
        carrier = len(self.segments) - 1  # each child appends its own subtree
        self.bodies.append((element, joint_names, parts, carrier))
        self._keep_sites(parts, carrier)
        for body, inner, offset in parts.bodies:
            self._body(body, carrier, inner, offset, still=still)

    def _free_name(self) -> str:
        """A name for a body without one that no other body has or will have."""
        numbers = itertools.count(len(self.names) + 1)
        return next(name for i in numbers if (name := f"body{i}") not in self.taken | self.names)

    def _inertia(self, parts: _Parts, where: str) -> LinkInertia:
        if len(parts.inertials) > 1:
            raise ModelError(f"{where} has {len(parts.inertials)} <inertial>; keep one.")
        inertial = parts.inertials[0].attrib if parts.inertials else None
        return body_inertia(inertial, parts.geoms, self.settings, self.snap_rad, where)

    def _gather(self, element: Element, childclass: str, frame: Pose, parts: _Parts) -> None:
        for child in element:
            if child.tag == "frame":
                inner = child.get("childclass", childclass)
                self.defaults.check(inner, "<frame>")
                pose = pose_of(child.attrib, self.settings, self.snap_rad, "<frame>")
                self._gather(child, inner, _inside(frame, pose), parts)
            elif child.tag == "body":
                parts.bodies.append((child, childclass, frame))
            elif child.tag == "joint":
                parts.joints.append((child, self.defaults.of(child, childclass), frame))
            elif child.tag == "freejoint":
                parts.joints.append((child, dict(child.attrib) | {"type": "free"}, frame))
            elif child.tag == "geom":
                parts.geoms.append(Geom(self.defaults.of(child, childclass), frame))
            elif child.tag == "site":
                parts.sites.append(Geom(self.defaults.of(child, childclass), frame))
            elif child.tag == "inertial":
                parts.inertials.append(child)
            elif child.tag in _UNREAD:
                raise ModelError(
                    f"<{child.tag}> is not read; save the compiled model as plain MJCF with MuJoCo first."
                )


def _inside(outer: Pose, inner: Pose) -> Pose:
    return outer[0] @ inner[0], outer[1] + outer[0] @ inner[1]
