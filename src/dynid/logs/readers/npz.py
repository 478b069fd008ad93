"""NPZ logs: NumPy's archives, without pickles."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from dynid.core.errors import FileError
from dynid.logs.readers.table import RawArray, Table, file_errors, require_file, require_memory, table_of

_MAX_MEMBERS = 10_000


def read_npz(path: Path) -> Table:
    """The arrays of an NPZ file, or the one array of an NPY file.

    Args:
        path: the file; arrays of Python objects are refused.
    """
    size = require_file(path)
    with file_errors(path, "an NPZ file"):
        if path.suffix.lower() == ".npy":
            require_memory(size // 8, str(path))
            with path.open("rb") as file:
                return table_of(path, "npz", {"array": _array(file, str(path))}, "arrays")
        with _open_archive(path) as archive:
            members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            if len(members) > _MAX_MEMBERS:
                raise FileError(f"{path} holds {len(members)} arrays; at most {_MAX_MEMBERS} are looked at.")
            arrays = {}
            for info in members:
                what = f"{info.filename} in {path}"
                require_memory(info.file_size // 8, what)
                with archive.open(info.filename) as member:
                    arrays[info.filename.removesuffix(".npy")] = _array(member, what)
    return table_of(path, "npz", arrays, "arrays")


def texts_of(table: Table) -> dict[str, str]:
    """Members of an NPZ file that are one text each."""
    arrays = {column.name: table.fetch(i) for i, column in enumerate(table.columns) if column.shape == ()}
    return {name: str(array) for name, array in arrays.items() if array.dtype.kind == "U"}


def _open_archive(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        raise FileError(
            f"{path} is cut off or no NPZ file: the list of arrays at its end is missing or damaged. Copy it "
            "again, or save it with numpy.savez."
        ) from None


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
