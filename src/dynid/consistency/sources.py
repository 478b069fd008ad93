"""What fixed each standard parameter: the data, a bound, or what was known beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dynid.consistency.cone_program import ConeProgram, body_slack
from dynid.consistency.constraint import Cone
from dynid.consistency.pseudo_inertia import as_vector
from dynid.core.arrays import FloatArray

DATA, BOUND, PRIOR = "data", "bound", "prior"
_ENOUGH = 2.0
"""Variance without the weaker sources over that with all of them up to which these are not needed."""
_TOUCHING = 1e-3
"""Slack of a bound, rows at unit length and bodies at a mean eigenvalue of one, below which it is active."""
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


def find_sources(program: ConeProgram, data_rows: int, z: FloatArray) -> Sources:
    """What fixed each parameter of a solution.

    A parameter is fixed by the data where these alone know it about as well as all sources together, by a
    bound where data and active bounds do, else by the prior.

    Args:
        program: what was solved; its first rows are those of the data.
        data_rows: how many.
        z: its solution.
    """
    normals, active = _active_bounds(program, z)
    data, everything = (B.T @ B for B in (program.B[:data_rows], program.B))
    free, held = np.eye(len(z)), _null_space(normals, len(z))
    T = program.coordinates.T
    alone = _variances(data, free, T)
    bounded = _variances(data, held, T)
    whole = _variances(everything, held, T)
    fixed_by = np.where(alone <= _ENOUGH * whole, DATA, np.where(bounded <= _ENOUGH * whole, BOUND, PRIOR))
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


def _active_bounds(program: ConeProgram, z: FloatArray) -> tuple[FloatArray, tuple[ActiveBound, ...]]:
    """Normals of the active bounds over z, (normals, standard), and their names."""
    normals: list[FloatArray] = []
    active: list[ActiveBound] = []
    for constraint in program.constraints:
        G = constraint.G @ program.coordinates.T
        s = G @ z + constraint.h
        length = np.linalg.norm(G, axis=1)
        if constraint.cone is Cone.SECOND_ORDER:
            touching = s[0] - np.linalg.norm(s[1:]) < _TOUCHING * length.max(initial=0.0)
            rows = [G[0] - s[1:] @ G[1:] / max(float(np.linalg.norm(s[1:])), 1e-300)] if touching else []
        else:
            near = np.full(len(s), True) if constraint.cone is Cone.ZERO else s < _TOUCHING * length
            rows = list(G[near])
        if rows:
            normals += [row / np.linalg.norm(row) for row in rows if np.linalg.norm(row) > 0]
            active.append(ActiveBound(constraint.name, constraint.given))
    for link, columns in enumerate(program.coordinates.links):
        faces = _body_normals(z[columns])
        for face in faces:
            row = np.zeros(len(z))
            row[columns] = face
            normals.append(row)
        if faces:
            name = f"body of {program.coordinates.robot.joints[link].name} at the edge of what is possible"
            active.append(ActiveBound(name, given=False, link=link))
    return np.array(normals).reshape(-1, len(z)), tuple(active)


def _body_normals(z: FloatArray) -> list[FloatArray]:
    """Directions in which a body cannot move: v wᵀ of all eigenvectors at the edge, (10,) each."""
    sizes, vectors = np.linalg.eigh(body_slack(z))
    edge = [vectors[:, k] for k in np.flatnonzero(sizes < _TOUCHING)]
    return [as_vector((np.outer(v, w) + np.outer(w, v)) / 2) for i, v in enumerate(edge) for w in edge[i:]]


def _null_space(normals: FloatArray, n: int) -> FloatArray:
    """Orthonormal directions that no bound forbids, (n, free)."""
    if not len(normals):
        return np.eye(n)
    _, sizes, Vt = np.linalg.svd(normals)
    rank = int(np.sum(sizes > 1e-9 * sizes[0]))
    return np.asarray(Vt[rank:].T, dtype=float)
