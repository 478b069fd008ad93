"""Decimation of rows that arrive piece by piece, with memory that does not grow with the log."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import ShapeError
from dynid.preparation.modes import BlockFilter, ComplexArray, block_filter, handed_left, handed_right

FloatArray = NDArray[np.float64]


class Decimator:
    """The "scipy" decimation of k rows; the same outputs whatever the pieces, to rounding.

    ``push`` returns the outputs that no longer depend on what is to come, ``finish`` the others. What is kept
    between calls is about 300 outputs per row.

    Args:
        rows: k, signals filtered in parallel.
        factor: r; 1 passes everything through.
    """

    def __init__(self, rows: int, factor: int) -> None:
        """Begin before the first sample."""
        self._rows = rows
        self._factor = factor
        self._filter: BlockFilter = block_filter(max(factor, 2))  # a factor of 1 never uses it
        self._rest: FloatArray = np.empty((rows, 0))
        """Samples that do not fill a block yet."""
        self._outputs: FloatArray = np.empty((rows, 0, self._filter.outputs))
        """Outputs that still lack what comes from the right."""
        self._left: ComplexArray = np.empty((rows, 0, len(self._filter.poles)), dtype=complex)
        """What each of their blocks hands to the left."""
        self._state: ComplexArray = np.zeros((rows, len(self._filter.poles)), dtype=complex)
        """What all blocks so far hand to the right."""
        self._samples = 0
        self._first: FloatArray = np.empty((rows, 0))
        self._last: FloatArray = np.empty((rows, 0))
        self._begun = False
        """Whether the mirrored start is in the state."""
        self._given = 0

    def push(self, rows: FloatArray) -> FloatArray:
        """Take more samples (k, any number); return the outputs that are complete (k, some, often none)."""
        x = self._joined(rows)
        if self._factor == 1:
            return x.copy()
        whole = x.shape[1] // self._filter.block * self._filter.block
        self._take(x[:, :whole])
        self._rest = x[:, whole:].copy()
        memory = self._filter.memory_blocks
        waiting = self._left.shape[1]
        if waiting < 2 * memory:
            return np.empty((self._rows, 0))
        nothing = np.zeros_like(self._state)
        if not self._begun:
            self._begin(handed_left(self._filter.step, self._left, nothing)[1] - self._first)
        return self._release(waiting - memory, nothing)

    def finish(self, rows: FloatArray | None = None) -> FloatArray:
        """Take the last samples, if any; return all outputs that are left."""
        x = self._joined(np.empty((self._rows, 0)) if rows is None else rows)
        n, p, size = self._samples, self._filter.poles, self._filter.block
        if n < 2 or self._factor == 1:
            return x.copy()
        whole = x.shape[1] // size * size
        self._take(x[:, :whole])
        missing = -x.shape[1] % size
        if missing:
            self._take(np.pad(x[:, whole:], ((0, 0), (0, missing))))
        # The ends are mirrors: what lies before sample 0 is what lies after it, and so at the end. The two
        # mirrors see each other over a period of 2n − 2 samples.
        tail = self._state / p**missing - p * self._last
        if not self._begun:
            start = handed_left(self._filter.step, self._left, np.zeros_like(self._state))[1] - self._first
            self._begin((start + p ** (n - 2) * tail) / (1.0 - p ** (2 * n - 2)))
            tail = self._state / p**missing - p * self._last
        wanted = -(-n // self._factor) - self._given
        return self._release(self._left.shape[1], tail / p ** (2 + missing))[:, :wanted]

    def _joined(self, rows: FloatArray) -> FloatArray:
        """The rest of the last piece followed by this one."""
        array = np.asarray(rows, dtype=float)
        if array.ndim != 2 or len(array) != self._rows:
            raise ShapeError(
                f"The rows have shape {array.shape}; this decimation takes ({self._rows}, samples)."
            )
        if array.shape[1]:
            self._first = array[:, :1].copy() if self._samples == 0 else self._first
            self._last = array[:, -1:].copy()
            self._samples += array.shape[1]
        return np.concatenate([self._rest, array], axis=1) if self._rest.shape[1] else array

    def _take(self, x: FloatArray) -> None:
        """Filter whole blocks and hand their sums to the right."""
        if x.shape[1] == 0:
            return
        inner, right, left = self._filter.apply(x)
        before, self._state = handed_right(self._filter.step, right, self._state)
        inner += self._filter.from_left_of(before)
        waiting = self._left.shape[1] > 0
        self._outputs = np.concatenate([self._outputs, inner], axis=1) if waiting else inner
        self._left = np.concatenate([self._left, left], axis=1) if waiting else left

    def _begin(self, start: ComplexArray) -> None:
        """Add what lies before the first sample to all blocks so far."""
        waiting = self._left.shape[1]
        before = start[:, None, :] * self._filter.step ** np.arange(waiting)[:, None]
        self._outputs = self._outputs + self._filter.from_left_of(before)
        self._state = self._state + start * self._filter.step**waiting
        self._begun = True

    def _release(self, blocks: int, end: ComplexArray) -> FloatArray:
        """Complete the first blocks that wait, given what lies right of the last one that waits."""
        after, _ = handed_left(self._filter.step, self._left, end)
        done = self._outputs[:, :blocks] + self._filter.from_right_of(after[:, :blocks])
        self._outputs, self._left = self._outputs[:, blocks:].copy(), self._left[:, blocks:].copy()
        self._given += blocks * self._filter.outputs
        return done.reshape(self._rows, blocks * self._filter.outputs)
