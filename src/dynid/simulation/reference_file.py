"""References from files: sines or waypoints as TOML, or the positions of a log."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dynid.core.errors import FileError
from dynid.core.files import read_toml
from dynid.logs.read import MappingLike
from dynid.model.robot import Robot
from dynid.model.table_values import Table
from dynid.simulation.file_values import (
    beside,
    by_name_or_path,
    choice,
    finite_number,
    kind_of,
    naming,
    numbers,
    one_of,
    positive,
    shipped,
    shown,
    text,
    whole,
)
from dynid.simulation.law import FloatArray
from dynid.simulation.log_reference import CHANNELS, reference_from_log, require_size
from dynid.simulation.reference import METHODS, Reference, Sines, from_samples

FOLDER = "references"
CLOCKS = ("sample_time", "rate_hz")
KEYS = ("kind", "title", "source", "interpolation")
"""Keys of every reference file; those of the kinds are ``KIND_KEYS``."""
KIND_KEYS: dict[str, tuple[str, ...]] = {
    "sines": (*CLOCKS, "amplitudes", "frequencies_hz", "phases", "seed", "offsets", "duration"),
    "waypoints": (*CLOCKS, "time", "position"),
    "log": ("file", "map", "channel"),
}
_MAX_TERMS = 1000
_LONGEST = 1e9
_MAX_SEED = 2**63 - 1


@dataclass(frozen=True)
class Clock:
    """What is asked of a reference: the controller's step and how long [s]; None leaves it to the file."""

    sample_time: float | None = None
    duration: float | None = None


def reference_names() -> tuple[str, ...]:
    """Names of the references shipped with the package."""
    return shipped(FOLDER)


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
    for name, value in (("sample_time", sample_time), ("duration", duration)):
        if value is not None and not 0 < value < _LONGEST:
            raise FileError(f"{name} is {value} s; it must be positive and below {_LONGEST:g} s.")
    clock = Clock(sample_time, duration)

    def read(file: Path, own: bool) -> Reference:
        if file.suffix.lower() != ".toml":
            with naming("Reference", file):
                return _fitted(reference_from_log(file, robot, mapping, ""), clock, METHODS[0])
        content = read_toml(file, "reference file")
        with naming("Reference", file):
            return reference_from_table(content, robot, clock, file.parent if own else None, mapping)

    return by_name_or_path(name_or_path, FOLDER, "reference", ".toml file or a log", read)


def reference_from_table(
    content: Table,
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
    kind = kind_of(content, KIND_KEYS, KEYS, "reference")
    method = choice(content, "interpolation", METHODS, METHODS[0])
    if kind == "log":
        file = beside(folder, text(content, "file") if "file" in content else _missing("file", kind), "file")
        known = mapping if "map" not in content else beside(folder, text(content, "map"), "map")
        channel = choice(content, "channel", CHANNELS, "") if "channel" in content else ""
        return _fitted(reference_from_log(file, robot, known, channel), clock, method)
    if mapping is not None:
        raise FileError(f"A mapping belongs to a log, and this is a {kind} reference.")
    step = _own_step(content, clock)
    made = _sines(content, robot, clock, step) if kind == "sines" else _waypoints(content, robot, step)
    return _fitted(made, clock, method)


def _missing(key: str, kind: str) -> Any:
    raise FileError(f"A {kind} reference needs {key}.")


def _own_step(row: Table, clock: Clock) -> float:
    """The file's own step, else the one that is wanted."""
    if any(key in row for key in CLOCKS):
        key = one_of(row, CLOCKS, "The step")
        value = positive(row, key)
        return value if key == "sample_time" else 1.0 / value
    if clock.sample_time is None:
        raise FileError(
            "It says neither sample_time nor rate_hz; add one of them, or ask for a rate (--rate-hz on the "
            "command line, sample_time in Python), as a continuous law has none of its own."
        )
    return clock.sample_time


def _sines(row: Table, robot: Robot, clock: Clock, step: float) -> Reference:
    for key in ("amplitudes", "frequencies_hz"):
        if key not in row:
            _missing(key, "sines")
    n = robot.n_coordinates
    amplitudes, frequencies = _rows(row, "amplitudes", n), _rows(row, "frequencies_hz", n)
    if "phases" in row and "seed" in row:
        raise FileError("phases and seed are both given; keep one.")
    phases: tuple[tuple[float, ...], ...] = _rows(row, "phases", n) if "phases" in row else ()
    if "seed" in row:
        rng = np.random.default_rng(whole(row, "seed", 0, _MAX_SEED))
        phases = tuple(tuple(rng.uniform(0, 2 * np.pi, len(part)).tolist()) for part in amplitudes)
    offsets: tuple[float, ...] = ()
    if "offsets" in row:
        offsets = numbers(row, "offsets")
        if len(offsets) != n:
            raise FileError(f"offsets has {len(offsets)} values for {n} axes.")
    duration = clock.duration
    if duration is None:
        duration = positive(row, "duration") if "duration" in row else _missing("duration", "sines")
    require_size(duration / step, n)
    return Sines(amplitudes, frequencies, phases, offsets).sample(step, duration)


def _waypoints(row: Table, robot: Robot, step: float) -> Reference:
    for key in ("time", "position"):
        if key not in row:
            _missing(key, "waypoints")
    n, stamps = robot.n_coordinates, np.array(numbers(row, "time"))
    if len(stamps) < 2 or np.any(np.diff(stamps) <= 0):
        raise FileError("time must hold at least two stamps that increase.")
    given = row["position"]
    if not isinstance(given, list) or len(given) != len(stamps):
        count = len(given) if isinstance(given, list) else 1
        raise FileError(f"position has {count} points for {len(stamps)} stamps.")
    points = [_row(part, f"point {k + 1} of position", n) for k, part in enumerate(given)]
    require_size((stamps[-1] - stamps[0]) / step, n)
    return from_samples(stamps, points, step)


def _rows(row: Table, key: str, n: int) -> tuple[tuple[float, ...], ...]:
    """One list of numbers per axis; a number stands for a list of one."""
    value = row[key]
    if not isinstance(value, list) or len(value) != n:
        count = f"{len(value)} entries" if isinstance(value, list) else shown(value)
        raise FileError(
            f"{key} has {count} for {n} {'axis' if n == 1 else 'axes'}; give one list of numbers per axis."
        )
    return tuple(_row(part, f"entry {i + 1} of {key}", None) for i, part in enumerate(value))


def _row(value: Any, where: str, count: int | None) -> tuple[float, ...]:
    items = value if isinstance(value, list) else [value]
    if len(items) > _MAX_TERMS or (count is not None and len(items) != count):
        allowed = f"at most {_MAX_TERMS}" if count is None else f"{count}, one per axis"
        raise FileError(f"{where} has {len(items)} numbers; allowed are {allowed}.")
    return tuple(finite_number(item, where) for item in items)


def _fitted(made: Reference, clock: Clock, method: str) -> Reference:
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
