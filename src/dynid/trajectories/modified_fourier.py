"""Modified Fourier series: a series of any frequency and a quintic that brings it to rest at both ends.

Wu, Zhu, Wang, Liu, "Closed-loop dynamic parameter identification of robot manipulators using modified Fourier
series", 2012 ([5] of P3).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.trajectories.extremes import verified_extremes
from dynid.trajectories.fourier import MOST_HARMONICS, Fourier
from dynid.trajectories.quintics import Quintics
from dynid.trajectories.trajectory import MotionSpace, Trajectory, finite_array, require_positive


@dataclass(frozen=True, eq=False)
class ModifiedFourier(Trajectory):
    """q_i = Σ_l a_il/(ω l) sin(ω l t) − b_il/(ω l) cos(ω l t) + Σ_k c_ik t^k, k = 0 … 5.

    The quintic is the one with which the motion begins at ``start`` and ends at ``end``, at rest: it follows
    from the rest and is not given. The frequency need not fit the duration.

    Args:
        length: T [s].
        frequency_hz: ω/2π, common to all axes.
        a: amplitudes of the cosines of the speed, (axes, harmonics) [rad/s or m/s].
        b: amplitudes of its sines, likewise.
        start: pose at the start, (axes,) [rad or m].
        end: pose at the end, likewise.
    """

    length: float
    frequency_hz: float
    a: FloatArray
    b: FloatArray
    start: FloatArray
    end: FloatArray

    def __post_init__(self) -> None:
        """Check shapes and values."""
        require_positive(duration=self.length)
        start = finite_array(self.start, (None,), "The start pose")
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "end", finite_array(self.end, start.shape, "The end pose"))
        series = Fourier(self.frequency_hz, self.a, self.b, np.zeros(len(start)))  # checks the rest
        object.__setattr__(self, "a", series.a)
        object.__setattr__(self, "b", series.b)

    @property
    def axes(self) -> int:
        """Number of axes."""
        return len(self.start)

    @property
    def duration(self) -> float:
        """T [s]."""
        return self.length

    @cached_property
    def _series(self) -> Fourier:
        return Fourier(self.frequency_hz, self.a, self.b, np.zeros(self.axes))

    @cached_property
    def _quintic(self) -> Quintics:
        """What is missing at both ends."""
        ends = np.array([0.0, self.length])
        q, qd, qdd = (-self._series.at(ends, order) for order in range(3))
        return Quintics(ends, q + np.stack([self.start, self.end]), qd, qdd)

    def at(self, time: ArrayLike, order: int = 0) -> FloatArray:
        """Derivative at instants, (instants, axes)."""
        return self._series.at(time, order) + self._quintic.at(time, order)

    def extremes(self, order: int = 0) -> tuple[FloatArray, FloatArray]:
        """Least and largest value, proved between samples."""
        curvature = self._series.bound(order + 2) + np.max(np.abs(self._quintic.extremes(order + 2)), axis=0)
        return verified_extremes(lambda t: self.at(t, order), self.length, curvature)


@dataclass(frozen=True)
class ModifiedFourierSpace(MotionSpace):
    """Modified Fourier series at rest at both ends; the end pose is free unless the motion is closed.

    c = (a, b, end − start) per axis: the columns of B are sines and cosines, each with its own quintic, and
    the quintic from 0 to 1.

    Args:
        frequency_hz: ω/2π; it need not fit the duration.
        harmonics: N; at least 1.
        duration: T [s].
        closed: whether motions end where they begin.
    """

    frequency_hz: float = 0.1
    harmonics: int = 5
    duration: float = 10.0
    closed: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot move."""
        require_positive(frequency_hz=self.frequency_hz, duration=self.duration)
        if not 1 <= self.harmonics <= MOST_HARMONICS:
            raise DynidError(
                f"{self.harmonics} harmonics were asked for; a modified Fourier series has 1 to "
                f"{MOST_HARMONICS}."
            )

    @property
    def size(self) -> int:
        """2 N coefficients per axis, and the way to the end pose."""
        return 2 * self.harmonics + (not self.closed)

    @property
    def words(self) -> str:
        """Number and frequency of the harmonics."""
        return f"{self.harmonics} harmonics of {self.frequency_hz:g} Hz and a quintic"

    @cached_property
    def _columns(self) -> ModifiedFourier:
        """The columns of B as the axes of one motion."""
        n = self.harmonics
        both = np.eye(self.size, 2 * n)
        end = np.zeros(self.size)
        end[2 * n :] = 1.0
        return ModifiedFourier(
            self.duration, self.frequency_hz, both[:, :n], both[:, n:], np.zeros(self.size), end
        )

    def matrix(self, time: ArrayLike, order: int = 0) -> FloatArray:
        """B or a derivative at instants, (instants, size)."""
        return self._columns.at(time, order)

    def trajectory(self, start: ArrayLike, coefficients: ArrayLike) -> ModifiedFourier:
        """The motion from ``start`` to ``start`` and the last coefficients."""
        pose, c = self.motion_input(start, coefficients)
        n = self.harmonics
        end = pose if self.closed else pose + c[:, -1]
        return ModifiedFourier(self.duration, self.frequency_hz, c[:, :n], c[:, n : 2 * n], pose, end)
