"""What every reader yields: named columns of a file, fetched when they are wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import FileError, unknown_name
from dynid.logs.log import Step

RawArray = NDArray[Any]


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
        kind: "csv", "npz", "mat", "hdf5", "parquet" or "bag".
        columns: names and shapes.
        fetch: gives the array of column i, in its own number type (stamps may be integers).
        steps: what had to be done to read it.
        joints: names of the joints, where the format has them.
        total: number of samples, where known without reading.
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

    def array(self, wanted: str | int) -> RawArray:
        """The array of a column, as numbers or stamps."""
        array = self.fetch(self.index(wanted))
        if array.dtype.kind not in "iufbM":
            raise FileError(
                f"Column {wanted!r} of {self.path.name} holds {array.dtype} values, not real numbers."
            )
        return array

    def _places(self, name: str) -> list[int]:
        exact = [i for i, column in enumerate(self.columns) if column.name == name]
        # In nested files "q" may stand for "robot/q" when there is only one.
        return exact or [i for i, c in enumerate(self.columns) if c.name.rsplit("/", 1)[-1] == name]


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
