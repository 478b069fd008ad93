"""The regression: factors per joint, per experiment and per stretch of time, and the rows where they fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dynid.problem.factor import Factor, merged
from dynid.problem.rows import JointRows, joined, renumbered


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
        return tuple(merged(factors) for factors in zip(*self.experiments, strict=True))

    def rows(self, joint: int) -> JointRows | None:
        """Rows of a joint over all experiments, or None when they were not kept."""
        return None if self.pieces is None else joined([piece[joint] for piece in self.pieces])

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
                tuple(renumbered(rows, new) for rows in self.pieces[old]) for new, old in enumerate(chosen)
            )
        return Regression(tuple(self.experiments[old] for old in chosen), cells, pieces)
