"""The first look at a log that is read in chunks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid.checks.limits import garbage_limits
from dynid.checks.survey import GROUPS, ROWS, STAMPS, Survey, sane_extremes, surveyed
from dynid.checks.thin import Thinner
from dynid.logs.log import Log

FloatArray = NDArray[np.float64]


class Surveyor:
    """Takes the chunks of a log one after the other and tells what is usual in the whole.

    Where a log holds garbage, the extremes of the other values are found by the limits known at each chunk.
    """

    def __init__(self) -> None:
        """Begin before the first chunk."""
        self._rows = Thinner(ROWS)
        self._threes = Thinner(GROUPS, 3)
        self._stamps = Thinner(STAMPS, 2)
        self._latest: Log | None = None
        self._samples = 0
        self._ends: list[FloatArray] = []
        self._sane: list[FloatArray] = []

    def take(self, log: Log) -> None:
        """The next chunk."""
        table = np.column_stack([log.time, *log.channels.values()])
        self._rows.take(table)
        self._threes.take(table)
        self._stamps.take(log.time)
        self._samples += log.samples
        self._latest = log  # its history has all that the reader noted so far
        some, x = self._threes.sample[:, 0, 1:].T, table[:, 1:].T
        if not log.samples:
            return
        self._ends.append(np.array([x.min(axis=1), x.max(axis=1)]))
        limits = [garbage_limits(s) for s in some]
        self._sane.append(np.array([sane_extremes(v, *ends) for v, ends in zip(x, limits, strict=True)]).T)
        self._ends, self._sane = [_wider(self._ends)], [_wider(self._sane)]

    def finish(self) -> Survey:
        """What is usual.

        Raises:
            ValueError: when there was no chunk.
        """
        if self._latest is None:
            raise ValueError("a survey needs at least one chunk")
        log, names = self._latest, list(self._latest.channels)
        rows = self._rows.sample[:, 0]
        cuts = {name: slice(1 + k * log.axes, 1 + (k + 1) * log.axes) for k, name in enumerate(names)}

        def extremes(name: str, axis: int, low: float, high: float) -> tuple[float, float]:
            column = cuts[name].start - 1 + axis
            least, most = self._ends[0][:, column]
            if not (least >= low and most <= high):
                least, most = self._sane[0][:, column]
            return max(float(least), low), min(float(most), high)

        spread = replace(log, time=rows[:, 0], channels={name: rows[:, cut] for name, cut in cuts.items()})
        threes = {name: self._threes.sample[:, :, cut] for name, cut in cuts.items()}
        return surveyed(spread, self._samples, threes, self._stamps.sample, extremes)


def _wider(ends: list[FloatArray]) -> FloatArray:
    """Least of the least and largest of the largest; NaN stays."""
    return np.array([np.min([e[0] for e in ends], axis=0), np.max([e[1] for e in ends], axis=0)])
