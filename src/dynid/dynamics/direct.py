"""Direct dynamics: accelerations from torques."""

from __future__ import annotations

from collections.abc import Sequence

from dynid.dynamics.algebra import Scalar, sub
from dynid.dynamics.inertia_matrix import inertia_matrix
from dynid.dynamics.inverse import bias_torques
from dynid.dynamics.operations import Operations
from dynid.dynamics.solve import solve_symmetric
from dynid.model.robot import Robot


def direct_dynamics(
    robot: Robot,
    parameters: Sequence[Scalar],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    ops: Operations,
) -> list[Scalar]:
    """Accelerations of the coordinates: M(q) q̈ = τ − bias(q, q̇) (P0 eq 1).

    Args:
        robot: the robot.
        parameters: standard parameters in table order; M(q) must be positive definite.
        q: coordinates.
        qd: speeds.
        tau: torques of the coordinates.
        ops: elementary functions of the scalar type.
    """
    M = inertia_matrix(robot, parameters, q, ops)
    bias = bias_torques(robot, parameters, q, qd, ops)
    return solve_symmetric(M, [sub(t, b) for t, b in zip(tau, bias, strict=True)])
