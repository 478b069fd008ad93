"""What every reader yields: named columns of a file, fetched when they are wanted."""

from __future__ import annotations

import hashlib
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError, FileError, unknown_name
from dynid.logs.log import Source, Step
from dynid.logs.mapping import Columns
from dynid.logs.words import UNITS, Word, known_unit, plain_unit, taken_apart, unit_like

RawArray = NDArray[Any]
MAX_AXES = 1000
"""Axes of the largest robot."""
MAX_BYTES = 50_000_000_000
"""Size of the largest file that is opened."""
MAX_VALUES = 1_000_000_000
"""Numbers of the largest array that is held in memory at once."""
_HASHED_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Column:
    """A column or variable of a file.

    Args:
        name: as the file has it.
        shape: of its array.
        unit: that a row of units below the names gives it.
        dates: whether it holds dates, which are fetched as datetime64.
    """

    name: str
    shape: tuple[int, ...]
    unit: str | None = None
    dates: bool = False


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a file.

    Args:
        path: the file.
        kind: "csv", "npz", "mat", "hdf5", "parquet", "arrow" or "bag".
        columns: names and shapes.
        fetch: gives the array of column i, in its own number type (stamps may be integers).
        steps: what had to be done to read it.
        joints: names of the joints, where the format has them.
    """

    path: Path
    kind: str
    columns: tuple[Column, ...]
    fetch: Callable[[int], RawArray]
    steps: tuple[Step, ...] = ()
    joints: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def has(self, name: str) -> bool:
        """Whether a column of this name exists."""
        return bool(self._places(name))

    def index(self, wanted: str | int) -> int:
        """Place of a column given by name or by its number from 1."""
        if isinstance(wanted, int):
            if not 1 <= wanted <= len(self.columns):
                raise FileError(
                    f"{self.path.name} has {len(self.columns)} columns; column {wanted} does not exist "
                    "(numbers begin at 1)."
                )
            return wanted - 1
        places = self._places(wanted)
        if not places:
            raise unknown_name(f"column in {self.path.name}", wanted, self.names)
        if len(places) > 1:
            raise FileError(
                f"{self.path.name} has {len(places)} columns named {wanted!r}; give the column's number."
            )
        return places[0]

    def places(self, columns: Columns | None, axes: int | None = None) -> list[int]:
        """Places of all columns that names, numbers, ranges and patterns stand for.

        Args:
            columns: as in a mapping: a name, a number from 1, "2-7", "pos{axis}", or several of them.
            axes: number of axes, where it is known.
        """
        if columns is None:
            raise FileError(
                f"The mapping gives a channel without columns, and none was recognised in {self.path.name}."
            )
        found: list[int] = []
        for entry in columns if isinstance(columns, tuple) else (columns,):
            span = re.fullmatch(r"\s*(\d+)\s*[-:–]\s*(\d+)\s*", entry) if isinstance(entry, str) else None
            if isinstance(entry, str) and "{axis}" in entry:
                found += self._pattern(entry, axes)
            elif span and not self.has(str(entry)):
                low, high = int(span[1][:9]), int(span[2][:9])
                if not 1 <= low <= high <= len(self.columns):
                    raise FileError(
                        f"columns {entry!r} does not fit {self.path.name}, of {len(self.columns)} columns."
                    )
                found += range(low - 1, high)
            else:
                found.append(self.index(entry))
        return found

    def _pattern(self, pattern: str, axes: int | None) -> list[int]:
        first = 0 if self.has(pattern.replace("{axis}", "0")) else 1
        names = [pattern.replace("{axis}", str(axis)) for axis in range(first, first + (axes or MAX_AXES))]
        if axes is None:  # as many as there are, and at least the first, which says what is missing
            names = [*takewhile(self.has, names)] or names[:1]
        return [self.index(name) for name in names]

    def array(self, wanted: str | int) -> RawArray:
        """The array of a column, as numbers or stamps."""
        array = self.fetch(self.index(wanted))
        if array.dtype.kind not in "iufbM":
            raise FileError(
                f"Column {wanted!r} of {self.path.name} holds {array.dtype} values, not real numbers."
            )
        return array

    def is_signal(self, i: int) -> bool:
        """Whether column i has samples, not one value."""
        return self.kind in ("csv", "parquet", "arrow") or int(np.prod(self.columns[i].shape)) > 1

    def _places(self, name: str) -> list[int]:
        exact = [i for i, column in enumerate(self.columns) if column.name == name]
        # In nested files "q" may stand for "robot/q" when there is only one.
        return exact or [i for i, c in enumerate(self.columns) if c.name.rsplit("/", 1)[-1] == name]


def word_of(table: Table, i: int) -> Word:
    """The name of column i taken apart, with the unit that a row of units gives it."""
    word, unit = taken_apart(table.names[i]), table.columns[i].unit
    return word if word.unit is not None or unit is None else replace(word, unit=unit)


def units_of(table: Table, channel: str, places: Sequence[int]) -> tuple[str, ...]:
    """Units that a file gives for the columns of a channel, one for all or one each; () without any.

    Args:
        table: the file.
        channel: what the columns are.
        places: the columns.

    Raises:
        FileError: for a unit that is none of the channel.
    """
    found = [word_of(table, i).unit for i in places]
    for i, unit in zip(places, found, strict=True):
        if unit is None or plain_unit(unit) in UNITS[channel]:
            continue
        if table.columns[i].unit is None:
            # In brackets may stand a remark, q1 (measured), and behind a name a letter that is no unit, q_a.
            in_brackets = re.search(r"[\])]\s*$", table.names[i]) is not None
            if not unit_like(unit) if in_brackets else known_unit(unit) is not None:
                continue
        raise FileError(
            f"The unit {unit!r} of column {table.names[i]!r} in {table.path.name} is not known for a "
            f"{channel} ({', '.join(UNITS[channel])}); say unit, or scale to SI, in [{channel}] of a mapping."
        )
    known = [unit for unit in found if unit is not None and plain_unit(unit) in UNITS[channel]]
    if len(known) < len(found) or not known:
        return ()
    return tuple(known) if len(set(known)) > 1 else (known[0],)


def table_of(path: Path, kind: str, arrays: dict[str, RawArray], what: str) -> Table:
    """A table of arrays that are in memory already.

    Args:
        path: the file.
        kind: its format.
        arrays: by name.
        what: what such a file should hold, for the sentence when there is none.
    """
    if not arrays:
        raise FileError(f"{path} holds no {what}; save positions and torques as arrays of numbers.")
    held = list(arrays.values())
    columns = tuple(Column(name, array.shape) for name, array in arrays.items())
    return Table(path, kind, columns, lambda i: held[i])


def rows_of(array: RawArray, samples: int | None, what: str) -> tuple[NDArray[np.float64], bool]:
    """An array as (samples, columns) of floats, and whether it had to be turned over.

    Args:
        array: one or two dimensions.
        samples: number of samples when known; otherwise the longer side is time.
        what: its name, for the error sentence.
    """
    if array.ndim == 2 and 1 in array.shape and samples != array.shape[0]:
        array = array.reshape(-1)  # MATLAB keeps vectors as rows or columns
    if array.ndim == 1:
        return np.asarray(array, dtype=float)[:, None], False
    if array.ndim != 2:
        raise FileError(f"{what} has {array.ndim} dimensions; a channel has samples and axes.")
    rows, columns = array.shape
    turned = rows != samples and columns == samples if samples is not None else columns > rows
    values = np.asarray(array.T if turned else array, dtype=float)
    return values, turned


def require_file(path: Path) -> int:
    """Refuse what is no readable, regular, non-empty file of a sane size; returns its size in bytes."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise FileError(f"There is no log at {path}.") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
        raise FileError(f"The log {str(path)!r} cannot be read: {error}.") from None
    if stat.S_ISDIR(status.st_mode):
        raise FileError(f"{path} is a folder; give the log file itself.")
    if not stat.S_ISREG(status.st_mode):  # reading a pipe or a device may never end
        raise FileError(f"{path} is not a regular file; give the log file itself.")
    if status.st_size == 0:
        raise FileError(f"The log {path} is empty.")
    if status.st_size > MAX_BYTES:
        raise FileError(
            f"The log {path} has {status.st_size / 1e9:.0f} GB; at most {MAX_BYTES / 1e9:.0f} GB are read."
        )
    return status.st_size


