"""A few rows at a time folded into a triangular factor, in machine code, without taking memory."""

from __future__ import annotations

import ctypes
from functools import cached_property
from typing import Any

import numpy as np

from dynid.compile import jit
from dynid.compile.arrays import address, aligned_array
from dynid.compile.batch import chosen_backend
from dynid.compile.ir_fold import fold_ir, line_length
from dynid.core.arrays import FloatArray
from dynid.core.errors import ModelError, ShapeError

_POINTER = ctypes.c_void_p
_LEVEL = 2
"""Reflections wait for each other: scheduling is worth the compilation, which is short."""


class FoldedRows:
    """The triangular factor R of weighted rows [W y], or [Z W y], that rows are folded into for ever.

    Its memory is taken once. All is done in place.

    Args:
        pivots: columns that are eliminated, p: those of W, or of Z.
        width: columns in all.
        rows: new rows at a time.
        backend: "auto" (machine code, else NumPy), "llvm" or "casadi", which stands for NumPy here.
    """

    def __init__(self, pivots: int, width: int, rows: int, backend: str = "auto") -> None:
        """Begin with no rows."""
        if pivots < 1 or rows < 1 or width <= pivots:
            raise ModelError(
                f"A factor of {pivots} of {width} columns with {rows} rows at a time cannot be made; give at "
                "least one column, one more for the torques, and one row."
            )
        self.pivots, self.width, self.rows = pivots, width, rows
        self.table = aligned_array((pivots + rows, line_length(width)))
        self.lengths = aligned_array((line_length(width),))
        self.solution = aligned_array((line_length(width),))
        self.out = aligned_array((2 * rows + 2,))
        for array in (self.table, self.lengths, self.solution, self.out):
            array[...] = 0.0
        self.backend, self.reason = chosen_backend(backend), ""
        self._given: tuple[FloatArray, ...] = (self.out, self.out, self.out)
        self._copies: list[tuple[FloatArray, FloatArray]] = []
        self._given_places: tuple[int, ...] = ()
        self._module = self._machine_code()

    def _machine_code(self) -> jit.Module | None:
        if self.backend == "casadi":
            self.reason = "asked for"
            return None
        key = f"fold {self.pivots} {self.width} {self.rows}"
        try:
            found = jit.load_cached(key)
            if found is not None:
                return found[0]
            return jit.compile_cached(key, fold_ir(self.pivots, self.width, self.rows), {}, _LEVEL)
        except jit.CompileError as error:
            if self.backend == "llvm":
                raise
            self.reason = str(error)
            return None

    @property
    def factor(self) -> FloatArray:
        """[R | rest] of all rows so far, (pivots, width): a view."""
        return self.table[: self.pivots, : self.width]

    @property
    def new_rows(self) -> FloatArray:
        """Where ``fold`` takes new rows from, (rows, width): a view."""
        return self.table[self.pivots :, : self.width]

    def set_factor(self, factor: FloatArray) -> None:
        """Begin anew from a factor, (pivots, width), upper triangular in its first columns."""
        if factor.shape != (self.pivots, self.width):
            raise ShapeError(
                f"The factor has shape {factor.shape}; expected ({self.pivots}, {self.width}) for this robot."
            )
        self.table[...] = 0.0
        self.factor[...] = factor
        self.lengths[: self.width] = np.sum(self.factor**2, axis=0)

    def fade(self, share: float) -> None:
        """Let all rows so far count less: λ of what they counted.

        Args:
            share: λ, above 0, at most 1.
        """
        self.table[: self.pivots] *= share**0.5
        self.lengths *= share

    def fold(self) -> float:
        """Fold ``new_rows``; the sum of squares left of them in the first column that is no pivot."""
        if self._module is None:
            self._fold_by_qr()
        else:
            self._functions[0](self._places[0], self._squares_place)
        return float(self.out[-2])

    def solve(self) -> float:
        """R x = z into ``solution``; the least R_ii² over the squared length of its column."""
        if self._module is None:
            return self._solve_by_substitution()
        table, lengths, solution, _ = self._places
        self._functions[1](table, lengths, solution, self._squares_place + 8)
        return float(self.out[-1])

    def update(self, W: FloatArray, y: FloatArray, weights: FloatArray) -> tuple[float, float]:
        """Fold weighted rows and solve; ``out`` begins with W x of the x before, then y − W x.

        Args:
            W: (rows, pivots).
            y: (rows,).
            weights: (rows,).

        Returns:
            The squares that the rows add, and the ratio of ``solve``.
        """
        if self._module is None:
            return self._update_by_numpy(W, y, weights)
        if W is not self._given[0] or y is not self._given[1] or weights is not self._given[2]:
            self._look_at(W, y, weights)
        for own, given in self._copies:
            own[...] = given
        self._functions[2](*self._given_places, *self._places)
        return float(self.out[-2]), float(self.out[-1])

    def _look_at(self, *given: FloatArray) -> None:
        """Where arrays lie; those that do not lie as the code wants them are copied at every update.

        Whoever updates at control rate gives the same arrays again and again, and to ask where one lies takes
        as long as to fold it.
        """
        used = [array if _is_plain(array) else np.array(array, dtype=float, order="C") for array in given]
        self._given = given
        self._copies = [(own, array) for own, array in zip(used, given, strict=True) if own is not array]
        self._given_places = tuple(address(array) for array in used)

    @cached_property
    def _functions(self) -> tuple[Any, Any, Any]:
        assert self._module is not None
        names = {"fold": 2, "solve": 4, "update": 7}
        fold, solve, update = (self._module.function(n, *[_POINTER] * k) for n, k in names.items())
        return fold, solve, update

    @cached_property
    def _places(self) -> tuple[int, int, int, int]:
        arrays = (self.table, self.lengths, self.solution, self.out)
        table, lengths, solution, out = (address(array) for array in arrays)
        return table, lengths, solution, out

    @cached_property
    def _squares_place(self) -> int:
        """Behind predictions and innovations, as ``update`` has it."""
        return self._places[3] + 16 * self.rows

    def _fold_by_qr(self) -> None:
        p = self.pivots
        Q, R = np.linalg.qr(self.table[:, :p], mode="complete")
        rest = Q.T @ self.table[:, p : self.width]
        self.table[:, :p] = R
        self.table[:, p : self.width] = rest
        self.table[p:, :p] = 0.0
        self.out[-2] = float(np.sum(self.table[p:, p] ** 2))

    def _solve_by_substitution(self) -> float:
        R, least = self.factor, 1.0
        self.solution[...] = 0.0
        for i in range(self.pivots - 1, -1, -1):
            if R[i, i] == 0.0:
                least = 0.0
                continue
            known = R[i, i + 1 : self.pivots] @ self.solution[i + 1 : self.pivots]
            self.solution[i] = (R[i, self.pivots] - known) / R[i, i]
            least = min(least, float(R[i, i] ** 2 / self.lengths[i]))
        self.out[-1] = least
        return least

    def _update_by_numpy(self, W: FloatArray, y: FloatArray, weights: FloatArray) -> tuple[float, float]:
        p, m = self.pivots, self.rows
        predicted = W @ self.solution[:p]
        self.new_rows[:, :p] = W * weights[:, None]
        self.new_rows[:, p] = y * weights
        self.lengths[:p] += np.sum(self.new_rows[:, :p] ** 2, axis=0)
        squares, ratio = self.fold(), self.solve()
        self.out[:m], self.out[m : 2 * m] = predicted, y - predicted
        self.out[-2:] = squares, ratio
        return squares, ratio


def _is_plain(array: FloatArray) -> bool:
    """Whether numbers lie one behind the other, as doubles that may be read in place."""
    return array.flags.c_contiguous and array.dtype == np.float64
