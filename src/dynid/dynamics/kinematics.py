"""Forward kinematics: placements, velocities and accelerations of the link frames of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dynid.dynamics.algebra import (
    ZERO,
    Scalar,
    Vector,
    constants,
    cross,
    plus,
    scale,
    unrotate,
)
from dynid.dynamics.expansion import Expansion, expand
from dynid.dynamics.operations import Operations
from dynid.dynamics.placement import Z_AXIS, Placement, base_frames, place
from dynid.model.joint import BASE, JointKind
from dynid.model.robot import Robot


@dataclass(frozen=True)
class LinkMotion:
    """Motion of frame j, all in frame j: ω, ω̇ and the acceleration of its origin less gravity."""

    angular_velocity: Vector
    angular_acceleration: Vector
    acceleration: Vector


def placements(expansion: Expansion, ops: Operations) -> list[Placement]:
    """Placements of all frames in their antecedents."""
    robot = expansion.robot
    return [place(joint, x, ops) for joint, x in zip(robot.joints, expansion.positions, strict=True)]


def motions(
    expansion: Expansion, frames: Sequence[Placement], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[LinkMotion]:
    """Motions of all frames, outward from the base (Luh–Walker–Paul recursion).

    Args:
        expansion: all joints at the coordinates.
        frames: placements of the frames.
        qd: speeds of the coordinates.
        qdd: accelerations of the coordinates.
    """
    robot = expansion.robot
    speeds, accelerations = expansion.speeds(qd), expansion.accelerations(qd, qdd)
    root = LinkMotion(ZERO, ZERO, scale(-1.0, constants(robot.gravity)))
    result: list[LinkMotion] = []
    for j, joint in enumerate(robot.joints):
        before = root if joint.antecedent == BASE else result[joint.antecedent]
        result.append(_move(joint.kind, before, frames[j], speeds[j], accelerations[j]))
    return result


def _move(kind: JointKind, before: LinkMotion, frame: Placement, qd: Scalar, qdd: Scalar) -> LinkMotion:
    R, p = frame.rotation, frame.position
    w_a, dw_a = before.angular_velocity, before.angular_acceleration
    carried = plus(before.acceleration, plus(cross(dw_a, p), cross(w_a, cross(w_a, p))))
    w, dw, dv = unrotate(R, w_a), unrotate(R, dw_a), unrotate(R, carried)
    if kind is JointKind.REVOLUTE:
        spin = scale(qd, Z_AXIS)
        dw = plus(dw, plus(cross(w, spin), scale(qdd, Z_AXIS)))
        w = plus(w, spin)
    elif kind is JointKind.PRISMATIC:
        dv = plus(dv, plus(scale(2.0, cross(w, scale(qd, Z_AXIS))), scale(qdd, Z_AXIS)))
    return LinkMotion(w, dw, dv)


def forward_kinematics(robot: Robot, q: Sequence[Scalar], ops: Operations) -> list[Scalar]:
    """Positions then rotations (by rows) of all link frames in the base frame: 12 scalars per link."""
    rows: list[Scalar] = []
    for frame in base_frames(robot, placements(expand(robot, q, ops), ops)):
        rows += [*frame.position, *(value for row in frame.rotation for value in row)]
    return rows
