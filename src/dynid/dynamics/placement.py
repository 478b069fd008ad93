"""Placements of the link frames of a tree, in their antecedents and in the base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.dynamics.algebra import (
    AXES,
    Rotation,
    Scalar,
    Vector,
    add,
    constants,
    matmul,
    mul,
    neg,
    plus,
    rotate,
    sub,
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


def within(parent: Placement, frame: Placement) -> Placement:
    """A frame given in its parent's, in the frame in which the parent is given."""
    position = plus(parent.position, rotate(parent.rotation, frame.position))
    return Placement(matmul(parent.rotation, frame.rotation), position)


def base_frames(robot: Robot, frames: Sequence[Placement]) -> list[Placement]:
    """Frames of all links in the base frame."""
    result: list[Placement] = []
    for joint, frame in zip(robot.joints, frames, strict=True):
        result.append(frame if joint.antecedent == BASE else within(result[joint.antecedent], frame))
    return result
