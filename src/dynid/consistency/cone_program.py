"""The cone program of a possible robot, and its solution by Clarabel.

Bodies are written as P = L Z Lᵀ with L Lᵀ the reference body, so that all variables are near one whatever the
robot weighs: min ½ ‖B z − t‖² with Z of every link positive definite, and further cones.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dynid.consistency.constraint import Cone, Constraint
from dynid.consistency.pseudo_inertia import (
    ENTRIES,
    SIZE,
    as_matrix,
    as_vector,
    link_columns,
    relative_coordinates,
)
from dynid.consistency.reference import ReferenceBodies
from dynid.core.arrays import FloatArray
from dynid.core.lazy import later
from dynid.model.robot import Robot

clarabel_solver = later("dynid.consistency.clarabel_solver", "solve_cones")
_IDENTITY = as_vector(np.eye(SIZE))


@dataclass(frozen=True)
class Margin:
    """How far from the edge bodies stay: a robot of the very edge cannot be simulated.

    Args:
        share: least eigenvalue of Z over their mean.
        floor: least eigenvalue of Z itself: bodies do not vanish.
    """

    share: float = 1e-4
    floor: float = 1e-6


MARGIN = Margin()


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Standard parameters as x = T z, with the bodies seen from those of a reference.

    Args:
        robot: the robot.
        reference: what is usual.
    """

    robot: Robot
    reference: ReferenceBodies

    @cached_property
    def links(self) -> list[list[int]]:
        """Per link, the ten variables of its Z."""
        return link_columns(self.robot)

    @cached_property
    def others(self) -> list[int]:
        """Variables that belong to no body."""
        bodies = {column for columns in self.links for column in columns}
        return [i for i in range(len(self.robot.table)) if i not in bodies]

    @cached_property
    def T(self) -> FloatArray:
        """(standard, standard)."""
        T = np.zeros((len(self.robot.table),) * 2)
        for columns, body in zip(self.links, self.reference.bodies, strict=True):
            T[np.ix_(columns, columns)] = relative_coordinates(body)
        T[self.others, self.others] = self.reference.scales[self.others]
        return T

    @cached_property
    def centre(self) -> FloatArray:
        """z of the reference: Z = 1 of every link, and nothing else, (standard,)."""
        z = np.zeros(len(self.robot.table))
        for columns in self.links:
            z[columns] = _IDENTITY
        return z


@dataclass(frozen=True, eq=False)
class ConeProgram:
    """min ½ ‖B z − t‖² + w Σ (tr Z_j − log det Z_j) over possible robots.

    Args:
        coordinates: what z means.
        B: rows of the data and of what is known, of full column rank, (rows, standard).
        t: (rows,).
        constraints: beside that every body is possible.
        entropy: w; zero where no log det is sought.
    """

    coordinates: Coordinates
    B: FloatArray
    t: FloatArray
    constraints: tuple[Constraint, ...]
    entropy: float = 0.0

    @cached_property
    def pseudo_inverse(self) -> FloatArray:
        """R⁻¹ Qᵀ of B = Q R, (standard, rows)."""
        Q, R = np.linalg.qr(self.B)
        return np.asarray(np.linalg.solve(R, Q.T), dtype=float)

    @cached_property
    def cones(self) -> list[ConeRows]:
        """All cones over z."""
        return [*_constraint_rows(self), *_body_rows(self)]

    def free_solution(self, t: FloatArray) -> FloatArray:
        """argmin ‖B z − t‖ without any cone, (standard,)."""
        return np.asarray(self.pseudo_inverse @ t, dtype=float)

    def without(self, left_out: Sequence[Constraint]) -> ConeProgram:
        """The program with fewer constraints."""
        kept = tuple(c for c in self.constraints if not any(c is out for out in left_out))
        return replace(self, constraints=kept)


@dataclass(frozen=True)
class ConeRows:
    """Rows of one cone over the variables: G z + h.

    Args:
        kind: "zero", "positive", "second order", "psd" or "exponential".
        G: (rows, variables).
        h: (rows,).
    """

    kind: str
    G: FloatArray
    h: FloatArray


@dataclass(frozen=True, eq=False)
class Solution:
    """What the solver found.

    Args:
        z: the variables, (standard,).
        force: multipliers of the rows of each of the program's cones; zero where nothing holds the solution.
        solved: whether it is a solution.
        infeasible: whether there is provably none.
        status: in the solver's words.
        iterations: passes.
        seconds: of the solver.
    """

    z: FloatArray
    force: tuple[FloatArray, ...]
    solved: bool
    infeasible: bool
    status: str
    iterations: int
    seconds: float


