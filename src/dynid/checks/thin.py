"""Samples spread over a log, the same ones whether it comes whole or chunk by chunk."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def stride(samples: int, fewest: int) -> int:
    """The power of two that leaves between ``fewest`` and twice as many samples; 1 when there are fewer.

    Powers of two nest: a longer log drops every other sample that a shorter one would have kept.

    Args:
        samples: length of the log.
        fewest: samples wanted.
    """
    step = 1
    while -(-samples // step) > 2 * fewest:
        step *= 2
    return step


def thinned(x: FloatArray, fewest: int, width: int = 1) -> FloatArray:
    """Groups of neighbouring samples spread over an array, (groups, width, …); a view when width is 1.

    Args:
        x: (samples, …).
        fewest: groups wanted, as in ``stride``.
        width: samples of a group.
    """
    count = max(len(x) - width + 1, 0)
    step = stride(count, fewest)
    if width == 1:
        return x[:count:step, None]
    return np.stack([x[i : i + count : step] for i in range(width)], axis=1)


class Thinner:
    """``thinned`` of an array that arrives in chunks.

    Args:
        fewest: groups wanted.
        width: samples of a group.
    """

    def __init__(self, fewest: int, width: int = 1) -> None:
        """Begin with nothing."""
        self._fewest = fewest
        self._width = width
        self._step = 1
        self._before = 0
        """Groups that began before those of the next chunk."""
        self._kept: list[FloatArray] = []
        self._count = 0
        self._rest: FloatArray | None = None

    def take(self, x: FloatArray) -> None:
        """The next samples, (samples, …)."""
        whole = x if self._rest is None or not len(self._rest) else np.concatenate([self._rest, x])
        count = max(len(whole) - self._width + 1, 0)
        skipped = -self._before % self._step
        made = np.stack([whole[skipped + i : count + i : self._step] for i in range(self._width)], axis=1)
        self._kept.append(made)
        self._count += len(made)
        self._before += count
        self._rest = whole[count:].copy()
        while self._count > 2 * self._fewest:
            self._kept = [self.sample[::2].copy()]
            self._count = len(self._kept[0])
            self._step *= 2

    @property
    def sample(self) -> FloatArray:
        """What was kept so far, (groups, width, …)."""
        if len(self._kept) > 1:
            self._kept = [np.concatenate(self._kept)]
        return self._kept[0]
