"""NPZ logs: NumPy's archives, without pickles."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from dynid.core.errors import FileError
from dynid.logs.readers.files import parsing, require_file, require_memory
from dynid.logs.readers.table import Column, RawArray, Table

_MAX_MEMBERS = 10_000


def read_npz(path: Path) -> Table:
    """The arrays of an NPZ file, or the one array of an NPY file.

    Args:
        path: the file; arrays of Python objects are refused.
    """
    require_file(path)
    with parsing(path, "an NPZ file"):
        if path.suffix.lower() == ".npy":
            array = _load_array(path)
            return Table(path, "npz", (Column("array", array.shape),), lambda _: array)
        with _opened(path) as archive:
            members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
        if len(members) > _MAX_MEMBERS:
            raise FileError(f"{path} holds {len(members)} arrays; at most {_MAX_MEMBERS} are looked at.")
        arrays = {}
        for info in members:
            require_memory(info.file_size // 8, f"{info.filename} in {path}")
            arrays[info.filename.removesuffix(".npy")] = _member(path, info.filename)
    columns = tuple(Column(name, array.shape) for name, array in arrays.items())
    if not columns:
        raise FileError(f"{path} holds no arrays.")
    held = list(arrays.values())
    return Table(path, "npz", columns, lambda i: held[i])


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        raise FileError(
            f"{path} is cut off or no NPZ file: the list of arrays at its end is missing or damaged. Copy it "
            "again, or save it with numpy.savez."
        ) from None


def texts_of(table: Table) -> dict[str, str]:
    """Members of an NPZ file that are one text each."""
    arrays = {column.name: table.fetch(i) for i, column in enumerate(table.columns) if column.shape == ()}
    return {name: str(array) for name, array in arrays.items() if array.dtype.kind == "U"}


def _load_array(path: Path) -> RawArray:
    with path.open("rb") as file:
        array = _array(file, str(path))
    require_memory(array.size, str(path))
    return array


def _member(path: Path, filename: str) -> RawArray:
    with zipfile.ZipFile(path) as archive, archive.open(filename) as file:
        return _array(file, f"{filename} in {path}")


def _array(file: IO[bytes], what: str) -> RawArray:
    """One array, which is neither a pickle nor anything else."""
    start = file.read(len(np.lib.format.MAGIC_PREFIX))
    if start != np.lib.format.MAGIC_PREFIX:
        raise FileError(
            f"{what} is no NumPy array: it does not begin with NumPy's mark; save it again with numpy.save."
        )
    file.seek(0)
    try:
        return np.asarray(np.lib.format.read_array(file, allow_pickle=False))
    except ValueError as error:
        if "pickle" not in str(error) and "Object" not in str(error):
            raise
        raise FileError(
            f"{what} is a pickle of Python objects, which is not read because it could run code; save plain "
            "arrays of numbers."
        ) from None
