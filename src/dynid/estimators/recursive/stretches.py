"""Stretches of time inside a recursion, so that its σ can be honest at any moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.estimators.honest import TimeBlocks


@dataclass(frozen=True, eq=False)
class Moments:
    """A = ZᵀW and b = Zᵀy of weighted rows; Z = W for least squares.

    Args:
        A: (base, base).
        b: (base,).
        updates: instants that they hold.
        faded: Σ log λ of the recursion when they were right.
    """

    A: FloatArray
    b: FloatArray
    updates: int
    faded: float

    def weight(self, faded: float) -> float:
        """Updates as they count at a later Σ log λ."""
        return self.updates * float(np.exp(faded - self.faded))

    @classmethod
    def of_factor(cls, factor: FloatArray, updates: int, faded: float) -> Moments:
        """From [Rz Rw ry], or [R z] of least squares: A = RzᵀRw, b = Rzᵀry."""
        p = len(factor)
        Z = factor[:, :p].T
        return cls(Z @ factor[:, -p - 1 : -1], Z @ factor[:, -1], updates, faded)

    def at(self, faded: float) -> Moments:
        """As they count at a later Σ log λ."""
        share = float(np.exp(faded - self.faded))
        return Moments(share * self.A, share * self.b, self.updates, faded)

    def plus(self, other: Moments, sign: float = 1.0) -> Moments:
        """With those of other rows added, or taken off, at the later of both moments."""
        faded = min(self.faded, other.faded)
        a, b = self.at(faded), other.at(faded)
        return Moments(a.A + sign * b.A, a.b + sign * b.b, a.updates + int(sign) * b.updates, faded)


class Stretches:
    """Up to ``most`` stretches of nearly equal length, however long the recursion runs.

    A stretch is what the factor's moments grew by: nothing is done but at its end.

    Args:
        factor: of the recursion at its start: what a prior gave belongs to no stretch.
        length: updates after which a stretch is closed.
        most: stretches kept; three for each of ten blocks.
    """

    def __init__(self, factor: FloatArray, length: int, most: int = 30) -> None:
        """Begin with an empty stretch."""
        self.closed: list[Moments] = []
        self.length, self.most, self.updates, self.faded = length, most, 0, 0.0
        self._start = Moments.of_factor(factor, 0, 0.0)

    def fade(self, share: float) -> None:
        """All rows so far count less by λ."""
        self.faded += float(np.log(share))

    def add(self, factor: FloatArray) -> None:
        """Count an update, after which the factor is this."""
        self.updates += 1
        if self.updates - self._start.updates >= self.length:
            self._close(factor)

    def begin_anew(self, factor: FloatArray) -> None:
        """The factor was changed by more than rows: what changed it belongs to no stretch."""
        self._start = Moments.of_factor(factor, self.updates, self.faded)

    def _close(self, factor: FloatArray) -> None:
        now = Moments.of_factor(factor, self.updates, self.faded)
        self.closed.append(now.plus(self._start, -1.0))
        self._start = now
        if len(self.closed) > self.most:
            # One merge a time: a pause of many would be a late answer.
            sizes = [m.weight(self.faded) for m in self.closed]
            k = int(np.argmin(np.add(sizes[1:], sizes[:-1])))
            self.closed[k : k + 2] = [self.closed[k].plus(self.closed[k + 1])]

    def all(self, factor: FloatArray) -> list[Moments]:
        """The closed stretches and the open one."""
        if self.updates == self._start.updates:
            return list(self.closed)
        now = Moments.of_factor(factor, self.updates, self.faded)
        return [*self.closed, now.plus(self._start, -1.0)]

    def blocks(
        self, factor: FloatArray, roots: tuple[FloatArray, FloatArray], values: FloatArray, wanted: int
    ) -> TimeBlocks:
        """About ``wanted`` blocks of equal weight, in whitened directions: Lᵀ (b − A χ) and Lᵀ A T.

        Args:
            factor: of the recursion now.
            roots: L and T with Lᵀ A T = 1 for A of all rows, (base, base); equal for least squares.
            values: χ, (base,).
            wanted: number of blocks.
        """
        every = self.all(factor)
        found = [stretch.at(self.faded) for stretch in every]
        (left, right), p = roots, len(values)
        share, score = np.zeros((len(found), p, p)), np.zeros((len(found), p))
        for k, stretch in enumerate(found):
            own = left.T @ stretch.A @ right
            share[k] = 0.5 * (own + own.T)
            score[k] = left.T @ (stretch.b - stretch.A @ values)
        if not found:
            return TimeBlocks(np.zeros(0, dtype=np.int64), share, score)
        ends = np.cumsum([stretch.weight(self.faded) for stretch in every])
        middles = ends - 0.5 * np.diff(ends, prepend=0.0)
        number = np.minimum((middles * wanted / ends[-1]).astype(int), wanted - 1)
        starts = np.unique(number, return_index=True)[1]
        share, score = np.add.reduceat(share, starts), np.add.reduceat(score, starts)
        return TimeBlocks(np.zeros(len(starts), dtype=np.int64), share, score)

    def state(self) -> dict[str, FloatArray]:
        """All of it as arrays, the beginning of the open stretch last."""
        found = [*self.closed, self._start]
        return {
            "A": np.array([m.A for m in found]),
            "b": np.array([m.b for m in found]),
            "numbers": np.array([[m.updates, m.faded] for m in found] + [[self.updates, self.faded]]),
        }

    def restore(self, state: dict[str, FloatArray]) -> None:
        """Go on from a state."""
        *numbers, now = np.asarray(state["numbers"]).tolist()
        parts = zip(state["A"], state["b"], numbers, strict=True)
        *self.closed, self._start = [Moments(np.array(A), np.array(b), int(n), f) for A, b, (n, f) in parts]
        self.updates, self.faded = int(now[0]), now[1]
