"""Motions as blocks of regression rows: regressor, parallel decimation, speed mask."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.compile.kernels import RobotKernels
from dynid.preparation.decimator import Decimator
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation

FloatArray = NDArray[np.float64]
BLOCK_SAMPLES = 2048
"""Samples of a block at the regression's rate: W of an arm then stays in the caches."""
PIECE_SAMPLES = 2016
"""Full-rate samples of the regressor computed at once while they are decimated."""


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive regression rows of all joints of one motion.

    Args:
        samples: how many samples it spans at the regression's rate, masked ones included.
        sample: numbers of the samples at the regression's rate, per joint; masked ones are left out.
        W: per joint (columns of that joint, rows).
        y: per joint torques (rows,).
    """

    samples: int
    sample: tuple[NDArray[np.int64], ...]
    W: tuple[FloatArray, ...]
    y: tuple[FloatArray, ...]


def structure(kernels: RobotKernels) -> tuple[tuple[int, ...], ...]:
    """Per joint, the regressor columns that are not zero by structure."""
    width = kernels.n_columns
    found: list[list[int]] = [[] for _ in range(kernels.robot.n_coordinates)]
    for row in kernels.kernel("regressor").rows:
        found[row // width].append(row % width)
    return tuple(tuple(columns) for columns in found)


def regression_samples(samples: int, plan: Preparation) -> int:
    """Samples left of a motion after decimation."""
    return -(-samples // plan.decimation)


def masked_block(
    first: int, rows: list[FloatArray], y: FloatArray, speed: FloatArray, plan: Preparation
) -> Block:
    """A block without the rows of joints below their speed thresholds.

    Args:
        first: number of its first sample at the regression's rate.
        rows: per joint (columns of that joint, samples).
        y: torques (coordinates, samples).
        speed: speeds, likewise; not looked at when the plan has no thresholds.
        plan: speed thresholds.
    """
    count = y.shape[1]
    if not plan.speed_thresholds:
        return Block(count, (np.arange(first, first + count),) * len(rows), tuple(rows), tuple(y))
    kept = np.abs(speed) >= np.array(plan.speed_thresholds)[:, None]
    return Block(
        count,
        tuple(first + np.flatnonzero(k) for k in kept),
        tuple(row[:, k] for row, k in zip(rows, kept, strict=True)),
        tuple(torque[k] for torque, k in zip(y, kept, strict=True)),
    )


class RowStream:
    """Regression rows of one experiment whose motion arrives whole or in successive pieces.

    Torques, speeds and every column go through one decimation that keeps its phase and state between pieces:
    the rows are those of the whole motion, to rounding, wherever it was cut. "scipy" convention.

    Args:
        kernels: compiled kernels with the base columns.
        plan: decimation and speed thresholds.
        block_samples: samples of a block at the regression's rate; chosen for the caches when None.
    """

    def __init__(self, kernels: RobotKernels, plan: Preparation, block_samples: int | None = None) -> None:
        """Begin before the first sample."""
        self._kernels = kernels
        self._plan = plan
        usual = BLOCK_SAMPLES if plan.decimation > 1 else PIECE_SAMPLES  # no block is put together of two
        self._size = min(block_samples or usual, usual)
        columns, width = structure(kernels), kernels.n_columns
        self._nonzero = np.array([j * width + c for j, own in enumerate(columns) for c in own], dtype=np.intp)
        joints = len(columns)
        self._cuts = np.cumsum([*map(len, columns), joints])
        self._rows = int(self._cuts[-1]) + (joints if plan.speed_thresholds else 0)
        self._low_pass = Decimator(self._rows, plan.decimation)
        self._room = np.zeros((joints * width, PIECE_SAMPLES))
        self._held: list[FloatArray] = []
        self._waiting = 0
        self._first = 0

    def push(self, motion: Motion) -> Iterator[Block]:
        """Take the next piece of the motion, (samples, coordinates) each; yield the blocks that are full."""
        for start in range(0, motion.samples, PIECE_SAMPLES):
            self._hold(self._low_pass.push(self._full_rate(motion, start)))
            yield from self._full_blocks(self._size)

    def finish(self) -> Iterator[Block]:
        """Yield what is left when no piece follows."""
        self._hold(self._low_pass.finish() if self._plan.decimation > 1 else np.empty((self._rows, 0)))
        yield from self._full_blocks(self._size)
        yield from self._full_blocks(1)

    def _full_rate(self, motion: Motion, start: int) -> FloatArray:
        """Columns that are not zero, torques and, where a mask needs them, speeds: (rows, samples)."""
        part = slice(start, min(start + PIECE_SAMPLES, motion.samples))
        # One buffer, so that the full-rate regressor never leaves the caches.
        out = self._room[:, : part.stop - start]
        self._kernels.regressor_blocks(motion.q[part], motion.qd[part], motion.qdd[part], out=out)
        made = np.empty((self._rows, part.stop - start))
        made[: len(self._nonzero)] = out[self._nonzero]
        made[len(self._nonzero) : self._cuts[-1]] = motion.tau[part].T
        if self._rows > self._cuts[-1]:
            made[self._cuts[-1] :] = motion.qd[part].T
        return made

    def _hold(self, made: FloatArray) -> None:
        self._held.append(made)
        self._waiting += made.shape[1]

    def _full_blocks(self, size: int) -> Iterator[Block]:
        """Blocks of what waits, as long as at least so many samples do; no block is longer than usual."""
        if self._waiting < size:
            return
        rows = np.concatenate(self._held, axis=1) if len(self._held) > 1 else self._held[0]
        at = 0
        while rows.shape[1] - at >= size:
            count = min(self._size, rows.shape[1] - at)
            *W, y, speed = np.split(rows[:, at : at + count], self._cuts)
            yield masked_block(self._first, W, y, speed, self._plan)
            self._first += count
            at += count
        self._held, self._waiting = [rows[:, at:]], rows.shape[1] - at
