"""Rows of a problem in the order of time: what a recursion would have seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class Instant:
    """Rows of all joints at one stamp; those left out by a mask are zero.

    Args:
        experiment: number of the experiment.
        time: within it [s].
        used: joints whose rows count, (joints,).
        W: regressor, (joints, parameters).
        y: torques, (joints,) [N m or N].
        Z: instruments, (joints, parameters); None without any.
    """

    experiment: int
    time: float
    used: NDArray[np.bool_]
    W: FloatArray
    y: FloatArray
    Z: FloatArray | None = None


def instants_of(
    problem: Problem,
    kept: NDArray[np.bool_],
    instruments: Sequence[FloatArray] | None = None,
    chunk: int = 512,
) -> Iterator[Instant]:
    """All rows, instant by instant, experiment by experiment.

    Args:
        problem: with its rows.
        kept: parameters wanted, (base,) of bool.
        instruments: per joint (rows, base), as ``instrument_rows`` gives them.
        chunk: instants whose rows are spread out at once: some ten megabytes for a seven-axis arm.
    """
    joints = range(len(problem.regression.joints))
    rows = [problem.rows(j) for j in joints]
    wide = [own.wide(len(kept))[:, kept] for own in rows]
    others = None if instruments is None else [Z[:, kept] for Z in instruments]
    for k, experiment in enumerate(problem.experiments):
        own = [np.flatnonzero(r.experiment == k) for r in rows]
        samples = np.unique(np.concatenate([rows[j].sample[own[j]] for j in joints]))
        for first in range(0, len(samples), chunk):
            part = samples[first : first + chunk]
            shape = (len(part), len(rows), int(kept.sum()))
            W, y, used = np.zeros(shape), np.zeros(shape[:2]), np.zeros(shape[:2], dtype=bool)
            Z = None if others is None else np.zeros(shape)
            for j in joints:
                first_row, last_row = np.searchsorted(rows[j].sample[own[j]], (part[0], part[-1] + 1))
                mine = own[j][first_row:last_row]
                place = np.searchsorted(part, rows[j].sample[mine])
                W[place, j], y[place, j], used[place, j] = wide[j][mine], rows[j].y[mine], True
                if Z is not None and others is not None:
                    Z[place, j] = others[j][mine]
            times = experiment.start_s + part * experiment.step_s
            for i, time in enumerate(times):
                yield Instant(k, float(time), used[i], W[i], y[i], None if Z is None else Z[i])