def solve_program(program: ConeProgram, target: FloatArray | None = None) -> Solution:
    """Solve a cone program.

    The solver sees the step from the solution without cones, so that its objective is what the cones cost
    and not all that the torques hold: its precision is relative to the objective.

    Args:
        program: the program.
        target: t of another estimate of the same rows; the program's own when None.
    """
    start = time.perf_counter()
    free = program.free_solution(program.t if target is None else target)
    n = len(free)
    if program.entropy == 0 and _is_inside(program, free):
        nothing = tuple(np.zeros(len(rows.h)) for rows in program.cones)
        return Solution(free, nothing, True, False, "Inside", 0, time.perf_counter() - start)
    rows = program.cones
    H, g = program.B.T @ program.B, np.zeros(n)
    if program.entropy > 0:
        more, further = _entropy_rows(program)
        rows = [ConeRows(r.kind, _pad_columns(r.G, n + further), r.h) for r in rows] + more
        H = np.pad(H, (0, further))
        g = np.concatenate(
            [program.entropy * program.coordinates.centre, -program.entropy * _log_terms(further)]
        )
    origin = np.concatenate([free, np.zeros(len(g) - n)])
    found = clarabel_solver(H, g, [ConeRows(r.kind, r.G, r.h + r.G @ origin) for r in rows])
    seconds = time.perf_counter() - start
    z, force = free + found.x[:n], found.force[: len(program.cones)]
    return Solution(z, force, found.solved, found.infeasible, found.status, found.iterations, seconds)


def _is_inside(program: ConeProgram, z: FloatArray) -> bool:
    """Whether variables are inside all cones, so that there is nothing to solve."""
    bodies = []
    for rows in program.cones:
        s = rows.G @ z + rows.h
        if rows.kind == "psd":
            bodies.append(as_matrix(s))
        elif rows.kind == Cone.SECOND_ORDER:
            if s[0] < np.linalg.norm(s[1:]):
                return False
        elif rows.kind == Cone.ZERO or np.any(s < 0):
            return False
    return bool(np.linalg.eigvalsh(np.array(bodies))[:, 0].min() >= 0)


def _pad_columns(G: FloatArray, width: int) -> FloatArray:
    return np.pad(G, ((0, 0), (0, width - G.shape[1])))


def _constraint_rows(program: ConeProgram) -> list[ConeRows]:
    """The constraints over z, rows brought to unit length; the positive ones come last and are one cone."""
    made = [
        _unit_rows(c.cone, c.G @ program.coordinates.T, c.h)
        for c in program.constraints
        if c.cone is not Cone.POSITIVE
    ]
    positive = [c for c in program.constraints if c.cone is Cone.POSITIVE]
    if positive:
        G, h = np.vstack([c.G for c in positive]), np.concatenate([c.h for c in positive])
        made.append(_unit_rows(Cone.POSITIVE, G @ program.coordinates.T, h))
    return made


def _unit_rows(cone: Cone, G: FloatArray, h: FloatArray) -> ConeRows:
    """Rows of unit length; those of a second-order cone together."""
    lengths = np.linalg.norm(G, axis=1)
    scale = np.full(len(G), lengths.max(initial=0.0)) if cone is Cone.SECOND_ORDER else lengths
    scale = np.where(scale > 0, scale, 1.0)
    return ConeRows(cone.value, G / scale[:, None], h / scale)


def _body_rows(program: ConeProgram) -> list[ConeRows]:
    """Z of every link less its margin, positive semidefinite."""
    n = program.B.shape[1]
    made = []
    for columns in program.coordinates.links:
        G = np.zeros((len(ENTRIES), n))
        G[np.arange(len(ENTRIES)), columns] = 1.0
        G[:, columns] -= MARGIN.share / SIZE * np.outer(_IDENTITY, _IDENTITY)
        made.append(ConeRows("psd", G, -MARGIN.floor * _IDENTITY))
    return made


_FURTHER = len(ENTRIES) + SIZE
"""Variables that log det Z needs beside Z: the ten of U and four t."""


def _log_terms(further: int) -> FloatArray:
    """Where the t stand among the further variables, as ones."""
    return np.tile(np.concatenate([np.zeros(len(ENTRIES)), np.ones(SIZE)]), further // _FURTHER)


def _entropy_rows(program: ConeProgram) -> tuple[list[ConeRows], int]:
    """log det Z ≥ Σ t: [[Z, U], [Uᵀ, diag U]] ⪰ 0 with U upper triangular, and t_i ≤ log U_ii.

    Returns:
        Rows, and how many further variables they need.
    """
    n, links = program.B.shape[1], program.coordinates.links
    width = n + _FURTHER * len(links)
    made: list[ConeRows] = []
    for j, columns in enumerate(links):
        first = n + _FURTHER * j
        U = {entry: first + k for k, entry in enumerate(ENTRIES)}
        made.append(_log_det_block(columns, U, width))
        for i in range(SIZE):
            G = np.zeros((3, width))
            G[0, first + len(ENTRIES) + i] = G[2, U[i, i]] = 1.0
            made.append(ConeRows("exponential", G, np.array([0.0, 1.0, 0.0])))
    return made, width - n


def _log_det_block(columns: Sequence[int], U: dict[tuple[int, int], int], width: int) -> ConeRows:
    """Rows of [[Z, U], [Uᵀ, diag U]], (8, 8), in the solver's order."""
    size = 2 * SIZE
    order = {entry: k for k, entry in enumerate(ENTRIES)}
    rows = []
    for column in range(size):
        for row in range(column + 1):
            G = np.zeros(width)
            scale = 1.0 if row == column else np.sqrt(2.0)
            if column < SIZE:  # the variables of Z carry the root of two already
                G[columns[order[row, column]]] = 1.0
            elif row >= SIZE:
                if row == column:
                    G[U[row - SIZE, row - SIZE]] = 1.0
            elif row <= column - SIZE:
                G[U[row, column - SIZE]] = scale
            rows.append(G)
    return ConeRows("psd", np.array(rows), np.zeros(len(rows)))
