"""Sums of sines with frequencies of their own (P0 §V, P1 §4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, pi

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.trajectories.extremes import verified_extremes
from dynid.trajectories.trajectory import Trajectory

Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Sines(Trajectory):
    """Sums of sines, the same number for every axis or fewer (zeros): Σ A sin(2π f t + φ) + offset.

    Args:
        amplitudes: A per axis, each a list [rad or m].
        frequencies_hz: f per axis, of the same lengths.
        phases: φ per axis [rad]; zero when empty.
        offsets: one per axis; zero when empty.
        duration: length [s]; without end unless given, and then ``sample`` is told how long.
    """

    amplitudes: Rows
    frequencies_hz: Rows
    phases: Rows = ()
    offsets: tuple[float, ...] = ()
    duration: float = inf

    def __post_init__(self) -> None:
        """Freeze the lists, which may be arrays, and check that they belong together."""
        for name in ("amplitudes", "frequencies_hz", "phases"):
            object.__setattr__(self, name, tuple(tuple(map(float, row)) for row in getattr(self, name)))
        object.__setattr__(self, "offsets", tuple(map(float, self.offsets)))
        shapes = [tuple(len(row) for row in rows) for rows in (self.amplitudes, self.frequencies_hz)]
        if self.phases:
            shapes.append(tuple(len(row) for row in self.phases))
        if len(set(shapes)) != 1 or (self.offsets and len(self.offsets) != len(self.amplitudes)):
            raise DynidError(
                f"The sines have lists of lengths {shapes}; give one list per axis of amplitudes, "
                "frequencies and phases, all of the same lengths."
            )
        rows = (*self.amplitudes, *self.frequencies_hz, *self.phases, self.offsets)
        if not all(np.all(np.isfinite(row)) for row in rows):
            raise DynidError("The sines have numbers that are not finite; give finite ones.")
        if not self.duration > 0:
            raise DynidError(f"duration is {self.duration!r} s; it must be positive.")

    @property
    def axes(self) -> int:
        """Number of axes."""
        return len(self.amplitudes)

    def at(self, time: ArrayLike, order: int = 0) -> FloatArray:
        """Derivative at instants, (instants, axes)."""
        t = np.asarray(time, dtype=float)
        values = np.zeros((len(t), self.axes))
        if order == 0 and self.offsets:
            values += self.offsets
        for axis, (rows, fs) in enumerate(zip(self.amplitudes, self.frequencies_hz, strict=True)):
            phases = self.phases[axis] if self.phases else (0.0,) * len(rows)
            for a, f, phase in zip(rows, fs, phases, strict=True):
                w = 2 * pi * f
                s = (np.sin, np.cos)[order % 2](w * t + phase)
                values[:, axis] += (a if order % 4 < 2 else -a) * w**order * s
        return values

    def bound(self, order: int) -> FloatArray:
        """Σ |A| (2π f)^order per axis, (axes,): what the sines alone can reach at most."""
        pairs = zip(self.amplitudes, self.frequencies_hz, strict=True)
        return np.array([np.abs(a) @ np.abs(2 * pi * np.array(f)) ** order for a, f in pairs])

    def extremes(self, order: int = 0) -> tuple[FloatArray, FloatArray]:
        """Least and largest value, proved between samples; without an end, bounds that hold at all times."""
        if np.isfinite(self.duration):
            return verified_extremes(lambda t: self.at(t, order), self.duration, self.bound(order + 2))
        middle = np.array(self.offsets) if order == 0 and self.offsets else np.zeros(self.axes)
        return middle - self.bound(order), middle + self.bound(order)
