"""Friction that drifts over minutes: what each joint's residual has along its own speed."""

from __future__ import annotations

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.tracking.watch.memory import LearntState


class FrictionWatch(LearntState):
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
        self.signals = np.zeros((block, 4, joints))
        self.torque, self.counted = np.zeros(joints), np.zeros(joints)
        self.rows = 0
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
        into = self.signals[self.rows]
        into[0], into[1], into[2], into[3] = residual, speed, torque, rows
        self.rows += 1
        return self.rows >= self._block

    def close(self) -> FloatArray:
        """f of the block that is complete, (n,); NaN for joints that turned back too little."""
        residual, speed, torque, rows = self.signals.transpose(1, 2, 0)
        self.torque += np.sum(rows * np.square(torque), axis=1)
        self.counted += rows.sum(axis=1)
        count = np.maximum(rows.sum(axis=1), 1.0)
        usual = np.sqrt(np.sum(rows * np.square(speed), axis=1) / count) + 1e-12
        ways = np.sign(speed) * rows
        columns = np.stack([ways, rows * speed / usual[:, None], rows], axis=1)
        A = columns @ columns.transpose(0, 2, 1) + 1e-3 * count[:, None, None] * np.eye(3)
        x = np.linalg.solve(A, np.sum(columns * residual[:, None, :], axis=2)[:, :, None])[:, :, 0]
        both_ways = np.abs(ways.sum(axis=1)) < 0.8 * count
        f = np.where(both_ways & (count > 0.2 * self._block), x[:, 0] + x[:, 1], np.nan)
        self.rows = 0
        if self.blocks < self._learnt:
            self.first[self.blocks] = f
        self.last = np.vstack([self.last[1:], f])
        self.blocks += 1
        return np.asarray(f)

    def change(self) -> tuple[FloatArray, FloatArray]:
        """Change of the last blocks against the first ones and its σ, (n,) each; NaN when unknown."""
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
        return np.asarray(np.sqrt(self.torque / np.maximum(self.counted, 1.0)))

    def accept(self, joint: int) -> None:
        """Take the present friction of a joint as the usual one, and wait for new blocks of it."""
        change, _ = self.change()
        self.first[:, joint] += change[joint]
        self.last[:, joint] = np.nan
