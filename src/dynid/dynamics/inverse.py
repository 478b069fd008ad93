"""Inverse dynamics by the Newton–Euler recursion, and its parts: bias and gravity torques."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dynid.dynamics.actuation import actuation_column
from dynid.dynamics.algebra import (
    Rotation,
    Scalar,
    Vector,
    add,
    cross,
    mul,
    plus,
    rotate,
    scale,
)
from dynid.dynamics.expansion import Expansion, expand
from dynid.dynamics.kinematics import LinkMotion, motions, placements
from dynid.dynamics.operations import Operations
from dynid.dynamics.placement import Placement
from dynid.model.joint import BASE, JointKind
from dynid.model.robot import Robot


@dataclass(frozen=True)
class Body:
    """Inertia of one link as scalars: tensor at the frame's origin, first moments, mass."""

    tensor: Rotation
    moment: Vector
    mass: Scalar


def bodies(robot: Robot, parameters: Sequence[Scalar]) -> list[Body]:
    """The links' inertias out of a parameter vector in table order."""
    result = []
    start = {e.joint: i for i, e in reversed(list(enumerate(robot.table))) if e.symbol == "XX"}
    for j in range(len(robot.joints)):
        xx, xy, xz, yy, yz, zz, mx, my, mz, m = parameters[start[j] : start[j] + 10]
        result.append(Body(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)), (mx, my, mz), m))
    return result


def actuation_torques(
    robot: Robot,
    parameters: Sequence[Scalar],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    ops: Operations,
) -> list[Scalar]:
    """Torques of drive inertia, friction and motor terms together."""
    torques: list[Scalar] = [0.0] * robot.n_coordinates
    for value, entry in zip(parameters, robot.table, strict=True):
        if entry.family == "inertial":
            continue
        column = actuation_column(robot, entry, q, qd, qdd, ops)
        torques = [add(t, mul(value, c)) for t, c in zip(torques, column, strict=True)]
    return torques


def inverse_dynamics(
    robot: Robot,
    parameters: Sequence[Scalar],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    ops: Operations,
) -> list[Scalar]:
    """Torques of the coordinates: τ = M q̈ + C q̇ + g + friction (P1 eq 1).

    Args:
        robot: the robot.
        parameters: standard parameters in table order, joint side, SI.
        q: coordinates [rad or m].
        qd: speeds.
        qdd: accelerations.
        ops: elementary functions of the scalar type.
    """
    expansion = expand(robot, q, ops)
    frames = placements(expansion, ops)
    moving = motions(expansion, frames, qd, qdd)
    wrenches = [_wrench(body, motion) for body, motion in zip(bodies(robot, parameters), moving, strict=True)]
    extra = actuation_torques(robot, parameters, q, qd, qdd, ops)
    return [add(a, b) for a, b in zip(_gather(expansion, frames, wrenches), extra, strict=True)]


def _gather(
    expansion: Expansion, frames: Sequence[Placement], wrenches: list[tuple[Vector, Vector]]
) -> list[Scalar]:
    """Torques of the coordinates from the wrenches the links need, inward from the tips."""
    robot = expansion.robot
    rows: list[Scalar] = [0.0] * len(robot.joints)
    for j in reversed(range(len(robot.joints))):
        joint, (moment, force) = robot.joints[j], wrenches[j]
        if joint.kind is JointKind.REVOLUTE:
            rows[j] = moment[2]
        elif joint.kind is JointKind.PRISMATIC:
            rows[j] = force[2]
        if joint.antecedent != BASE:
            R, p = frames[j].rotation, frames[j].position
            pushed = rotate(R, force)
            turned = plus(rotate(R, moment), cross(p, pushed))
            n_a, f_a = wrenches[joint.antecedent]
            wrenches[joint.antecedent] = (plus(n_a, turned), plus(f_a, pushed))
    return expansion.torques(rows)


def _wrench(body: Body, motion: LinkMotion) -> tuple[Vector, Vector]:
    """Moment at the frame's origin and force that give the link its motion."""
    w, dw, dv = motion.angular_velocity, motion.angular_acceleration, motion.acceleration
    ms = body.moment
    force = plus(scale(body.mass, dv), plus(cross(dw, ms), cross(w, cross(w, ms))))
    spin = plus(rotate(body.tensor, dw), cross(w, rotate(body.tensor, w)))
    return plus(spin, cross(ms, dv)), force


def bias_torques(
    robot: Robot, parameters: Sequence[Scalar], q: Sequence[Scalar], qd: Sequence[Scalar], ops: Operations
) -> list[Scalar]:
    """Torques at zero acceleration: centrifugal, Coriolis, gravity, friction and offset (P2 eq 8)."""
    return inverse_dynamics(robot, parameters, q, qd, [0.0] * robot.n_coordinates, ops)


def gravity_torques(
    robot: Robot, parameters: Sequence[Scalar], q: Sequence[Scalar], ops: Operations
) -> list[Scalar]:
    """Torques of gravity alone: no motion, no friction, no offset."""
    expansion = expand(robot, q, ops)
    frames = placements(expansion, ops)
    still = [0.0] * robot.n_coordinates
    moving = motions(expansion, frames, still, still)
    # At rest every frame accelerates at −g, so a link needs the force −M g and the moment −MS × g.
    wrenches = [
        (cross(body.moment, motion.acceleration), scale(body.mass, motion.acceleration))
        for body, motion in zip(bodies(robot, parameters), moving, strict=True)
    ]
    return _gather(expansion, frames, wrenches)
