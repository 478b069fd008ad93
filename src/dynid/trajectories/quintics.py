"""Quintic polynomials between given states: what every piecewise trajectory is made of."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import perm

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.trajectories.trajectory import Trajectory, finite_array

_DEGREE = 5
_ROUNDING = 1e-12
"""Share of the largest value by which extremes are widened, and below which a coefficient is rounding."""


@dataclass(frozen=True, eq=False)
class Quintics(Trajectory):
    """Polynomials of degree five from state to state: position, speed and acceleration are continuous.

    On piece k, with u = (t − t_k)/h_k from 0 to 1, q = Σ c_j u^j.

    Args:
        time: instants of the states, from 0, increasing, (states,) [s].
        q: positions there, (states, axes) [rad or m].
        qd: speeds, likewise.
        qdd: accelerations, likewise.
        excess: what each step has beyond that at the mean speed of its ends, (pieces, axes); taken from q
            when None. Where it is known, short pieces far from zero do not suffer from the rounding of q.
    """

    time: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    excess: FloatArray | None = None

    def __post_init__(self) -> None:
        """Check shapes and values."""
        object.__setattr__(self, "time", increasing_stamps(self.time))
        object.__setattr__(self, "q", finite_array(self.q, (len(self.time), None), "q of the states"))
        for name in ("qd", "qdd"):
            values = finite_array(getattr(self, name), self.q.shape, f"{name} of the states")
            object.__setattr__(self, name, values)
        if self.excess is not None:
            shape = (len(self.q) - 1, self.q.shape[1])
            object.__setattr__(self, "excess", finite_array(self.excess, shape, "excess of the steps"))

    @property
    def axes(self) -> int:
        """Number of axes."""
        return int(self.q.shape[1])

    @property
    def duration(self) -> float:
        """Instant of the last state [s]."""
        return float(self.time[-1])

    @cached_property
    def _coefficients(self) -> FloatArray:
        """c_j, (6, pieces, axes)."""
        h = np.diff(self.time)[:, None]
        v0, v1 = h * self.qd[:-1], h * self.qd[1:]
        a0, a1 = h * h * self.qdd[:-1] / 2, h * h * self.qdd[1:] / 2
        left = np.diff(self.q, axis=0) - (v0 + v1) / 2 if self.excess is None else self.excess
        turn = v1 - v0
        return np.stack(
            [
                self.q[:-1],
                v0,
                a0,
                10 * left + turn - 3 * a0 + a1,
                -15 * left - turn / 2 + 3 * a0 - 2 * a1,
                6 * left - a0 + a1,
            ]
        )

    def _derivative(self, order: int) -> FloatArray:
        """Coefficients of a derivative by time, (6 − order or 1, pieces, axes)."""
        if order > _DEGREE:
            return np.zeros_like(self._coefficients[:1])
        factors = np.array([perm(j, order) for j in range(order, _DEGREE + 1)], dtype=float)
        scale = np.diff(self.time)[:, None] ** order
        return np.asarray(factors[:, None, None] * self._coefficients[order:] / scale, dtype=float)

    def at(self, time: ArrayLike, order: int = 0) -> FloatArray:
        """Derivative at instants, (instants, axes); before the start and after the end as there."""
        t = np.asarray(time, dtype=float)
        k = np.clip(np.searchsorted(self.time, t, side="right") - 1, 0, len(self.time) - 2)
        u = np.clip((t - self.time[k]) / np.diff(self.time)[k], 0.0, 1.0)
        return _polynomial([c[k] for c in self._derivative(order)], u[:, None])

    def extremes(self, order: int = 0) -> tuple[FloatArray, FloatArray]:
        """Least and largest value, at the ends of pieces and where the next derivative is zero."""
        c = self._derivative(order)
        values = _polynomial(list(c), _turning_points(c))
        low, high = values.min(axis=(0, 1)), values.max(axis=(0, 1))
        margin = _ROUNDING * np.maximum(np.abs(low), np.abs(high))
        return low - margin, high + margin


def _polynomial(c: list[FloatArray], u: FloatArray) -> FloatArray:
    """Σ c_j u^j by Horner's rule."""
    values = c[-1] + 0.0 * u
    for term in reversed(c[:-1]):
        values = values * u + term
    return np.asarray(values, dtype=float)


def _turning_points(c: FloatArray) -> FloatArray:
    """Where polynomials on 0 … 1 can have extremes, (points, pieces, axes): both ends, roots of the slope.

    Roots outside and complex ones are moved onto 0 … 1: a point too many does no harm.
    """
    terms = len(c)
    slope = (c[1:] * np.arange(1, terms)[:, None, None]).reshape(terms - 1, c[0].size).T
    points = np.zeros((terms, len(slope)))
    points[-1] = 1.0
    if terms > 2:
        counts = np.abs(slope) > _ROUNDING * np.abs(slope).max(axis=1, keepdims=True)
        degrees = np.where(counts.any(axis=1), terms - 2 - np.argmax(counts[:, ::-1], axis=1), 0)
        for degree in range(1, terms - 1):
            rows = np.flatnonzero(degrees == degree)
            companion = np.zeros((len(rows), degree, degree))
            companion[:, 1:, :-1] = np.eye(degree - 1)
            companion[:, :, -1] = -slope[rows, :degree] / slope[rows, degree, None]
            points[:degree, rows] = np.clip(np.linalg.eigvals(companion).real, 0.0, 1.0).T
    return points.reshape(terms, *c.shape[1:])


class PiecewiseTrajectory(Trajectory):
    """A trajectory that is made of quintics."""

    @property
    @abstractmethod
    def quintics(self) -> Quintics:
        """The pieces."""

    @property
    def axes(self) -> int:
        """Number of axes."""
        return self.quintics.axes

    @property
    def duration(self) -> float:
        """Length of the motion [s]."""
        return self.quintics.duration

    def at(self, time: ArrayLike, order: int = 0) -> FloatArray:
        """Derivative at instants, (instants, axes)."""
        return self.quintics.at(time, order)

    def extremes(self, order: int = 0) -> tuple[FloatArray, FloatArray]:
        """Least and largest value over the whole motion, exact."""
        return self.quintics.extremes(order)


def increasing_stamps(time: ArrayLike) -> FloatArray:
    """Instants from 0 that increase, (instants,) [s]."""
    stamps = finite_array(time, (None,), "time")
    if len(stamps) < 2 or stamps[0] != 0 or np.any(np.diff(stamps) <= 0):
        raise DynidError("time must hold at least two instants that begin at 0 and increase.")
    return stamps


def bridge(before: Trajectory, after: Trajectory, duration: float) -> Quintics:
    """The quintic from the last state of one motion to the first of another.

    Args:
        before: the motion that it follows.
        after: the motion that it leads to.
        duration: length [s].
    """
    states = np.stack([before.state(before.duration), after.state(0.0)], axis=1)
    return Quintics(np.array([0.0, duration]), *states)
