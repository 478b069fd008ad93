"""Direct dynamics: accelerations from torques, by a factorisation that keeps the zeros of the tree."""

from __future__ import annotations

from collections.abc import Sequence

from dynid.dynamics.algebra import Scalar, is_zero, mul, sub
from dynid.dynamics.inertia_matrix import Matrix, inertia_matrix
from dynid.dynamics.inverse import bias_torques
from dynid.dynamics.operations import Operations
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


def solve_symmetric(M: Matrix, rhs: Sequence[Scalar]) -> list[Scalar]:
    """Solve M x = rhs for a symmetric positive definite M by M = Lᵀ D L, last row first.

    Eliminating from the tips to the base leaves no fill-in between branches (Featherstone 2005), and
    constant zeros are skipped, so a tree costs only what its branches need.
    """
    n = len(M)
    L = [list(row) for row in M]
    inverse: list[Scalar] = [0.0] * n
    for k in reversed(range(n)):
        inverse[k] = 1.0 / L[k][k]
        nonzero = [i for i in range(k) if not is_zero(L[k][i])]
        for i in reversed(nonzero):
            factor = mul(L[k][i], inverse[k])
            for j in [j for j in nonzero if j <= i]:
                L[i][j] = sub(L[i][j], mul(factor, L[k][j]))
            L[k][i] = factor
    x = list(rhs)
    for k in reversed(range(n)):
        for i in range(k):
            x[i] = sub(x[i], mul(L[k][i], x[k]))
    x = [mul(inverse[k], x[k]) for k in range(n)]
    for k in range(n):
        for i in range(k):
            x[k] = sub(x[k], mul(L[k][i], x[i]))
    return x
