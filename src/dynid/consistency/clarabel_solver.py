"""The only place that knows Clarabel, the interior-point solver for cone programs (Goulart, Chen 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import clarabel
import numpy as np
from scipy import sparse

from dynid.core.arrays import FloatArray

if TYPE_CHECKING:
    from dynid.consistency.cone_program import ConeRows

_SOLVED = (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved)
_INFEASIBLE = (clarabel.SolverStatus.PrimalInfeasible, clarabel.SolverStatus.AlmostPrimalInfeasible)
_CONES: dict[str, Any] = {
    "zero": clarabel.ZeroConeT,
    "positive": clarabel.NonnegativeConeT,
    "second order": clarabel.SecondOrderConeT,
    "psd": lambda rows: clarabel.PSDTriangleConeT(round((2 * rows + 0.25) ** 0.5 - 0.5)),
    "exponential": lambda rows: clarabel.ExponentialConeT(),
}


@dataclass(frozen=True, eq=False)
class Found:
    """The solver's answer.

    Args:
        x: the variables.
        force: per cone, the multipliers of its rows: how the objective would fall if they gave way.
        solved: whether they solve the program, at least nearly.
        infeasible: whether no variables satisfy the cones.
        status: in the solver's words.
        iterations: passes.
    """

    x: FloatArray
    force: tuple[FloatArray, ...]
    solved: bool
    infeasible: bool
    status: str
    iterations: int


def solve_cones(H: FloatArray, g: FloatArray, rows: Sequence[ConeRows]) -> Found:
    """min ½ xᵀ H x + gᵀ x with G x + h in its cone for every block of rows.

    Args:
        H: (variables, variables), symmetric, positive semidefinite.
        g: (variables,).
        rows: the cones.
    """
    # Variables are near one already, and scaling a whole body at once mostly harms.
    first = _attempt(H, g, rows, scaled=False)
    return first if first.solved or first.infeasible else _attempt(H, g, rows, scaled=True)


def _attempt(H: FloatArray, g: FloatArray, rows: Sequence[ConeRows], *, scaled: bool) -> Found:
    """One call of the solver, with or without its own scaling."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.equilibrate_enable = scaled
    G = sparse.csc_matrix(np.vstack([-block.G for block in rows]))
    h = np.concatenate([block.h for block in rows])
    cones = [_CONES[block.kind](len(block.h)) for block in rows]
    P = sparse.csc_matrix(np.triu(H))
    try:
        answer = clarabel.DefaultSolver(P, g, G, h, cones, settings).solve()
    except BaseException as error:  # a panic inside the solver is no Exception
        if type(error).__name__ != "PanicException":
            raise
        return Found(np.zeros(len(g)), (), False, False, "Panic", 0)
    ends = np.cumsum([len(block.h) for block in rows])[:-1]
    return Found(
        np.array(answer.x),
        tuple(np.split(np.array(answer.z), ends)),
        answer.status in _SOLVED and bool(np.all(np.isfinite(answer.x))),
        answer.status in _INFEASIBLE,
        str(answer.status),
        int(answer.iterations),
    )
