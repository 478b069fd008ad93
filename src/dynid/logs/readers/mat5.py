"""MAT files of version 5, as MATLAB documents them; only real matrices and plain structures are taken.

A reader of our own, because a damaged file must end in a sentence and not in a crash of the process.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dynid.core.errors import FileError
from dynid.logs.readers.table import RawArray

HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_STRUCT = 2
_NUMERIC = range(6, 16)
"""Classes of matrices: double, single, and the integers."""
_COMPLEX = 0x08
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_MAX_UNPACKED = 4_000_000_000
_MAX_FIELDS = 1000


@dataclass(frozen=True)
class _Element:
    """A data element: its type and its bytes."""

    kind: int
    data: memoryview


def byte_order(header: bytes) -> str | None:
    """ "<" or ">" from the header of a file of version 5, else None."""
    return {b"IM": "<", b"MI": ">"}.get(header[126:128]) if len(header) >= HEADER else None


def matrices(content: bytes, order: str) -> dict[str, RawArray]:
    """Real matrices of a file by name; fields of 1×1 structures as "structure.field".

    Args:
        content: the whole file.
        order: byte order.
    """
    found: dict[str, RawArray] = {}
    for element in _elements(memoryview(content)[HEADER:], order):
        if element.kind == _COMPRESSED:
            element = _unpacked(element.data, order)
        if element.kind == _MATRIX:
            found |= _matrix(element.data, order, None, 0)
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


def _unpacked(data: memoryview, order: str) -> _Element:
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


def _matrix(data: memoryview, order: str, name: str | None, depth: int) -> dict[str, RawArray]:
    parts = _elements(data, order)
    flags, sizes, label = (next(parts, None) for _ in range(3))
    if flags is None or sizes is None or label is None or len(flags.data) < 8:
        return {}  # an empty matrix inside a structure
    (word,) = struct.unpack_from(f"{order}I", flags.data)
    shape = np.frombuffer(sizes.data, dtype=f"{order}i4").tolist()
    full = bytes(label.data).rstrip(b"\0").decode("utf-8", errors="replace") if name is None else name
    kind = word & 0xFF
    if kind == _STRUCT and shape == [1, 1] and depth == 0:
        return _structure(parts, order, full)
    if kind not in _NUMERIC or (word >> 8) & _COMPLEX or len(shape) != 2 or min(shape) < 0:
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
            found |= _matrix(element.data, order, f"{name}.{field}", 1)
    return found
