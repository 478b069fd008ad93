"""Parallel decimation: the same low-pass on the torques and on every column, then one sample of r."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError, ShapeError, unknown_name
from dynid.preparation import matlab
from dynid.preparation.decimator import Decimator
from dynid.preparation.preparation import CONVENTIONS

FloatArray = NDArray[np.float64]


def decimate_rows(rows: FloatArray, factor: int, convention: str = "scipy") -> FloatArray:
    """Low-pass each row without phase and keep one sample of ``factor`` (P0 §II, P1 eq 13).

    Linear, and the same for every row, so that τ = W χ stays exact. The band edge is 0.8·f_s/(2 r).

    Args:
        rows: signals (k, samples); rows that are zero stay zero and cost nothing.
        factor: r; 1 returns a copy.
        convention: "scipy" keeps samples 0, r, 2r, …, unit gain at zero frequency, ends mirrored; "matlab" is
            MATLAB's ``decimate``, which keeps the last sample.

    Returns:
        (k, ⌈samples / r⌉).
    """
    array = _checked(rows, factor, convention)
    if factor == 1:
        return array.copy()
    used = _nonzero_rows(array)
    if len(used) == len(array):
        return _decimated(array, factor, convention)
    out = np.zeros((len(array), -(-array.shape[1] // factor)))
    if len(used):
        out[used] = _decimated(array[used], factor, convention)
    return out


def kept_samples(samples: int, factor: int, convention: str = "scipy") -> slice:
    """Which samples ``decimate_rows`` keeps, to pick stamps and speeds at the same instants.

    Args:
        samples: length of the rows.
        factor: r.
        convention: "scipy" or "matlab".
    """
    start = (samples - 1) % factor if convention == "matlab" and samples else 0
    return slice(start, samples, factor)


def _decimated(array: FloatArray, factor: int, convention: str) -> FloatArray:
    if convention == "matlab":
        return matlab.decimate(array, factor)
    return Decimator(len(array), factor).finish(array)


def _nonzero_rows(array: FloatArray) -> NDArray[np.intp]:
    """Rows that hold anything; most show it in their first or last sample."""
    if not array.size:
        return np.empty(0, dtype=np.intp)
    nonzero = (array[:, 0] != 0) | (array[:, -1] != 0)
    doubtful = np.flatnonzero(~nonzero)
    nonzero[doubtful] = [bool(np.any(array[row])) for row in doubtful]
    return np.flatnonzero(nonzero)


def _checked(rows: FloatArray, factor: int, convention: str) -> FloatArray:
    if convention not in CONVENTIONS:
        raise unknown_name("decimation convention", convention, CONVENTIONS)
    if factor < 1:
        raise DynidError(f"The decimation is {factor}; it must be at least 1.")
    array = np.asarray(rows, dtype=float)
    if array.ndim != 2:
        raise ShapeError(f"The rows have shape {array.shape}; expected (rows, samples).")
    return array
