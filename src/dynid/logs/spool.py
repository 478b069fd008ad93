"""Samples on disk: an array (samples, axes) in a private temporary file, of which only what is asked for is
held in memory.

Rows are kept in tiles. In a tile one axis lies behind the other, so that rows can be appended without knowing
how many will follow, and a whole axis is still read in few long pieces:

    byte of (row, axis) = 8 · (tile · TILE · axes + axis · TILE + row − tile · TILE),   tile = ⌊row / TILE⌋
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import FileError, ShapeError

IndexArray = NDArray[np.bool_] | NDArray[np.integer[Any]]
TILE = 65_536
"""Rows of a tile: half a megabyte per axis, enough for the disk to read at full speed."""
LONG = 2_000_000
"""Samples above which a log is kept on disk: 240 MB of positions, speeds and torques of seven axes."""


class _TileFile:
    """The temporary file behind spools; it has no name, and is gone with the last spool or the process."""

    def __init__(self, axes: int) -> None:
        self.axes = axes
        self._lock = Lock()
        try:
            self._file = tempfile.TemporaryFile(prefix="dynid-", buffering=0)  # noqa: SIM115 (closed below)
        except OSError as error:
            raise _no_room(error) from None
        weakref.finalize(self, self._file.close)

    def read(self, axis: int, start: int, out: FloatArray) -> None:
        """Fill ``out`` (contiguous) with the samples of an axis from row ``start``."""
        for part, place in self._pieces(axis, start, out):
            with self._lock:
                self._file.seek(place)
                while len(part) and (count := self._file.readinto(part)):
                    part = part[count:]
            if len(part):
                raise FileError("The temporary file of a long log ended too early; read the log again.")

    def write(self, axis: int, start: int, values: FloatArray) -> None:
        """Put the samples of an axis from row ``start``."""
        try:
            for part, place in self._pieces(axis, start, np.ascontiguousarray(values, dtype=float)):
                with self._lock:
                    self._file.seek(place)
                    while len(part):
                        part = part[self._file.write(part) :]
        except OSError as error:
            raise _no_room(error) from None

    def _pieces(self, axis: int, start: int, values: FloatArray) -> Iterator[tuple[memoryview, int]]:
        """The bytes of consecutive samples of an axis, tile by tile, and where they stand in the file."""
        data = values.view(np.uint8).data
        at, stop = start, start + len(values)
        while at < stop:
            tile, row = divmod(at, TILE)
            count = min(TILE - row, stop - at)
            first = 8 * (at - start)
            yield data[first : first + 8 * count], 8 * (tile * TILE * self.axes + axis * TILE + row)
            at += count


class Spool:
    """An array (samples, axes) of floats on disk, as ``SpoolWriter`` leaves it.

    Indexing reads what is asked for into an ordinary array: ``[:, axis]``, ``[rows]``, ``[rows, axis]`` with
    slices, masks or index arrays for rows. ``numpy.asarray`` reads all of it.
    """

    ndim = 2
    dtype = np.dtype(np.float64)

    def __init__(self, file: _TileFile, start: int, stop: int, axes: tuple[int, ...]) -> None:
        """Some rows and axes of a file; made by ``SpoolWriter.finish`` and ``Spool.view``."""
        self._file, self._start, self._stop, self._axes = file, start, stop, axes

    @property
    def shape(self) -> tuple[int, int]:
        """(samples, axes)."""
        return self._stop - self._start, len(self._axes)

    @property
    def nbytes(self) -> int:
        """Bytes on disk."""
        return 8 * self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        """Number of samples."""
        return self._stop - self._start

    def __repr__(self) -> str:
        """Shape and where it is kept."""
        return f"Spool({len(self)} samples × {len(self._axes)} axes on disk)"

    @overload
    def __getitem__(self, key: slice | IndexArray) -> FloatArray: ...
    @overload
    def __getitem__(self, key: tuple[slice | IndexArray, int | slice]) -> FloatArray: ...
    @overload
    def __getitem__(self, key: int) -> FloatArray: ...
    @overload
    def __getitem__(self, key: tuple[int, int]) -> np.float64: ...
    def __getitem__(self, key: Any) -> Any:
        """Read rows, or rows of one axis, as an ordinary array."""
        rows, axes = key if isinstance(key, tuple) else (key, slice(None))
        if isinstance(rows, int | np.integer):
            row = range(len(self))[rows]
            return self[row : row + 1, axes][0]
        if not isinstance(axes, slice):
            return self._column(self._axes[axes], rows)
        chosen = self._axes[axes]
        read = np.empty((0, len(chosen)))
        for k, axis in enumerate(chosen):
            x = self._column(axis, rows)
            read = np.empty((len(x), len(chosen))) if k == 0 else read
            read[:, k] = x
        return read

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """All samples, in memory."""
        return np.asarray(self[:], dtype=dtype)

    def view(self, rows: slice = slice(None), axes: tuple[int, ...] | None = None) -> Spool:
        """Consecutive rows, and axes in another order, of the same file: nothing is read.

        Args:
            rows: a slice of step 1.
            axes: numbers from 0; all when None.
        """
        start, stop, step = rows.indices(len(self))
        if step != 1:
            raise ShapeError(f"A view on samples on disk takes consecutive rows, not one of {step}.")
        chosen = self._axes if axes is None else tuple(self._axes[axis] for axis in axes)
        return Spool(self._file, self._start + start, self._start + max(start, stop), chosen)

    def _column(self, axis: int, rows: slice | IndexArray) -> FloatArray:
        if not isinstance(rows, slice):
            return np.asarray(self._column(axis, slice(None))[rows])
        start, stop, step = rows.indices(len(self))
        if step < 1:
            raise ShapeError("Rows of samples on disk are read forward; turn the array round after reading.")
        # One of many is read tile by tile, so that memory held is only what was asked for.
        size = stop - start if step == 1 else max(TILE // step, 1) * step
        parts = []
        for at in range(start, stop, max(size, 1)):
            part = np.empty(min(at + size, stop) - at)
            self._file.read(axis, self._start + at, part)
            parts.append(part if step == 1 else part[::step].copy())
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0), *parts])


class SpoolWriter:
    """Writes a spool: row blocks one after the other, or whole axes in any order.

    Args:
        axes: number of axes.
    """

    def __init__(self, axes: int) -> None:
        """Begin with no samples."""
        self._file = _TileFile(axes)
        self._axes, self._rows = axes, 0

    def append(self, rows: FloatArray) -> None:
        """Put rows (any number, axes) behind those written so far."""
        if rows.ndim != 2 or rows.shape[1] != self._axes:
            raise ShapeError(f"Rows of shape {rows.shape} were given; expected (any number, {self._axes}).")
        for axis in range(self._axes):
            self._file.write(axis, self._rows, rows[:, axis])
        self._rows += len(rows)

    def put(self, axis: int, values: FloatArray) -> None:
        """Write all samples of one axis, (samples,), or of several that follow each other, (samples, some).

        Args:
            axis: number of the first, from 0.
            values: the samples.
        """
        columns = values[:, None] if values.ndim == 1 else values
        for k in range(columns.shape[1]):
            self._file.write(axis + k, 0, columns[:, k])
        self._rows = max(self._rows, len(values))

    def finish(self) -> Spool:
        """What was written."""
        return Spool(self._file, 0, self._rows, tuple(range(self._axes)))


class ArrayWriter:
    """Fills an array in memory as ``SpoolWriter`` fills one on disk.

    Args:
        samples: number of samples.
        axes: number of axes.
    """

    def __init__(self, samples: int, axes: int) -> None:
        """Begin with nothing known."""
        self._values = np.empty((samples, axes))

    def put(self, axis: int, values: FloatArray) -> None:
        """Write all samples of one axis or of several, as ``SpoolWriter.put`` does."""
        columns = values[:, None] if values.ndim == 1 else values
        self._values[:, axis : axis + columns.shape[1]] = columns

    def finish(self) -> FloatArray:
        """What was written."""
        return self._values


Samples = FloatArray | Spool
"""Samples of some axes, (samples, axes): an array in memory, or on disk when they are many."""


def writer_of(samples: int, axes: int, *, on_disk: bool) -> ArrayWriter | SpoolWriter:
    """Room for so many samples, to be filled axis by axis."""
    return SpoolWriter(axes) if on_disk else ArrayWriter(samples, axes)


def kept_samples(values: FloatArray) -> Samples:
    """Samples (samples, axes), on disk when they are many."""
    if len(values) <= LONG:
        return values
    writer = SpoolWriter(values.shape[1])
    writer.append(values)
    return writer.finish()


def blocks(samples: int, size: int = TILE) -> Iterator[slice]:
    """Consecutive row blocks that cover so many samples."""
    return (slice(at, min(at + size, samples)) for at in range(0, samples, size))


def cut_rows(values: Samples, rows: slice) -> Samples:
    """Consecutive rows, or one of some: a view where they are on disk and still many, else in memory.

    Args:
        values: (samples, axes).
        rows: which.
    """
    if isinstance(values, Spool) and rows.step in (None, 1) and len(range(*rows.indices(len(values)))) > LONG:
        return values.view(rows)
    return values[rows]


def by_rows(function: Callable[[FloatArray], FloatArray], values: Samples) -> Samples:
    """A function of single rows, (rows, axes) to (rows, other axes), of all samples.

    Args:
        function: looks at no other row than its own.
        values: in memory, or on disk, where the outcome is kept then too.
    """
    if not isinstance(values, Spool):
        return function(values)
    writer: SpoolWriter | None = None
    for rows in blocks(len(values)):
        made = function(values[rows])
        writer = SpoolWriter(made.shape[1]) if writer is None else writer
        writer.append(made)
    return values if writer is None else writer.finish()


def by_columns(function: Callable[[FloatArray], FloatArray], values: Samples) -> Samples:
    """A function of single axes, (samples,) to (other samples,), of all of them.

    Args:
        function: looks at no other axis than its own; gives as many samples for each.
        values: in memory, or on disk, where the outcome is kept then too.
    """
    writer: ArrayWriter | SpoolWriter | None = None
    for axis in range(values.shape[1]):
        made = function(np.ascontiguousarray(values[:, axis]))
        if writer is None:
            writer = writer_of(len(made), values.shape[1], on_disk=isinstance(values, Spool))
        writer.put(axis, made)
    return values if writer is None else writer.finish()


def _no_room(error: OSError) -> FileError:
    return FileError(
        f"A long log needs room for a temporary file in {tempfile.gettempdir()}, which cannot be written: "
        f"{error.strerror or error}. Make room, or set the variable TMPDIR to a folder with more."
    )
