"""A tree of segments, as URDF and MJCF give it, assembled into a robot; joints that follow others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import ModelError, unknown_name
from dynid.model.coupling import Coupling
from dynid.model.friction import FrictionTerm
from dynid.model.geometry import decompose, rotation_z
from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, Joint, JointKind, Limits
from dynid.model.orientation import align_z, snap_angle, snap_rotation, with_right_angle
from dynid.model.robot import EARTH_GRAVITY, Robot

SNAP_RAD = 1e-4
"""Angles this near a multiple of π/2 are taken as it [rad]: what they would split in the equations, a part of
1e-4 of a column, is below what any log can show. 1.5707, cut off, is 9.6e-5 away."""
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


@dataclass(frozen=True, slots=True)
class Mimic:
    """q_follower = ratio · q_leader + offset.

    Args:
        follower: name of the joint that follows.
        leader: name of the joint it follows; None when it is held at the offset.
        ratio: factor.
        offset: constant [rad or m].
    """

    follower: str
    leader: str | None
    ratio: float
    offset: float


@dataclass(frozen=True, eq=False)
class Held:
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
    joints, inertias, _ = place_segments(segments, snap_rad)
    movable = [joint.name for joint in joints]
    followers = equations_of_free_joints(mimics, movable)
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
        values |= inertia.by_name(joint.label)
        values |= {symbol + joint.label: value for symbol, value in drives.get(joint.name, {}).items()}
    return robot.with_parameters({key: value + 0.0 for key, value in values.items()})


def place_segments(
    segments: Sequence[Segment], snap_rad: float
) -> tuple[list[Joint], list[LinkInertia], list[Held]]:
    """The joints that move, the inertias of the links they carry, and where each segment is held.

    Args:
        segments: links and joints, antecedents first.
        snap_rad: as for ``assemble``.
    """
    joints: list[Joint] = []
    inertias: list[LinkInertia] = []
    held: list[Held] = []
    base = Held(BASE, np.eye(3), np.zeros(3))
    for segment in segments:
        carrier = base if segment.parent == BASE else held[segment.parent]
        R = carrier.rotation @ segment.rotation
        p = carrier.position + carrier.rotation @ segment.position
        if segment.kind is JointKind.FIXED:
            held.append(Held(carrier.host, R, p))
            if carrier.host != BASE:
                inertias[carrier.host] += segment.inertia.expressed_in(R, p)
            continue
        turn = align_z(segment.axis, f"axis of joint {segment.name!r}")
        joints.append(_joint(segment, carrier.host, R @ turn, p, len(joints), snap_rad))
        held.append(Held(len(joints) - 1, turn.T, np.zeros(3)))
        inertias.append(segment.inertia.expressed_in(turn.T, np.zeros(3)))
    return joints, inertias, held


def _joint(
    segment: Segment, antecedent: int, R: FloatArray, p: FloatArray, index: int, snap_rad: float
) -> Joint:
    R = with_right_angle(snap_rotation(R, snap_rad), snap_rad)
    if segment.kind is JointKind.REVOLUTE:
        R = R @ rotation_z(-segment.reference)
    else:
        p = p - R[:, 2] * segment.reference
    geometry: dict[str, Any] = dict(decompose(R, p))
    geometry |= {name: snap_angle(geometry[name], snap_rad) for name in ("gamma", "alpha", "theta")}
    return Joint(
        segment.name,
        antecedent,
        segment.kind,
        **geometry,
        limits=segment.limits,
        actuated=segment.actuated,
        label=str(index + 1),
    )


def equations_of_free_joints(mimics: Sequence[Mimic], movable: Sequence[str]) -> dict[str, Mimic]:
    """Each follower in terms of a joint that follows none: chains are multiplied out.

    Raises:
        ModelError: when a joint follows twice or a chain closes on itself.
        UnknownNameError: when a joint that does not move or does not exist is named.
    """
    known = set(movable)
    direct: dict[str, Mimic] = {}
    for mimic in mimics:
        for name in (mimic.follower, mimic.leader):
            if name is not None and name not in known:
                raise unknown_name("joint in a mimic equation", name, movable)
        if mimic.follower in direct:
            raise ModelError(
                f"Joint {mimic.follower!r} follows both {direct[mimic.follower].leader!r} and "
                f"{mimic.leader!r}; keep one equation."
            )
        direct[mimic.follower] = mimic
    return {name: _multiplied_out(mimic, direct) for name, mimic in direct.items()}


def _multiplied_out(mimic: Mimic, direct: Mapping[str, Mimic]) -> Mimic:
    leader, ratio, offset = mimic.leader, mimic.ratio, mimic.offset
    chain = [mimic.follower]
    while leader is not None and leader in direct:
        chain.append(leader)
        if leader in chain[:-1]:
            raise ModelError(
                f"The mimic joints {' -> '.join(chain)} follow each other in a circle; one of them must be "
                "free."
            )
        onward = direct[leader]
        leader, ratio, offset = onward.leader, ratio * onward.ratio, ratio * onward.offset + offset
    return Mimic(mimic.follower, leader, ratio, offset)


def coupling_of(followers: Mapping[str, Mimic], movable: Sequence[str]) -> Coupling | None:
    """The coupling q_tree = G q + g0 of the movable joints, or None when no joint follows.

    Args:
        followers: resolved equations by follower.
        movable: names of the movable joints in order.
    """
    if not followers:
        return None
    free = [name for name in movable if name not in followers]
    if not free:
        raise ModelError("Every joint is held or follows another; one must be free to move.")
    rows, offsets = [], []
    for name in movable:
        mimic = followers.get(name, Mimic(name, name, 1.0, 0.0))
        rows.append(tuple(mimic.ratio if leader == mimic.leader else 0.0 for leader in free))
        offsets.append(mimic.offset)
    return Coupling(tuple(movable.index(name) for name in free), tuple(rows), tuple(offsets))


def shared_drives(
    values: Mapping[str, Mapping[str, float]], followers: Mapping[str, Mimic]
) -> dict[str, dict[str, float]]:
    """Drive and friction values of the free joints with their followers' share, τ_l = ratio · τ_f.

    Inertia, viscous friction and springs come with ratio², Coulomb friction with |ratio|, a constant with
    ratio; a follower's spring also pulls at the follower's offset.

    Args:
        values: Ia, Fv, Fc, off and the spring rate Ks by joint name.
        followers: resolved equations by follower.
    """
    result = {name: dict(row) for name, row in values.items() if name not in followers}
    for name, mimic in followers.items():
        if mimic.leader is None or name not in values:
            continue
        row, g = values[name], mimic.ratio
        share = {symbol: g * g * row[symbol] for symbol in ("Ia", "Fv", "Ks") if symbol in row}
        if "Fc" in row:
            share["Fc"] = abs(g) * row["Fc"]
        if "off" in row or "Ks" in row:
            share["off"] = g * (row.get("off", 0.0) + row.get("Ks", 0.0) * mimic.offset)
        target = result.setdefault(mimic.leader, {})
        for symbol, value in share.items():
            target[symbol] = target.get(symbol, 0.0) + value
    return result
