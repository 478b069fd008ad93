"""URDF: the model written into the user's own file, or into a new one made from the robot's tree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import PurePath
from xml.etree.ElementTree import Element

from dynid.core.arrays import FloatArray
from dynid.export.bodies import MovingLink, moving_links, require_bodies
from dynid.export.joint_values import KINDS, HeldValues, held_values
from dynid.export.model import Export, ExportModel
from dynid.export.readback import matching_snap, other_robot, read_back
from dynid.export.sidecar import export_with_sidecar, file_name, file_not_kept
from dynid.export.urdf_tree import NO_LIMIT, finite_limit, inertial_lines, urdf_of_tree
from dynid.export.xml_edit import Edit, XmlText, changed_numbers, comment, numbers_text, tag
from dynid.model.joint import BASE, Joint
from dynid.model.loaders.tree import Held
from dynid.model.loaders.urdf import from_urdf_text, links_of_urdf
from dynid.model.robot import Robot
from dynid.model.robot_source import RobotSource

_KINDS = ("damping", "friction")


def to_urdf(model: ExportModel, source: RobotSource | None = None, called: str | None = None) -> Export:
    """The model as a URDF.

    In a file of the user only ``<inertial>`` of moving links, ``<dynamics>`` of joints, limits that it lacks
    and springs in ``<gazebo>`` elements of joints change. What URDF does not hold is in a JSON file beside.

    Args:
        model: the model.
        source: the file to write into; None takes the robot's own, or makes a new one.
        called: name of the file, without ending; that of the source or of the robot when None.

    Raises:
        DynidError: when the file is of another robot, or the model is no set of bodies.
    """
    robot = model.robot
    links = moving_links(robot, model.standard)
    require_bodies(links, massless=True)
    held = held_values(model, _KINDS)
    notes = [
        f"The link of joint {name!r} has no mass, which MuJoCo does not take."
        for name, link in links.items()
        if link.inertia.mass == 0
    ]
    name, text = file_name(robot, ".urdf"), ""
    given = source or (robot.origin if robot.origin and robot.origin.form == "urdf" else None)
    if given is not None:
        snap_rad, difference = matching_snap(robot, given, "URDF", _read)
        if not difference:
            writer = _UrdfWriter(model, links, held, snap_rad, XmlText.parse(given.text, "URDF text"))
            name, text = PurePath(given.name).name, writer.text()
            notes += writer.notes()
        elif source is not None:
            raise other_robot(given, "URDF", difference)
        else:
            notes.append(f"The file {given.name} was not used, and a new one was made: {difference}.")
    elif robot.source.endswith(".urdf"):
        notes.append(file_not_kept(robot))
    text = text or urdf_of_tree(robot, links, held)
    checked = read_back(
        model, held, lambda snap_rad: _read(text, snap_rad).with_gravity(*robot.gravity), "URDF"
    )
    lacks = ("gravity", "acceleration")
    name = name if called is None else called + PurePath(name).suffix
    return export_with_sidecar("URDF", name, text, model, held, checked, lacks=lacks, notes=notes)


def _read(text: str, snap_rad: float) -> Robot:
    return from_urdf_text(text, snap_rad=snap_rad)


class _UrdfWriter:
    """Writes a model into the text of a URDF of the same robot."""

    def __init__(
        self,
        model: ExportModel,
        links: Mapping[str, MovingLink],
        held: HeldValues,
        snap_rad: float,
        xml: XmlText,
    ) -> None:
        self._model, self._links, self._held, self._xml = model, links, held, xml
        self._parts = links_of_urdf(xml.root, snap_rad)
        self._file = from_urdf_text(xml.content.decode(), snap_rad=snap_rad)
        self._springs = held_values(model, KINDS.values())

    def text(self) -> str:
        """The text with the model's values."""
        edits: list[Edit] = []
        joints = {joint.name: joint for joint in self._model.robot.joints}
        hosts = [joint.name for joint in self._file.joints]
        for element, link, held in self._parts:
            name = element.get("name", "").strip()
            if name in self._links:
                edits += self._inertial(link, self._links[name], held)
                edits += self._friction(element, name)
                edits += self._limits(element, joints[name])
            elif held.host != BASE and (inertial := link.find("inertial")) is not None:
                carrier = hosts[held.host]
                told = comment(f"its inertia is in the link of joint {carrier}, which carries it")
                edits.append(self._xml.replacement(inertial, [told]))
        for element in self._xml.root.findall("gazebo"):
            edits += self._gazebo(element)
        return self._xml.with_edits(edits).decode()

    def notes(self) -> list[str]:
        """What is held at another place than one may expect."""
        follow = [j for j in self._file.movable if j not in self._file.coordinates]
        found = []
        for name in (self._file.joints[j].name for j in follow):
            dynamics = self._joint_element(name).find("dynamics")
            if dynamics is not None and changed_numbers(dynamics.attrib, dict.fromkeys(_KINDS, 0.0)):
                found.append(
                    f"The friction of joint {name!r}, which follows another joint, is in that joint's."
                )
        for element in self._xml.root.findall("gazebo"):
            if self._springs.of(name := element.get("reference", "")).stiffness:
                found.append(
                    f"The <gazebo> element of joint {name!r} has its spring, which only Gazebo reads."
                )
        return found

    def _joint_element(self, name: str) -> Element:
        return next(element for element, _, _ in self._parts if element.get("name", "").strip() == name)

    def _inertial(self, link: Element, moving: MovingLink, held: Held) -> list[Edit]:
        """The composite inertia, turned from the MDH frame to that of the link: x_link = Rᵀ (x_mdh − p)."""
        R: FloatArray = held.rotation.T
        inertia = moving.inertia.expressed_in(R, -R @ held.position)
        lines = inertial_lines(inertia, (*self._fixed_links(held.host), *moving.carried))
        element = link.find("inertial")
        if element is not None:
            return [self._xml.replacement(element, lines)]
        return [self._xml.new_child(link, lines)] if lines else []

    def _fixed_links(self, host: int) -> list[str]:
        """Names of the links with inertia that are fixed to the link of a joint of the file."""
        return [
            link.get("name", "").strip()
            for element, link, held in self._parts
            if held.host == host
            and element.get("name", "").strip() not in self._links
            and link.find("inertial") is not None
        ]

    def _friction(self, joint: Element, name: str) -> list[Edit]:
        values = self._held.of(name)
        wanted = {"damping": values.damping, "friction": values.friction}
        element = joint.find("dynamics")
        if element is None:
            lines = [f"<{tag('dynamics', {key: numbers_text([v]) for key, v in wanted.items()})}/>"]
            return [self._xml.new_child(joint, lines)] if any(wanted.values()) else []
        return self._xml.attributes(element, changed_numbers(element.attrib, wanted))

    def _limits(self, joint: Element, ours: Joint) -> list[Edit]:
        """Limits that the robot knows and the file does not."""
        theirs = next(j for j in self._file.joints if j.name == ours.name).limits
        turns_endlessly = joint.get("type") == "continuous"
        groups = [("effort",), ("velocity",)] + ([] if turns_endlessly else [("lower", "upper")])
        element = joint.find("limit")
        wanted: dict[str, float] = {}
        for keys in groups:
            known = any(math.isfinite(getattr(ours.limits, key)) for key in keys)
            lacks = all(math.isinf(getattr(theirs, key)) for key in keys)
            if (known and lacks) or element is None:
                wanted |= {key: finite_limit(getattr(ours.limits, key)) for key in keys}
        if element is not None:
            return self._xml.attributes(element, changed_numbers(element.attrib, wanted, absent=math.inf))
        if all(abs(value) == NO_LIMIT for value in wanted.values()):
            return []
        texts = {key: numbers_text([value]) for key, value in wanted.items()}
        return [self._xml.new_child(joint, [f"<{tag('limit', texts)}/>"])]

    def _gazebo(self, gazebo: Element) -> list[Edit]:
        """The spring of a joint where the file has an element for Gazebo, which reads it."""
        values = self._springs.of(gazebo.get("reference", "").strip())
        if not values.stiffness:
            return []
        edits, new = [], []
        for name, value in (("springStiffness", values.stiffness), ("springReference", values.rest)):
            line = f"<{name}>{numbers_text([value])}</{name}>"
            element = gazebo.find(name)
            if element is None:
                new.append(line)
            else:
                edits.append(self._xml.replacement(element, [line]))
        return [*edits, self._xml.new_child(gazebo, new)] if new else edits
