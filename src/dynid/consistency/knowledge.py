"""What is known about a robot beside its logs: bounds of its links, and values with their doubt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dynid.consistency.constraint import Cone, Constraint, between
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, unknown_name
from dynid.core.files import naming_file, read_toml
from dynid.core.keys import key
from dynid.core.kinds import require_kinds
from dynid.core.tables import check_fields, table_from
from dynid.model.joint import Joint
from dynid.model.robot import Robot

Range = tuple[float, float]
Point = tuple[float, float, float]
GEODESIC, ENTROPIC, QUADRATIC = "geodesic", "entropic", "quadratic"
_MIRRORS = {"yz": ("MX", "XY", "XZ"), "xz": ("MY", "XY", "YZ"), "xy": ("MZ", "XZ", "YZ")}
"""Planes of symmetry through the frame's origin, and the parameters that vanish."""
_MOMENTS = ("MX", "MY", "MZ")


@dataclass(frozen=True, kw_only=True)
class Ellipsoid:
    """The points whose distance from the centre, each axis over its radius, is at most one."""

    centre: Point = key("centre in frame j", (0.0, 0.0, 0.0), unit="m")
    radii: Point = key("half axes along x, y and z of frame j", unit="m", above=0)

    def __post_init__(self) -> None:
        """Check what was given in Python by the same rules."""
        check_fields(self, "Ellipsoid")


@dataclass(frozen=True)
class LinkBounds:
    """What is known about one link: a table ``[[link]]``. Points are in the frame j of its joint."""

    joint: str | int = key("the joint that carries it, by name or number (from 1)")
    mass: Range | None = key("least and largest mass", None, unit="kg", least=0, infinite=True)
    com_box: tuple[Range, Range, Range] | None = key(
        "the centre of mass lies between these values of x, y and z", None, unit="m", infinite=True
    )
    com_ellipsoid: Ellipsoid | None = key("the centre of mass lies in this ellipsoid", None)
    com_hull: tuple[Point, ...] = key(
        "the centre of mass lies in the convex hull of these points, such as the corners of a mesh",
        (),
        unit="m",
        longest=200_000,
    )
    symmetric: tuple[str, ...] = key(
        "planes of symmetry through the origin of frame j", (), choices=tuple(_MIRRORS)
    )

    def __post_init__(self) -> None:
        """Refuse ranges whose ends are swapped."""
        check_fields(self, f"link of joint {self.joint!r}")
        for ends in (*([self.mass] if self.mass else ()), *(self.com_box or ())):
            _require_range(ends, f"link of joint {self.joint!r}")


@dataclass(frozen=True)
class Prior:
    """Values that are known beforehand, and how well: the table ``[prior]``."""

    values: Mapping[str, float] = key(
        "standard parameters by name, SI", factory=dict, absent="those of the robot file"
    )
    doubt: float = key(
        "standard deviation of a link's mass and size, or of a parameter, as a share of its value",
        0.3,
        least=1e-6,
        most=1e6,
    )
    kind: str = key(
        "how far bodies are apart: geodesic (the metric of affine invariance at the prior), entropic (the "
        "log-det divergence) or quadratic (each parameter by itself)",
        GEODESIC,
        choices=(GEODESIC, ENTROPIC, QUADRATIC),
    )

    def __post_init__(self) -> None:
        """Check what was given in Python by the same rules."""
        check_fields(self, "Prior")


