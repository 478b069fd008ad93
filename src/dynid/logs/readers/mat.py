"""MAT logs: MATLAB's files of version 5, and those of version 7.3 as the HDF5 files they are."""

from __future__ import annotations

from pathlib import Path

from dynid.core.errors import FileError
from dynid.logs.readers.files import parsing, require_file, require_memory
from dynid.logs.readers.hdf5 import is_hdf5, read_hdf5
from dynid.logs.readers.mat5 import HEADER, byte_order, matrices
from dynid.logs.readers.table import Column, Table


def read_mat(path: Path) -> Table:
    """The real matrices of a MAT file; fields of a structure are named "structure.field".

    Args:
        path: the file, version 5 or 7.3.
    """
    size = require_file(path)
    if is_hdf5(path):
        return read_hdf5(path, turned=True)
    require_memory(size // 8, str(path))
    with parsing(path, "a MAT file"):
        content = path.read_bytes()
        order = byte_order(content[:HEADER])
        if order is None:
            raise FileError(
                f"{path} is no MAT file of version 5 or 7.3; save it in MATLAB with -v7 or -v7.3."
            )
        try:
            arrays = matrices(content, order)
        except FileError as error:
            raise FileError(f"{path} is damaged: {error}.") from None
    if not arrays:
        raise FileError(
            f"{path} holds no numeric matrices; save positions and torques as matrices of numbers."
        )
    columns = tuple(Column(name, array.shape) for name, array in arrays.items())
    held = list(arrays.values())
    return Table(path, "mat", columns, lambda i: held[i])
