"""A log too long for memory: opened at its head, read on chunk by chunk, never with garbage in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynid.checks.check import DataCheck, check_log
from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.logs.chunks import Chunks, iter_chunks
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.logs.read import MappingLike
from dynid.model.robot import Robot
from dynid.preparation.chunked import prepare_chunks
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.workflow.logs import CHUNK
from dynid.workflow.screening import refuse_unusable

FloatArray = NDArray[np.float64]
_CHECKED = 50_000
"""Samples the data check of a long log looks at."""
_HUGE, _FAR = 1e10, 1e4
"""Values are garbage beyond this, or so many times the head's spread away; as in the data check."""


@dataclass(frozen=True, eq=False)
class LongLog:
    """A long log after a look at its head; its motions can be read once.

    Args:
        head: first chunk, joint side.
        check: data check of the beginning.
        robot: what was moved.
        chunks: the rest of the file.
    """

    head: Log
    check: DataCheck
    robot: Robot
    chunks: Chunks = field(repr=False)

    def motions(self, plan: Preparation, progress: Callable[[str], None]) -> Iterator[Motion]:
        """Prepared pieces, one after the other.

        Args:
            plan: what to do.
            progress: told how far it is.

        Raises:
            NotTrustworthyError: at a chunk with garbage in it.
        """
        done = 0
        limits = {name: _limits(self.head.array(name)) for name in ("position", "torque")}

        def rest() -> Iterator[Log]:
            for chunk in self.chunks:
                log = to_joint_side(chunk, self.robot)
                _refuse_garbage(log, limits)
                yield log

        for motion in prepare_chunks(chain([self.head], rest()), plan):
            done += motion.samples
            share = f" of {self.chunks.total:,}" if self.chunks.total else ""
            progress(f"{done:,}{share} samples")
            yield motion


def open_long(
    robot: Robot, path: Path, mapping: MappingLike, chunk: int = CHUNK, use: str = "fit"
) -> LongLog:
    """Read the head of a long log and check it.

    Args:
        robot: the robot.
        path: a Parquet or CSV file.
        mapping: what its columns are.
        chunk: samples held at once.
        use: "fit" or "validation".

    Raises:
        NotTrustworthyError: when its beginning is not usable.
    """
    chunks = iter_chunks(path, mapping, chunk)
    first = next(chunks, None)
    if first is None:
        raise DynidError(f"The log {path} holds no samples.")
    head = to_joint_side(first, robot)
    check = check_log(head.part(slice(_CHECKED)), robot)
    refuse_unusable(head, check, use)
    _refuse_garbage(head, {name: _limits(head.array(name)) for name in ("position", "torque")})
    return LongLog(head, check, robot, chunks)


def _limits(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest value that is no garbage, per axis, by the spread of the head."""
    calm = np.where(np.abs(values) < _HUGE, values, np.nan)
    low, middle, high = np.nanquantile(calm, [0.01, 0.5, 0.99], axis=0)
    reach = _FAR * np.maximum(high - low, 1e-6 * np.abs(middle))
    reach = np.where(reach > 0, np.minimum(reach, _HUGE), _HUGE)
    return middle - reach, middle + reach


def _refuse_garbage(log: Log, limits: dict[str, tuple[FloatArray, FloatArray]]) -> None:
    for name, (low, high) in limits.items():
        values = log.array(name)
        # NaN fails no comparison here; the preparation has a sentence of its own for it.
        wild = (np.min(values, axis=0) < low) | (np.max(values, axis=0) > high)
        if np.any(wild):
            axis = int(np.flatnonzero(wild)[0])
            row = int(np.flatnonzero((values[:, axis] < low[axis]) | (values[:, axis] > high[axis]))[0])
            raise NotTrustworthyError(
                f"Log {log.name!r} holds garbage: {name} on axis {axis + 1} is {values[row, axis]:.3g} at "
                f"t = {log.time[row]:.6g} s. Cut the log there, or repair it (dynid check --repair)."
            )
