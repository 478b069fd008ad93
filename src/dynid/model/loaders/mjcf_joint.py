"""What an MJCF model says of its joints: axes, limits, drive and friction, actuators, equalities, tendons."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

import numpy as np

from dynid.core.errors import DynidError, ModelError, unknown_name
from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, JointKind, Limits
from dynid.model.loaders.mjcf_inertia import Pose
from dynid.model.loaders.mjcf_loops import LoopEquality
from dynid.model.loaders.mjcf_source import MAIN, Defaults, Settings, section
from dynid.model.loaders.tree import Mimic, Segment
from dynid.model.loaders.xml_safe import keyword, number, numbers, required_text
from dynid.model.orientation import unit

_KINDS = {"hinge": JointKind.REVOLUTE, "slide": JointKind.PRISMATIC}


def joint_segment(
    attributes: Mapping[str, str], frame: Pose, settings: Settings, snap_rad: float, default_name: str
) -> Segment:
    """The joint as a massless segment whose position is its anchor in the body's frame.

    Args:
        attributes: the joint's attributes with its defaults.
        frame: pose in the body of the frame the joint is written in.
        settings: what ``<compiler>`` says.
        snap_rad: components of the axis below this are taken as zero.
        default_name: name of a joint without one.
    """
    name = attributes.get("name", default_name)
    where = f"Joint {name!r}"
    kind = attributes.get("type", "hinge")
    if kind in ("free", "ball"):
        raise ModelError(
            f"{where} is a {kind} joint; only hinges and slides on an immobile base are read, so take the "
            "body out of the model or replace the joint by hinges and slides."
        )
    if kind not in _KINDS:
        raise unknown_name(f"type of joint {name!r}", kind, _KINDS)
    R, p = frame
    axis = unit(numbers(attributes, "axis", where, (0.0, 0.0, 1.0)), f"{where}: axis")
    hinge = kind == "hinge"
    reference = number(attributes, "ref", where, 0.0)
    return Segment(
        name=name,
        parent=BASE,
        kind=_KINDS[kind],
        rotation=np.eye(3),
        position=p + R @ np.array(numbers(attributes, "pos", where, (0.0, 0.0, 0.0))),
        axis=unit(R @ axis, f"{where}: axis", snap_rad),
        inertia=LinkInertia.zero(),
        reference=settings.angle(reference) if hinge else reference,
        limits=_limits(attributes, settings, hinge, where),
        drive=_drive(attributes, settings, hinge, where),
    )


def _limits(attributes: Mapping[str, str], settings: Settings, hinge: bool, where: str) -> Limits:
    values: dict[str, float] = {}
    limited = keyword(attributes, "limited", where, ("auto", "true", "false"))
    lower, upper = numbers(attributes, "range", where, (0.0, 0.0), bound=math.inf)
    if limited == "true" or (limited == "auto" and settings.autolimits and "range" in attributes):
        bounds = {"lower": lower, "upper": upper}
        values = {key: settings.angle(value) if hinge else value for key, value in bounds.items()}
    effort = numbers(attributes, "actuatorfrcrange", where, (0.0, 0.0), bound=math.inf)
    if attributes.get("actuatorfrclimited") != "false" and effort != (0.0, 0.0):
        values["effort"] = max(abs(value) for value in effort)
    try:
        return Limits(**values)
    except DynidError as error:
        raise ModelError(f"{where}: {error}") from None


def _drive(attributes: Mapping[str, str], settings: Settings, hinge: bool, where: str) -> dict[str, float]:
    values: dict[str, float] = {}
    if numbers(attributes, "springdamper", where, (0.0, 0.0)) != (0.0, 0.0):
        raise ModelError(f"{where}: springdamper depends on the whole model; give stiffness and damping.")
    for key, symbol in (("armature", "Ia"), ("damping", "Fv"), ("frictionloss", "Fc")):
        if key in attributes:
            values[symbol] = linear_coefficient(attributes, key, where)
    stiffness = linear_coefficient(attributes, "stiffness", where)
    if stiffness != 0.0:
        rest = number(attributes, "springref", where, 0.0)
        values["Ks"] = stiffness
        values["off"] = -stiffness * (settings.angle(rest) if hinge else rest)
    return values


def linear_coefficient(attributes: Mapping[str, str], key: str, where: str) -> float:
    """A coefficient that cannot be negative; the higher-order ones MuJoCo also takes must be zero."""
    first, *higher = numbers(attributes, key, where, (0.0, 0.0, 0.0), least=1)
    if any(value != 0.0 for value in higher):
        raise ModelError(
            f"{where}: {key}={attributes[key]!r} is a polynomial; only its linear part can be read."
        )
    if first < 0 or not math.isfinite(first):
        raise ModelError(f"{where}: {key} is {first:g}; it cannot be negative.")
    return first


_FORCES = ("stiffness", "damping", "frictionloss", "armature")


@dataclass(frozen=True)
class Actuation:
    """Which joints have an actuator, and the inertia and damping the actuators add, by joint.

    Args:
        joints: names of the driven joints; None when the model has no actuators, so nothing is known.
        added: values of Ia and Fv at the joint.
    """

    joints: frozenset[str] | None
    added: Mapping[str, Mapping[str, float]]

    def driven(self, segment: Segment) -> Segment:
        """The segment marked as actuated or not, with what its actuators add."""
        drive = dict(segment.drive)
        for symbol, value in self.added.get(segment.name, {}).items():
            drive[symbol] = drive.get(symbol, 0.0) + value
        actuated = self.joints is None or segment.name in self.joints
        return replace(segment, drive=drive, actuated=actuated)


def actuation_of(root: Element, defaults: Defaults) -> Actuation:
    """Gather the actuators; those on a fixed tendon drive the tendon's joints."""
    actuators = list(section(root, "actuator"))
    if not actuators:
        return Actuation(None, {})
    tendons = {
        tendon.get("name", ""): [part.get("joint", "") for part in tendon if part.tag == "joint"]
        for tendon in section(root, "tendon")
    }
    joints: set[str] = set()
    added: dict[str, dict[str, float]] = {}
    for element in actuators:
        attributes = defaults.of(element, MAIN)
        joint = attributes.get("joint") or attributes.get("jointinparent")
        joints |= set(tendons.get(attributes.get("tendon", ""), [])) | ({joint} if joint else set())
        reflected = _values_at_joint(attributes, f"Actuator <{element.tag}>")
        if reflected and joint is None:
            raise ModelError(
                f"Actuator <{element.tag}> has armature or damping but acts on no single joint; move them "
                "to the joints."
            )
        for symbol, value in reflected.items():
            row = added.setdefault(str(joint), {})
            row[symbol] = row.get(symbol, 0.0) + value
    return Actuation(frozenset(joints), added)


