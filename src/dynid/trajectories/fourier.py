"""Fourier series of P3 (eq 10–12): periodic motions, exact derivatives, and the space of those at rest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import pi

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.trajectories.extremes import verified_extremes
from dynid.trajectories.trajectory import MotionSpace, Trajectory, finite_array, require_positive

_LEAST_HARMONICS = 2
"""Two equations per axis hold speed and acceleration at zero: one harmonic would leave no motion."""
MOST_HARMONICS = 100


@dataclass(frozen=True, eq=False)
class Fourier(Trajectory):
    """q_i = q_i0 + Σ_l a_il/(ω l) sin(ω l t) − b_il/(ω l) cos(ω l t) (P3 eq 10).

    Args:
        frequency_hz: ω/2π, common to all axes.
        a: amplitudes of the cosines of the speed, (axes, harmonics) [rad/s or m/s].
        b: amplitudes of its sines, likewise.
        offset: q_i0, (axes,) [rad or m].
    """

    frequency_hz: float
    a: FloatArray
    b: FloatArray
    offset: FloatArray

    def __post_init__(self) -> None:
        """Check shapes and values."""
        require_positive(frequency_hz=self.frequency_hz)
        a = finite_array(self.a, (None, None), "a of the Fourier series")
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "b", finite_array(self.b, a.shape, "b of the Fourier series"))
        object.__setattr__(self, "offset", finite_array(self.offset, a.shape[:1], "Its offset"))

    @property
    def axes(self) -> int:
        """Number of axes."""
        return len(self.offset)

    @property
    def duration(self) -> float:
        """One period [s]."""
        return 1.0 / self.frequency_hz

    @cached_property
    def _pulsations(self) -> FloatArray:
        return np.asarray(2 * pi * self.frequency_hz * np.arange(1, self.a.shape[1] + 1), dtype=float)

    def at(self, time: ArrayLike, order: int = 0) -> FloatArray:
        """Derivative at instants, (instants, axes)."""
        w = self._pulsations
        phase = np.outer(np.asarray(time, dtype=float), w)
        sine, cosine = _derivative(np.sin(phase), np.cos(phase), order)
        scale = w ** (order - 1)
        values = (sine * scale) @ self.a.T - (cosine * scale) @ self.b.T
        return np.asarray(values + self.offset if order == 0 else values, dtype=float)

    def bound(self, order: int) -> FloatArray:
        """P3's conservative bounds (15)–(17) of |q^(order)|, (axes,): Σ_l √(a² + b²) (ω l)^(order−1)."""
        sums: FloatArray = np.hypot(self.a, self.b) @ self._pulsations ** (order - 1)
        return sums + np.abs(self.offset) if order == 0 else sums

    def extremes(self, order: int = 0) -> tuple[FloatArray, FloatArray]:
        """Least and largest value, proved between samples."""
        return verified_extremes(lambda t: self.at(t, order), self.duration, self.bound(order + 2))


def _derivative(sine: FloatArray, cosine: FloatArray, order: int) -> tuple[FloatArray, FloatArray]:
    """Derivatives of sin and cos by their argument."""
    sines = (sine, cosine, -sine, -cosine)
    return sines[order % 4], sines[(order + 1) % 4]


@dataclass(frozen=True)
class FourierSpace(MotionSpace):
    """Fourier series at rest at both ends: Σ a = 0 (eq 19) and Σ l b = 0 (eq 20) are eliminated.

    Args:
        frequency_hz: ω/2π.
        harmonics: N; at least 2.
    """

    frequency_hz: float = 0.1
    harmonics: int = 5

    def __post_init__(self) -> None:
        """Refuse series that cannot move and rest."""
        require_positive(frequency_hz=self.frequency_hz)
        if not isinstance(self.harmonics, int) or not _LEAST_HARMONICS <= self.harmonics <= MOST_HARMONICS:
            raise DynidError(
                f"{self.harmonics} harmonics were asked for; a Fourier series that starts and ends at rest "
                f"needs {_LEAST_HARMONICS} to {MOST_HARMONICS}, because speed and acceleration at the ends "
                "take two coefficients of each axis."
            )

    @property
    def size(self) -> int:
        """2 N − 2 free coefficients per axis."""
        return 2 * self.harmonics - 2

    @property
    def duration(self) -> float:
        """One period [s]."""
        return 1.0 / self.frequency_hz

    @property
    def words(self) -> str:
        """Number and frequency of the harmonics."""
        return f"{self.harmonics} harmonics of {self.frequency_hz:g} Hz"

    @cached_property
    def pulsations(self) -> FloatArray:
        """ω l of the harmonics, (harmonics,) [rad/s]."""
        return np.asarray(2 * pi * self.frequency_hz * np.arange(1, self.harmonics + 1), dtype=float)

    @cached_property
    def basis(self) -> FloatArray:
        """Orthonormal basis of the (a, b) with Σ a = 0 and Σ l b = 0, (2 N, size)."""
        equations = np.zeros((2, 2 * self.harmonics))
        equations[0, : self.harmonics] = 1.0
        equations[1, self.harmonics :] = np.arange(1, self.harmonics + 1)
        rotation = np.linalg.qr(equations.T, mode="complete")[0]
        return np.ascontiguousarray(rotation[:, 2:])

    def matrix(self, time: ArrayLike, order: int = 0) -> FloatArray:
        """B or a derivative at instants, (instants, size)."""
        w = self.pulsations
        phase = np.outer(np.asarray(time, dtype=float), w)
        sine, cosine = _derivative(np.sin(phase), np.cos(phase), order)
        if order == 0:
            cosine = cosine - 1.0  # so that every motion begins at its start pose
        scale = w ** (order - 1)
        return np.asarray(np.hstack([sine * scale, -cosine * scale]) @ self.basis, dtype=float)

    def series(self, coefficients: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """a and b, (axes, harmonics) each, of free coefficients (axes, size)."""
        both = np.asarray(coefficients, dtype=float) @ self.basis.T
        return both[:, : self.harmonics], both[:, self.harmonics :]

    def trajectory(self, start: ArrayLike, coefficients: ArrayLike) -> Fourier:
        """The series that begins and ends at ``start``."""
        pose, free = self.motion_input(start, coefficients)
        a, b = self.series(free)
        w = self.pulsations
        # At t = 0 the cosines are −Σ b/(ω l): eq 18 with the sign that eq 10 asks for.
        return Fourier(self.frequency_hz, a, b, pose + b @ (1.0 / w))
