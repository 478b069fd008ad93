"""Laws whose gains act on motors, or whose output is no torque yet: a law around another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid.core.errors import DynidError
from dynid.dynamics.algebra import Scalar, dot, mul, sub
from dynid.dynamics.operations import Operations
from dynid.model.drives import Matrix
from dynid.simulation.law import Answer, FloatArray, Law, LawSignals, Scalars, per_axis


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
