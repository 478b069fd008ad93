"""From links with frames anywhere, as in URDF and MJCF, to joints placed by Khalil–Kleinfinger parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dynid.model.friction import FrictionTerm
from dynid.model.geometry import decompose, rotation_z
from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, Joint, JointKind, Limits
from dynid.model.mimic import Mimic, coupling_of, resolved, shared_drives
from dynid.model.orientation import align_z, snap_rotation
from dynid.model.robot import EARTH_GRAVITY, Robot

FloatArray = NDArray[np.float64]
TERMS = ("Ia", "Fv", "Fc", "off")
"""Terms of a robot read from URDF or MJCF: a drive's inertia, and the friction most fits start with."""
SPRING = FrictionTerm("Ks", "q", "N m/rad", "N/m")
"""A joint spring; MJCF's stiffness."""


@dataclass(frozen=True, eq=False)
class Segment:
    """A link and the joint that carries it, in a link frame of any orientation whose origin is on the axis.

    Args:
        name: name of the joint.
        parent: index of the segment that carries it, or ``BASE``; it comes before.
        kind: how the joint moves.
        rotation: R of the link frame in the parent's link frame at the joint position ``reference``, (3, 3).
        position: p of the link frame's origin there, three values [m].
        axis: unit vector of the joint axis in the link frame.
        inertia: of the link, in the link frame.
        reference: joint position at which ``rotation`` and ``position`` hold [rad or m].
        limits: bounds of the joint.
        drive: values of Ia, Fv, Fc, off, Ks that the file gives.
        actuated: whether a motor drives the joint.
    """

    name: str
    parent: int
    kind: JointKind
    rotation: FloatArray
    position: FloatArray
    axis: FloatArray
    inertia: LinkInertia
    reference: float = 0.0
    limits: Limits = field(default_factory=Limits)
    drive: Mapping[str, float] = field(default_factory=dict)
    actuated: bool = True


@dataclass(frozen=True, eq=False)
class _Held:
    """Where a segment's link frame sits: in frame ``host`` of the robot, x_host = R x + p."""

    host: int
    rotation: FloatArray
    position: FloatArray


def assemble(
    name: str,
    segments: Sequence[Segment],
    *,
    gravity: tuple[float, float, float] = EARTH_GRAVITY,
    mimics: Sequence[Mimic] = (),
    snap_rad: float = 0.0,
    title: str = "",
    source: str = "",
) -> Robot:
    """The robot of a list of segments, antecedents first.

    Fixed segments are welded to the link that carries them; what is fixed to the base is left out.

    Args:
        name: the robot's name.
        segments: links and joints.
        gravity: in the base frame [m/s²].
        mimics: joints that follow others.
        snap_rad: entries of constant rotations below this are taken as zero.
        title: what the robot is.
        source: where the description comes from.
    """
    joints, inertias = _place(segments, snap_rad)
    movable = [joint.name for joint in joints]
    followers = resolved(mimics, movable)
    springs = any("Ks" in segment.drive for segment in segments)
    robot = Robot(
        name=name,
        joints=tuple(joints),
        gravity=gravity,
        terms=(*TERMS, "Ks") if springs else TERMS,
        friction=(SPRING,) if springs else (),
        coupling=coupling_of(followers, movable),
        title=title,
        source=source,
    )
    drives = shared_drives({s.name: s.drive for s in segments if s.kind is not JointKind.FIXED}, followers)
    values: dict[str, float] = {}
    for joint, inertia in zip(robot.joints, inertias, strict=True):
        values |= inertia.named(joint.label)
        values |= {symbol + joint.label: value for symbol, value in drives.get(joint.name, {}).items()}
    return robot.with_parameters({key: value + 0.0 for key, value in values.items()})


def _place(segments: Sequence[Segment], snap_rad: float) -> tuple[list[Joint], list[LinkInertia]]:
    joints: list[Joint] = []
    inertias: list[LinkInertia] = []
    held: list[_Held] = []
    base = _Held(BASE, np.eye(3), np.zeros(3))
    for segment in segments:
        carrier = base if segment.parent == BASE else held[segment.parent]
        R = carrier.rotation @ segment.rotation
        p = carrier.position + carrier.rotation @ segment.position
        if segment.kind is JointKind.FIXED:
            held.append(_Held(carrier.host, R, p))
            if carrier.host != BASE:
                inertias[carrier.host] += segment.inertia.moved(R, p)
            continue
        turn = align_z(segment.axis, f"axis of joint {segment.name!r}")
        joints.append(_joint(segment, carrier.host, R @ turn, p, len(joints), snap_rad))
        held.append(_Held(len(joints) - 1, turn.T, np.zeros(3)))
        inertias.append(segment.inertia.moved(turn.T, np.zeros(3)))
    return joints, inertias


def _joint(
    segment: Segment, antecedent: int, R: FloatArray, p: FloatArray, index: int, snap_rad: float
) -> Joint:
    R = snap_rotation(R, snap_rad)
    if segment.kind is JointKind.REVOLUTE:
        R = R @ rotation_z(-segment.reference)
    else:
        p = p - R[:, 2] * segment.reference
    six = decompose(R, p)
    return Joint(
        segment.name,
        antecedent,
        segment.kind,
        gamma=six["gamma"],
        b=six["b"],
        alpha=six["alpha"],
        d=six["d"],
        theta=six["theta"],
        r=six["r"],
        limits=segment.limits,
        actuated=segment.actuated,
        label=str(index + 1),
    )
