"""Channels that were logged faster than they were measured: the samples at which they are fresh."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import FileError

FloatArray = NDArray[np.float64]
Rows = NDArray[np.intp]
_TOO_OFTEN = 0.75
"""Share of the samples said between which it may change."""


def fresh_rows(values: FloatArray, every: int, rows: Rows, channel: str, axis: int) -> Rows:
    """Rows at which an axis has a new value; where the value stays for longer, one row of every so many.

    Args:
        values: of one axis, (samples,).
        every: samples for which a value is held.
        rows: rows whose stamps count.
        channel: its name, for the error sentence.
        axis: its number from 0.

    Raises:
        FileError: when the values change more often than that.
    """
    x = values[rows]
    changes = np.flatnonzero(x[1:] != x[:-1]) + 1  # NaN is a change, and is left out by who reads between
    if len(changes) < 2:
        return rows[::every]
    usual = float(np.median(np.diff(changes)))
    if usual < _TOO_OFTEN * every:
        raise FileError(
            f"thin of [{channel}] is {every}, but axis {axis + 1} changes every {usual:g} "
            f"sample{'s' * (usual != 1)}; give the number of samples for which a value is held."
        )
    near = np.concatenate([[False], np.diff(changes) < 0.5 * every])
    changes = changes[~near]
    gaps = np.diff(changes)
    counts = np.maximum(np.round(gaps / every).astype(int), 1)
    starts, number = np.repeat(changes[:-1], counts), np.arange(int(counts.sum()))
    within = number - np.repeat(np.cumsum(counts) - counts, counts)
    chosen = np.concatenate([starts + every * within, changes[-1:]])
    return np.asarray(rows[chosen])
