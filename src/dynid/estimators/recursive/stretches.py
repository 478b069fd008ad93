"""Stretches of time as factors of their own, so that σ of a recursion can be honest at any moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.compile.fold import FoldedRows
from dynid.core.arrays import FloatArray
from dynid.estimators.honest import TimeBlocks

MOST = 30
"""Stretches kept: three for each of the ten blocks that σ is made from."""


@dataclass(frozen=True, eq=False)
class Stretch:
    """The factor of the rows of a stretch of time.

    Args:
        factor: [R | …], (pivots, width).
        updates: how many it holds.
        faded: Σ log λ of the recursion when the factor was right.
    """

    factor: FloatArray
    updates: int
    faded: float

    def at(self, faded: float) -> FloatArray:
        """The factor as it counts at a later Σ log λ."""
        return np.asarray(self.factor * np.exp(0.5 * (faded - self.faded)), dtype=float)


class Stretches:
    """Up to ``MOST`` stretches of nearly equal length, however long the recursion runs.

    Args:
        pivots: as of the recursion's factor.
        width: likewise.
        rows: likewise.
        length: updates after which a stretch is closed.
        backend: of the compiled fold.
    """

    def __init__(self, pivots: int, width: int, rows: int, length: int, backend: str = "auto") -> None:
        """Begin with an empty stretch."""
        self.closed: list[Stretch] = []
        self.length = length
        self._open = FoldedRows(pivots, width, rows, backend)
        self._updates, self._faded = 0, 0.0

    @property
    def new_rows(self) -> FloatArray:
        """Where weighted rows go before ``add``, (rows, width)."""
        return self._open.new_rows

    def add(self, share: float) -> None:
        """Fold ``new_rows``.

        Args:
            share: λ by which all rows before were faded.
        """
        if share < 1.0:
            self._faded += float(np.log(share))
            self._open.fade(share)
        self._open.fold()
        self._updates += 1
        if self._updates >= self.length:
            self._close()

    def _close(self) -> None:
        self.closed.append(Stretch(self._open.factor.copy(), self._updates, self._faded))
        self._open.set_factor(np.zeros_like(self._open.factor))
        self._updates = 0
        if len(self.closed) > MOST:
            # One merge a time: a pause of many would be a late answer.
            sizes = [a.updates + b.updates for a, b in zip(self.closed, self.closed[1:], strict=False)]
            k = int(np.argmin(sizes))
            self.closed[k : k + 2] = [_merged_pair(*self.closed[k : k + 2])]

    def all(self) -> list[Stretch]:
        """The closed stretches and the open one."""
        last = Stretch(self._open.factor.copy(), self._updates, self._faded)
        return [*self.closed, last] if self._updates else list(self.closed)

    def blocks(self, root: FloatArray, values: FloatArray, wanted: int) -> TimeBlocks:
        """About ``wanted`` blocks of equal length, in whitened directions.

        With [Rz Rw ry] of a stretch, ZᵀW = RzᵀRw and the score is Rzᵀ (ry − Rw χ); for least squares Z = W.

        Args:
            root: T with T Tᵀ = (WᵀW)⁻¹ of all rows as they count now, (base, base).
            values: χ, (base,).
            wanted: number of blocks.
        """
        p = len(values)
        now, found = self._faded, self.all()
        share, score = np.zeros((len(found), p, p)), np.zeros((len(found), p))
        for k, stretch in enumerate(found):
            factor = stretch.at(now)
            Z, W, y = factor[:, :p], factor[:, -p - 1 : -1], factor[:, -1]
            share[k] = root.T @ (Z.T @ W) @ root
            score[k] = root.T @ (Z.T @ (y - W @ values))
        ends = np.cumsum([stretch.updates for stretch in found])
        number = np.minimum((ends - 1) * wanted // max(int(ends[-1]), 1), wanted - 1) if found else ends
        starts = np.unique(number, return_index=True)[1]
        if not found:
            return TimeBlocks(np.zeros(0, dtype=np.int64), share, score)
        share, score = np.add.reduceat(share, starts), np.add.reduceat(score, starts)
        return TimeBlocks(np.zeros(len(starts), dtype=np.int64), share, score)

    def state(self) -> dict[str, FloatArray]:
        """All of it as arrays."""
        found = self.all()
        shape = (len(found), *self._open.factor.shape)
        return {
            "factors": np.array([s.factor for s in found]).reshape(shape),
            "updates": np.array([s.updates for s in found], dtype=float),
            "faded": np.array([*(s.faded for s in found), self._faded]),
        }

    def restore(self, state: dict[str, FloatArray]) -> None:
        """Go on from a state: the stretch that was open is closed."""
        parts = zip(state["factors"], state["updates"], state["faded"], strict=False)
        self.closed = [Stretch(np.array(f), int(n), float(faded)) for f, n, faded in parts]
        self._faded, self._updates = float(state["faded"][-1]), 0
        self._open.set_factor(np.zeros_like(self._open.factor))


def _merged_pair(first: Stretch, second: Stretch) -> Stretch:
    """Two neighbours as one: their rows turned until the first columns are triangular."""
    both = np.vstack([first.at(second.faded), second.factor])
    p = len(second.factor)
    Q, R = np.linalg.qr(both[:, :p])
    # What is orthogonal to the pivots says nothing of χ: a stretch keeps no residual.
    factor = np.hstack([np.triu(R), Q.T @ both[:, p:]])
    return Stretch(factor, first.updates + second.updates, second.faded)
