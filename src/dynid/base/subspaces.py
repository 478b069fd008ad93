"""Subspaces by tolerance: spans, null spaces and their echelon bases."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray, svd

NEGLIGIBLE = 1e-11
"""A vector shorter than this is rounding (lengths are in metres, angles and speeds of order one)."""
DEPENDENT = 1e-9
"""Relative singular value, or remainder of a unit column, below which a direction counts as missing."""


def unit_rows(vectors: FloatArray) -> FloatArray:
    """Rows at unit length, negligible rows left out."""
    norms = np.linalg.norm(vectors, axis=1)
    kept = norms > NEGLIGIBLE
    return np.asarray(vectors[kept] / norms[kept, None], dtype=float)


def row_space(vectors: FloatArray) -> FloatArray:
    """Orthonormal basis, in rows, of the span of the rows."""
    rows = unit_rows(vectors)
    if not rows.size:
        return np.zeros((0, vectors.shape[1]))
    _, s, vt = svd(rows, full_matrices=False)
    return np.asarray(vt[s > DEPENDENT * s[0]], dtype=float)


def triangle(rows: FloatArray) -> FloatArray:
    """R of a QR: as few rows as columns, with the same row space and the same relations between columns."""
    return np.asarray(np.linalg.qr(rows, mode="r"), dtype=float)


def null_space(conditions: FloatArray) -> tuple[FloatArray, float]:
    """Orthonormal basis, in rows, of {x : conditions x = 0}, and the gap of singular values at the cut."""
    n = conditions.shape[1]
    rows = unit_rows(conditions)
    if not rows.size or n == 0:
        return np.eye(n), math.inf
    if len(rows) > n:  # same row space in n rows
        rows = triangle(rows)
    _, s, vt = svd(rows, full_matrices=True)
    rank = int(np.sum(s > DEPENDENT * s[0]))
    below = float(s[rank]) if rank < len(s) else 0.0
    return np.asarray(vt[rank:], dtype=float), float(s[rank - 1]) / below if below > 0 else math.inf


@dataclass(frozen=True)
class Echelon:
    """A subspace by the basis whose pivots are the last possible columns.

    Row i has 1 at ``pivots[i]``, where all other rows have 0, and nothing behind its pivot.
    """

    rows: FloatArray
    pivots: tuple[int, ...]


def last_echelon(basis: FloatArray) -> Echelon:
    """Reduced echelon form of the span of the rows of an orthonormal basis, pivots as late as possible."""
    A = basis.copy()
    pivots: list[int] = []
    for column in reversed(range(A.shape[1])):
        done = len(pivots)
        if done == len(A):
            break
        best = done + int(np.argmax(np.abs(A[done:, column])))
        if abs(A[best, column]) < DEPENDENT:
            continue
        A[[done, best]] = A[[best, done]]
        A[done] /= A[done, column]
        others = np.arange(len(A)) != done
        A[others] -= np.outer(A[others, column], A[done])
        pivots.append(column)
    return Echelon(_tidy(A), tuple(pivots))


def _tidy(A: FloatArray) -> FloatArray:
    """Integers that rounding has blurred, made whole."""
    whole = np.round(A)
    return np.where(np.abs(A - whole) < 1e-11, whole, A) + 0.0
