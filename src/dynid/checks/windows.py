"""Chunks with their neighbours: what looks at a few samples to each side need not know where a log is cut."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Window:
    """Samples with at least so many before and after them, however the chunks are cut.

    Args:
        before: samples kept in front.
        after: samples waited for.
    """

    def __init__(self, before: int, after: int) -> None:
        """Begin before the first sample."""
        self._before = before
        self._after = after
        self._held: FloatArray | None = None
        self._done = 0
        """Samples of what is held that were given out already."""
        self._first = 0

    def take(self, x: FloatArray, last: bool) -> tuple[FloatArray, slice, int]:
        """The next samples; what can be looked at now.

        Args:
            x: (samples, …).
            last: whether none follow.

        Returns:
            An array, the part of it that is new and has its neighbours, and the number of its first sample.
        """
        whole = x if self._held is None else np.concatenate([self._held, x])
        stop = len(whole) if last else max(len(whole) - self._after, self._done)
        core, first = slice(self._done, stop), self._first
        low = max(stop - self._before, 0)
        self._held = None if last else whole[low:].copy()
        self._done, self._first = stop - low, first + low
        return whole, core, first
