"""Three-vectors over any scalar type, with zeros and ones folded away.

A scalar is a Python float (a constant known when the kernel is traced), a CasADi SX symbol, a NumPy array
over samples, or anything with + − ×. Constants fold here, before the scalar type sees them, so a kernel run
on symbols leaves only the operations the robot really needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

Scalar: TypeAlias = Any
Vector: TypeAlias = tuple[Scalar, Scalar, Scalar]
Rotation: TypeAlias = tuple[Vector, Vector, Vector]
"""Rows of a 3×3 matrix."""

ZERO: Vector = (0.0, 0.0, 0.0)
AXES: Rotation = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_NUMBERS = (float, int)


def is_constant(x: Scalar) -> bool:
    """Whether x is a number known when tracing."""
    return isinstance(x, _NUMBERS)


def is_zero(x: Scalar) -> bool:
    """Whether x is the constant zero."""
    return isinstance(x, _NUMBERS) and x == 0


def add(a: Scalar, b: Scalar) -> Scalar:
    """a + b."""
    return b if is_zero(a) else a if is_zero(b) else a + b


def sub(a: Scalar, b: Scalar) -> Scalar:
    """a − b."""
    return a if is_zero(b) else neg(b) if is_zero(a) else a - b


def neg(a: Scalar) -> Scalar:
    """−a."""
    return 0.0 if is_zero(a) else -a


def mul(a: Scalar, b: Scalar) -> Scalar:
    """a × b."""
    if isinstance(b, _NUMBERS) and not isinstance(a, _NUMBERS):
        a, b = b, a
    if isinstance(a, _NUMBERS):
        if a == 0 or is_zero(b):
            return 0.0
        if a == 1:
            return b
        if a == -1:
            return neg(b)
    return a * b


def total(terms: Iterable[Scalar]) -> Scalar:
    """Sum of scalars."""
    result: Scalar = 0.0
    for term in terms:
        result = add(result, term)
    return result


def dot(u: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    """u · v."""
    result: Scalar = 0.0
    for a, b in zip(u, v, strict=True):
        result = add(result, mul(a, b))
    return result


def cross(u: Vector, v: Vector) -> Vector:
    """u × v."""
    return (
        sub(mul(u[1], v[2]), mul(u[2], v[1])),
        sub(mul(u[2], v[0]), mul(u[0], v[2])),
        sub(mul(u[0], v[1]), mul(u[1], v[0])),
    )


def plus(u: Vector, v: Vector) -> Vector:
    """u + v."""
    return (add(u[0], v[0]), add(u[1], v[1]), add(u[2], v[2]))


def scale(s: Scalar, v: Vector) -> Vector:
    """s v."""
    return (mul(s, v[0]), mul(s, v[1]), mul(s, v[2]))


def rotate(R: Rotation, v: Vector) -> Vector:
    """R v."""
    return (dot(R[0], v), dot(R[1], v), dot(R[2], v))


def transpose(R: Rotation) -> Rotation:
    """Rᵀ."""
    return ((R[0][0], R[1][0], R[2][0]), (R[0][1], R[1][1], R[2][1]), (R[0][2], R[1][2], R[2][2]))


def unrotate(R: Rotation, v: Vector) -> Vector:
    """Rᵀ v."""
    return rotate(transpose(R), v)


def matmul(A: Rotation, B: Rotation) -> Rotation:
    """A B."""
    columns = transpose(B)
    return tuple(tuple(dot(row, column) for column in columns) for row in A)  # type: ignore[return-value]


def constants(values: Any) -> Any:
    """A NumPy array as nested tuples of Python floats, so that its zeros and ones can fold."""
    array = np.asarray(values, dtype=float)
    return tuple(constants(v) for v in array) if array.ndim else float(array)
