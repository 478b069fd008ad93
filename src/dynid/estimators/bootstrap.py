"""Covariance from the log itself: blocks of time drawn again and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.core.executor import LocalExecutor
from dynid.core.finding import Finding, Level, Name
from dynid.core.kinds import require_field_kinds
from dynid.estimators.fit import Fit
from dynid.estimators.honest import stretches_of_time
from dynid.estimators.uncertainty import Doubt, Uncertainty, automatic_bandwidth, score_series, white_rows
from dynid.problem.problem import Problem

_MAX_CELLS = 400
"""Cells at most: their matrices take rank² numbers each."""
_CELLS_PER_BLOCK = 4
"""Cells of a block, so that blocks may begin at its quarters."""
_FEW_BLOCKS = 20
"""Blocks of time below which the spread of the draws is itself in doubt."""
_AT_ONCE = 64
"""Draws solved at once: their matrices stay in the caches."""


@dataclass(frozen=True)
class Bootstrap(Uncertainty):
    """Moving-block bootstrap over time (Künsch 1989): all joints of a block are drawn together.

    Overlapping blocks of consecutive samples are drawn with replacement within each experiment and the
    weighted system is solved again; weights stay those of the estimate. Without rows the stored stretches of
    time serve.

    Args:
        replicates: draws.
        block: samples of a block at the regression's rate; from the autocorrelation when None.
        seed: of the random generator, so that the same call gives the same answer.
        workers: threads that share the draws, one per core when None; the answer does not depend on them.
    """

    replicates: int = 400
    block: int | None = None
    seed: int = 0
    workers: int | None = None
    name = "bootstrap"

    def __post_init__(self) -> None:
        """Refuse draws and blocks that hold nothing."""
        require_field_kinds(self)
        for what, value, least in (("replicates", self.replicates, 20), ("block", self.block, 1)):
            if value is not None and value < least:
                raise DynidError(f"{what} of the bootstrap is {value}; give at least {least}.")

    def doubt(self, problem: Problem, fit: Fit) -> Doubt:
        """Spread of the solutions over the draws."""
        cells = self._cells(problem, fit)
        counts = _draws(cells, self.replicates, np.random.default_rng(self.seed))
        chunks = [counts[start : start + _AT_ONCE] for start in range(0, len(counts), _AT_ONCE)]
        steps = np.vstack(LocalExecutor(self.workers).map(cells.steps, chunks, what="draws"))
        blocks = len(cells.experiment) / cells.per_block
        findings: tuple[Finding, ...] = ()
        if blocks < _FEW_BLOCKS:
            said = f"The bootstrap rests on {blocks:.0f} blocks of time."
            remedy = "Record longer, or give a smaller block."
            few = Name.FEW_INDEPENDENT_SAMPLES
            findings = (Finding(few, Level.NOTE, said, remedy, figures={"blocks": blocks}),)
        facts = {"bootstrap_block": cells.samples * cells.per_block, "replicates": self.replicates}
        centred = (steps - steps.mean(axis=0)) @ fit.root.T
        return Doubt(centred.T @ centred / (len(centred) - 1), facts, findings)

    def _cells(self, problem: Problem, fit: Fit) -> _Cells:
        return (
            _cells_of_rows(problem, fit, self.block)
            if problem.has_rows
            else _stored_cells(problem, fit, self.block)
        )


@dataclass(frozen=True, eq=False)
class _Cells:
    """Short stretches of time; a block is ``per_block`` of them in a row.

    Args:
        experiment: experiment of each cell, in order of time.
        bread: Xᵀ h X per cell, (cells, rank, rank).
        score: Xᵀ s ρ per cell, (cells, rank).
        samples: samples of a cell.
        per_block: cells of a block.
    """

    experiment: NDArray[np.int64]
    bread: FloatArray
    score: FloatArray
    samples: int
    per_block: int

    def steps(self, counts: FloatArray) -> FloatArray:
        """How far the solution moves, (draws, rank), when each cell counts so often, (draws, cells)."""
        rank = self.score.shape[1]
        flat = self.bread.reshape(len(self.bread), -1)
        fixed = np.eye(rank) - flat.sum(axis=0).reshape(rank, rank)  # what a prior adds: never drawn
        bread = (counts @ flat).reshape(-1, rank, rank) + fixed
        pull = counts @ self.score - self.score.sum(axis=0)
        return np.asarray(np.linalg.solve(bread, pull[:, :, None])[:, :, 0], dtype=float)


def _cells_of_rows(problem: Problem, fit: Fit, block: int | None) -> _Cells:
    joints = list(range(len(problem.regression.joints)))
    if block is None:
        block = 1 + int(np.ceil(automatic_bandwidth(score_series(problem, fit, joints))))
    lengths = np.array([e.regression_samples for e in problem.experiments])
    block = int(min(block, max(1, lengths.max() // 2)))
    size = max(1, block // _CELLS_PER_BLOCK, -(-int(lengths.sum()) // _MAX_CELLS))
    numbers = -(-lengths // size)
    offset = np.concatenate([[0], np.cumsum(numbers)])
    rank = fit.root.shape[1]
    bread, score = np.zeros((offset[-1], rank, rank)), np.zeros((offset[-1], rank))
    for j in joints:
        rows = white_rows(problem, fit, j)
        where = offset[rows.experiment] + rows.sample // size  # never decreases
        edges = np.searchsorted(where, np.arange(offset[-1] + 1))
        for c in range(int(offset[-1])):
            X = rows.X[edges[c] : edges[c + 1]]
            bread[c] += fit.row_weights[j] * X.T @ X
            score[c] += X.T @ rows.pull[edges[c] : edges[c + 1]]
    experiment = np.repeat(np.arange(len(lengths)), numbers)
    return _Cells(experiment, bread, score, size, max(1, round(block / size)))


def _stored_cells(problem: Problem, fit: Fit, block: int | None) -> _Cells:
    """Cells from the factors kept while reading: the rows are not needed."""
    experiment, bread, score = stretches_of_time(problem, fit)
    samples = max(1, sum(e.regression_samples for e in problem.experiments) // len(score))
    per_block = 1 if block is None else max(1, round(block / samples))
    return _Cells(experiment, bread, score, samples, per_block)


def _draws(cells: _Cells, replicates: int, rng: np.random.Generator) -> FloatArray:
    """How often each cell is drawn, (replicates, cells); blocks run around the end of their experiment."""
    counts = np.zeros((replicates, len(cells.experiment)))
    for number in np.unique(cells.experiment):
        own = np.flatnonzero(cells.experiment == number)
        length = min(cells.per_block, len(own))
        starts = rng.integers(len(own), size=(replicates, -(-len(own) // length)))
        drawn = (starts[:, :, None] + np.arange(length)).reshape(replicates, -1)[:, : len(own)] % len(own)
        for r in range(replicates):
            counts[r, own] += np.bincount(drawn[r], minlength=len(own))
    return counts
