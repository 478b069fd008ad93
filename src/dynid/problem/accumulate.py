"""Fold blocks of rows into factors, keeping the rows themselves while they fit the budget."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from dynid.problem.factor import Factor, merge_factors
from dynid.problem.regression import Cell, JointRows, Regression, stack_rows
from dynid.problem.stream import RowBlock

MAX_CELLS = 200
"""Cells kept at most: enough for a bootstrap, in memory that does not grow with the log."""
CELL_SAMPLES = 512
"""Samples of a cell to begin with; doubled whenever there are too many cells."""


class Accumulator:
    """The one mutable thing of a regression: it lives while ``build_problem`` reads motions.

    Args:
        columns: per joint, the base parameters that can move its torque.
        budget_bytes: memory the rows may take; beyond it they are given up.
    """

    def __init__(self, columns: Sequence[tuple[int, ...]], budget_bytes: float) -> None:
        """Begin with nothing."""
        self.columns = tuple(columns)
        self.budget_bytes = budget_bytes
        self.row_bytes = 0
        self.keeps_rows = True
        self._cell_samples = CELL_SAMPLES
        self._experiments: list[tuple[Factor, ...]] = []
        self._cells: list[Cell] = []
        self._pieces: list[tuple[JointRows, ...]] = []
        self._begin()

    def _begin(self) -> None:
        self._open = self._empty()
        self._open_samples = 0
        self._own: list[tuple[Factor, ...]] = []
        self._parts: list[list[JointRows]] = [[] for _ in self.columns]

    def _empty(self) -> tuple[Factor, ...]:
        return tuple(Factor.empty(own) for own in self.columns)

    def add(self, block: RowBlock) -> None:
        """Fold a block of the current experiment."""
        joints = zip(self._open, block.W, block.y, strict=True)
        self._open = tuple(factor.fold(W, y) for factor, W, y in joints)
        self._open_samples += block.samples
        if self._open_samples >= self._cell_samples:
            self._close_cell()
        if self.keeps_rows:
            self._keep(block)

    def _keep(self, block: RowBlock) -> None:
        number = len(self._experiments)
        for j, parts in enumerate(self._parts):
            where = np.full(len(block.y[j]), number, dtype=np.int64)
            W = np.array(block.W[j]).T  # a copy: the block may be a view of a far larger array
            rows = JointRows(self.columns[j], W, np.array(block.y[j]), block.sample[j], where)
            parts.append(rows)
            self.row_bytes += rows.nbytes
        if self.row_bytes > self.budget_bytes:
            self.give_up_rows()

    def give_up_rows(self) -> None:
        """Forget all rows; the factors stay."""
        self.keeps_rows = False
        self._pieces.clear()
        self._parts = [[] for _ in self.columns]

    def end_experiment(self) -> tuple[int, ...]:
        """Close the current experiment and tell its rows per joint."""
        if self._open_samples or not self._own:
            self._close_cell()
        self._experiments.append(_merged_joints(self._own))
        self._cells += [Cell(len(self._experiments) - 1, factors) for factors in self._own]
        if self.keeps_rows:
            self._pieces.append(tuple(stack_rows(parts) for parts in self._parts))
        self._begin()
        self._cells = _merge_cells(self._cells)
        return tuple(factor.rows for factor in self._experiments[-1])

    def _close_cell(self) -> None:
        self._own.append(self._open)
        self._open = self._empty()
        self._open_samples = 0
        if len(self._own) > MAX_CELLS:
            self._own = _merge_pairs(self._own)
            self._cell_samples *= 2

    def regression(self) -> Regression:
        """All that was accumulated."""
        pieces = tuple(self._pieces) if self.keeps_rows else None
        return Regression(tuple(self._experiments), tuple(self._cells), pieces)


def _merged_joints(parts: Sequence[tuple[Factor, ...]]) -> tuple[Factor, ...]:
    return tuple(merge_factors(factors) for factors in zip(*parts, strict=True))


def _merge_pairs(parts: Sequence[tuple[Factor, ...]]) -> list[tuple[Factor, ...]]:
    """Neighbours merged two by two."""
    return [_merged_joints(parts[i : i + 2]) for i in range(0, len(parts), 2)]


def _merge_cells(cells: list[Cell]) -> list[Cell]:
    """At most MAX_CELLS cells, or one per experiment, by merging neighbours of the same experiment."""
    while len(cells) > MAX_CELLS:
        fewer = [
            Cell(number, factors)
            for number, group in groupby(cells, key=lambda cell: cell.experiment)
            for factors in _merge_pairs([cell.factors for cell in group])
        ]
        if len(fewer) == len(cells):
            break
        cells = fewer
    return cells
