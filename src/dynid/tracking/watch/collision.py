"""The arm is pushed: the fast part of the residuals, and how long it stays away from what is usual."""

from __future__ import annotations

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.tracking.watch.innovation import Excess
from dynid.tracking.watch.memory import Memory


class Level(Memory):
    """Mean square of weighted residuals over a short window and all joints, beside what it usually is.

    Args:
        window: samples of the exponential window.
        block: see ``Excess``.
        blocks: see ``Excess``.
    """

    def __init__(self, window: float, block: int, blocks: int) -> None:
        """Nothing seen yet."""
        self._gain = 1.0 / max(window, 1.0)
        self.mean_square = 1.0
        self.usual = Excess(block, blocks)

    def take(self, weighted: FloatArray, learn: bool) -> float:
        """The excess after a weighted residual (n,); learnt from when ``learn``."""
        self.mean_square += self._gain * (float(weighted @ weighted) / len(weighted) - self.mean_square)
        if learn:
            self.usual.learn(self.mean_square)
        return self.usual.of(self.mean_square)


class Push(Memory):
    """Joints and size of a push while it lasts.

    Args:
        joints: n.
    """

    def __init__(self, joints: int) -> None:
        """No push."""
        self.onset = -np.inf
        self.last = -np.inf
        self.excess = -np.inf
        self.torque = np.zeros(joints)

    def begin(self, time: float) -> None:
        """A push begins."""
        self.onset = self.last = time
        self.excess = -np.inf
        self.torque[:] = 0.0

    def take(self, time: float, excess: float, fast: FloatArray, beyond: bool) -> None:
        """Take the fast residual (n,) [N m or N] of one sample, and whether it is beyond the usual."""
        self.excess = max(self.excess, excess)
        self.torque = np.where(np.abs(fast) > np.abs(self.torque), fast, self.torque)
        if beyond:
            self.last = time
