"""What the arm's residuals are like while nothing happens: the size of each joint's, fast and slow.

Residuals of real arms are coloured and systematic (friction, ripple, flexibility), so that no threshold may
come from white noise. Every scale here is learnt from the arm itself, in seconds of motion, and follows it
slowly; large residuals are clipped, so that a change does not teach its own size.
"""

from __future__ import annotations

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.tracking.watch.memory import LearntState


class ResidualScale(LearntState):
    """Mean squares of the residual r, of its slow part m and of its fast part d = r − m, per joint.

    m follows r with the time constant T: m ← m + (Δt/T)(r − m). A residual of variance s² that is correlated
    over a while counts as fewer samples: over windows longer than T its mean has the variance that white
    noise of σ² = E[m²] · 2T/Δt would have. This long-run σ weighs the rows of the payload's recursion.

    Args:
        joints: n.
        rate_hz: updates per second of motion.
        slow_s: T [s].
        memory_s: time constant of the learning [s].
        clip: residuals beyond so many times their own size are clipped to it.
    """

    def __init__(
        self, joints: int, rate_hz: float, slow_s: float, memory_s: float, clip: float = 3.0
    ) -> None:
        """Nothing learnt yet."""
        self._gain = min(1.0, 1.0 / (slow_s * rate_hz))
        self._least = 1.0 / (memory_s * rate_hz)
        self._clip = clip * clip
        self.count = np.zeros(joints)
        self.slow = np.zeros(joints)
        self.fast = np.zeros(joints)
        self.squares = np.zeros((3, joints))
        self.lately, self.lately_rows = np.zeros((3, joints)), np.zeros(joints)

    def take(self, residual: FloatArray, rows: FloatArray, learn: bool) -> None:
        """Follow a residual (n,); rows (n,) is 1 where it counts and 0 where the row is masked."""
        self.slow += self._gain * rows * (residual - self.slow)
        self.fast = rows * (residual - self.slow)
        if not learn:
            return
        self.count += rows
        new = np.square(np.array((residual, self.slow, self.fast)))
        self.lately += rows * new
        self.lately_rows += rows
        enough = self.count > 1 / self._gain
        limit = np.where(enough, self._clip * self.squares, np.inf)
        gain = rows * np.maximum(1.0 / np.maximum(self.count, 1.0), self._least)
        self.squares += gain * (np.minimum(new, limit) - self.squares)

    def has_shrunk(self, ratio: float = 3.0) -> bool:
        """Start from what was lately seen if that is far below what was learnt: the recursion converges.

        Args:
            ratio: of the deviations.
        """
        count = np.maximum(self.lately_rows, 1.0)
        lately, seen = self.lately / count, self.lately_rows > 0
        shrunk = bool(np.any(seen & (lately[0] * ratio**2 < self.squares[0])))
        if shrunk:
            self.squares = np.where(seen, lately, self.squares)
            self.count = self.lately_rows.copy()
        self.lately, self.lately_rows = np.zeros_like(self.lately), np.zeros_like(self.lately_rows)
        return shrunk

    @property
    def fast_sigma(self) -> FloatArray:
        """Deviation of the fast part, (n,) [N m or N]."""
        return np.asarray(np.sqrt(np.maximum(self.squares[2], 1e-300)))

    @property
    def sigma(self) -> FloatArray:
        """Deviation of the residual, (n,) [N m or N]."""
        return np.asarray(np.sqrt(np.maximum(self.squares[0], 1e-300)))

    @property
    def long_run_sigma(self) -> FloatArray:
        """What white noise would need to average as badly as the residual does, (n,) [N m or N]."""
        return np.asarray(
            np.sqrt(np.maximum(np.maximum(self.squares[1] * 2 / self._gain, self.squares[0]), 1e-300))
        )


class Excess(LearntState):
    """How far statistics are beyond what they reach while nothing happens.

    The logarithm of a statistic is cut into blocks; the largest of each block is learnt, with mean μ and
    deviation s of these maxima. The excess is (log x − μ)/s: what it is worth does not depend on the arm,
    on the colour of its residuals or on the unit of x, and so one threshold holds for all arms. Alarms are
    learnt from too, clipped to four deviations: what recurs becomes usual, and no arm keeps on alarming.

    Args:
        size: number of statistics, each with its own μ and s.
        block: samples of a block.
        blocks: blocks that are remembered.
        least: least deviation of the logarithm, for residuals that repeat exactly.
        fewest: blocks from which a deviation is taken; with fewer the threshold itself is a guess.
    """

    def __init__(self, size: int, block: int, blocks: int, least: float = 0.2, fewest: int = 10) -> None:
        """Nothing learnt yet."""
        self._block, self._blocks, self._fewest = block, blocks, fewest
        self._least = least
        self.mean, self.variance = np.zeros(size), np.zeros(size)
        self.largest, self.spread = np.full(size, -np.inf), np.ones(size)
        self.count, self.samples = 0, 0

    @property
    def ready(self) -> bool:
        """Whether it has seen enough blocks for a deviation."""
        return self.count >= self._fewest

    def of(self, logarithm: FloatArray) -> FloatArray:
        """The excess of statistics, given by their logarithm (size,); −∞ while too little is learnt."""
        if not self.ready:
            return np.full(len(self.mean), -np.inf)
        return np.asarray((logarithm - self.mean) / self.spread)

    def learn(self, logarithm: FloatArray) -> None:
        """Take statistics of nominal motion, by their logarithm (size,)."""
        np.maximum(self.largest, logarithm, out=self.largest)
        self.samples += 1
        if self.samples < self._block:
            return
        off = self.largest - self.mean
        if self.ready:
            off = np.clip(off, -4.0 * self.spread, 4.0 * self.spread)
        self.count = min(self.count + 1, self._blocks)
        self.mean += off / self.count
        self.variance += (off * off * (1.0 - 1.0 / self.count) - self.variance) / self.count
        self.spread = np.maximum(np.sqrt(self.variance * (1.0 + 4.0 / self.count)), self._least)
        self.drop_block()

    def forget(self) -> None:
        """Begin anew, as when what was learnt is no longer usual."""
        self.count = 0
        self.mean[:], self.variance[:], self.spread[:] = 0.0, 0.0, 1.0
        self.drop_block()

    def drop_block(self) -> None:
        """Forget the block that is open, as when it was disturbed."""
        self.samples = 0
        self.largest[:] = -np.inf
