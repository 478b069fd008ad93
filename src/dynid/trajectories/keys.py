"""Trajectories in reference files: the keys of every family, from a table to the motion and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from dynid.core.errors import DynidError
from dynid.core.files import toml_text
from dynid.core.keys import RATE_HZ, key
from dynid.core.tables import table_by_kind, to_table
from dynid.trajectories.fourier import MOST_HARMONICS, Fourier
from dynid.trajectories.modified_fourier import ModifiedFourier
from dynid.trajectories.point_to_point import MOST_POSES, PointToPoint
from dynid.trajectories.reference import METHODS
from dynid.trajectories.sines import Rows, Sines
from dynid.trajectories.spline import MOST_KNOTS, QuinticSpline
from dynid.trajectories.trajectory import Trajectory
from dynid.trajectories.triangles import BLENDS, MOST_CYCLES, Triangles

_MOST_SINES = 1000
"""Sines of one axis; more are a slip of the file."""
PerAxis = tuple[float, ...]
Points = tuple[PerAxis | float, ...]
SAMPLED_KINDS = ("waypoints", "log")
"""Kinds of reference that are no trajectories."""


@dataclass(frozen=True, kw_only=True)
class ReferenceKeys:
    """Keys of every reference file."""

    kind: str = key(
        "what it is made of",
        choices=(
            *("sines", "fourier", "modified-fourier", "quintic", "point-to-point", "triangles"),
            *SAMPLED_KINDS,
        ),
    )
    title: str = key("what it is, in words", "")
    source: str = key("where it comes from, in words", "")
    interpolation: str = key(
        "from the planner's step to a shorter one of the controller", METHODS[0], choices=METHODS
    )


@dataclass(frozen=True, kw_only=True)
class PlannedKeys(ReferenceKeys):
    """A reference that is computed, at the planner's own step."""

    sample_time: float | None = key(
        "the planner's own step", None, unit="s", above=0, other=RATE_HZ, absent="the controller's"
    )


@dataclass(frozen=True, kw_only=True)
class TrajectoryKeys(PlannedKeys):
    """A trajectory whose fields are keys of the same name, and how much of it."""

    family: ClassVar[Any] = None
    wanted: float | None = None
    """Length [s], in families that have a key for it."""
    periods: int | None = key(
        "how often a motion that ends as it begins is repeated", None, least=1, absent="`1`"
    )

    def trajectory(self) -> Trajectory:
        """The motion that is described."""
        names = [field.name for field in fields(self.family) if hasattr(self, field.name)]
        made: Trajectory = self.family(**{name: getattr(self, name) for name in names})
        return made


@dataclass(frozen=True, kw_only=True)
class SinesKeys(TrajectoryKeys):
    """Σ A sin(2π f t + φ) + offset, with exact derivatives."""

    family = Sines
    amplitudes: Rows = key(
        "A, one list per axis; a number is a list of one", per_axis=True, longest=_MOST_SINES
    )
    frequencies_hz: Rows = key(
        "f, lists as long as those of A", unit="Hz", per_axis=True, longest=_MOST_SINES
    )
    phases: Rows = key("φ, likewise", (), unit="rad", per_axis=True, longest=_MOST_SINES, absent="`0.0`")
    periods: int | None = None  # their length says it
    seed: int | None = key("random phases instead, the same ones every time", None, least=0)
    offsets: PerAxis = key("middle of the motion", (), per_axis=True, absent="`0.0`")
    wanted: float | None = key(
        "length", None, unit="s", above=0, name="duration", absent="what is asked for (`--duration`)"
    )

    def __post_init__(self) -> None:
        """Phases are given or drawn."""
        if self.phases and self.seed is not None:
            raise DynidError("phases and seed are both given; keep one.")
        if self.seed is not None:
            rng = np.random.default_rng(self.seed)
            drawn = tuple(tuple(rng.uniform(0, 2 * np.pi, len(row)).tolist()) for row in self.amplitudes)
            object.__setattr__(self, "phases", drawn)


@dataclass(frozen=True, kw_only=True)
class FourierKeys(TrajectoryKeys):
    """Σ a/(ω l) sin(ω l t) − b/(ω l) cos(ω l t) + offset, l = 1 … harmonics (P3 eq 10)."""

    family = Fourier
    frequency_hz: float = key("ω/2π; a period is its inverse", unit="Hz", above=0)
    a: Rows = key(
        "a, one list per axis with a number per harmonic",
        unit="rad/s or m/s", per_axis=True, longest=MOST_HARMONICS,
    )  # fmt: skip
    b: Rows = key("b, likewise", unit="rad/s or m/s", per_axis=True, longest=MOST_HARMONICS)
    offset: PerAxis = key("middle of the motion", (), per_axis=True, name="offsets", absent="`0.0`")
    wanted: float | None = key(
        "length, instead of periods", None, unit="s", above=0, name="duration", absent="that of `periods`"
    )

    def __post_init__(self) -> None:
        """Offsets of all axes; one length."""
        if self.wanted is not None and self.periods is not None:
            raise DynidError("duration and periods are both given; keep one.")
        object.__setattr__(self, "offset", self.offset or (0.0,) * len(self.a))


