"""One MJCF joint: anchor, axis, reference, limits, and what it says of drive and friction."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dynid.core.errors import DynidError, ModelError, unknown_name
from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, JointKind, Limits
from dynid.model.mjcf_inertia import Pose
from dynid.model.mjcf_source import Settings
from dynid.model.orientation import unit
from dynid.model.tree import Segment
from dynid.model.xml_safe import keyword, number, numbers

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
