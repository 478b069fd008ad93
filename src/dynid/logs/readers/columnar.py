"""Parquet and Arrow logs, by pyarrow: one column at a time, whatever the length of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dynid.core.errors import FileError
from dynid.logs.readers.table import (
    Column,
    RawArray,
    Table,
    file_errors,
    library,
    require_file,
    require_memory,
)

_BATCH = 100_000
"""Rows decoded at once: the library need not hold a whole column beside ours."""


def read_parquet(path: Path) -> Table:
    """The columns of a Parquet file; a column of lists of equal length is an array (samples, axes)."""
    require_file(path)
    parquet = library("pyarrow.parquet", path)
    with file_errors(path, "a Parquet file"):
        # Reading ahead would keep the whole file in memory.
        file = parquet.ParquetFile(path, pre_buffer=False)
        rows = int(file.metadata.num_rows)

    def parts(i: int) -> Iterator[Any]:
        name = file.schema_arrow.names[i]
        for batch in file.iter_batches(batch_size=_BATCH, columns=[name]):
            yield batch.column(0)

    return _table(path, "parquet", file.schema_arrow, rows, parts)


def read_arrow(path: Path) -> Table:
    """The columns of an Arrow file (IPC, Feather), likewise."""
    require_file(path)
    arrow, ipc = library("pyarrow", path), library("pyarrow.ipc", path)
    with file_errors(path, "an Arrow file"):
        file = ipc.open_file(arrow.OSFile(str(path)))
        rows = sum(file.get_batch(k).num_rows for k in range(file.num_record_batches))

    def parts(i: int) -> Iterator[Any]:
        for k in range(file.num_record_batches):
            yield file.get_batch(k).column(i)

    return _table(path, "arrow", file.schema, rows, parts)


def _table(path: Path, kind: str, schema: Any, rows: int, parts: Callable[[int], Iterator[Any]]) -> Table:
    names = list(schema.names)
    if rows < 1:
        raise FileError(f"{path} holds no rows.")

    def fetch(i: int) -> RawArray:
        require_memory(rows, f"{names[i]} in {path}")
        with file_errors(path, f"{'a Parquet' if kind == 'parquet' else 'an Arrow'} file"):
            arrays = (_array(part, names[i], path) for part in parts(i))
            if str(schema.field(i).type) not in ("double", "float"):
                return np.concatenate(list(arrays))
            values, at = np.empty(rows), 0
            for array in arrays:
                values[at : at + len(array)] = array
                at += len(array)
            return values[:at]

    return Table(path, kind, tuple(Column(name, (rows,)) for name in names), fetch)


def _array(column: Any, name: str, path: Path) -> RawArray:
    """A part of a column as a NumPy array; missing values are NaN."""
    kind = str(column.type)
    if "list" in kind:
        return _lists(column, name, path)
    if kind.startswith("timestamp"):
        column = column.cast("timestamp[ns]")
    elif kind.startswith("decimal"):
        column = column.cast("float64")
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _lists(column: Any, name: str, path: Path) -> RawArray:
    flat = np.asarray(column.flatten().to_numpy(zero_copy_only=False))
    sizes = np.diff(np.asarray(column.offsets)) if hasattr(column, "offsets") else np.zeros(1)
    if len(column) == 0 or column.null_count or flat.size % len(column) or np.ptp(sizes):
        raise FileError(
            f"Column {name!r} of {path} holds lists of different lengths; one value per axis is expected in "
            "every row."
        )
    return flat.reshape(len(column), -1)
