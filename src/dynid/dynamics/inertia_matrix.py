"""Joint-space inertia matrix M(q) by composite rigid bodies."""

from __future__ import annotations

from collections.abc import Sequence

from dynid.dynamics.actuation import actuation_column
from dynid.dynamics.algebra import (
    Rotation,
    Scalar,
    Vector,
    add,
    cross,
    matmul,
    mul,
    plus,
    rotate,
    scale,
    sub,
    total,
    transpose,
)
from dynid.dynamics.expansion import expand
from dynid.dynamics.inverse import Body, bodies
from dynid.dynamics.kinematics import placements
from dynid.dynamics.operations import NUMERIC, Operations
from dynid.dynamics.placement import Placement
from dynid.dynamics.screws import Screw, chains
from dynid.dynamics.solve import Matrix
from dynid.model.joint import BASE
from dynid.model.robot import Robot


def inertia_matrix(
    robot: Robot, parameters: Sequence[Scalar], q: Sequence[Scalar], ops: Operations
) -> Matrix:
    """M(q) of the coordinates, drive and motor inertias included.

    Args:
        robot: the robot.
        parameters: standard parameters in table order.
        q: coordinates.
        ops: elementary functions of the scalar type.

    Returns:
        n × n scalars; entries of joints on different branches are the constant 0.0.
    """
    expansion = expand(robot, q, ops)
    frames = placements(expansion, ops)
    composite = bodies(robot, parameters)
    n = len(robot.joints)
    M: Matrix = [[0.0] * n for _ in range(n)]
    screws = list(chains(robot, frames))
    for j in reversed(range(n)):
        if j in screws[j]:
            moment, force = _momentum(composite[j], screws[j][j])
            for i, screw in screws[j].items():
                M[i][j] = M[j][i] = screw.power(moment, force)
        parent = robot.joints[j].antecedent
        if parent != BASE:
            composite[parent] = _join(composite[parent], _carry(composite[j], frames[j]))
    return _with_drives(robot, parameters, expansion.inertia(M))


def _momentum(body: Body, screw: Screw) -> tuple[Vector, Vector]:
    """Angular momentum about the frame's origin and momentum of a body that moves with a screw."""
    a, v, ms = screw.angular, screw.linear, body.moment
    return plus(rotate(body.tensor, a), cross(ms, v)), plus(scale(body.mass, v), cross(a, ms))


def _carry(body: Body, frame: Placement) -> Body:
    """The body in the antecedent frame.

    J_a = R J Rᵀ + (2 p·s + M p·p) 1 − (p sᵀ + s pᵀ) − M p pᵀ with s = R MS.
    """
    R, p = frame.rotation, frame.position
    s = rotate(R, body.moment)
    turned = matmul(matmul(R, body.tensor), transpose(R))
    half = plus(s, scale(mul(0.5, body.mass), p))
    trace = mul(2.0, total(mul(p[i], half[i]) for i in range(3)))
    rows: list[list[Scalar]] = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for k in range(i, 3):
            shift = add(mul(p[i], half[k]), mul(half[i], p[k]))
            value = sub(turned[i][k], shift)
            rows[i][k] = rows[k][i] = add(value, trace) if i == k else value
    tensor: Rotation = tuple(tuple(row) for row in rows)  # type: ignore[assignment]
    return Body(tensor, plus(s, scale(body.mass, p)), body.mass)


def _join(a: Body, b: Body) -> Body:
    tensor = tuple(plus(u, v) for u, v in zip(a.tensor, b.tensor, strict=True))
    return Body(tensor, plus(a.moment, b.moment), add(a.mass, b.mass))  # type: ignore[arg-type]


def _with_drives(robot: Robot, parameters: Sequence[Scalar], M: Matrix) -> Matrix:
    """Add what Ia and Iam contribute: their columns at unit accelerations, which are constant."""
    n = robot.n_coordinates
    still = [0.0] * n
    for value, entry in zip(parameters, robot.table, strict=True):
        if entry.symbol not in ("Ia", "Iam"):
            continue
        for c in range(n):
            unit = [float(k == c) for k in range(n)]
            column = actuation_column(robot, entry, still, still, unit, NUMERIC)
            for r in range(n):
                M[r][c] = add(M[r][c], mul(value, column[r]))
    return M
