"""What stands between the motors and the joints: gear ratios, coupled transmissions, drive gains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray
from dynid.core.errors import ModelError, ShapeError
from dynid.core.keys import key
from dynid.core.tables import check_fields

Matrix = tuple[tuple[float, ...], ...]
HOW_TO_GIVE = (
    "add [drives] with ratio to the robot file (dynid model ROBOT --toml FILE makes one of a URDF or MJCF), "
    "or give them in a file of their own (--drives FILE, Robot.with_drives)"
)
"""What to do about a robot without drives."""


@dataclass(frozen=True)
class Drives:
    """Transmission between motors and joints.

    q_m = R (q − offset),  τ = Rᵀ diag(gain) u, with R square and regular. An off-diagonal R[m, j] says that
    motor m also turns when joint j moves, as in the wrists of the TX40 and the RX-90.

    Args:
        ratio: R, one row per motor, one column per coordinate (signed gear ratios).
        offset: joint position when the motors read zero [rad or m].
        gain: motor torque per unit of the logged signal (1 when the log holds motor torques) [N m/unit].
    """

    ratio: Matrix = key("R, row by row")
    offset: tuple[float, ...] = key("joint positions where motors read zero", unit="rad or m")
    gain: tuple[float, ...] = key("torque per unit of the signal")

    def __post_init__(self) -> None:
        """Check sizes and that every joint position follows from the motors'."""
        check_fields(self, "Drives", ModelError)
        n = len(self.ratio)
        sizes = {len(row) for row in self.ratio} | {len(self.offset), len(self.gain)}
        if sizes != {n}:
            raise ModelError(
                f"The drives name {n} motors but rows, offsets and gains of sizes {sorted(sizes)}; "
                "give a square ratio matrix and one offset and one gain per motor."
            )
        R = np.array(self.ratio, dtype=float)
        if 0.0 in self.gain:
            raise ModelError(
                "A drive gain is 0; a logged signal must say something about the motor's torque."
            )
        if np.any(np.diag(R) == 0) or np.linalg.cond(R) > 1e12:
            raise ModelError(
                "The gear-ratio matrix cannot be inverted or has a zero on its diagonal; "
                "motor j must turn with joint j."
            )

    @classmethod
    def unit(cls, count: int) -> Drives:
        """Drives of logs on the joint side: ratios and gains 1, offsets 0, for so many motors."""
        ratio = tuple(tuple(float(m == j) for j in range(count)) for m in range(count))
        return cls(ratio, (0.0,) * count, (1.0,) * count)

    @property
    def matrix(self) -> FloatArray:
        """R as an array (motors, coordinates)."""
        return np.array(self.ratio, dtype=float)

    @property
    def shares(self) -> FloatArray:
        """ρ[m, j] = R[m, j] / R[m, m]: what a joint's motion contributes to motor m, in joint-m units."""
        R = self.matrix
        return R / np.diag(R)[:, None]

    def coupled_motors(self) -> tuple[int, ...]:
        """Motors that turn with more than one joint."""
        return tuple(m for m, row in enumerate(self.ratio) if sum(value != 0 for value in row) > 1)

    def joint_position(self, q_motor: ArrayLike) -> FloatArray:
        """Joint positions (samples, joints) from motor positions: q = R⁻¹ q_m + offset."""
        q_m = self._samples(q_motor, "motor positions")
        q: FloatArray = np.linalg.solve(self.matrix, q_m.T).T + np.array(self.offset)
        return q

    def motor_position(self, q: ArrayLike) -> FloatArray:
        """Motor positions (samples, motors) from joint positions: q_m = R (q − offset)."""
        q_m: FloatArray = (self._samples(q, "joint positions") - np.array(self.offset)) @ self.matrix.T
        return q_m

    def joint_torque(self, signal: ArrayLike) -> FloatArray:
        """Joint torques (samples, joints) from the logged drive signal: τ = Rᵀ diag(gain) u."""
        tau: FloatArray = (self._samples(signal, "motor torques") * np.array(self.gain)) @ self.matrix
        return tau

    def motor_torque(self, torque: ArrayLike) -> FloatArray:
        """Drive signal (samples, motors) that gives these joint torques: u = diag(1/gain) R⁻ᵀ τ."""
        tau = self._samples(torque, "joint torques")
        signal: FloatArray = np.linalg.solve(self.matrix.T, tau.T).T / np.array(self.gain)
        return signal

    def _samples(self, values: ArrayLike, what: str) -> FloatArray:
        array = np.atleast_2d(np.asarray(values, dtype=float))
        if array.ndim != 2 or array.shape[1] != len(self.ratio):
            raise ShapeError(f"The {what} have shape {array.shape}; expected (samples, {len(self.ratio)}).")
        return array
