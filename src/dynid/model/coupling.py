"""Linear couplings between the joints of the tree and the independent coordinates: q_tree = G q + g0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import ModelError
from dynid.model.checks import listed, row, whole


@dataclass(frozen=True)
class Coupling:
    """q_tree = G q + g0 over the movable joints of the tree, so that τ = Gᵀ τ_tree.

    Parallelogram loops (P1 §4.2) and URDF mimic joints are of this kind.

    Args:
        coordinates: indices, among the movable joints, of the joints whose positions are the coordinates.
        matrix: G, one row per movable joint, one column per coordinate.
        offset: g0, one value per movable joint [rad or m].
    """

    coordinates: tuple[int, ...]
    matrix: tuple[tuple[float, ...], ...]
    offset: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check sizes, finiteness, and that each coordinate is its own joint's position."""
        set_field, what = object.__setattr__, "The coupling's"
        places = listed(self.coordinates, "coordinates", f"{what} coordinates", "joint indices")
        rows = listed(self.matrix, "matrix", f"{what} matrix", "rows")
        set_field(self, "coordinates", tuple(whole(c, "coordinates", "A coordinate") for c in places))
        set_field(self, "matrix", tuple(row(r, "matrix", "A row of the coupling") for r in rows))
        set_field(self, "offset", row(self.offset, "offset", f"{what} offset"))
        n, k = len(self.matrix), len(self.coordinates)
        if k == 0 or len(self.offset) != n or any(len(row) != k for row in self.matrix):
            raise ModelError(
                f"The coupling has {n} rows and {k} coordinates, but {len(self.offset)} offsets or rows of "
                "other lengths; give one row of G and one offset per movable joint."
            )
        G = self.G
        if not (np.all(np.isfinite(G)) and np.all(np.isfinite(self.offset))):
            raise ModelError("The coupling holds a value that is not finite.")
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
