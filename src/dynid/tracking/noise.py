"""σ_j of each joint's torque, learnt from the first instants of a stream."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import NotTrustworthyError
from dynid.estimators.linear.least_squares import FLOOR
from dynid.problem.factor import spectrum


class NoiseLearning:
    """The first instants, kept until they tell how large the errors of each joint are.

    σ̂_j is what least squares on joint j's own rows leaves (P2 §II.C), as the batch has its first weights.

    Args:
        joints: rows of an instant.
        base: parameters.
        wanted: instants; more make σ̂_j surer, and values come later.
        driven: joints with a motor, (joints,); the rows of others say 0 = W_j χ and nothing of their errors.
    """

    def __init__(self, joints: int, base: int, wanted: int, driven: Sequence[bool]) -> None:
        """Take the memory."""
        self.W, self.Z = np.zeros((wanted, joints, base)), np.zeros((wanted, joints, base))
        self.y, self.used = np.zeros((wanted, joints)), np.zeros((wanted, joints))
        self.driven, self.count = np.asarray(driven, dtype=bool), 0

    @property
    def full(self) -> bool:
        """Whether there are enough."""
        return self.count >= len(self.y)

    def take(self, W: FloatArray, y: FloatArray, used: FloatArray, Z: FloatArray | None) -> None:
        """Keep one instant."""
        k = self.count
        self.W[k], self.y[k], self.used[k] = W, y, used
        if Z is not None:
            self.Z[k] = Z
        self.count += 1

    def sigma(self) -> FloatArray:
        """σ̂_j, (joints,) [N m or N].

        Raises:
            NotTrustworthyError: when no joint has rows to spare.
        """
        # A torque that is zero throughout says as little as a joint without a motor.
        self.driven = self.driven & np.any(self.y[: self.count] != 0.0, axis=0)
        found = np.array([self._own_sigma(j) if own else np.nan for j, own in enumerate(self.driven)])
        if not np.isfinite(found).any():
            raise NotTrustworthyError(
                f"The stream gave {self.count} usable instants, too few to tell how large the errors of the "
                "torques are; let the robot move longer, or give the standard deviations of the torques "
                "(--sigma)."
            )
        if not self.driven.all() and self.driven.any():
            found = np.where(self.driven, found, self._undriven_sigma(found))
        largest = float(np.nanmax(found))
        # Rounding of one joint must not silence the others.
        return np.where(np.isfinite(found), np.maximum(found, FLOOR * largest), largest)

    def _own_sigma(self, j: int) -> float:
        rows = self.used[: self.count, j] > 0
        own = np.column_stack([self.W[: self.count, j][rows], self.y[: self.count, j][rows]])
        seen = np.any(own != 0.0, axis=0)
        seen[-1] = True
        solved = spectrum(own[:, seen]) if seen.sum() > 1 else None
        free = int(rows.sum()) - (0 if solved is None else solved.rank)
        # As many rows again as parameters: what is left is otherwise mostly fitted away.
        if free < max(10, 0 if solved is None else solved.rank):
            return float("nan")
        left = float(np.linalg.norm(own[:, -1])) if solved is None else solved.residual_norm
        rms = float(np.sqrt(np.mean(own[:, -1] ** 2)))
        return float(max(left / free**0.5, FLOOR * rms))

    def _undriven_sigma(self, sigma: FloatArray) -> FloatArray:
        """What the rows of joints without a motor miss with the parameters that the driven ones give."""
        weight = np.where(self.driven & np.isfinite(sigma), 1.0 / sigma, 0.0)[:, None]
        rows = np.concatenate([self.W[: self.count] * weight, self.y[: self.count, :, None] * weight], axis=2)
        values = spectrum(rows.reshape(-1, rows.shape[2])).solution
        left = (self.y[: self.count] - self.W[: self.count] @ values) * self.used[: self.count]
        counts = np.maximum(self.used[: self.count].sum(axis=0), 1.0)
        spread: FloatArray = np.sqrt(np.sum(left**2, axis=0) / counts)
        return spread
