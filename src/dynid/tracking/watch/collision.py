"""The arm is pushed: the fast part of the residuals, and how long it stays away from what is usual."""

from __future__ import annotations

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.tracking.watch.innovation import Excess
from dynid.tracking.watch.memory import LearntState


class ResidualLevel(LearntState):
    """Mean squares of weighted residuals over a short window, of each joint and of all, beside the usual.

    Args:
        joints: n.
        window: samples of the exponential window.
        block: see ``Excess``.
        blocks: see ``Excess``.
    """

    def __init__(self, joints: int, window: float, block: int, blocks: int) -> None:
        """Nothing seen yet."""
        self._gain = 1.0 / max(window, 1.0)
        self.squares = np.ones(joints + 1)
        self.usual = Excess(joints + 1, block, blocks)

    def take(self, weighted: FloatArray, learn: bool) -> float:
        """The largest excess after a weighted residual (n,); learnt from when ``learn``."""
        squares = weighted * weighted
        own = self.squares[:-1]
        own += self._gain * (squares - own)
        self.squares[-1] = own.sum() / len(own)
        logarithm = np.log(np.maximum(self.squares, 1e-12))
        if learn:
            self.usual.learn(logarithm)
        return float(self.usual.of(logarithm).max())

    def at_once(self, weighted: FloatArray) -> float:
        """The largest excess of one weighted residual (n,) alone, which does not remember the last ones."""
        squares = weighted * weighted
        return float(self.usual.of(np.log(np.maximum(np.append(squares, squares.mean()), 1e-12))).max())


class Push(LearntState):
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

    def begin(self, onset: float, time: float, excess: float) -> None:
        """A push begins, or something else that looks like one; ``excess`` is that of now."""
        self.onset, self.last, self.excess = onset, time, excess
        self.torque[:] = 0.0

    def take(self, time: float, excess: float, fast: FloatArray, beyond: bool) -> None:
        """Take the fast residual (n,) [N m or N] of one sample, and whether it is beyond the usual."""
        self.excess = max(self.excess, excess)
        self.torque = np.where(np.abs(fast) > np.abs(self.torque), fast, self.torque)
        if beyond:
            self.last = time
