"""What every control law is: gains as data and one traced function; and a law that acts on the motors."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.dynamics.algebra import Scalar, dot, mul, sub
from dynid.dynamics.operations import Operations
from dynid.model.drives import Matrix
from dynid.model.robot import Robot

Scalars = Sequence[Scalar]
Answer = tuple[list[Scalar], list[Scalar]]
"""Torques, and rates of change of the law's memory."""


@dataclass(frozen=True)
class LawSignals:
    """What a law sees at a control instant, one scalar per coordinate.

    Args:
        reference: q_r [rad or m].
        reference_speed: its derivative.
        reference_acceleration: its second derivative.
        position: q as measured.
        speed: q̇ as the controller estimates it.
        torque: torque given from outside: feed-forward, or a measured torque to replay.
    """

    reference: Sequence[Scalar]
    reference_speed: Sequence[Scalar]
    reference_acceleration: Sequence[Scalar]
    position: Sequence[Scalar]
    speed: Sequence[Scalar]
    torque: Sequence[Scalar]


@dataclass(frozen=True)
class Law(ABC):
    """A control law: torques of the coordinates from reference and measurement."""

    @property
    @abstractmethod
    def axes(self) -> int:
        """Coordinates it controls."""

    @property
    @abstractmethod
    def gains(self) -> tuple[float, ...]:
        """Numbers the traced function takes as symbols, so that new gains need no new compilation."""

    @property
    def memory(self) -> int:
        """Numbers the law remembers, such as integrals; they start at zero."""
        return 0

    @property
    def feedback(self) -> bool:
        """Whether it looks at the robot, so that errors do not add up."""
        return True

    @property
    def key(self) -> str:
        """Text that fixes the traced function, gains apart."""
        return f"{type(self).__name__} {self.axes}"

    @abstractmethod
    def torque(self, signals: LawSignals, memory: Scalars, gains: Scalars, ops: Operations) -> Answer:
        """Torques [N m or N] and the rates of change of the memory [1/s]."""

    @property
    def tuned_inertia(self) -> tuple[float, ...] | None:
        """Inertias J_j the gains were made for, where the law knows them."""
        return None

    def damped_inertia(self) -> FloatArray:
        """Drive inertias that the gains, left as they are, damp critically: a start for simulations."""
        return np.ones(self.axes)

    def slowest_frequency(self) -> float | None:
        """ω_n of the slowest axis [rad/s], where the law tells it."""
        return None

    def scaled(self, ratio: Sequence[float]) -> Law:
        """The law tuned for inertias that are ``ratio`` times as large, poles unchanged (P0 eq 59)."""
        raise DynidError(f"The law {type(self).__name__} has no rule to follow the robot's inertia.")


def per_axis(values: Any, axes: int | None, name: str) -> tuple[float, ...]:
    """One number for all axes, or one per axis, as a tuple; checked."""
    given = np.atleast_1d(np.asarray(values, dtype=float))
    if given.ndim != 1 or not np.all(np.isfinite(given)):
        raise DynidError(f"{name} is {values!r}; give one finite number per axis.")
    if axes is not None and len(given) == 1:
        given = np.full(axes, given[0])
    if axes is not None and len(given) != axes:
        raise DynidError(
            f"{name} has {len(given)} values for {axes} axes; give one per axis, or one for all."
        )
    return tuple(float(v) for v in given)


def whole_number(value: Any) -> int | None:
    """A whole number of Python's or of numpy's; None for anything else."""
    try:
        return operator.index(value)
    except TypeError:
        return None


def same_axes(law: Any, names: Sequence[str]) -> None:
    """Make fields of a law tuples of one length: that of the longest."""
    longest = max(np.size(getattr(law, name)) for name in names)
    for name in names:
        object.__setattr__(law, name, per_axis(getattr(law, name), longest, name))


def options_of(law: Law) -> dict[str, Any]:
    """Name and numbers of a law, ready for JSON."""
    values = {f.name: getattr(law, f.name) for f in fields(law)}
    plain = {k: _plain(v) for k, v in values.items() if not callable(v)}
    return {"law": type(law).__name__, **plain}


