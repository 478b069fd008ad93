"""Runs of bad samples, counted over chunks as over the whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]


def run_ends(bad: BoolArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Start of every run of bad samples, and the sample after its last."""
    edges = np.diff(np.concatenate(([0], bad.astype(np.int8), [0])))
    return np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)


def runs(bad: BoolArray) -> list[tuple[int, int]]:
    """Start and length of every run of bad samples."""
    return [(int(a), int(b - a)) for a, b in zip(*run_ends(bad), strict=True)]


class RunTally:
    """How many samples were bad, the first of them, and the longest run and where it begins."""

    def __init__(self) -> None:
        """Begin with none."""
        self.count = 0
        self.first = -1
        self.longest = 0
        self.at = -1
        self._open = -1
        self._next = 0

    def take(self, bad: BoolArray | None, samples: int) -> None:
        """The next samples.

        Args:
            bad: which of them are; None when none is.
            samples: how many they are.
        """
        if samples == 0:
            return
        begin, self._next = self._next, self._next + samples
        before, self._open = self._open, -1
        if bad is None:
            return
        for start, length in runs(bad):
            since = before if start == 0 and before >= 0 else begin + start
            stop = begin + start + length
            self.count += length
            self.first = since if self.first < 0 else self.first
            if stop - since > self.longest:
                self.longest, self.at = stop - since, since
            if start + length == samples:
                self._open = since
