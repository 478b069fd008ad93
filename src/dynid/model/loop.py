"""Closed loops as data: the cuts that open them into a tree, and the coordinates that move them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import ModelError
from dynid.core.keys import key
from dynid.core.tables import check_fields
from dynid.model.geometry import clean
from dynid.model.joint import BASE

Point = tuple[float, float, float]
Rows = tuple[Point, Point, Point]
_LARGEST = 1e6
"""Largest coordinate [m]: no robot needs more, and products lose digits."""
_NOT_A_ROTATION = 1e-6
"""Largest error of RᵀR = 1 in a rotation given with the decimals of a file."""
_MOST_CUTS = 64
"""Loops of one robot; more is a slip or an attack."""


class CutKind(StrEnum):
    """What holds at a cut between two links."""

    REVOLUTE = "revolute"
    SPHERICAL = "spherical"
    PRISMATIC = "prismatic"
    FIXED = "fixed"
    PARALLEL = "parallel"


_WITH_AXES = (CutKind.REVOLUTE, CutKind.PRISMATIC, CutKind.PARALLEL)


@dataclass(frozen=True)
class LoopCut:
    """A joint of a loop that the tree leaves out; its equations close the loop again.

    Every equation is a product of vectors that are fixed in one link each, the points P and the directions
    u, v: P₁ − P₂ = 0 (3 rows), (P₁ − P₂) · v₂ = 0, or u₁ · v₂ = 0.

    Args:
        name: short name.
        kind: revolute (5 equations), spherical (3: the points meet), prismatic (5), fixed (6), or parallel
            (2: the axes stay parallel, as a parallelogram guides them).
        links: the two links by joint index, or ``BASE``.
        points: where they meet, in the frame of each link [m].
        axes: the common direction in the frame of each link; for revolute, prismatic and parallel cuts.
        rotation: rows of the rotation of the second link's frame in the first's, for fixed and prismatic
            cuts; as at the start when None.
    """

    name: str
    kind: CutKind = key("what holds")
    links: tuple[int, int] = key("two links", least=BASE)
    points: tuple[Point, Point] = key(
        "the cut in both frames", ((0.0,) * 3, (0.0,) * 3), unit="m", least=-_LARGEST, most=_LARGEST
    )
    axes: tuple[Point, Point] | None = key("the axis in both frames", None, least=-_LARGEST, most=_LARGEST)
    rotation: Rows | None = key("rotation of the second link in the first", None, least=-2.0, most=2.0)

    def __post_init__(self) -> None:
        """Check the axes and the rotation; axes are made unit vectors."""
        where = f"Loop {self.name!r}"
        check_fields(self, where, ModelError)
        if self.links[0] == self.links[1]:
            raise ModelError(f"{where}: both ends are on the same link; give two different links.")
        if (self.axes is None) == (self.kind in _WITH_AXES):
            needed = "needs axes, one per link" if self.axes is None else "has no axes; leave them out"
            raise ModelError(f"{where}: a {self.kind.value} cut {needed}.")
        if self.axes is not None:
            object.__setattr__(self, "axes", tuple(_unit(axis, where) for axis in self.axes))
        if self.rotation is not None:
            if self.kind not in (CutKind.FIXED, CutKind.PRISMATIC):
                raise ModelError(f"{where}: a {self.kind.value} cut has no rotation; leave it out.")
            R = np.array(self.rotation)
            if np.abs(R.T @ R - np.eye(3)).max() > _NOT_A_ROTATION or np.linalg.det(R) < 0:
                raise ModelError(f"{where}: rotation is no rotation matrix; give its three rows.")

    @property
    def pairs(self) -> tuple[tuple[Point, Point], ...]:
        """Directions u₁ in the first link and v₂ in the second that stay at right angles."""
        rotation = np.eye(3) if self.rotation is None else np.array(self.rotation)
        if self.kind is CutKind.FIXED:
            x, y, z = np.eye(3)
            return tuple((_point(rotation @ u), _point(v)) for u, v in ((x, y), (y, z), (z, x)))
        if self.axes is None:
            return ()
        across = self.across
        pairs = [(self.axes[0], v) for v in across]
        if self.kind is CutKind.PRISMATIC:
            pairs.append((_point(rotation @ np.array(across[0])), across[1]))
        return tuple(pairs)

    @property
    def meets(self) -> bool:
        """Whether the points coincide."""
        return self.kind in (CutKind.REVOLUTE, CutKind.SPHERICAL, CutKind.FIXED)

    @property
    def slides(self) -> tuple[Point, ...]:
        """Directions v₂ of the second link across which the points stay in line."""
        return self.across if self.kind is CutKind.PRISMATIC else ()

    @property
    def across(self) -> tuple[Point, Point]:
        """Two unit vectors of the second link at right angles to its axis and to each other."""
        assert self.axes is not None
        axis = np.array(self.axes[1])
        # The frame's own axis that is farthest from the cut's, so that coordinate axes stay such.
        x = np.eye(3)[int(np.argmin(np.abs(axis)))]
        x = x - (x @ axis) * axis
        x /= np.linalg.norm(x)
        return _point(x), _point(np.cross(axis, x))


@dataclass(frozen=True)
class Closure:
    """Loops of a robot, the coordinates that move them, and one position in which they are closed.

    Args:
        cuts: the joints that the tree leaves out.
        coordinates: indices, among the movable joints, of the joints whose positions are the coordinates.
        start: positions of all movable joints with the loops closed; of several ways to assemble the loops
            it names the one meant [rad or m].
    """

    cuts: tuple[LoopCut, ...]
    coordinates: tuple[int, ...] = key("indices among the movable joints", least=0)
    start: tuple[float, ...] = key("an assembled position", unit="rad or m", least=-_LARGEST, most=_LARGEST)

    def __post_init__(self) -> None:
        """Check numbers and names."""
        cuts = tuple(self.cuts)
        object.__setattr__(self, "cuts", cuts)
        check_fields(self, "Closure", ModelError)
        if not cuts or not all(isinstance(cut, LoopCut) for cut in cuts):
            raise ModelError(f"The closure's cuts are {self.cuts!r}; give a list of LoopCut.")
        if len(cuts) > _MOST_CUTS:
            raise ModelError(f"The closure has {len(cuts)} loops; at most {_MOST_CUTS} are taken.")
        names = [cut.name for cut in cuts]
        if len(set(names)) < len(names):
            raise ModelError(f"Two loops have the name {max(names, key=names.count)!r}; rename one.")
        n = len(self.start)
        if len(set(self.coordinates)) < len(self.coordinates) or not all(c < n for c in self.coordinates):
            raise ModelError(
                f"The closure's coordinates are {self.coordinates}; give indices 0 to {n - 1} of movable "
                "joints, each once."
            )
        if not self.coordinates:
            raise ModelError("The closure names no coordinate; name the joints that move the loops.")

    @property
    def dependent(self) -> tuple[int, ...]:
        """Indices, among the movable joints, of the joints that follow the coordinates."""
        return tuple(i for i in range(len(self.start)) if i not in self.coordinates)


def _unit(axis: Point, where: str) -> Point:
    length = float(np.linalg.norm(axis))
    if length == 0.0:
        raise ModelError(f"{where}: an axis is zero; give its direction, such as [0, 0, 1].")
    return _point(np.array(axis) / length)


def _point(vector: FloatArray) -> Point:
    """Three floats, without rounding junk next to −1, 0 and 1, so that they fold when tracing."""
    x, y, z = (clean(float(value)) + 0.0 for value in vector)
    return x, y, z
