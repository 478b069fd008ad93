"""HDF5 logs, by h5py: datasets in groups, nothing from outside the file."""

from __future__ import annotations

from collections.abc import Iterator
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

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_MAX_DEPTH = 8
_MAX_OBJECTS = 10_000


def is_hdf5(path: Path) -> bool:
    """Whether a file is HDF5: its mark stands at byte 0, 512, 1024, 2048 …"""
    with file_errors(path, "a log"), path.open("rb") as file:
        for place in (0, 512, 1024, 2048, 4096):
            file.seek(place)
            if file.read(8) == _SIGNATURE:
                return True
    return False


def read_hdf5(path: Path, turned: bool = False) -> Table:
    """The numeric datasets of an HDF5 file, named by their paths.

    Args:
        path: the file; links to other files and datasets stored elsewhere are refused.
        turned: datasets are stored (axes, samples), as MATLAB does.
    """
    require_file(path)
    h5py = library("h5py", path)
    with file_errors(path, "an HDF5 file"), h5py.File(path, "r") as file:
        found = list(_datasets(h5py, file, "", 0, path))
    if not found:
        raise FileError(f"{path} holds no datasets of numbers.")
    if len(found) > _MAX_OBJECTS:
        raise FileError(f"{path} holds more than {_MAX_OBJECTS} datasets.")

    def fetch(i: int) -> RawArray:
        with file_errors(path, "an HDF5 file"), h5py.File(path, "r") as file:
            array = np.asarray(file[found[i].name][()])
        return array.T if turned else array

    columns = [Column(c.name, c.shape[::-1] if turned else c.shape) for c in found]
    return Table(path, "mat" if turned else "hdf5", tuple(columns), fetch)


def _datasets(h5py: Any, group: Any, prefix: str, depth: int, path: Path) -> Iterator[Column]:
    """Numeric datasets of at most two dimensions, below a group."""
    if depth > _MAX_DEPTH:
        return
    for key in group:
        name = f"{prefix}{key}"
        if key.startswith("#"):  # MATLAB's own bookkeeping
            continue
        link = group.get(key, getlink=True)
        if isinstance(link, h5py.ExternalLink):
            raise FileError(
                f"{name} in {path} is a link to another file, which is not followed; store the data in the "
                "log itself."
            )
        if isinstance(link, h5py.SoftLink):  # the same data under another name, or a loop
            continue
        item = group[key]
        if isinstance(item, h5py.Group):
            yield from _datasets(h5py, item, f"{name}/", depth + 1, path)
        elif isinstance(item, h5py.Dataset) and item.dtype.kind in "iufb" and item.ndim <= 2:
            if item.external or item.is_virtual:
                raise FileError(
                    f"{name} in {path} is stored in another file, which is not read; keep it in the log "
                    "itself."
                )
            require_memory(int(item.size or 0), f"{name} in {path}")
            yield Column(name, tuple(int(n) for n in item.shape))
