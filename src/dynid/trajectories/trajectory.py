"""A trajectory: the motion of all axes as exact functions of time, and spaces of such motions."""

from __future__ import annotations

from abc import ABC, abstractmethod

from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray


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
        """Whether the motion goes on smoothly into its own repetition."""
        return False

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


class MotionSpace(ABC):
    """Motions that are linear in their coefficients and at rest at both ends: q(t) = q(0) + B(t) c.

    B(0) = Ḃ(0) = B̈(0) = 0 and Ḃ(T) = B̈(T) = 0 hold by construction, so that a design has no equations to obey.
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of coefficients per axis."""

    @property
    @abstractmethod
    def duration(self) -> float:
        """Length of the motions [s]."""

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
