"""Columns beside the inertial ones: drive inertia, friction, motors of several joints, springs."""

from __future__ import annotations

from collections.abc import Sequence

from dynid.dynamics.algebra import Scalar, constants, mul, total
from dynid.dynamics.operations import Operations
from dynid.model.parameters import Parameter
from dynid.model.robot import Robot


def actuation_column(
    robot: Robot,
    parameter: Parameter,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    ops: Operations,
) -> list[Scalar]:
    """Torques of all coordinates per unit of a drive, friction, motor or element parameter.

    Args:
        robot: the robot.
        parameter: an entry of the robot's table that is not inertial.
        q: coordinates.
        qd: their speeds.
        qdd: their accelerations.
        ops: elementary functions of the scalar type.
    """
    ops = ops.with_smooth_sign(robot.sign_width)
    k = robot.coordinates.index(parameter.joint)
    if parameter.family == "element":
        return _element_column(robot, parameter.symbol, q, qd, ops)
    if parameter.family == "motor":
        return _motor_column(robot, parameter.symbol, k, qd, qdd, ops)
    column: list[Scalar] = [0.0] * robot.n_coordinates
    if parameter.family == "drive":
        column[k] = qdd[k]
    else:
        term = next(t for t in robot.friction_terms if t.name == parameter.symbol)
        column[k] = ops.evaluate(term.expression, q[k], qd[k], term.name)
    return column


def _motor_column(
    robot: Robot, symbol: str, m: int, qd: Sequence[Scalar], qdd: Sequence[Scalar], ops: Operations
) -> list[Scalar]:
    """Motor m turns at ρ·q̇ (joint-m units), so its torque loads joint j with ρ_j.

    Inertia and viscous friction are linear: the part ρ_j² q̈_j on each joint's own diagonal is inside Ia_j and
    Fv_j, and only the cross part ρ_j Σ_{k≠j} ρ_k q̈_k is left here. The sign does not split: ρ_j sign(ρ·q̇).
    """
    assert robot.drives is not None
    rho = constants(robot.drives.shares[m])
    n = robot.n_coordinates
    if symbol == "Fcm":
        speed = total(mul(rho[k], qd[k]) for k in range(n))
        return [mul(rho[j], ops.sign(speed)) if rho[j] else 0.0 for j in range(n)]
    rate = qdd if symbol == "Iam" else qd
    return [mul(rho[j], total(mul(rho[k], rate[k]) for k in range(n) if k != j)) for j in range(n)]


def _element_column(
    robot: Robot, name: str, q: Sequence[Scalar], qd: Sequence[Scalar], ops: Operations
) -> list[Scalar]:
    """c_j f(e, ė) with the deflection e = Σ c_j q_j: what a spring or damper of unit coefficient asks."""
    element = next(e for e in robot.elements if e.name == name)
    factors = [float(element.joints.get(robot.joints[j].name, 0.0)) for j in robot.coordinates]
    deflection, rate = (total(mul(c, x) for c, x in zip(factors, values, strict=True)) for values in (q, qd))
    force = ops.evaluate(element.expression, deflection, rate, name)
    return [mul(c, force) for c in factors]
