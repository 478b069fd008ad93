"""Motions as blocks of regression rows: regressor, parallel decimation, speed mask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.logs.spool import blocks
from dynid.preparation.decimate import Decimator
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem.row_source import RowSource

BLOCK_SAMPLES = 2048
"""Samples of a block at the regression's rate: W of an arm then stays in the caches."""
PIECE_SAMPLES = 2016
"""Full-rate samples of the regressor computed at once while they are decimated."""
_PIECES_READ = 32
"""Such pieces that are read from disk at once, where the motion is kept there."""


@dataclass(frozen=True, eq=False)
class RowBlock:
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

    def without_joints(self, silent: Sequence[int]) -> RowBlock:
        """The block without the rows of some joints, whose torques say nothing."""
        if not silent:
            return self
        kept = [slice(0, 0 if j in silent else None) for j in range(len(self.y))]
        return RowBlock(
            self.samples,
            tuple(sample[k] for sample, k in zip(self.sample, kept, strict=True)),
            tuple(W[:, k] for W, k in zip(self.W, kept, strict=True)),
            tuple(y[k] for y, k in zip(self.y, kept, strict=True)),
        )


def regression_samples(samples: int, plan: Preparation) -> int:
    """Samples left of a motion after decimation."""
    return -(-samples // plan.decimation)


def masked_block(
    source: RowSource,
    first: int,
    rows: list[FloatArray],
    y: FloatArray,
    speed: FloatArray,
    plan: Preparation,
) -> RowBlock:
    """A block without the rows of joints below their speed thresholds.

    Args:
        source: whose rows they are; a motor's row goes where any of its joints is slow.
        first: number of its first sample at the regression's rate.
        rows: per joint (columns of that joint, samples).
        y: torques (coordinates, samples).
        speed: speeds of the coordinates, likewise; not looked at when the plan has no thresholds.
        plan: speed thresholds.
    """
    count = y.shape[1]
    if not plan.speed_thresholds:
        return RowBlock(count, (np.arange(first, first + count),) * len(rows), tuple(rows), tuple(y))
    kept = ~source.any_joint(np.abs(speed) < np.array(plan.speed_thresholds)[:, None])
    return RowBlock(
        count,
        tuple(first + np.flatnonzero(k) for k in kept),
        tuple(row[:, k] for row, k in zip(rows, kept, strict=True)),
        tuple(torque[k] for torque, k in zip(y, kept, strict=True)),
    )


def streamed_blocks(
    source: RowSource, motion: Motion, plan: Preparation, block_samples: int | None = None
) -> Iterator[RowBlock]:
    """Regression rows of a motion in the "scipy" convention, block by block.

    Torques, speeds and every column go through one decimation that keeps its phase and state, so that memory
    does not depend on the length of the motion.

    Args:
        source: W along motions.
        motion: prepared motion, with the torques of the rows.
        plan: decimation and speed thresholds.
        block_samples: samples of a block at the regression's rate; chosen for the caches when None.
    """
    columns = source.columns
    joints = len(columns)
    usual = BLOCK_SAMPLES if plan.decimation > 1 else PIECE_SAMPLES  # no block is put together of two
    size = min(block_samples or usual, usual)
    cuts = np.cumsum([*map(len, columns), joints])
    first, held, waiting = 0, list[FloatArray](), 0

    def cut(rows: FloatArray, least: int) -> Iterator[RowBlock]:
        """Blocks of at most ``size`` samples, as long as at least so many are left."""
        at = 0
        while rows.shape[1] - at >= least:
            count = min(size, rows.shape[1] - at)
            *W, y, speed = np.split(rows[:, at : at + count], cuts)
            yield masked_block(source, first + at, W, y, speed, plan)
            at += count

    for made in _decimated_rows(source, motion, plan):
        held.append(made)
        waiting += made.shape[1]
        if waiting >= size:
            rows = np.concatenate(held, axis=1) if len(held) > 1 else held[0]
            yield from cut(rows, size)
            done = waiting // size * size
            held, waiting, first = [rows[:, done:]], waiting - done, first + done
    if waiting:
        yield from cut(np.concatenate(held, axis=1), 1)


def _decimated_rows(source: RowSource, motion: Motion, plan: Preparation) -> Iterator[FloatArray]:
    """Columns that are not zero, torques and, where a mask needs them, speeds, decimated: (rows, some)."""
    columns = source.columns
    joints, width = len(columns), len(source.base)
    nonzero = np.array([j * width + c for j, own in enumerate(columns) for c in own], dtype=np.intp)
    torques = slice(len(nonzero), len(nonzero) + joints)
    owner, every = nonzero // width, range(joints)
    count = torques.stop + (joints if plan.speed_thresholds else 0)
    low_pass = Decimator(count, plan.decimation)
    # One buffer, so that the full-rate regressor never leaves the caches.
    room = np.zeros((joints * width, PIECE_SAMPLES))
    for part in motion.pieces(_PIECES_READ * PIECE_SAMPLES):
        for rows in blocks(part.samples, PIECE_SAMPLES):
            W = source.along(part, rows, out=room[:, : rows.stop - rows.start])
            full = np.empty((count, W.shape[2]))
            full[: len(nonzero)] = part.counted_values(rows, W[owner, nonzero % width], owner)
            full[torques] = part.counted_values(rows, part.tau[rows].T, every)
            if plan.speed_thresholds:
                full[torques.stop :] = part.moving_values(rows, part.qd[rows].T, every)
            yield low_pass.push(full)
    yield low_pass.finish()
