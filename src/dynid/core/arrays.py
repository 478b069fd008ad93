"""Types of arrays, named once, and the singular value decomposition that always ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid.core.errors import NotTrustworthyError, ShapeError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def as_numbers(values: ArrayLike, what: str) -> FloatArray:
    """Values as a contiguous array of numbers.

    Args:
        values: an array, or lists.
        what: they are, for the sentence.

    Raises:
        ShapeError: when they are no numbers, or their rows differ in length.
    """
    try:
        given = np.asarray(values)
        if np.iscomplexobj(given):
            raise ShapeError(f"{what} holds complex numbers; give real ones.")
        return np.ascontiguousarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{what} must be an array of numbers ({error}).") from None


def svd(A: FloatArray, full_matrices: bool = True) -> tuple[FloatArray, FloatArray, FloatArray]:
    """U, s and Vᵀ with A = U diag(s) Vᵀ.

    LAPACK's divide and conquer (gesdd), which is the fast one, fails to converge on rare matrices; QR
    iteration (gesvd) then takes its place.

    Args:
        A: one matrix, or several with the same shape.
        full_matrices: whether U and Vᵀ are square.

    Raises:
        NotTrustworthyError: when A holds values that are not finite.
    """
    try:
        U, s, Vt = np.linalg.svd(A, full_matrices=full_matrices)
    except np.linalg.LinAlgError:
        return _by_qr_iteration(A, full_matrices)
    return U, s, Vt


def singular_values(A: FloatArray) -> FloatArray:
    """Singular values of a matrix, the largest first."""
    try:
        return np.asarray(np.linalg.svd(A, compute_uv=False), dtype=float)
    except np.linalg.LinAlgError:
        return _by_qr_iteration(A, False)[1]


def _by_qr_iteration(A: FloatArray, full_matrices: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    from scipy.linalg import svd as lapack_svd

    if not np.all(np.isfinite(A)):
        raise NotTrustworthyError(
            "A matrix of the computation holds values that are not finite; run dynid check on the logs, and "
            "add --repair (repair=True) where it says that they can be repaired."
        )
    if A.ndim > 2:
        parts = [_by_qr_iteration(part, full_matrices) for part in A]
        U, s, Vt = (np.stack(part) for part in zip(*parts, strict=True))
    else:
        U, s, Vt = lapack_svd(A, full_matrices=full_matrices, lapack_driver="gesvd")
    return U, s, Vt


def pinv(A: FloatArray, rcond: float = 1e-15) -> FloatArray:
    """A⁺ of one matrix or several, by the singular values that are above ``rcond`` times the largest.

    Args:
        A: (…, rows, columns).
        rcond: relative size below which a singular value counts as zero.
    """
    U, s, Vt = svd(A, full_matrices=False)
    live = s > rcond * np.max(s, axis=-1, keepdims=True, initial=0.0)
    inverse = np.divide(1.0, s, out=np.zeros_like(s), where=live)
    return np.asarray((np.swapaxes(Vt, -1, -2) * inverse[..., None, :]) @ np.swapaxes(U, -1, -2))
