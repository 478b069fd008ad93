"""Friction that drifts over minutes: what each joint's residual has along its own speed."""

from __future__ import annotations

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.tracking.watch.memory import Memory


class FrictionWatch(Memory):
    """Friction torque of each joint, block by block, against the blocks that were learnt first.

    In a block of many seconds the residual of joint j against parameters that are held is fitted by
    a sign(q̇) + b q̇ + c; f = a + b · rms(q̇) is by how much its friction is off at its usual speed. Blocks of
    this length are nearly independent, so their spread holds with coloured residuals.

    Args:
        joints: n.
        block: updates of a block.
        average: blocks that are averaged before they are judged.
        learnt: blocks that are learnt from.
    """

    def __init__(self, joints: int, block: int, average: int, learnt: int = 9) -> None:
        """No block yet."""
        self._block, self._average, self._learnt = block, average, learnt
        self.A = np.zeros((joints, 3, 3))
        self.b = np.zeros((joints, 3))
        self.torque = np.zeros(joints)
        self.rows, self.updates = 0, 0
        self.first = np.full((learnt, joints), np.nan)
        self.last = np.full((average, joints), np.nan)
        self.blocks = 0

    def take(self, residual: FloatArray, speed: FloatArray, torque: FloatArray, rows: FloatArray) -> bool:
        """Take one update; whether a block is complete.

        Args:
            residual: against parameters that are held, (n,) [N m or N].
            speed: q̇ (n,).
            torque: measured (n,).
            rows: 1 where the row counts (n,).
        """
        columns = np.stack([np.sign(speed), speed, np.ones_like(speed)], axis=1) * rows[:, None]
        self.A += columns[:, :, None] * columns[:, None, :]
        self.b += columns * residual[:, None]
        self.torque += rows * np.square(torque)
        self.rows += 1
        self.updates += 1
        return self.rows >= self._block

    def close(self) -> FloatArray:
        """f of the block that is complete, (n,), not a number for joints that turned back too little."""
        count = np.maximum(self.A[:, 2, 2], 1.0)
        mean_square = self.A[:, 1, 1] / count
        scale = np.stack([np.ones_like(count), np.sqrt(mean_square) + 1e-12, np.ones_like(count)], axis=1)
        A = self.A / (scale[:, :, None] * scale[:, None, :]) + 1e-3 * count[:, None, None] * np.eye(3)
        x = np.linalg.solve(A, (self.b / scale)[:, :, None])[:, :, 0]
        both_ways = np.abs(self.A[:, 0, 2]) < 0.8 * count
        f = np.where(both_ways & (count > 0.2 * self._block), x[:, 0] + x[:, 1], np.nan)
        self.A[:], self.b[:], self.rows = 0.0, 0.0, 0
        if self.blocks < self._learnt:
            self.first[self.blocks] = f
        self.last = np.vstack([self.last[1:], f])
        self.blocks += 1
        return f

    def change(self) -> tuple[FloatArray, FloatArray]:
        """Change of the last blocks against the first ones and its σ, (n,) each; not a number when unknown."""
        unknown = np.full(len(self.torque), np.nan)
        if self.blocks < self._learnt + self._average:
            return unknown, unknown
        known = np.isfinite(self.first)
        count = np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, self.first, 0.0).sum(axis=0) / count
        spread = np.where(known, np.square(self.first - mean), 0.0).sum(axis=0) / np.maximum(count - 1, 1)
        sigma = np.sqrt(spread * (1.0 / self._average + 1.0 / count))
        enough = (count >= self._learnt - 2) & np.all(np.isfinite(self.last), axis=0)
        return np.where(enough, self.last.mean(axis=0) - mean, np.nan), np.where(enough, sigma, np.nan)

    def rms_torque(self) -> FloatArray:
        """Of each joint, (n,) [N m or N]."""
        return np.sqrt(self.torque / max(self.updates, 1))

    def accept(self, joint: int) -> None:
        """Take the present friction of a joint as the usual one, after it has been told."""
        change, _ = self.change()
        self.first[:, joint] += change[joint]
