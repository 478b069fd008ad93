"""From the coordinates to all joints of the tree and back: q̇_tree = G q̇, τ = Gᵀ τ_tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

from dynid.dynamics.algebra import Scalar, add, is_constant, mul, neg, sub, total
from dynid.dynamics.closure import GroupEquations, group_equations, loop_groups
from dynid.dynamics.loop_guess import LoopGuess, loop_guess
from dynid.dynamics.operations import Operations
from dynid.dynamics.solve import Matrix, solve_least_squares
from dynid.model.robot import Robot

CLOSED = 1e-9
"""Largest residual of a closed loop, beside 1 m and 1 rad; Newton steps that end above it have not closed."""


@dataclass(frozen=True)
class Expansion:
    """All joints of the tree at coordinates q.

    Args:
        robot: the robot.
        positions: one scalar per joint; 0.0 for fixed ones.
        G: one row per movable joint, one column per coordinate; None when each joint is a coordinate.
        loops: equations of the loops at the positions, whose bias gives Ġ q̇.
    """

    robot: Robot
    positions: list[Scalar]
    G: Sequence[Sequence[Scalar]] | None = None
    loops: tuple[GroupEquations, ...] = ()

    def speeds(self, qd: Sequence[Scalar]) -> list[Scalar]:
        """G q̇ of all joints of the tree, or G q̈."""
        moving = (
            list(qd)
            if self.G is None
            else [total(mul(g, x) for g, x in zip(row, qd, strict=True)) for row in self.G]
        )
        return _by_joint(self.robot, moving)

    def accelerations(self, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
        """G q̈ + Ġ q̇ of all joints of the tree, where Jₚ (Ġ q̇)ₚ = −J̇ q̇."""
        values = self.speeds(qdd)
        if self.loops:
            speeds = self.speeds(qd)
            for loop in self.loops:
                for j, x in _rates_of_followers(loop, loop.bias(speeds)).items():
                    values[j] = add(values[j], x)
        return values

    def torques(self, rows: Sequence[Scalar]) -> list[Scalar]:
        """Torques of the coordinates from those of all joints of the tree: τ = Gᵀ τ_tree."""
        moving = [rows[j] for j in self.robot.movable]
        if self.G is None:
            return moving
        G = self.G
        return [
            total(mul(G[i][k], moving[i]) for i in range(len(moving)))
            for k in range(self.robot.n_coordinates)
        ]

    def inertia(self, M: Matrix) -> Matrix:
        """Gᵀ M G from the inertia matrix of all joints of the tree."""
        moving = [[M[i][j] for j in self.robot.movable] for i in self.robot.movable]
        if self.G is None:
            return moving
        G, k, n = self.G, self.robot.n_coordinates, len(moving)
        MG = [[total(mul(moving[i][j], G[j][c]) for j in range(n)) for c in range(k)] for i in range(n)]
        reduced: Matrix = [[0.0] * k for _ in range(k)]
        for r in range(k):
            for c in range(r, k):
                reduced[r][c] = reduced[c][r] = total(mul(G[i][r], MG[i][c]) for i in range(n))
        return reduced


def expand(robot: Robot, q: Sequence[Scalar], ops: Operations) -> Expansion:
    """All joints of the tree at the coordinates: by the linear coupling, or by closing the loops.

    Args:
        robot: the robot.
        q: coordinates [rad or m].
        ops: elementary functions of the scalar type.

    Returns:
        The expansion; joints that follow in loops are NaN where these do not close or q is out of the range
        for which they were followed.
    """
    if robot.coupling is not None:
        G = robot.coupling.matrix
        moving = [
            add(total(mul(g, x) for g, x in zip(row, q, strict=True)), shift)
            for row, shift in zip(G, robot.coupling.offset, strict=True)
        ]
        return Expansion(robot, _by_joint(robot, moving), G)
    if robot.closure is None:
        return Expansion(robot, _by_joint(robot, q))
    known = dict(zip(robot.coordinates, q, strict=True))
    rows: dict[int, list[Scalar]] = {j: [float(j == c) for c in robot.coordinates] for j in robot.coordinates}
    loops = []
    for group in loop_groups(robot.joints, robot.closure):
        guess = loop_guess(robot.joints, robot.closure, group)
        loop, positions = _closed_loop(robot, guess, known, ops)
        known |= positions
        rows |= _rows_of_g(robot, loop)
        loops.append(loop)
    moving = [known[j] for j in robot.movable]
    return Expansion(robot, _by_joint(robot, moving), [rows[j] for j in robot.movable], tuple(loops))


def _closed_loop(
    robot: Robot, guess: LoopGuess, q: Mapping[int, Scalar], ops: Operations
) -> tuple[GroupEquations, dict[int, Scalar]]:
    """Equations and dependent positions of a group at its closed position, NaN where it does not close."""
    positions = guess.closed_positions(robot.joints, q, ops)
    residuals = group_equations(robot.joints, guess.group, positions, ops).residuals()
    margins = [*guess.inside(q), sub(CLOSED**2, total(mul(x, x) for x in residuals))]
    valid: Scalar = 1.0
    for margin in margins:
        valid = mul(valid, (1.0 if margin > 0 else nan) if is_constant(margin) else ops.one_or_nan(margin))
    follow = {j: mul(positions[j], valid) for j in guess.group.dependent}
    return group_equations(robot.joints, guess.group, dict(positions) | follow, ops), follow


def _rows_of_g(robot: Robot, loop: GroupEquations) -> dict[int, list[Scalar]]:
    """Rows ∂p/∂q of the dependent joints of a group: Jₚ ∂p/∂q = −Jₐ."""
    columns, group = loop.columns(), loop.group
    rows: dict[int, list[Scalar]] = {j: [0.0] * robot.n_coordinates for j in group.dependent}
    for c in group.coordinates:
        k = robot.coordinates.index(c)
        solved = solve_least_squares([columns[j] for j in group.dependent], [neg(x) for x in columns[c]])
        for j, x in zip(group.dependent, solved, strict=True):
            rows[j][k] = x
    return rows


def _rates_of_followers(loop: GroupEquations, bias: Sequence[Scalar]) -> dict[int, Scalar]:
    """Jₚ x = −bias, by joint."""
    columns, dependent = loop.columns(), loop.group.dependent
    solved = solve_least_squares([columns[j] for j in dependent], [neg(x) for x in bias])
    return dict(zip(dependent, solved, strict=True))


def _by_joint(robot: Robot, moving: Sequence[Scalar]) -> list[Scalar]:
    """One scalar per joint from one per movable joint; 0.0 for fixed ones."""
    values: list[Scalar] = [0.0] * len(robot.joints)
    for j, value in zip(robot.movable, moving, strict=True):
        values[j] = value
    return values
