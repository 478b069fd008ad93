"""MJCF: the model written into the user's own file, or into a new one made from the robot's tree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import PurePath
from xml.etree.ElementTree import Element

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.export.bodies import MovingLink, mimics_of, moving_links, require_bodies
from dynid.export.joint_values import KINDS, HeldValues, held_values
from dynid.export.loops import mjcf_holds_loops
from dynid.export.mjcf_tree import carried_comment, inertial_attributes, joint_numbers, mjcf_of_tree
from dynid.export.model import Export, ExportModel
from dynid.export.readback import matching_snap, other_robot, read_back
from dynid.export.sidecar import export_with_sidecar, file_name, file_not_kept
from dynid.export.urdf_tree import finite_limit
from dynid.export.xml_edit import Edit, XmlText, changed_numbers, comment, numbers_text, tag
from dynid.model.joint import BASE, JointKind
from dynid.model.loaders.mjcf import MjcfBody, bodies_of_mjcf, from_mjcf_text
from dynid.model.loaders.mjcf_joint import actuation_of
from dynid.model.loaders.mjcf_source import defaults_of, settings_of
from dynid.model.robot import Robot
from dynid.model.robot_source import RobotSource


def to_mjcf(model: ExportModel, source: RobotSource | None = None, called: str | None = None) -> Export:
    """The model as MJCF.

    In a file of the user only ``<inertial>`` of moving bodies, drive, friction, springs and missing ranges of
    joints, gravity and what ``<compiler>`` does to inertias change. Where that cannot be done exactly, the
    file is new. What MJCF does not hold is in a JSON file beside.

    Args:
        model: the model.
        source: the file to write into; None takes the robot's own, or makes a new one.
        called: name of the file, without ending; that of the source or of the robot when None.

    Raises:
        DynidError: when the file is of another robot, or the model is no set of bodies.
    """
    robot = model.robot
    links, held = moving_links(robot, model.standard), held_values(model, KINDS.values())
    notes = []
    found: tuple[str, str, tuple[float, str]] | None = None
    given = source or (robot.origin if robot.origin and robot.origin.form == "mjcf" else None)
    if given is not None:
        snap_rad, difference = matching_snap(robot, given, "MJCF", _read)
        if difference and source is not None:
            raise other_robot(given, "MJCF", difference)
        try:
            if difference:
                raise DynidError(f"{difference}.")
            text = _MjcfWriter(robot, links, held, given.text, snap_rad).text()
            found = PurePath(given.name).name, text, _read_back(model, held, text, loops=True)
        except DynidError as reason:
            notes.append(f"The file {given.name} was not used, and a new one was made: {reason}")
    elif robot.source.endswith((".xml", ".mjcf")):
        notes.append(file_not_kept(robot))
    if found is None:
        require_bodies(links, massless=False)
        text = mjcf_of_tree(robot, links, held)
        found = file_name(robot, ".xml"), text, _read_back(model, held, text, loops=mjcf_holds_loops(robot))
        if robot.origin is not None and robot.origin.form == "urdf":
            notes.append(f"Meshes, visuals and collisions of {robot.origin.name} are not carried over.")
    name, text, checked = found
    closed = mjcf_holds_loops(robot)
    if closed and robot.closure is not None:
        names = " and ".join(f"{cut.name!r}" for cut in robot.closure.cuts)
        notes.append(f"MuJoCo holds the loop of {names} by soft constraints.")
    elif followers := mimics_of(robot):
        notes.append(f"MuJoCo holds the equations of {', '.join(followers)} by soft constraints.")
    lacks = ("velocity", "acceleration")
    name = name if called is None else called + PurePath(name).suffix
    return export_with_sidecar(
        "MJCF", name, text, model, held, checked, lacks=lacks, notes=notes, loops=closed
    )


def _read(text: str, snap_rad: float) -> Robot:
    return from_mjcf_text(text, snap_rad=snap_rad)


def _read_back(model: ExportModel, held: HeldValues, text: str, *, loops: bool) -> tuple[float, str]:
    return read_back(model, held, lambda snap_rad: _read(text, snap_rad), "MJCF", loops=loops)


class _MjcfWriter:
    """Writes a model into the text of an MJCF model of the same robot."""

    def __init__(
        self,
        robot: Robot,
        links: Mapping[str, MovingLink],
        held: HeldValues,
        text: str,
        snap_rad: float,
    ) -> None:
        self._robot, self._links, self._held, self._file = robot, links, held, _read(text, snap_rad)
        self._xml = XmlText.parse(text, "MJCF text")
        self._settings = settings_of(self._xml.root)
        self._bodies = [body for body in bodies_of_mjcf(self._xml.root, snap_rad) if body.held.host != BASE]
        self._hosts = [joint.name for joint in self._file.joints]

    def text(self) -> str:
        """The text with the model's values."""
        self._require_room()
        edits = [edit for body in self._bodies for edit in self._body(body)]
        edits += self._section("compiler", self._compiler())
        if self._settings.gravity != self._robot.gravity:
            edits += self._section("option", {"gravity": numbers_text(self._robot.gravity)})
        return self._xml.with_edits(edits).decode()

    def _require_room(self) -> None:
        """Refuse what the bodies and joints of the file cannot hold."""
        names = [list(body.joints)[-1] for body in self._bodies if body.joints]
        last = {name: self._links[name] for name in names}
        require_bodies(last, massless=False)
        for name, link in self._links.items():
            if name not in last and link.inertia.standard().any():
                raise DynidError(
                    f"the link of joint {name!r} has an inertia, and in the file it is no body, because the "
                    "body has a further joint."
                )
        if actuation_of(self._xml.root, defaults_of(self._xml.root)).added:
            raise DynidError("its actuators have armature or damping of their own.")

    def _body(self, body: MjcfBody) -> list[Edit]:
        edits = []
        name = self._hosts[body.held.host]
        if name in body.joints:
            edits.append(self._inertial(body, self._links[name]))
        elif body.inertial is not None:
            told = comment(f"its inertia is in the body of joint {name}, which carries it")
            edits.append(self._xml.replacement(body.inertial, [told]))
        for joint, (element, attributes) in body.joints.items():
            edits += self._xml.attributes(element, self._joint(joint, attributes))
        return edits

    def _inertial(self, body: MjcfBody, link: MovingLink) -> Edit:
        """The composite inertia, turned from the MDH frame to that of the body: x_body = Rᵀ (x_mdh − p)."""
        R: FloatArray = body.held.rotation.T
        inertia = link.inertia.expressed_in(R, -R @ body.held.position)
        fixed = [
            other.element.get("name", "a body without name")
            for other in self._bodies
            if other.held.host == body.held.host and other is not body
        ]
        lines = carried_comment((*fixed, *link.carried))
        lines.append(f"<{tag('inertial', inertial_attributes(inertia))}/>")
        if body.inertial is not None:
            return self._xml.replacement(body.inertial, lines)
        return self._xml.new_child(body.element, lines)

    def _joint(self, name: str, given: Mapping[str, str]) -> dict[str, str]:
        """The attributes of a joint that change; those of a class stay where they are."""
        index = self._hosts.index(name)
        hinge = self._file.joints[index].kind is JointKind.REVOLUTE
        unit = math.degrees(1.0) if hinge and self._settings.degrees else 1.0
        wanted = joint_numbers(self._held.of(name))
        rest = wanted.pop("springref") * unit
        changed = changed_numbers(given, wanted)
        if wanted["stiffness"]:
            changed |= changed_numbers(given, {"springref": rest})
        ours = next(joint for joint in self._robot.joints if joint.name == name).limits
        theirs = self._file.joints[index].limits
        ends = (ours.lower, ours.upper)
        if math.isinf(theirs.lower) and math.isinf(theirs.upper) and any(map(math.isfinite, ends)):
            changed |= {"range": numbers_text([finite_limit(end) * unit for end in ends]), "limited": "true"}
        if math.isinf(theirs.effort) and math.isfinite(ours.effort):
            effort = numbers_text([-ours.effort, ours.effort])
            changed |= {"actuatorfrcrange": effort, "actuatorfrclimited": "true"}
        return changed

    def _compiler(self) -> dict[str, str]:
        """What would change the inertias that are written, or add those of geoms to them."""
        settings, changed = self._settings, {}
        fixed = any(self._hosts[body.held.host] not in body.joints for body in self._bodies)
        if settings.inertia_from_geoms == "true" or (settings.inertia_from_geoms == "auto" and fixed):
            changed["inertiafromgeom"] = "false"
        if settings.least_mass > 0 or settings.least_inertia > 0:
            changed |= {"boundmass": "0", "boundinertia": "0"}
        return changed | ({"balanceinertia": "false"} if settings.balance else {})

    def _section(self, name: str, attributes: Mapping[str, str]) -> list[Edit]:
        """Attributes of a section; of its last element, because that is the one that holds."""
        if not attributes:
            return []
        elements: list[Element] = self._xml.root.findall(name)
        if elements:
            return self._xml.attributes(elements[-1], attributes)
        return [self._xml.new_child(self._xml.root, [f"<{tag(name, attributes)}/>"])]
