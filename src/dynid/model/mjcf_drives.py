"""What stands beside the bodies of an MJCF model: actuators, joint equalities, tendons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

from dynid.core.errors import ModelError, unknown_name
from dynid.model.mimic import Mimic
from dynid.model.mjcf_defaults import MAIN, Defaults
from dynid.model.mjcf_joint import linear_coefficient
from dynid.model.mjcf_source import section
from dynid.model.tree import Segment
from dynid.model.xml_safe import numbers, required

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
        reflected = _reflected(attributes, f"Actuator <{element.tag}>")
        if reflected and joint is None:
            raise ModelError(
                f"Actuator <{element.tag}> has armature or damping but acts on no single joint; move them "
                "to the joints."
            )
        for symbol, value in reflected.items():
            row = added.setdefault(str(joint), {})
            row[symbol] = row.get(symbol, 0.0) + value
    return Actuation(frozenset(joints), added)


def _reflected(attributes: Mapping[str, str], where: str) -> dict[str, float]:
    """Ia and Fv at the joint of a motor behind a gear: both grow with gear²."""
    gear = numbers(attributes, "gear", where, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0), least=1)[0]
    values = {}
    for key, symbol in (("armature", "Ia"), ("damping", "Fv")):
        value = gear * gear * linear_coefficient(attributes, key, where)
        if value != 0.0:
            values[symbol] = value
    return values


def equalities(
    elements: Iterable[Element], defaults: Defaults, references: Mapping[str, float]
) -> list[Mimic]:
    """Joint equalities as mimic equations: y − y0 = c0 + c1 (x − x0), with y0 and x0 the joints' ref.

    Args:
        elements: children of ``<equality>``.
        defaults: default classes.
        references: ref of each joint by name [rad or m].
    """
    mimics = []
    for element in elements:
        attributes = {**defaults.of(element, MAIN)}
        general = defaults.classes[element.get("class", MAIN)].get("equality", {})
        if attributes.get("active", general.get("active", "true")) == "false":
            continue
        if element.tag != "joint":
            raise ModelError(
                f"The equality <{element.tag}> is not read; only <joint> equalities with a linear polycoef "
                "are, so cut the loop or write it as joint equalities."
            )
        mimics.append(_equality(element.attrib, references))
    return mimics


def _equality(attributes: Mapping[str, str], references: Mapping[str, float]) -> Mimic:
    follower = required(attributes, "joint1", "A joint equality")
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
