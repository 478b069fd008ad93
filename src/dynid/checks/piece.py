"""A chunk of a log, with each axis as the checks want it: which of its values are measurements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.checks.limits import sane
from dynid.checks.survey import Survey
from dynid.logs.log import Log

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
DAMAGED = "damaged lines"


@dataclass(frozen=True, eq=False)
class Column:
    """One axis of a channel.

    Args:
        x: all values, (samples,).
        sane: which of them are measurements; None when all are.
    """

    x: FloatArray
    sane: BoolArray | None

    @property
    def clean(self) -> FloatArray:
        """The measurements."""
        return self.x if self.sane is None else self.x[self.sane]


@dataclass(frozen=True, eq=False)
class Piece:
    """A chunk of a log.

    Args:
        log: the chunk.
        first: number of its first sample.
        last: whether no other follows.
        columns: per channel and axis.
        empty: samples of damaged lines; None when no line was damaged.
    """

    log: Log
    first: int
    last: bool
    columns: Mapping[str, tuple[Column, ...]]
    empty: BoolArray | None


def piece_of(log: Log, survey: Survey, first: int = 0) -> Piece:
    """A chunk, or the whole log, seen with what is usual in the whole.

    Args:
        log: the chunk.
        survey: what is usual.
        first: number of its first sample.
    """
    columns = {}
    for name, values in log.channels.items():
        side_by_side = np.ascontiguousarray(np.asarray(values).T)
        columns[name] = tuple(
            Column(x, sane(x, usual.low, usual.high))
            for x, usual in zip(side_by_side, survey.channels[name], strict=True)
        )
    damaged = any(step.name == DAMAGED for step in survey.rows.history)
    return Piece(
        log, first, first + log.samples == survey.samples, columns, empty_rows(log) if damaged else None
    )


def empty_rows(log: Log) -> BoolArray:
    """Samples where a whole channel holds nothing."""
    empty = np.zeros(log.samples, dtype=bool)
    for values in log.channels.values():
        empty |= np.all(np.isnan(values), axis=1)
    return empty