def _values_at_joint(attributes: Mapping[str, str], where: str) -> dict[str, float]:
    """Ia and Fv at the joint of a motor behind a gear: both grow with gear²."""
    gear = numbers(attributes, "gear", where, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0), least=1)[0]
    values = {}
    for key, symbol in (("armature", "Ia"), ("damping", "Fv")):
        value = gear * gear * linear_coefficient(attributes, key, where)
        if value != 0.0:
            values[symbol] = value
    return values


@dataclass(frozen=True)
class Equalities:
    """The active equalities of a model.

    Args:
        mimics: equations between joints.
        loops: what holds bodies or sites together.
        notes: sentences about those left out.
    """

    mimics: tuple[Mimic, ...]
    loops: tuple[LoopEquality, ...]
    notes: tuple[str, ...]


def equalities(
    elements: Iterable[Element], defaults: Defaults, references: Mapping[str, float]
) -> Equalities:
    """Equalities of joints as mimic equations, connect and weld equalities as loops.

    Joints: y − y0 = c0 + c1 (x − x0), with y0 and x0 the joints' ref.

    Args:
        elements: children of ``<equality>``.
        defaults: default classes.
        references: ref of each joint by name [rad or m].
    """
    mimics, loops, notes = [], [], []
    for number_of, element in enumerate(elements, 1):
        attributes = {**defaults.of(element, MAIN)}
        general = defaults.classes[element.get("class", MAIN)].get("equality", {})
        name = element.get("name") or f"{element.tag}{number_of}"
        if attributes.get("active", general.get("active", "true")) == "false":
            notes.append(f"The equality {name!r} is not active and was left out.")
        elif element.tag in ("connect", "weld"):
            loops.append(LoopEquality(name, element.tag == "weld", attributes))
        elif element.tag == "joint":
            mimics.append(_equality(element.attrib, references))
        else:
            raise ModelError(
                f"The equality <{element.tag}> is not read; <joint> with a linear polycoef, <connect> and "
                "<weld> are, so take it out of the model or write it as one of these."
            )
    if mimics and loops:
        raise ModelError(
            f"The model has equalities of joints (of {mimics[0].follower!r}) and of bodies "
            f"({loops[0].name!r}); only one of the two kinds is read, so close the one by the other or take "
            "one of them out."
        )
    return Equalities(tuple(mimics), tuple(loops), tuple(notes))


def _equality(attributes: Mapping[str, str], references: Mapping[str, float]) -> Mimic:
    follower = required_text(attributes, "joint1", "A joint equality")
    leader = attributes.get("joint2")
    where = f"The equality of joint {follower!r}"
    for name in (follower, leader):
        if name is not None and name not in references:
            raise unknown_name("joint in an equality", name, references)
    given = numbers(attributes, "polycoef", where, (0.0, 1.0, 0.0, 0.0, 0.0), least=1)
    c0, c1, *higher = (*given, *(0.0, 1.0, 0.0, 0.0, 0.0)[len(given) :])
    if leader is None:
        return Mimic(follower, None, 0.0, references[follower] + c0)
    if any(value != 0.0 for value in higher):
        raise ModelError(
            f"{where} has polycoef={attributes['polycoef']!r}; only c0 and c1 may differ from zero, "
            "because the coupling must be linear."
        )
    return Mimic(follower, leader, c1, references[follower] + c0 - c1 * references[leader])


def refuse_tendon_forces(elements: Iterable[Element], defaults: Defaults) -> None:
    """Refuse tendons that push the joints: their forces would be missing from the robot's equations."""
    for element in elements:
        name = element.get("class", MAIN)
        defaults.check(name, f"<{element.tag}>")
        attributes = defaults.classes[name].get("tendon", {}) | element.attrib
        for key in _FORCES:
            where = f"Tendon {element.get('name', '')!r}"
            if any(value != 0.0 for value in numbers(attributes, key, where, (0.0, 0.0, 0.0), least=1)):
                raise ModelError(
                    f"{where} has {key}={attributes[key]!r}; forces of tendons are not read, so set it to "
                    "zero or move it to the joints."
                )