def _plain(value: Any) -> Any:
    if isinstance(value, Law):
        return options_of(value)
    return list(value) if isinstance(value, tuple) else value.name if isinstance(value, Robot) else value


@dataclass(frozen=True)
class DriveSide(Law):
    """A law on the motors' side: u = law(R (q_r − offset), R (q − offset), R q̇), τ = Rᵀ diag(gain) u.

    It is right for coupled transmissions too, whose gains no joint has for itself.

    Args:
        inner: the law between the motors' positions and the controller's output u.
        ratio: R, one row per motor; the identity on the joint side.
        offset: joint positions when the motors read zero [rad or m].
        drive_gain: torque per unit of u, per motor.
        limit: largest |u| per motor; () none.
    """

    inner: Law
    ratio: Matrix
    offset: tuple[float, ...]
    drive_gain: tuple[float, ...]
    limit: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """One number per axis."""
        n = self.inner.axes
        for name in ("offset", "drive_gain", *(["limit"] if self.limit else [])):
            object.__setattr__(self, name, per_axis(getattr(self, name), n, name))
        if self.limit and min(self.limit) <= 0:
            raise DynidError(f"saturation is {self.limit}; every axis needs a positive limit.")

    @property
    def axes(self) -> int:
        """Coordinates it controls."""
        return self.inner.axes

    @property
    def gains(self) -> tuple[float, ...]:
        """Those of the inner law, the drives', the limits."""
        return (*self.inner.gains, *self.drive_gain, *self.limit)

    @property
    def memory(self) -> int:
        """That of the inner law."""
        return self.inner.memory

    @property
    def key(self) -> str:
        """The inner law and the transmission."""
        return f"DriveSide {self.inner.key} {self.ratio} {self.offset} {bool(self.limit)}"

    def torque(self, signals: LawSignals, memory: Scalars, gains: Scalars, ops: Operations) -> Answer:
        """Through the drives, the law, and back."""
        n, count = self.axes, len(self.inner.gains)
        own, drive, limit = gains[:count], gains[count : count + n], gains[count + n :]
        R = np.array(self.ratio, dtype=float)
        back = np.linalg.inv(R).T
        outside = [_of(back, m, signals.torque) / drive[m] for m in range(n)]
        seen = LawSignals(
            self._positions(R, signals.reference),
            [_of(R, m, signals.reference_speed) for m in range(n)],
            [_of(R, m, signals.reference_acceleration) for m in range(n)],
            self._positions(R, signals.position),
            [_of(R, m, signals.speed) for m in range(n)],
            outside,
        )
        output, rates = self.inner.torque(seen, memory, own, ops)
        if self.limit:
            low, high = ops.functions["max"], ops.functions["min"]
            output = [high(low(u, -m), m) for u, m in zip(output, limit, strict=True)]
        torques = [mul(g, u) for g, u in zip(drive, output, strict=True)]
        return [_of(R.T, j, torques) for j in range(n)], rates

    def scaled(self, ratio: Sequence[float]) -> DriveSide:
        """The inner law tuned for other inertias, where each motor moves one joint."""
        R = np.array(self.ratio)
        if np.any(np.diag(np.diag(R)) != R):
            raise DynidError(
                "The gains act on coupled motors, which follow no single joint's inertia; give the "
                "controller on the joint side, or keep its gains fixed."
            )
        return replace(self, inner=self.inner.scaled(ratio))

    def _positions(self, R: FloatArray, q: Sequence[Scalar]) -> list[Scalar]:
        moved = [sub(value, zero) for value, zero in zip(q, self.offset, strict=True)]
        return [_of(R, m, moved) for m in range(self.axes)]


def _of(matrix: FloatArray, row: int, values: Sequence[Scalar]) -> Scalar:
    """One row of a product, without the zeros."""
    return dot(matrix[row].tolist(), values)
