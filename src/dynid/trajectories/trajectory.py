"""A trajectory: the motion of all axes as exact functions of time, and spaces of such motions."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray, as_numbers
from dynid.core.errors import DynidError, ShapeError
from dynid.trajectories.reference import Reference, require_size

_SAME = 1e-7
"""Differences of two states that count as rounding [rad or m, per s, per s²]; no encoder sees them."""


class Trajectory(ABC):
    """Positions of all axes and their derivatives of any order, over 0 … ``duration``."""

    @property
    @abstractmethod
    def axes(self) -> int:
        """Number of axes."""

    @property
    @abstractmethod
    def duration(self) -> float:
        """Length of the motion, of one period where it is periodic [s]."""

    @property
    def periodic(self) -> bool:
        """Whether position, speed and acceleration go on smoothly into a repetition of the motion."""
        return bool(np.isfinite(self.duration)) and same_state(self.state(self.duration), self.state(0.0))

    @abstractmethod
    def at(self, time: ArrayLike, order: int = 0) -> FloatArray:
        """Derivative of the positions at instants, (instants, axes) [rad or m, per s^order].

        Args:
            time: instants (instants,) [s].
            order: 0 for positions, 1 for speeds, 2 for accelerations, 3 for jerks, …
        """

    @abstractmethod
    def extremes(self, order: int = 0) -> tuple[FloatArray, FloatArray]:
        """Least and largest value of a derivative over the whole motion, (axes,) each.

        They hold at every instant, not only at samples: nothing between samples lies beyond them.

        Args:
            order: of the derivative.
        """

    def state(self, time: float) -> FloatArray:
        """Position, speed and acceleration at an instant, (3, axes)."""
        return np.stack([self.at([time], order)[0] for order in range(3)])

    def sample(
        self, sample_time: float, duration: float | None = None, *, periods: int | None = None
    ) -> Reference:
        """The motion at constant steps, with exact speeds and accelerations.

        A length that is asked for has its end left out, as its next repetition begins there; the whole of a
        motion that is not periodic includes its last pose. A motion that is not periodic is not prolonged:
        samples at rest that nobody designed would only dilute the others.

        Args:
            sample_time: step [s].
            duration: length [s]; a periodic motion is repeated. All of the motion, or one period, when None.
            periods: length in repetitions of a periodic motion, instead of ``duration``.
        """
        length = self._length(duration, periods)
        if not (sample_time > 0 and length > sample_time):
            raise DynidError(
                f"A reference of {length:g} s in steps of {sample_time:g} s has fewer than two samples."
            )
        require_size(length / sample_time, self.axes)
        whole = duration is None and periods is None and not self.periodic
        # A last sample that rounding puts past the end is meant to be there.
        count = int(length / sample_time * (1 + 1e-12)) + 1 if whole else round(length / sample_time)
        time = np.arange(count) * sample_time
        if length > self.duration:
            time = np.mod(time, self.duration)
        q, qd, qdd = (self.at(time, order) for order in range(3))
        return Reference(sample_time, q, qd, qdd)

    def _length(self, duration: float | None, periods: int | None) -> float:
        """How long a sampled motion is to be [s]."""
        if duration is not None and periods is not None:
            raise DynidError("duration and periods are both given; keep one.")
        if periods is not None and periods < 1:
            raise DynidError(f"periods is {periods!r}; it must be a whole number from 1.")
        asked = self.duration * (periods or 1) if duration is None else duration
        if not np.isfinite(asked):
            raise DynidError(f"The motion lasts {asked:g} s; say how long it is wanted as duration.")
        if asked > self.duration * (1 + 1e-9) and not self.periodic:
            raise DynidError(
                f"{asked:g} s of a motion of {self.duration:g} s are asked for, and it cannot be repeated, "
                "because it does not end where and as it begins; ask for less, or close the motion."
            )
        return asked


def same_state(one: FloatArray, other: FloatArray) -> bool:
    """Whether two states (3, axes) are the same up to rounding."""
    return bool(np.all(np.abs(one - other) <= _SAME))


def require_positive(**values: float) -> None:
    """Refuse numbers that are not positive and finite; the names say what they are, with their unit.

    Args:
        values: by name, such as ``frequency_hz`` or ``duration``.
    """
    for name, value in values.items():
        if not 0 < value < np.inf:
            raise DynidError(f"{name} is {value!r}; it must be a positive number.")


def finite_array(values: ArrayLike, shape: tuple[int | None, ...], what: str) -> FloatArray:
    """Values as an array of a shape, finite.

    Args:
        values: an array, or lists.
        shape: sizes; None where any is right.
        what: they are, for the sentence.
    """
    made = as_numbers(values, what)
    fits = len(shape) == made.ndim and all(a in (None, b) for a, b in zip(shape, made.shape, strict=True))
    if not fits or made.size == 0:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ShapeError(f"{what} has shape {made.shape}; give numbers of shape ({wanted}).")
    if not np.all(np.isfinite(made)):
        raise ShapeError(f"{what} holds numbers that are not finite; give finite ones.")
    return made


class MotionSpace(ABC):
    """Motions that are linear in their coefficients and at rest at both ends: q(t) = q(0) + B(t) c.

    B(0) = Ḃ(0) = B̈(0) = 0 and Ḃ(T) = B̈(T) = 0 hold by construction: a design has no equations to obey.
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of coefficients per axis."""

    @property
    @abstractmethod
    def duration(self) -> float:
        """Length of the motions [s]."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What the motions are made of, in words."""

    @abstractmethod
    def matrix(self, time: ArrayLike, order: int = 0) -> FloatArray:
        """B or one of its derivatives at instants, (instants, size).

        Args:
            time: instants (instants,) [s].
            order: of the derivative.
        """

    @abstractmethod
    def trajectory(self, start: ArrayLike, coefficients: ArrayLike) -> Trajectory:
        """The motion of some coefficients.

        Args:
            start: pose at both ends, or at the start where the end is free, (axes,).
            coefficients: c, (axes, size).
        """

    def motion_input(self, start: ArrayLike, coefficients: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """The arguments of ``trajectory`` as arrays, (axes,) and (axes, size)."""
        pose = finite_array(start, (None,), "The start pose")
        return pose, finite_array(coefficients, (len(pose), self.size), "The array of coefficients")
