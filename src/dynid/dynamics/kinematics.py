"""Forward kinematics: placements, velocities and accelerations of the link frames of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.dynamics.algebra import (
    AXES,
    ZERO,
    Rotation,
    Scalar,
    Vector,
    add,
    constants,
    cross,
    matmul,
    mul,
    neg,
    plus,
    rotate,
    scale,
    sub,
    total,
    unrotate,
)
from dynid.dynamics.operations import Operations
from dynid.model.geometry import cos_sin, rotation_x, rotation_z
from dynid.model.joint import BASE, Joint, JointKind
from dynid.model.robot import Robot

Z_AXIS: Vector = AXES[2]


@dataclass(frozen=True)
class Placement:
    """Frame j in frame a(j): x_a = R x_j + p."""

    rotation: Rotation
    position: Vector


@dataclass(frozen=True)
class LinkMotion:
    """Motion of frame j, all in frame j: ω, ω̇ and the acceleration of its origin less gravity."""

    angular_velocity: Vector
    angular_acceleration: Vector
    acceleration: Vector


def tree_variables(robot: Robot, q: Sequence[Scalar], *, offset: bool) -> list[Scalar]:
    """Variables of all joints of the tree from the coordinates: q_tree = G q + g0.

    Args:
        robot: the robot.
        q: coordinates, or with ``offset=False`` their first or second derivatives.
        offset: whether to add g0.

    Returns:
        One scalar per joint of the robot; 0.0 for fixed joints.
    """
    values: list[Scalar] = [0.0] * len(robot.joints)
    if robot.coupling is None:
        for j, value in zip(robot.movable, q, strict=True):
            values[j] = value
        return values
    g0 = robot.coupling.offset if offset else (0.0,) * len(robot.movable)
    for j, row, shift in zip(robot.movable, robot.coupling.matrix, g0, strict=True):
        values[j] = add(total(mul(g, x) for g, x in zip(row, q, strict=True)), shift)
    return values


def to_coordinates(robot: Robot, rows: Sequence[Scalar]) -> list[Scalar]:
    """Torques of the coordinates from the torques of the tree's joints: τ = Gᵀ τ_tree."""
    moving = [rows[j] for j in robot.movable]
    if robot.coupling is None:
        return moving
    G = robot.coupling.matrix
    return [total(mul(G[i][k], moving[i]) for i in range(len(moving))) for k in range(robot.n_coordinates)]


def place(joint: Joint, q: Scalar, ops: Operations) -> Placement:
    """Placement of frame j in frame a(j) at the joint variable q.

    R = Rz(γ) Rx(α) Rz(θ), p = Rz(γ) [d, 0, b]ᵀ + Rz(γ) Rx(α) [0, 0, r]ᵀ.
    """
    before = rotation_z(joint.gamma) @ rotation_x(joint.alpha)
    base = constants(rotation_z(joint.gamma) @ np.array([joint.d, 0.0, joint.b]))
    c0, s0 = cos_sin(joint.theta)
    cos, sin, r = c0, s0, joint.r
    if joint.kind is JointKind.REVOLUTE:
        c, s = ops.cos(q), ops.sin(q)
        cos, sin = sub(mul(c0, c), mul(s0, s)), add(mul(c0, s), mul(s0, c))
    elif joint.kind is JointKind.PRISMATIC:
        r = add(q, joint.r)
    turn: Rotation = ((cos, neg(sin), 0.0), (sin, cos, 0.0), (0.0, 0.0, 1.0))
    fixed = constants(before)
    return Placement(matmul(fixed, turn), plus(base, rotate(fixed, (0.0, 0.0, r))))


def placements(robot: Robot, q: Sequence[Scalar], ops: Operations) -> list[Placement]:
    """Placements of all frames in their antecedents; q are the coordinates."""
    variables = tree_variables(robot, q, offset=True)
    return [place(joint, value, ops) for joint, value in zip(robot.joints, variables, strict=True)]


def motions(
    robot: Robot, frames: Sequence[Placement], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[LinkMotion]:
    """Motions of all frames, outward from the base (Luh–Walker–Paul recursion).

    Args:
        robot: the robot.
        frames: placements of the frames.
        qd: speeds of the coordinates.
        qdd: accelerations of the coordinates.
    """
    speeds = tree_variables(robot, qd, offset=False)
    accelerations = tree_variables(robot, qdd, offset=False)
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


def base_frames(robot: Robot, frames: Sequence[Placement]) -> list[Placement]:
    """Frames of all links in the base frame."""
    result: list[Placement] = []
    for joint, frame in zip(robot.joints, frames, strict=True):
        if joint.antecedent == BASE:
            result.append(frame)
            continue
        parent = result[joint.antecedent]
        position = plus(parent.position, rotate(parent.rotation, frame.position))
        result.append(Placement(matmul(parent.rotation, frame.rotation), position))
    return result


def forward_kinematics(robot: Robot, q: Sequence[Scalar], ops: Operations) -> list[Scalar]:
    """Positions then rotations (by rows) of all link frames in the base frame: 12 scalars per link."""
    rows: list[Scalar] = []
    for frame in base_frames(robot, placements(robot, q, ops)):
        rows += [*frame.position, *(value for row in frame.rotation for value in row)]
    return rows