@dataclass(frozen=True)
class Knowledge:
    """What is known about a robot beside its logs, as a file has it."""

    total_mass: Range | None = key(
        "least and largest mass of all moving links together", None, unit="kg", least=0, infinite=True
    )
    link: tuple[LinkBounds, ...] = key("bounds of links, see below", (), allowed="[[link]] tables")
    parameters: Mapping[str, Range] = key(
        "least and largest value of standard parameters by name, SI", factory=dict, infinite=True
    )
    prior: Prior | None = key("values that are known beforehand", None, absent="none: data and bounds alone")

    def __post_init__(self) -> None:
        """Check what was given in Python by the same rules."""
        check_fields(self, "What is known of the robot")
        if self.total_mass is not None:
            _require_range(self.total_mass, "total_mass")
        for name, ends in self.parameters.items():
            _require_range(ends, name)

    @property
    def empty(self) -> bool:
        """Whether nothing is known."""
        return not (self.total_mass or self.link or self.parameters or self.prior)

    def constraints(self, robot: Robot) -> list[Constraint]:
        """The bounds as constraints on the standard parameters of a robot.

        Raises:
            DynidError: for a joint or a parameter that the robot does not have.
        """
        found = [c for bounds in self.link for c in _link_constraints(robot, bounds)]
        if self.total_mass is not None:
            row = robot.table.vector({f"M{joint.label}": 1.0 for joint in robot.joints})
            found += between("total mass", row, *self.total_mass, "kg")
        for name, (low, high) in self.parameters.items():
            entry = robot.table.entries[robot.table.index(name)]
            found += between(name, robot.table.vector({name: 1.0}), low, high, entry.unit)
        return found


def _require_range(ends: Range, where: str) -> None:
    low, high = ends
    if not low <= high or low == np.inf or high == -np.inf:
        raise DynidError(
            f"{where}: the range from {low:g} to {high:g} is empty; give the smaller number first, and -inf "
            "or inf only where there is no bound."
        )


def load_knowledge(path: str | Path) -> Knowledge:
    """Read what is known about a robot from a TOML file; docs/consistency.md lists its keys."""
    require_kinds(load_knowledge, locals())
    file = Path(path)
    content = read_toml(file, "file of what is known")
    with naming_file(file, "File of what is known"):
        return table_from(content, Knowledge)


def _joint_of(robot: Robot, given: str | int) -> Joint:
    names = [joint.name for joint in robot.joints]
    if str(given) in names:
        return robot.joints[names.index(str(given))]
    numbers = [str(j + 1) for j in range(len(names))]
    if str(given) not in numbers:
        raise unknown_name("joint of a link", str(given), (*names, *numbers))
    return robot.joints[int(given) - 1]


def _link_constraints(robot: Robot, bounds: LinkBounds) -> Iterator[Constraint]:
    joint = _joint_of(robot, bounds.joint)
    link = f"link of {joint.name}"
    mass = robot.table.vector({f"M{joint.label}": 1.0})
    moments = np.array([robot.table.vector({symbol + joint.label: 1.0}) for symbol in _MOMENTS])
    if bounds.mass is not None:
        yield from between(f"mass of {link}", mass, *bounds.mass, "kg")
    for axis, (low, high), row in zip("xyz", bounds.com_box or (), moments, strict=False):
        yield from between(f"centre of mass of {link} along {axis}", row, low, high, "m", per=mass)
    if bounds.com_ellipsoid is not None:
        shape = bounds.com_ellipsoid
        away = (moments - np.outer(shape.centre, mass)) / np.array(shape.radii)[:, None]
        G = np.vstack([mass, away])
        yield Constraint(f"centre of mass of {link} in its ellipsoid", Cone.SECOND_ORDER, G, np.zeros(4))
    if bounds.com_hull:
        normals, offsets = _hull_faces(np.array(bounds.com_hull), link)
        G = -(normals @ moments + np.outer(offsets, mass))
        yield Constraint(f"centre of mass of {link} in its convex hull", Cone.POSITIVE, G, np.zeros(len(G)))
    for plane in bounds.symmetric:
        rows = np.array([robot.table.vector({symbol + joint.label: 1.0}) for symbol in _MIRRORS[plane]])
        yield Constraint(f"{link} symmetric about {plane}", Cone.ZERO, rows, np.zeros(len(rows)))


def _hull_faces(points: FloatArray, link: str) -> tuple[FloatArray, FloatArray]:
    """n, d with n·x + d ≤ 0 inside the convex hull of points (points, 3)."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        faces = ConvexHull(points).equations
    except (QhullError, ValueError):
        raise DynidError(
            f"The {len(points)} points of the hull of the {link} span no volume; give at least four points "
            "that do not lie in a plane."
        ) from None
    faces = np.unique(np.round(faces, 12), axis=0)  # Qhull cuts flat faces into triangles
    return faces[:, :3], faces[:, 3]
