"""Parquet logs: columns read when wanted, rows in batches when they are many."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from dynid.core.errors import FileError
from dynid.logs.readers.files import parsing, require_file, require_memory
from dynid.logs.readers.table import Column, RawArray, Table

_BATCH = 100_000
_FLOATS = ("double", "float")
"""Types that are read batch by batch."""


def read_parquet(path: Path) -> Table:
    """The columns of a Parquet file; a column of lists of equal length is an array (samples, axes).

    Args:
        path: the file.
    """
    file = _open(path)
    rows, names = file.metadata.num_rows, list(file.schema_arrow.names)
    _require_rows(path, rows)

    def fetch(i: int) -> RawArray:
        require_memory(rows, f"{names[i]} in {path}")
        with parsing(path, "a Parquet file"):
            if str(file.schema_arrow.field(i).type) in _FLOATS:
                return _in_batches(file, rows, names[i])
            return _array(file.read(columns=[names[i]]).column(0), names[i], path)

    columns = tuple(Column(name, (rows,)) for name in names)
    return Table(path, "parquet", columns, fetch)


def _in_batches(file: Any, rows: int, name: str) -> RawArray:
    """A column of floats, filled batch by batch: the library need not hold all of it beside ours."""
    values = np.empty(rows)
    at = 0
    for batch in file.iter_batches(batch_size=_BATCH, columns=[name]):
        values[at : at + batch.num_rows] = _to_numpy(batch.column(0))
        at += batch.num_rows
    return values[:at]


def parquet_batches(path: Path, rows: int) -> tuple[int, Iterator[Table]]:
    """The number of rows of a file, and its rows, so many at a time.

    Args:
        path: the file.
        rows: rows of a batch; the last may be shorter.
    """
    file = _open(path)
    total = int(file.metadata.num_rows)
    _require_rows(path, total)
    return total, _batches(file, path, rows)


def _batches(file: Any, path: Path, rows: int) -> Iterator[Table]:
    with parsing(path, "a Parquet file"):
        for batch in file.iter_batches(batch_size=rows):
            columns = tuple(Column(name, (batch.num_rows,)) for name in batch.schema.names)

            def fetch(i: int, batch: Any = batch) -> RawArray:
                return _array(batch.column(i), batch.schema.names[i], path)

            yield Table(path, "parquet", columns, fetch)


def _open(path: Path) -> Any:
    require_file(path)
    with parsing(path, "a Parquet file"):
        # Reading ahead would keep the whole file in memory.
        return import_module("pyarrow.parquet").ParquetFile(path, pre_buffer=False)


def _require_rows(path: Path, rows: int) -> None:
    if rows < 1:
        raise FileError(f"{path} holds no rows.")


def _array(column: Any, name: str, path: Path) -> RawArray:
    """A column as a NumPy array; missing values are NaN."""
    kind = str(column.type)
    if "list" in kind:
        return _lists(column, name, path)
    if kind.startswith("timestamp"):
        return np.asarray(column.cast("timestamp[ns]").to_numpy(zero_copy_only=False))
    if kind.startswith("decimal"):
        column = column.cast("float64")
    return np.asarray(_to_numpy(column))


def _to_numpy(column: Any) -> Any:
    # Chunked columns of a file and the plain arrays of a batch spell the same thing differently.
    return column.to_numpy(zero_copy_only=False) if not hasattr(column, "chunks") else column.to_numpy()


def _lists(column: Any, name: str, path: Path) -> RawArray:
    whole = column.combine_chunks() if hasattr(column, "chunks") else column
    flat = np.asarray(whole.flatten().to_numpy(zero_copy_only=False))
    if len(whole) == 0 or whole.null_count or flat.size % len(whole) or _uneven(whole):
        raise FileError(
            f"Column {name!r} of {path} holds lists of different lengths; one value per axis is expected in "
            "every row."
        )
    return flat.reshape(len(whole), -1)


def _uneven(lists: Any) -> bool:
    if not hasattr(lists, "offsets"):  # lists of fixed size
        return False
    sizes = np.diff(np.asarray(lists.offsets))
    return bool(np.any(sizes != sizes[0]))
