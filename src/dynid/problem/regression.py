"""The regression: factors per joint, per experiment and per stretch of time, and the rows where they fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.problem.factor import Factor, merge_factors


@dataclass(frozen=True, eq=False)
class JointRows:
    """Rows of one joint, in the order of time within each experiment.

    Args:
        columns: base parameters (indices into the base) of the columns of W; the others are zero.
        W: (rows, columns).
        y: torques (rows,) [N m or N].
        sample: number of each row's sample within its experiment, at the regression's rate (rows,).
        experiment: number of each row's experiment (rows,).
    """

    columns: tuple[int, ...]
    W: FloatArray
    y: FloatArray
    sample: NDArray[np.int64]
    experiment: NDArray[np.int64]

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.y)

    def residual(self, values: FloatArray) -> FloatArray:
        """y − W χ (rows,) for base parameters χ (base,)."""
        return np.asarray(self.y - self.W @ values[list(self.columns)], dtype=float)

    def wide(self, width: int) -> FloatArray:
        """W with its columns spread over all base parameters, (rows, width)."""
        spread = np.zeros((len(self), width))
        spread[:, list(self.columns)] = self.W
        return spread

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self.W.nbytes + self.y.nbytes + self.sample.nbytes + self.experiment.nbytes


def stack_rows(parts: Sequence[JointRows]) -> JointRows:
    """Rows of one joint from several blocks or experiments, in their order."""
    if len(parts) == 1:
        return parts[0]
    columns = parts[0].columns
    W = np.empty((sum(map(len, parts)), len(columns)), order="F")
    np.concatenate([part.W for part in parts], out=W)
    return JointRows(
        columns,
        W,
        np.concatenate([part.y for part in parts]),
        np.concatenate([part.sample for part in parts]),
        np.concatenate([part.experiment for part in parts]),
    )


def with_experiment(rows: JointRows, experiment: int) -> JointRows:
    """The same rows as those of another experiment number."""
    return JointRows(
        rows.columns, rows.W, rows.y, rows.sample, np.full(len(rows), experiment, dtype=np.int64)
    )


@dataclass(frozen=True, eq=False)
class Cell:
    """A stretch of time of one experiment, folded.

    Args:
        experiment: number of the experiment.
        factors: one per joint.
    """

    experiment: int
    factors: tuple[Factor, ...]


@dataclass(frozen=True, eq=False)
class Regression:
    """What was accumulated from the motions; its size does not grow with their length once rows are given up.

    Args:
        experiments: per experiment, one factor per joint.
        cells: at most about 200 stretches of time, in order.
        pieces: per experiment, the rows of each joint; None when they did not fit the budget.
    """

    experiments: tuple[tuple[Factor, ...], ...]
    cells: tuple[Cell, ...]
    pieces: tuple[tuple[JointRows, ...], ...] | None

    @cached_property
    def joints(self) -> tuple[Factor, ...]:
        """One factor per joint, of all experiments together."""
        return tuple(merge_factors(factors) for factors in zip(*self.experiments, strict=True))

    def rows(self, joint: int) -> JointRows | None:
        """Rows of a joint over all experiments, or None when they were not kept."""
        return None if self.pieces is None else stack_rows([piece[joint] for piece in self.pieces])

    def subset(self, chosen: Sequence[int]) -> Regression:
        """The regression of some of the experiments, numbered anew in the order given."""
        cells = tuple(
            replace(cell, experiment=new)
            for new, old in enumerate(chosen)
            for cell in self.cells
            if cell.experiment == old
        )
        pieces = None
        if self.pieces is not None:
            pieces = tuple(
                tuple(with_experiment(rows, new) for rows in self.pieces[old])
                for new, old in enumerate(chosen)
            )
        return Regression(tuple(self.experiments[old] for old in chosen), cells, pieces)
