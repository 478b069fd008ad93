"""Kinetic and potential energy, linear in the parameters, and the power model built on them."""

from __future__ import annotations

from collections.abc import Sequence

from dynid.dynamics.actuation import actuation_column
from dynid.dynamics.algebra import Scalar, Vector, constants, cross, dot, mul, neg, plus, scale, unrotate
from dynid.dynamics.expansion import expand
from dynid.dynamics.kinematics import placements
from dynid.dynamics.operations import NUMERIC, Operations
from dynid.dynamics.placement import base_frames
from dynid.dynamics.screws import chains
from dynid.model.parameters import INERTIAL, TENSOR
from dynid.model.robot import Robot


def energy_regressor(
    robot: Robot,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    ops: Operations,
    columns: Sequence[int] | None = None,
) -> tuple[list[Scalar], list[Scalar]]:
    """Rows k, u with kinetic energy E = k χ and potential energy U = u χ (Gautier–Khalil 1990).

    Along any motion d/dt (k + u) χ is the power of the conservative torques; friction, offset, motor
    friction and the force laws of elements have no energy here: their columns are zero.

    Args:
        robot: the robot.
        q: coordinates.
        qd: speeds.
        ops: elementary functions of the scalar type.
        columns: indices into ``robot.table`` wanted; all when None.
    """
    wanted = range(len(robot.table)) if columns is None else columns
    expansion = expand(robot, q, ops)
    frames = placements(expansion, ops)
    in_base = base_frames(robot, frames)
    speeds = expansion.speeds(qd)
    velocities = []
    for screws in chains(robot, frames):
        w: Vector = (0.0, 0.0, 0.0)
        v: Vector = (0.0, 0.0, 0.0)
        for j, screw in screws.items():
            w, v = plus(w, scale(speeds[j], screw.angular)), plus(v, scale(speeds[j], screw.linear))
        velocities.append((w, v))
    kinetic, potential = [], []
    g = constants(robot.gravity)
    for index in wanted:
        entry = robot.table.entries[index]
        if entry.family == "inertial":
            c = INERTIAL.index(entry.symbol)
            frame = in_base[entry.joint]
            kinetic.append(_kinetic(c, *velocities[entry.joint]))
            potential.append(_potential(c, frame.position, unrotate(frame.rotation, g), g))
        elif entry.symbol in ("Ia", "Iam"):
            column = actuation_column(robot, entry, q, qd, qd, NUMERIC)
            kinetic.append(mul(0.5, dot(qd, column)))
            potential.append(0.0)
        else:
            kinetic.append(0.0)
            potential.append(0.0)
    return kinetic, potential


def _kinetic(c: int, w: Vector, v: Vector) -> Scalar:
    """½ ωᵀ J ω + MS · (v × ω) + ½ M v² per unit parameter."""
    if c < 6:
        i, k = TENSOR[c]
        return mul(0.5 if i == k else 1.0, mul(w[i], w[k]))
    return mul(0.5, dot(v, v)) if c == 9 else cross(v, w)[c - 6]


def _potential(c: int, position: Vector, g_link: Vector, g: Vector) -> Scalar:
    """−MS · (Rᵀ g) − M g·p per unit parameter."""
    if c < 6:
        return 0.0
    return neg(dot(g, position)) if c == 9 else neg(g_link[c - 6])


def power_regressor(columns: Sequence[Sequence[Scalar]], qd: Sequence[Scalar]) -> list[Scalar]:
    """Row of the power model: q̇ᵀ τ = (q̇ᵀ W) χ, from the columns of the torque regressor."""
    return [dot(qd, column) for column in columns]


def energy(
    robot: Robot, parameters: Sequence[Scalar], q: Sequence[Scalar], qd: Sequence[Scalar], ops: Operations
) -> list[Scalar]:
    """Kinetic and potential energy [J]."""
    kinetic, potential = energy_regressor(robot, q, qd, ops)
    return [dot(parameters, kinetic), dot(parameters, potential)]