def require_memory(values: int, what: str) -> None:
    """Refuse arrays that would not fit, before they are made."""
    if values > MAX_VALUES:
        raise FileError(
            f"{what} holds {values:.3g} numbers; at most {MAX_VALUES:.0e} are read at once, so cut it."
        )


def source_of(path: Path) -> Source:
    """The file with its hash, for the record."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_HASHED_AT_ONCE):
            digest.update(block)
    return Source(str(path), digest.hexdigest(), path.stat().st_size)


def library(name: str, path: Path) -> Any:
    """A package of the logs extra that a format needs.

    Args:
        name: of the module.
        path: the file, for the sentence when the package is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        raise FileError(
            f"Reading {path.name} needs the package {name.split('.')[0]!r}; install dynid with its logs "
            "extra: pip install 'dynid[logs]'."
        ) from None


@contextmanager
def file_errors(path: Path, what: str) -> Iterator[None]:
    """Turn whatever a parser throws at a damaged or hostile file into one sentence.

    Args:
        path: the file being parsed.
        what: what it should be, such as "an NPZ file".
    """
    try:
        yield
    except DynidError:
        raise
    except Exception as error:  # parsers of third parties throw anything at damaged files
        reason = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        raise FileError(f"{path} cannot be read as {what}: {reason}.") from None
