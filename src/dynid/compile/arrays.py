"""Arrays at the door of a kernel: alignment, padding and shape checks."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid.compile.ir_batch import TILE
from dynid.compile.program import Port
from dynid.core.arrays import FloatArray
from dynid.core.errors import ShapeError

_BYTE = ctypes.c_char


def allocate(rows: int, samples: int) -> FloatArray:
    """A zeroed (rows, samples) array whose rows start on cache lines; untouched rows cost no memory."""
    stride = -(-samples // 8) * 8
    raw = np.zeros(rows * stride + 8)
    shift = -address(raw) % 64 // 8
    return raw[shift : shift + rows * stride].reshape(rows, stride)[:, :samples]


def aligned_array(shape: tuple[int, ...]) -> FloatArray:
    """An array of any values that starts on a cache line, so that vectors of lanes never cross one."""
    size = math.prod(shape)
    raw = np.empty(size + 8)
    shift = -address(raw) % 64 // 8
    return raw[shift : shift + size].reshape(shape)


def aligned_copy(array: FloatArray) -> FloatArray:
    """The values of an array in C order, from a cache line on."""
    copy = aligned_array(array.shape)
    copy[...] = array
    return copy


def is_aligned(array: FloatArray, size: int) -> bool:
    """Whether an array starts at a multiple of so many bytes."""
    return address(array) % size == 0


def address(array: NDArray[Any]) -> int:
    """Where an array starts in memory; the way through the buffer is three times as fast as NumPy's own."""
    if array.flags.c_contiguous and array.flags.writeable and array.size:
        buffer: Any = array
        return ctypes.addressof(_BYTE.from_buffer(buffer))
    return int(array.__array_interface__["data"][0])


def padded_tile(array: FloatArray, port: Port, start: int, last: int) -> FloatArray:
    """Samples of a port copied into a whole tile, zeros behind them."""
    if port.uniform:
        return array
    if port.columns:
        columns = np.zeros((port.width, TILE))
        columns[:, : last - start] = array[:, start:last]
        return columns
    rows = np.zeros((TILE, port.width))
    rows[: last - start] = array[start:last]
    return rows


def as_port_array(value: ArrayLike, port: Port) -> FloatArray:
    """An input as float64 in the port's layout.

    Raises:
        ShapeError: when it is not numeric or not of the port's width.
    """
    try:
        if np.iscomplexobj(value):
            raise TypeError
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(f"{port.name} is not an array of numbers.") from None
    if port.uniform:
        if array.shape != (port.width,):
            raise _wrong_shape(port.name, array.shape, f"({port.width},)")
        return np.ascontiguousarray(array)
    if port.columns:
        if array.ndim != 2 or array.shape[0] != port.width:
            raise _wrong_shape(port.name, array.shape, f"({port.width}, samples)")
        return array if array.strides[1] == 8 else np.ascontiguousarray(array)
    if array.ndim != 2 or array.shape[1] != port.width:
        raise _wrong_shape(port.name, array.shape, f"(samples, {port.width})")
    return np.ascontiguousarray(array)


def _wrong_shape(name: str, given: tuple[int, ...], allowed: str) -> ShapeError:
    return ShapeError(f"{name} has shape {given}; expected {allowed}.")
