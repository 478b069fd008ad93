"""What fixed each standard parameter: the data, a bound, or what was known beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynid.consistency.cone_program import ConeProgram, ConeRows, Solution
from dynid.consistency.constraint import Cone, Constraint
from dynid.consistency.pseudo_inertia import as_matrix, as_vector
from dynid.core.arrays import FloatArray

DATA, BOUND, PRIOR = "data", "bound", "prior"
_ENOUGH = 2.0
"""Variance without the weaker sources over that with all of them up to which these are not needed."""
_SURER = 0.1
"""Variance by the data alone over that without them below which the data decide, whatever helps them."""
_FORCE = 0.5
"""Multiplier from which a bound holds a solution: ½ χ² by which the torques would be fitted better if it gave
way by the size of a reference body, or of a parameter that makes a tenth of the torque."""
_UNSEEN = 1e-12
"""Relative eigenvalue of an information matrix, columns at unit length, below which nothing is seen."""
_LOST = 1e-6
"""Share of a parameter that may lie in unseen directions, by rounding."""


@dataclass(frozen=True)
class ActiveBound:
    """A bound that holds a solution.

    Args:
        name: in words.
        given: whether the user asked for it.
        link: index of the link whose body lies on the edge; None for other bounds.
    """

    name: str
    given: bool
    link: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"name": self.name, "given": self.given, "link": self.link}


@dataclass(frozen=True, eq=False)
class Sources:
    """What fixed standard parameters.

    Args:
        fixed_by: per parameter "data", "bound" or "prior".
        sigma: standard deviation of each, bounds held; infinite where nothing says anything.
        active: bounds that hold the solution.
    """

    fixed_by: tuple[str, ...]
    sigma: FloatArray
    active: tuple[ActiveBound, ...]


def find_sources(program: ConeProgram, data_rows: int, solution: Solution) -> Sources:
    """What fixed each parameter of a solution.

    A parameter is fixed by the data where these alone know it about as well as all sources together, or far
    better than all others do, by a bound where data and active bounds do, else by the prior.

    Args:
        program: what was solved, without log det; its first rows are those of the data.
        data_rows: how many.
        solution: of the program.
    """
    n = program.B.shape[1]
    normals, active = _active_bounds(program, solution)
    data, prior = (B.T @ B for B in (program.B[:data_rows], program.B[data_rows:]))
    free, held = np.eye(n), _null_space(normals, n)
    T = program.coordinates.T
    alone, bounded = _variances(data, free, T), _variances(data, held, T)
    others, whole = _variances(prior, held, T), _variances(data + prior, held, T)
    by_data = (alone <= _ENOUGH * whole) | (alone <= _SURER * others)
    fixed_by = np.where(by_data, DATA, np.where(bounded <= _ENOUGH * whole, BOUND, PRIOR))
    return Sources(tuple(map(str, fixed_by)), np.sqrt(whole), active)


def _variances(information: FloatArray, directions: FloatArray, T: FloatArray) -> FloatArray:
    """Variance of every row of T z, z moving along some directions only; infinite where nothing is seen."""
    H = directions.T @ information @ directions
    lengths = np.sqrt(np.maximum(np.diag(H), 0.0))
    lengths = np.where(lengths > 0, lengths, 1.0)  # columns at unit length: sizes differ by ten decades
    sizes, vectors = np.linalg.eigh(H / np.outer(lengths, lengths))
    rows = T @ (directions / lengths) @ vectors
    seen = sizes > _UNSEEN * float(sizes.max(initial=0.0))
    variance = np.sum(rows[:, seen] ** 2 / sizes[seen], axis=1)
    # What no row of the information sees of a parameter, as a share of its usual size.
    null, _ = np.linalg.qr((directions / lengths) @ vectors[:, ~seen])
    lost = np.linalg.norm(T @ null, axis=1)
    return np.asarray(np.where(lost > _LOST * np.linalg.norm(T, axis=1), np.inf, variance))


def _active_bounds(program: ConeProgram, solution: Solution) -> tuple[FloatArray, tuple[ActiveBound, ...]]:
    """Normals of the bounds that hold a solution, over z, (normals, standard), and their names."""
    normals: list[FloatArray] = []
    active: list[ActiveBound] = []
    links, n = program.coordinates.links, program.B.shape[1]
    blocks = list(zip(program.cones, solution.force, strict=True))
    for constraint, G, force in _bounds_with_force(program, blocks[: len(blocks) - len(links)]):
        pressed = G if constraint.cone is Cone.ZERO else G[force > _FORCE]
        if constraint.cone is Cone.SECOND_ORDER and len(pressed):
            pressed = (force @ G)[None]  # the multipliers of a round cone are its normal
        if len(pressed):
            normals += [row / np.linalg.norm(row) for row in pressed if np.linalg.norm(row) > 0]
            active.append(ActiveBound(constraint.name, constraint.given))
    for link, (columns, (_, force)) in enumerate(zip(links, blocks[len(blocks) - len(links) :], strict=True)):
        faces = _body_normals(force)
        for face in faces:
            row = np.zeros(n)
            row[columns] = face
            normals.append(row)
        if faces:
            name = f"body of {program.coordinates.robot.joints[link].name} at the edge of what is possible"
            active.append(ActiveBound(name, given=False, link=link))
    return np.array(normals).reshape(-1, n), tuple(active)


def _bounds_with_force(
    program: ConeProgram, blocks: Sequence[tuple[ConeRows, FloatArray]]
) -> Iterator[tuple[Constraint, FloatArray, FloatArray]]:
    """Each constraint with its rows over z and their multipliers."""
    others = [c for c in program.constraints if c.cone is not Cone.POSITIVE]
    for constraint, (rows, force) in zip(others, blocks, strict=False):
        yield constraint, rows.G, force
    first = 0
    for constraint in program.constraints:
        if constraint.cone is Cone.POSITIVE:
            rows, force = blocks[-1]
            own = slice(first, first + len(constraint.h))
            yield constraint, rows.G[own], force[own]
            first = own.stop


def _body_normals(force: FloatArray) -> list[FloatArray]:
    """Directions in which a body cannot move: v wᵀ of all eigenvectors of its multiplier, (10,) each."""
    sizes, vectors = np.linalg.eigh(as_matrix(force))
    edge = [vectors[:, k] for k in np.flatnonzero(sizes > _FORCE)]
    return [as_vector((np.outer(v, w) + np.outer(w, v)) / 2) for i, v in enumerate(edge) for w in edge[i:]]


def _null_space(normals: FloatArray, n: int) -> FloatArray:
    """Orthonormal directions that no bound forbids, (n, free)."""
    if not len(normals):
        return np.eye(n)
    _, sizes, Vt = np.linalg.svd(normals)
    rank = int(np.sum(sizes > 1e-9 * sizes[0]))
    return np.asarray(Vt[rank:].T, dtype=float)
