"""Regression rows under MATLAB's decimation, which counts from the end of the motion and needs it whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.preparation.decimate import decimate_rows
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem.row_source import RowSource
from dynid.problem.stream import BLOCK_SAMPLES, RowBlock, masked_block, regression_samples

SEGMENT_BYTES = 48_000_000
"""Full-rate regressor held at once while it is low-passed."""
_SETTLING = 256
"""Samples of the decimated rate after which the decimation filter has forgotten its start, to rounding."""


def matlab_offset(samples: int, plan: Preparation) -> int:
    """Full-rate number of the first sample kept: MATLAB's ``decimate`` keeps the last one."""
    return (samples - 1) % plan.decimation if plan.convention == "matlab" else 0


def matlab_blocks(
    source: RowSource, motion: Motion, plan: Preparation, block_samples: int | None = None
) -> Iterator[RowBlock]:
    """Regression rows of a whole motion, block by block.

    Args:
        source: W along motions.
        motion: the prepared motion, with the torques of the rows.
        plan: decimation and speed thresholds.
        block_samples: samples at the regression's rate taken at once; chosen for memory when None.
    """
    columns = source.columns
    total = regression_samples(motion.samples, plan)
    size = block_samples or _segment_samples(columns, plan)
    for first in range(0, total, size):
        segment = _segment(source, motion, plan, first, min(first + size, total))
        yield from _pieces(segment, first, min(size, BLOCK_SAMPLES))


def _segment(
    source: RowSource,
    motion: Motion,
    plan: Preparation,
    first: int,
    last: int,
) -> RowBlock:
    """Rows of the decimated samples first … last − 1."""
    low, high, skip = _span(motion.samples, plan, first, last)
    cut = slice(skip, skip + last - first)
    span, columns = slice(low, high), source.columns
    W = source.along(motion, span)
    rows = [
        _decimate(motion.counted_values(span, W[j, list(own)], [j] * len(own)), plan)[:, cut]
        for j, own in enumerate(columns)
    ]
    every = range(len(columns))
    y = _decimate(motion.counted_values(span, motion.tau[low:high].T, every), plan)[:, cut]
    moving = motion.moving_values(span, motion.qd[low:high].T, every)
    speed = _decimate(moving, plan)[:, cut] if plan.speed_thresholds else y
    return masked_block(source, first, rows, y, speed, plan)


def _pieces(block: RowBlock, first: int, size: int) -> Iterator[RowBlock]:
    """A block cut into blocks of at most so many samples."""
    for start in range(first, first + block.samples, size):
        count = min(size, first + block.samples - start)
        cuts = [slice(*np.searchsorted(sample, (start, start + count))) for sample in block.sample]
        yield RowBlock(
            count,
            tuple(sample[cut] for sample, cut in zip(block.sample, cuts, strict=True)),
            tuple(W[:, cut] for W, cut in zip(block.W, cuts, strict=True)),
            tuple(y[cut] for y, cut in zip(block.y, cuts, strict=True)),
        )


def _segment_samples(columns: tuple[tuple[int, ...], ...], plan: Preparation) -> int:
    """As many as fit the bytes of a segment, at least as many as its two margins."""
    nonzero = max(1, sum(map(len, columns)))
    return max(2 * _SETTLING, SEGMENT_BYTES // (8 * nonzero * plan.decimation) - 2 * _SETTLING)


def _span(samples: int, plan: Preparation, first: int, last: int) -> tuple[int, int, int]:
    """Full-rate span that determines the decimated samples first … last − 1.

    Returns:
        Start and end of the span, and how many decimated samples lie in it before ``first``.
    """
    factor = plan.decimation
    offset = matlab_offset(samples, plan)
    ahead = min(first, _SETTLING)
    # A span begins or ends with the motion itself, or on a kept sample, so its phase is the motion's.
    low = 0 if ahead == first else offset + (first - ahead) * factor
    high = min(samples, offset + (last - 1 + _SETTLING) * factor + 1)
    return low, high, ahead


def _decimate(rows: FloatArray, plan: Preparation) -> FloatArray:
    return decimate_rows(rows, plan.decimation, plan.convention) if rows.size else rows