@dataclass(frozen=True, kw_only=True)
class ModifiedFourierKeys(TrajectoryKeys):
    """A Fourier series and the quintic that makes it rest at start and end."""

    family = ModifiedFourier
    length: float = key("length", unit="s", above=0, name="duration")
    frequency_hz: float = key("ω/2π; it need not fit the duration", unit="Hz", above=0)
    a: Rows = key("as in a Fourier series", unit="rad/s or m/s", per_axis=True, longest=MOST_HARMONICS)
    b: Rows = key("likewise", unit="rad/s or m/s", per_axis=True, longest=MOST_HARMONICS)
    start: PerAxis = key("pose at the start", unit="rad or m", per_axis=True)
    end: PerAxis = key("pose at the end", (), unit="rad or m", per_axis=True, absent="`start`")

    def __post_init__(self) -> None:
        """Closed unless said otherwise."""
        object.__setattr__(self, "end", self.end or self.start)


@dataclass(frozen=True, kw_only=True)
class QuinticKeys(TrajectoryKeys):
    """The smoothest motion through waypoints, at rest at both ends."""

    family = QuinticSpline
    time: PerAxis = key("instants that begin at 0 and increase", unit="s", longest=MOST_KNOTS)
    position: Points = key("one position per instant, with one number per axis", longest=MOST_KNOTS)

    def __post_init__(self) -> None:
        """Points as rows."""
        object.__setattr__(self, "position", _rows(self.position, "position"))


@dataclass(frozen=True, kw_only=True)
class PointToPointKeys(TrajectoryKeys):
    """Moves from pose to pose, all axes in the same time, as fast as the limits allow."""

    family = PointToPoint
    poses: Points = key("poses in their order, with one number per axis", longest=MOST_POSES)
    velocity: PerAxis = key("largest speed", unit="rad/s or m/s", above=0, per_axis=True)
    acceleration: PerAxis = key("largest acceleration", unit="rad/s² or m/s²", above=0, per_axis=True)
    jerk: PerAxis | None = key("largest jerk, likewise", None, unit="rad/s³ or m/s³", above=0, per_axis=True)
    cruise: float = key("least share of a move at constant speed, below 1", 0.5, least=0, most=1)
    dwell: float = key("rest between moves", 0.0, unit="s", least=0)

    def __post_init__(self) -> None:
        """Poses as rows."""
        object.__setattr__(self, "poses", _rows(self.poses, "poses"))


@dataclass(frozen=True, kw_only=True)
class TrianglesKeys(TrajectoryKeys):
    """Up and down at constant speed, with rounded corners."""

    family = Triangles
    amplitudes: PerAxis = key("that the corners reach", unit="rad or m", per_axis=True)
    cycles: tuple[int, ...] = key("in the whole time", least=1, most=MOST_CYCLES, per_axis=True)
    length: float = key("common time of all axes", unit="s", above=0, name="duration")
    offsets: PerAxis = key("middle of the motion, where it begins", (), per_axis=True, absent="`0.0`")
    blend: float = key("time of a corner over that between two", 0.1, least=BLENDS[0], most=BLENDS[1])


KINDS: dict[str, type[TrajectoryKeys]] = {
    "sines": SinesKeys,
    "fourier": FourierKeys,
    "modified-fourier": ModifiedFourierKeys,
    "quintic": QuinticKeys,
    "point-to-point": PointToPointKeys,
    "triangles": TrianglesKeys,
}
"""Families that a file can hold."""


def trajectory_from_table(content: Mapping[str, Any], axes: int | None = None) -> Trajectory:
    """The motion of a parsed reference file; ``load_reference`` samples it.

    Args:
        content: keys and values.
        axes: number of axes; values per axis are then made so many.
    """
    return table_by_kind(content, KINDS, "reference", axes).trajectory()


def reference_table(
    trajectory: Trajectory, *, periods: int | None = None, title: str = "", source: str = ""
) -> dict[str, Any]:
    """The keys and values of a reference file that gives exactly this motion.

    Args:
        trajectory: of a family that files hold: sines, Fourier and modified Fourier series, quintic splines,
            point-to-point moves or triangles.
        periods: how often it is repeated.
        title: what it is, in words.
        source: where it comes from, in words.
    """
    kind = next((kind for kind, keys in KINDS.items() if keys.family is type(trajectory)), None)
    if kind is None:
        raise DynidError(
            f"A {type(trajectory).__name__} is not written as a reference file; allowed are "
            f"{', '.join(keys.family.__name__ for keys in KINDS.values())}."
        )
    if periods is not None and periods > 1 and not trajectory.periodic:
        raise DynidError(
            f"{periods} periods of a motion are to be written that does not end where and as it begins; "
            "leave periods out, or close the motion."
        )
    cls = KINDS[kind]
    own = {field.name for field in fields(cls)}
    values = {name: _plain(value) for name, value in vars(trajectory).items() if name in own}
    if isinstance(trajectory, Sines) and np.isfinite(trajectory.duration):
        values["wanted"] = trajectory.duration * (periods or 1)
        periods = None
    return to_table(cls(kind=kind, title=title, source=source, periods=periods, **values))


def reference_toml(trajectory: Trajectory, **words: Any) -> str:
    """The text of such a file, with all digits.

    Args:
        trajectory: as in ``reference_table``.
        words: its other arguments.
    """
    return toml_text(reference_table(trajectory, **words))


def _plain(value: Any) -> Any:
    """Arrays as tuples, as a file gives them."""
    if isinstance(value, np.ndarray):
        return tuple(_plain(part) for part in value) if value.ndim > 1 else tuple(value.tolist())
    return value


def _rows(points: Points, name: str) -> Rows:
    """Points as rows of equal length; a number is a row of one."""
    rows = tuple(part if isinstance(part, tuple) else (part,) for part in points)
    for k, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise DynidError(
                f"point {k + 1} of {name} has {len(row)} numbers, and the first has {len(rows[0])}; give one "
                "number per axis."
            )
    return rows
