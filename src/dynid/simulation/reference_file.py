"""References from files: trajectories or waypoints as TOML, or the positions of a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, FileError
from dynid.core.files import named_file, naming_file, read_toml, shipped_names
from dynid.core.keys import key
from dynid.core.kinds import require_kinds
from dynid.core.tables import table_by_kind
from dynid.logs.read import MappingLike
from dynid.model.robot import Robot
from dynid.simulation.reference import CHANNELS, reference_from_log
from dynid.trajectories.keys import (
    KINDS as TRAJECTORIES,
    PlannedKeys,
    Points,
    ReferenceKeys,
    TrajectoryKeys,
)
from dynid.trajectories.reference import METHODS, Reference, from_samples, require_size

_HOME = ("dynid.simulation", "references")
_LONGEST_S = 1e9
"""Longest step and duration that may be asked for [s]."""


@dataclass(frozen=True, kw_only=True)
class WaypointsKeys(PlannedKeys):
    """Positions joined by a natural cubic spline."""

    time: tuple[float, ...] = key("stamps that increase", unit="s")
    position: Points = key("one position per stamp, with one number per axis")

    def __post_init__(self) -> None:
        """Stamps that increase, with a position each."""
        if len(self.time) < 2 or np.any(np.diff(self.time) <= 0):
            raise DynidError("time must hold at least two stamps that increase.")
        if len(self.position) != len(self.time):
            raise DynidError(f"position has {len(self.position)} points for {len(self.time)} stamps.")


@dataclass(frozen=True, kw_only=True)
class LogKeys(ReferenceKeys):
    """The reference or the positions of a log."""

    file: str = key("the log, relative to the TOML file")
    map: str | None = key("mapping of its columns, likewise", None)
    channel: str | None = key(
        "which of its channels", None, choices=CHANNELS, absent="the first that is there"
    )


KINDS: dict[str, type[ReferenceKeys]] = {**TRAJECTORIES, "waypoints": WaypointsKeys, "log": LogKeys}
"""Kinds of reference."""


@dataclass(frozen=True)
class Clock:
    """What is asked of a reference: the controller's step and how long [s]; None leaves it to the file."""

    sample_time: float | None = None
    duration: float | None = None


def reference_names() -> tuple[str, ...]:
    """Names of the references shipped with the package."""
    return shipped_names(*_HOME)


def load_reference(
    name_or_path: str | Path,
    robot: Robot,
    sample_time: float | None = None,
    mapping: MappingLike = None,
    *,
    duration: float | None = None,
) -> Reference:
    """A reference by name, from a TOML file, or from a log; see ``docs/controllers.md``.

    Args:
        name_or_path: a name that ``reference_names()`` lists, a TOML file, or a log with reference or
            position columns in any format that ``read_log`` reads.
        robot: the robot that follows it.
        sample_time: step at which it is wanted, the controller's [s]; the file's own when None.
        mapping: what a log's columns mean; guessed when None.
        duration: how much of it is wanted [s]; all when None.

    Raises:
        FileError: when the file is missing, not understood, or does not fit the robot.
    """
    require_kinds(load_reference, locals())
    for name, value in (("sample_time", sample_time), ("duration", duration)):
        if value is not None and not 0 < value < _LONGEST_S:
            raise FileError(f"{name} is {value} s; it must be positive and below {_LONGEST_S:g} s.")
    clock = Clock(sample_time, duration)

    hint = "Or give a path to a .toml file or a log."
    with named_file(name_or_path, *_HOME, "reference", hint) as file:
        if file.path.suffix.lower() != ".toml":
            with naming_file(file.path, "Reference"):
                return _at_clock(reference_from_log(file.path, robot, mapping, ""), clock, METHODS[0])
        content = read_toml(file.path, "reference file")
        with naming_file(file.path, "Reference"):
            folder = file.path.parent if file.own else None
            return reference_from_table(content, robot, clock, folder, mapping)


def reference_from_table(
    content: Mapping[str, Any],
    robot: Robot,
    clock: Clock,
    folder: Path | None = None,
    mapping: MappingLike = None,
) -> Reference:
    """Build a reference from the parsed content of a reference file.

    Args:
        content: the tables and values.
        robot: the robot that follows it.
        clock: step and length wanted.
        folder: where files that it names lie; None forbids them.
        mapping: of a log that it names.
    """
    keys = table_by_kind(content, KINDS, "reference", robot.n_coordinates)
    if isinstance(keys, LogKeys):
        if folder is None:
            raise FileError("file names a file, which only a file given by its path may do.")
        known = mapping if keys.map is None else folder / keys.map
        made = reference_from_log(folder / keys.file, robot, known, keys.channel or "")
        return _at_clock(made, clock, keys.interpolation)
    if mapping is not None:
        raise FileError(f"A mapping belongs to a log, and this is a {keys.kind} reference.")
    assert isinstance(keys, PlannedKeys)
    step = keys.sample_time or clock.sample_time
    if step is None:
        raise FileError(
            "It says neither sample_time nor rate_hz; add one of them, or ask for a rate (--rate-hz on the "
            "command line, sample_time in Python), as a continuous law has none of its own."
        )
    if isinstance(keys, TrajectoryKeys):
        made = _trajectory(keys, robot, clock, step)
    else:
        assert isinstance(keys, WaypointsKeys)
        made = _waypoints(keys, robot, step)
    return _at_clock(made, clock, keys.interpolation)


def _trajectory(keys: TrajectoryKeys, robot: Robot, clock: Clock, step: float) -> Reference:
    motion, duration = keys.trajectory(), clock.duration or keys.wanted
    if motion.axes != robot.n_coordinates:
        raise FileError(f"It has {motion.axes} axes, but robot {robot.name!r} has {robot.n_coordinates}.")
    if duration is None and not np.isfinite(motion.duration):
        raise FileError(f"{keys.kind} reference: duration is missing; give a number above 0 s.")
    return motion.sample(step, duration, periods=keys.periods if duration is None else None)


def _waypoints(keys: WaypointsKeys, robot: Robot, step: float) -> Reference:
    n, points = robot.n_coordinates, [part if isinstance(part, tuple) else (part,) for part in keys.position]
    for k, point in enumerate(points):
        if len(point) != n:
            raise FileError(
                f"point {k + 1} of position has {len(point)} numbers; allowed are {n}, one per axis."
            )
    require_size((keys.time[-1] - keys.time[0]) / step, n)
    return from_samples(np.array(keys.time), points, step)


def _at_clock(made: Reference, clock: Clock, method: str) -> Reference:
    """At the step and of the length that are wanted."""
    if clock.sample_time is not None:
        require_size(made.samples * made.sample_time / clock.sample_time, made.axes)
        made = made.resampled(clock.sample_time, method)
    if clock.duration is None:
        return made
    count = round(clock.duration / made.sample_time)
    if count < 2 or count > made.samples:
        raise FileError(
            f"A duration of {clock.duration:g} s was asked for, and the reference lasts "
            f"{made.samples * made.sample_time:g} s."
        )

    def cut(values: FloatArray | None) -> FloatArray | None:
        return None if values is None else values[:count]

    return Reference(made.sample_time, made.q[:count], cut(made.qd), cut(made.qdd), made.start)
