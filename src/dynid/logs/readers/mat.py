"""MAT logs: MATLAB's files of version 5, and those of version 7.3 as the HDF5 files they are.

Version 5 has a reader of our own: SciPy's ends the whole process at one of some 150 damaged files
(uncompressed, with bytes changed at random), where a sentence is wanted. Only real matrices and plain
structures of them are taken; whatever else a file holds, such as text, cells and objects, is passed over.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dynid.core.errors import FileError
from dynid.logs.readers.hdf5 import is_hdf5, read_hdf5
from dynid.logs.readers.table import RawArray, Table, file_errors, require_file, require_memory, table_of

_HEADER = 128
_ORDERS = {b"IM": "<", b"MI": ">"}
_MATRIX, _COMPRESSED = 14, 15
_STRUCT = 2
_NUMERIC = range(6, 16)
"""Classes of matrices: double, single, and the integers."""
_COMPLEX = 0x08
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_MAX_UNPACKED = 4_000_000_000
_MAX_FIELDS = 1000


def read_mat(path: Path) -> Table:
    """The real matrices of a MAT file; fields of a structure are named "structure.field".

    Args:
        path: the file, version 5 or 7.3.
    """
    size = require_file(path)
    if is_hdf5(path):
        return read_hdf5(path, turned=True)
    require_memory(size // 8, str(path))
    with file_errors(path, "a MAT file"):
        content = path.read_bytes()
        order = _ORDERS.get(content[_HEADER - 2 : _HEADER])
        if order is None:
            raise FileError(
                f"{path} is no MAT file of version 5 or 7.3; save it in MATLAB with -v7 or -v7.3."
            )
        try:
            arrays = _matrices(content, order)
        except FileError as error:
            raise FileError(f"{path} is damaged: {error}.") from None
    return table_of(path, "mat", arrays, "numeric matrices")


@dataclass(frozen=True)
class _Element:
    """A data element: its type and its bytes."""

    kind: int
    data: memoryview


def _matrices(content: bytes, order: str) -> dict[str, RawArray]:
    """Real matrices of a file by name; fields of 1×1 structures as "structure.field"."""
    found: dict[str, RawArray] = {}
    for element in _elements(memoryview(content)[_HEADER:], order):
        if element.kind == _COMPRESSED:
            element = _decompress(element.data, order)
        if element.kind == _MATRIX:
            found |= _matrix(element.data, order, None)
    return found


def _elements(data: memoryview, order: str) -> Iterator[_Element]:
    place = 0
    while place + 8 <= len(data):
        first, size = struct.unpack_from(f"{order}II", data, place)
        if first >> 16:  # a small element: type and size share four bytes, the data the next four
            kind, size = first & 0xFFFF, first >> 16
            if size > 4:
                raise FileError(f"a small element claims {size} bytes")
            yield _Element(kind, data[place + 4 : place + 4 + size])
            place += 8
            continue
        if size > len(data) - place - 8:
            raise FileError(f"an element claims {size} bytes where {len(data) - place - 8} are left")
        yield _Element(first, data[place + 8 : place + 8 + size])
        place += 8 + size + (0 if first == _COMPRESSED else -size % 8)


def _decompress(data: memoryview, order: str) -> _Element:
    stream = zlib.decompressobj()
    head = stream.decompress(data, 8)
    if len(head) < 8:
        raise FileError("a compressed element is cut off")
    kind, size = struct.unpack(f"{order}II", head)
    if size > _MAX_UNPACKED:
        raise FileError(f"a compressed element claims {size} bytes")
    body = stream.decompress(stream.unconsumed_tail, size) if size else b""
    if len(body) < size:
        raise FileError("a compressed element is cut off")
    return _Element(kind, memoryview(body))


def _matrix(data: memoryview, order: str, name: str | None) -> dict[str, RawArray]:
    """A matrix, or the matrices of a structure where no name is given yet; nothing for other things."""
    parts = _elements(data, order)
    flags = next(parts, None)
    if flags is None or len(flags.data) < 8:
        return {}  # an empty matrix inside a structure
    (word,) = struct.unpack_from(f"{order}I", flags.data)
    kind, plain = word & 0xFF, not (word >> 8) & _COMPLEX
    if not ((kind == _STRUCT and name is None) or (kind in _NUMERIC and plain)):
        return {}  # what follows is laid out otherwise in objects
    sizes, label = next(parts, None), next(parts, None)
    if sizes is None or label is None:
        return {}
    shape = np.frombuffer(sizes.data, dtype=f"{order}i4").tolist()
    full = bytes(label.data).rstrip(b"\0").decode("utf-8", errors="replace") if name is None else name
    if kind == _STRUCT:
        return _structure(parts, order, full) if shape == [1, 1] else {}
    if len(shape) != 2 or min(shape) < 0:
        return {}
    values = next(parts, None)
    if values is None or values.kind not in _TYPES:
        raise FileError(f"matrix {full!r} has no numbers")
    numbers = np.frombuffer(values.data, dtype=f"{order}{_TYPES[values.kind]}")
    if len(numbers) != math.prod(shape):
        raise FileError(f"matrix {full!r} of {shape} holds {len(numbers)} numbers")
    return {full: numbers.reshape(shape, order="F")}


def _structure(parts: Iterator[_Element], order: str, name: str) -> dict[str, RawArray]:
    lengths, names = next(parts, None), next(parts, None)
    if lengths is None or names is None or len(lengths.data) != 4:
        return {}
    (length,) = struct.unpack(f"{order}i", lengths.data)
    if not 1 <= length <= 256 or len(names.data) > length * _MAX_FIELDS:
        raise FileError(f"structure {name!r} has names of {length} letters")
    raw = bytes(names.data)
    fields = [
        raw[i : i + length].split(b"\0")[0].decode("utf-8", "replace") for i in range(0, len(raw), length)
    ]
    found: dict[str, RawArray] = {}
    for field, element in zip(fields, parts, strict=False):
        if element.kind == _MATRIX:
            found |= _matrix(element.data, order, f"{name}.{field}")
    return found
