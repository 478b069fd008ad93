"""Motions one after the other, such as triangles and then sines (P1 §4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.trajectories.trajectory import Trajectory, same_state


@dataclass(frozen=True, eq=False)
class Sequence(Trajectory):
    """Motions that follow each other without a jump of position, speed or acceleration.

    Args:
        parts: in their order; ``bridge`` makes a part between two that do not meet.
    """

    parts: tuple[Trajectory, ...]

    def __post_init__(self) -> None:
        """Refuse parts of different robots, without end, or that do not meet."""
        object.__setattr__(self, "parts", tuple(self.parts))
        if not self.parts:
            raise DynidError("The sequence has no parts; give at least one trajectory.")
        for k, (one, other) in enumerate(zip(self.parts, self.parts[1:], strict=False), 1):
            if one.axes != other.axes:
                raise DynidError(
                    f"Parts {k} and {k + 1} have {one.axes} and {other.axes} axes; give parts of one robot."
                )
            if not np.isfinite(one.duration):
                raise DynidError(f"Part {k} has no end; give it a duration.")
            jump = np.abs(one.state(one.duration) - other.state(0.0)).max(axis=1)
            if not same_state(one.state(one.duration), other.state(0.0)):
                raise DynidError(
                    f"Between parts {k} and {k + 1} position, speed and acceleration jump by up to "
                    f"{jump[0]:.3g}, {jump[1]:.3g} and {jump[2]:.3g}; put bridge(part, next_part, duration) "
                    "between them."
                )

    @property
    def axes(self) -> int:
        """Number of axes."""
        return self.parts[0].axes

    @cached_property
    def _starts(self) -> FloatArray:
        """Instants at which the parts begin, and the end [s]."""
        return np.cumsum([0.0, *(part.duration for part in self.parts)])

    @property
    def duration(self) -> float:
        """Length of all parts [s]."""
        return float(self._starts[-1])

    def at(self, time: ArrayLike, order: int = 0) -> FloatArray:
        """Derivative at instants, (instants, axes)."""
        t = np.asarray(time, dtype=float)
        inner = self._starts[1:-1]
        which = np.searchsorted(inner, t, side="right")
        values = np.empty((len(t), self.axes))
        for k, part in enumerate(self.parts):
            values[which == k] = part.at(t[which == k] - self._starts[k], order)
        return values

    def extremes(self, order: int = 0) -> tuple[FloatArray, FloatArray]:
        """Least and largest value over all parts."""
        low, high = zip(*(part.extremes(order) for part in self.parts), strict=True)
        return np.min(low, axis=0), np.max(high, axis=0)
