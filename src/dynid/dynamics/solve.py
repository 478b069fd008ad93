"""Linear equations over any scalar type, by a factorisation that keeps the zeros of the matrix."""

from __future__ import annotations

from collections.abc import Sequence

from dynid.dynamics.algebra import Scalar, dot, is_zero, mul, sub

Matrix = list[list[Scalar]]


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


def solve_least_squares(columns: Sequence[Sequence[Scalar]], rhs: Sequence[Scalar]) -> list[Scalar]:
    """x that minimises |Σ x_k a_k − rhs|², by the normal equations AᵀA x = Aᵀ rhs.

    Equations that repeat others, as those of planar loops do, need no choice among them.

    Args:
        columns: a_k, independent of each other.
        rhs: one scalar per equation.
    """
    normal = [[dot(a, b) for b in columns] for a in columns]
    return solve_symmetric(normal, [dot(a, rhs) for a in columns])
