"""A motion as blocks of regression rows: regressor, parallel decimation, speed mask."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.compile.kernels import RobotKernels
from dynid.signals.decimate import decimate_rows
from dynid.signals.decimator import Decimator
from dynid.signals.motion import Motion
from dynid.signals.preparation import Preparation

FloatArray = NDArray[np.float64]
BLOCK_SAMPLES = 2048
"""Samples of a block at the regression's rate: W of an arm then stays in the caches."""
PIECE_SAMPLES = 2016
"""Full-rate samples of the regressor computed at once while they are decimated."""
SEGMENT_BYTES = 48_000_000
"""Full-rate regressor held at once while it is low-passed."""
_SETTLING = 256
"""Samples of the decimated rate after which the decimation filter has forgotten its start, to rounding."""


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


def sample_offset(samples: int, plan: Preparation) -> int:
    """Full-rate number of the first sample kept: MATLAB's ``decimate`` keeps the last one."""
    return (samples - 1) % plan.decimation if plan.convention == "matlab" else 0


def blocks(
    kernels: RobotKernels, motion: Motion, plan: Preparation, block_samples: int | None = None
) -> Iterator[Block]:
    """Regression rows of a motion, block by block.

    Args:
        kernels: compiled kernels with the base columns.
        motion: the prepared motion.
        plan: decimation, its convention, and speed thresholds.
        block_samples: samples at the regression's rate taken at once; chosen for memory when None.
    """
    columns = structure(kernels)
    total = regression_samples(motion.samples, plan)
    size = block_samples or _segment_samples(columns, plan)
    for first in range(0, total, size):
        segment = _segment(kernels, columns, motion, plan, first, min(first + size, total))
        yield from _pieces(segment, first, min(size, BLOCK_SAMPLES))


def _segment(
    kernels: RobotKernels,
    columns: tuple[tuple[int, ...], ...],
    motion: Motion,
    plan: Preparation,
    first: int,
    last: int,
) -> Block:
    """Rows of the decimated samples first … last − 1."""
    low, high, skip = _span(motion.samples, plan, first, last)
    cut = slice(skip, skip + last - first)
    y = _decimated(motion.tau[low:high].T, plan)[:, cut]
    rows = [made[:, cut] for made in _regressor_rows(kernels, columns, motion, plan, low, high)]
    if not plan.speed_thresholds:
        return Block(last - first, (np.arange(first, last),) * len(columns), tuple(rows), tuple(y))
    speed = _decimated(motion.qd[low:high].T, plan)[:, cut]
    kept = np.abs(speed) >= np.array(plan.speed_thresholds)[:, None]
    return Block(
        last - first,
        tuple(first + np.flatnonzero(k) for k in kept),
        tuple(row[:, k] for row, k in zip(rows, kept, strict=True)),
        tuple(torque[k] for torque, k in zip(y, kept, strict=True)),
    )


def _regressor_rows(
    kernels: RobotKernels,
    columns: tuple[tuple[int, ...], ...],
    motion: Motion,
    plan: Preparation,
    low: int,
    high: int,
) -> list[FloatArray]:
    """Per joint the columns of full-rate samples low … high − 1, decimated: (columns of that joint, rows)."""
    if plan.decimation == 1 or plan.convention == "matlab":
        W = kernels.regressor_blocks(motion.q[low:high], motion.qd[low:high], motion.qdd[low:high])
        return [_decimated(W[j, list(own)], plan) for j, own in enumerate(columns)]
    # Piece by piece in one buffer, so that the full-rate regressor never leaves the caches.
    width = kernels.n_columns
    nonzero = [j * width + column for j, own in enumerate(columns) for column in own]
    low_pass = Decimator(len(nonzero), plan.decimation)
    made = []
    room = np.zeros((len(columns) * width, PIECE_SAMPLES))
    for start in range(low, high, PIECE_SAMPLES):
        part = slice(start, min(start + PIECE_SAMPLES, high))
        out = room[:, : part.stop - start]
        W = kernels.regressor_blocks(motion.q[part], motion.qd[part], motion.qdd[part], out=out)
        made.append(low_pass.push(W.reshape(len(out), -1)[nonzero]))
    rows = np.concatenate([*made, low_pass.finish()], axis=1)
    return np.split(rows, np.cumsum([len(own) for own in columns])[:-1])


def _pieces(block: Block, first: int, size: int) -> Iterator[Block]:
    """A block cut into blocks of at most so many samples."""
    for start in range(first, first + block.samples, size):
        count = min(size, first + block.samples - start)
        cuts = [slice(*np.searchsorted(sample, (start, start + count))) for sample in block.sample]
        yield Block(
            count,
            tuple(sample[cut] for sample, cut in zip(block.sample, cuts, strict=True)),
            tuple(W[:, cut] for W, cut in zip(block.W, cuts, strict=True)),
            tuple(y[cut] for y, cut in zip(block.y, cuts, strict=True)),
        )


def _segment_samples(columns: tuple[tuple[int, ...], ...], plan: Preparation) -> int:
    """As many as fit the bytes of a segment, at least as many as its two margins."""
    if plan.decimation == 1:
        return BLOCK_SAMPLES
    nonzero = max(1, sum(map(len, columns)))
    return max(2 * _SETTLING, SEGMENT_BYTES // (8 * nonzero * plan.decimation) - 2 * _SETTLING)


def _span(samples: int, plan: Preparation, first: int, last: int) -> tuple[int, int, int]:
    """Full-rate span that determines the decimated samples first … last − 1.

    Returns:
        Start and end of the span, and how many decimated samples lie in it before ``first``.
    """
    factor = plan.decimation
    if factor == 1:
        return first, last, 0
    offset = sample_offset(samples, plan)
    ahead = min(first, _SETTLING)
    # A span begins or ends with the motion itself, or on a kept sample, so its phase is the motion's.
    low = 0 if ahead == first else offset + (first - ahead) * factor
    high = min(samples, offset + (last - 1 + _SETTLING) * factor + 1)
    return low, high, ahead


def _decimated(rows: FloatArray, plan: Preparation) -> FloatArray:
    if plan.decimation == 1 or not rows.size:
        return rows
    return decimate_rows(rows, plan.decimation, plan.convention)
