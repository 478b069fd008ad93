"""Triangular positions at constant low speed, with rounded corners (P1 §4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray, as_numbers
from dynid.core.errors import DynidError
from dynid.trajectories.quintics import Quintics
from dynid.trajectories.trajectory import Trajectory, finite_array, require_positive

MOST_CYCLES = 1000
BLENDS = (1e-6, 0.5)
"""Least and largest: below, corners are as good as sharp; above, start and first corner could overlap."""


@dataclass(frozen=True, eq=False)
class Triangles(Trajectory):
    """Every axis goes up and down between offset ± amplitude at one speed, some cycles in the common time.

    Constant speeds show friction and gravity. Corners are rounded by quintics, which turn the speed from v
    to −v in a time β with |q̈| ≤ 3 v/β; start and end are half such corners, so that all axes rest there.

    Args:
        amplitudes: that the rounded corners reach, (axes,) [rad or m].
        cycles: whole numbers, (axes,); different ones make the axes meet in many ways.
        length: common time of all axes [s].
        offsets: middle of the motion, where it begins and ends, (axes,) [rad or m]; zero when empty.
        blend: β as a share of the time between two corners, at most 0.5.
    """

    amplitudes: FloatArray
    cycles: tuple[int, ...]
    length: float
    offsets: FloatArray = ()  # type: ignore[assignment]
    blend: float = 0.1

    def __post_init__(self) -> None:
        """Check shapes and values."""
        require_positive(duration=self.length)
        amplitudes = finite_array(self.amplitudes, (None,), "amplitudes")
        offsets = finite_array(
            self.offsets if len(self.offsets) else np.zeros(len(amplitudes)), amplitudes.shape, "offsets"
        )
        cycles = as_numbers(self.cycles, "cycles")
        whole = cycles.shape == amplitudes.shape and np.all(cycles == np.round(cycles))
        if not whole or np.any(cycles < 1) or np.any(cycles > MOST_CYCLES):
            raise DynidError(
                f"cycles is {cycles.tolist()}; it must hold a whole number from 1 to {MOST_CYCLES} per axis."
            )
        if not BLENDS[0] <= self.blend <= BLENDS[1]:
            raise DynidError(
                f"blend is {self.blend!r}; it must be from {BLENDS[0]:g} to {BLENDS[1]:g}, as sharp corners "
                "need infinite accelerations."
            )
        object.__setattr__(self, "amplitudes", amplitudes)
        object.__setattr__(self, "offsets", offsets)
        object.__setattr__(self, "cycles", tuple(int(n) for n in cycles))

    @property
    def axes(self) -> int:
        """Number of axes."""
        return len(self.cycles)

    @property
    def duration(self) -> float:
        """Common time of all axes [s]."""
        return self.length

    @property
    def speeds(self) -> FloatArray:
        """Constant speed between corners, (axes,) [rad/s or m/s]."""
        return np.array([axis.qd[1, 0] for axis in self._quintics])

    def at(self, time: ArrayLike, order: int = 0) -> FloatArray:
        """Derivative at instants, (instants, axes)."""
        return np.hstack([axis.at(time, order) for axis in self._quintics])

    def extremes(self, order: int = 0) -> tuple[FloatArray, FloatArray]:
        """Least and largest value over the whole motion, exact."""
        low, high = zip(*(axis.extremes(order) for axis in self._quintics), strict=True)
        return np.concatenate(low), np.concatenate(high)

    @cached_property
    def _quintics(self) -> tuple[Quintics, ...]:
        """Every axis by itself, as their corners are at different instants."""
        return tuple(self._axis(axis) for axis in range(self.axes))

    def _axis(self, axis: int) -> Quintics:
        """One axis: half a corner, straight lines and corners in turn, half a corner."""
        n = self.cycles[axis]
        turn = self.blend * self.length / (2 * n)
        span = self.length - turn / 2  # of the sharp triangle, which begins and ends in the half corners
        # A rounded corner stays 3/16 v β below the sharp one.
        sharp = self.amplitudes[axis] / (1 - 0.75 * n * turn / span)
        speed = 4 * n * sharp / span
        corners = turn / 4 + span * (2 * np.arange(2 * n) + 1) / (4 * n)
        signs = (-1.0) ** np.arange(2 * n)  # of the speed before each corner
        time = np.stack([corners - turn / 2, corners + turn / 2], axis=1).ravel()
        q = self.offsets[axis] + np.repeat(signs * (sharp - speed * turn / 2), 2)
        qd = speed * np.stack([signs, -signs], axis=1).ravel()
        ramp, way = turn / 2, speed * turn / 4
        middle = self.offsets[axis]
        time = np.concatenate([[0.0, ramp], time, [self.length - ramp, self.length]])
        q = np.concatenate([[middle, middle + way], q, [middle - way, middle]])
        qd = np.concatenate([[0.0, speed], qd, [speed, 0.0]])
        zero = np.zeros((len(q), 1))
        return Quintics(time, q[:, None], qd[:, None], zero, zero[1:])
