"""Gauss–Newton for a few dozen unknowns: steps that lower the squares, and what the rows leave open."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray, svd

_MOST_PASSES = 50
"""3 to 19 on simulated RX-90 logs; a start at the wrong sign of a gain creeps on and loses by its squares."""
_HALVINGS = 30
"""Of a step: a billionth of it that still lowers nothing is rounding."""
_AT_REST = 1e-12
"""Share of the squares by which a last pass may still lower them: gains move by the root of it in σ."""
_LOST = 1e-10
"""Relative singular value, columns at unit length, below which a direction is open: far above rounding,
and far below the least that simulated RX-90 logs show, 1e-2."""
_PART_OF = 1e-6
"""Entry of a unit vector from which on a parameter takes part in a direction that is open."""

Function = Callable[[FloatArray], FloatArray]


def gauss_newton(
    residual: Function, jacobian: Function, x: FloatArray, free: NDArray[np.bool_]
) -> FloatArray:
    """argmin ‖r(x)‖² over the free entries of x.

    Args:
        residual: r, (rows,).
        jacobian: minus its derivatives, (rows, entries).
        x: where to start, (entries,).
        free: entries that may move, (entries,).
    """

    def step(at: FloatArray) -> FloatArray:
        full = np.zeros(len(at))
        full[free] = shortest(jacobian(at)[:, free], residual(at))
        return full

    return descend(residual, step, x)


def descend(residual: Function, step: Function, x: FloatArray, at_rest: float = _AT_REST) -> FloatArray:
    """x after steps, each halved until it lowers the squares of the residual, until they are at rest.

    Args:
        residual: r, (rows,).
        step: from x to the solution of the linearised problem, (entries,).
        x: where to start, (entries,).
        at_rest: share of the squares by which a last pass may still lower them.
    """
    squares = _squares(residual(x))
    for _ in range(_MOST_PASSES):
        whole, before = step(x), squares
        for k in range(_HALVINGS):
            trial = x + 0.5**k * whole
            lower = _squares(residual(trial))
            if lower < squares:
                x, squares = trial, lower
                break
        if before - squares <= at_rest * before:
            break
    return x


def shortest(A: FloatArray, b: FloatArray, lost: float = _LOST) -> FloatArray:
    """argmin ‖A x − b‖, the shortest in unit columns where A is rank deficient.

    Args:
        A: (rows, entries).
        b: (rows,).
        lost: relative singular value below which a direction is open.
    """
    scale = _lengths(A)
    return np.asarray(np.linalg.lstsq(A / scale, b, rcond=lost)[0] / scale, dtype=float)


def inverse_root(J: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """T with T Tᵀ = (JᵀJ)⁺, (entries, rank), and which entries the rows leave open; zero columns are not.

    Args:
        J: Jacobian, (rows, entries).
    """
    scale = _lengths(J)
    _, s, Vt = svd(np.asarray(np.linalg.qr(J / scale, mode="r"), dtype=float), full_matrices=True)
    s = np.concatenate([s, np.zeros(len(Vt) - len(s))])
    seen = s > _LOST * s.max(initial=0.0)
    lost = np.any(np.abs(Vt[~seen]) > _PART_OF, axis=0) & np.any(J != 0, axis=0)
    return np.asarray((Vt[seen] / scale).T / s[seen], dtype=float), lost


def _lengths(A: FloatArray) -> FloatArray:
    """Lengths of the columns, one for those that are zero."""
    lengths = np.linalg.norm(A, axis=0)
    return np.where(lengths > 0, lengths, 1.0)


def _squares(r: FloatArray) -> float:
    return float(np.sum(r**2))
