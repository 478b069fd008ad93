"""Linear couplings between the joints of the tree and the independent coordinates: q_tree = G q + g0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import ModelError
from dynid.core.keys import key
from dynid.core.tables import check_fields


@dataclass(frozen=True)
class Coupling:
    """q_tree = G q + g0 over the movable joints of the tree, so that τ = Gᵀ τ_tree.

    Parallelogram loops (P1 §4.2) and URDF mimic joints are of this kind.

    Args:
        coordinates: indices, among the movable joints, of the joints whose positions are the coordinates.
        matrix: G, one row per movable joint, one column per coordinate.
        offset: g0, one value per movable joint [rad or m].
    """

    coordinates: tuple[int, ...] = key("indices among the movable joints")
    matrix: tuple[tuple[float, ...], ...] = key("G, row by row")
    offset: tuple[float, ...] = key("g0", unit="rad or m")

    def __post_init__(self) -> None:
        """Check sizes, and that each coordinate is its own joint's position."""
        check_fields(self, "Coupling", ModelError)
        n, k = len(self.matrix), len(self.coordinates)
        if k == 0 or len(self.offset) != n or any(len(row) != k for row in self.matrix):
            raise ModelError(
                f"The coupling has {n} rows and {k} coordinates, but {len(self.offset)} offsets or rows of "
                "other lengths; give one row of G and one offset per movable joint."
            )
        G = self.G
        picked = all(0 <= c < n for c in self.coordinates) and np.array_equal(
            G[list(self.coordinates)], np.eye(k)
        )
        if not picked or any(self.offset[c] != 0 for c in self.coordinates):
            raise ModelError(
                "Every coordinate of a coupling must be the position of its own joint (unit row, zero "
                "offset)."
            )

    @property
    def G(self) -> NDArray[np.float64]:
        """The matrix as an array (movable joints, coordinates)."""
        return np.array(self.matrix, dtype=float).reshape(len(self.matrix), len(self.coordinates))
