"""Bounded memory: what is kept of the last seconds, and how it is saved and restored."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from dynid.core.arrays import FloatArray

State = dict[str, Any]
"""Arrays and numbers by name."""


class Followed(Protocol):
    """A recursion that follows the arm's parameters."""

    @property
    def values(self) -> FloatArray:
        """Base parameters, (base,)."""

    def update(
        self, W: FloatArray, y: FloatArray, Z: FloatArray | None = None, rows: int | None = None
    ) -> float:
        """Take one sample: rows W (joints, base), torques y (joints,), instruments Z; how many rows count."""

    def state(self) -> State:
        """Everything it has learnt."""

    def restore(self, state: State) -> None:
        """Go back to a state."""


class LearntState:
    """Saved and restored as a whole: attributes are numbers, arrays or memories themselves."""

    def state(self) -> State:
        """Attributes by name; those of memories inside with a dot."""
        saved: State = {}
        for name, value in self._own():
            if isinstance(value, LearntState):
                saved |= {f"{name}.{key}": inner for key, inner in value.state().items()}
            elif isinstance(value, np.ndarray):
                saved[name] = value.copy()
            elif value is None or isinstance(value, bool | int | float | str):
                saved[name] = value
        return saved

    def _own(self) -> list[tuple[str, Any]]:
        """Attributes that are learnt; those with an underscore are options and scratch."""
        return [(name, value) for name, value in vars(self).items() if not name.startswith("_")]

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what ``state`` has given."""
        for name, value in self._own():
            if isinstance(value, LearntState):
                own = {k.removeprefix(f"{name}."): v for k, v in state.items() if k.startswith(f"{name}.")}
                value.restore(own)
            elif name in state:
                kept = state[name]
                vars(self)[name] = np.array(kept, dtype=float) if isinstance(value, np.ndarray) else kept


class RecentRows(LearntState):
    """The last rows: time, weighted residual and weighted payload columns, in a ring.

    Args:
        length: how many rows.
        joints: n.
    """

    def __init__(self, length: int, joints: int) -> None:
        """Empty."""
        self.time = np.full(length, -np.inf)
        self.residual = np.zeros((length, joints))
        self.columns = np.zeros((length, joints, 10))
        self.next = 0

    def put(self, time: float, residual: FloatArray, columns: FloatArray) -> None:
        """Write over the oldest row."""
        k = self.next
        self.time[k], self.residual[k], self.columns[k] = time, residual, columns
        self.next = (k + 1) % len(self.time)

    def since(self, time: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Time, residual and columns of the rows from a time on, oldest first."""
        order = np.roll(np.arange(len(self.time)), -self.next)
        order = order[self.time[order] >= time]
        return self.time[order], self.residual[order], self.columns[order]

    def last(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Columns (rows, 10) and residual (rows,) of the last few times, all joints one below the other."""
        order = np.arange(self.next - count, self.next)
        return self.columns[order].reshape(-1, 10), self.residual[order].ravel()

    def forget(self) -> None:
        """Empty it, as after a change that has been dealt with."""
        self.time[:] = -np.inf


class DelayLine:
    """States of a recursion from before now, so that what a change has spoilt can be taken back.

    Args:
        reach_s: how far back they go [s].
        step_s: time between two states [s]: as much is lost beside a change when the recursion is set back.
    """

    def __init__(self, reach_s: float, step_s: float = 0.5) -> None:
        """Empty."""
        self.step_s = step_s
        self.kept: deque[tuple[float, FloatArray, State]] = deque(maxlen=int(reach_s / step_s) + 2)

    def keep(self, time: float, recursion: Followed) -> None:
        """Keep the recursion's state when the last one is old enough."""
        if not self.kept or time >= self.kept[-1][0] + self.step_s:
            self.kept.append((time, np.array(recursion.values, dtype=float), recursion.state()))

    def before(self, time: float) -> tuple[FloatArray, State] | None:
        """Values and state of the latest one before a time; the oldest where all are later."""
        if not self.kept:
            return None
        earlier = [entry for entry in self.kept if entry[0] <= time]
        found = earlier[-1] if earlier else self.kept[0]
        return found[1], found[2]

    def drop_after(self, time: float) -> None:
        """Forget the states that a change has spoilt, but never the last one."""
        while len(self.kept) > 1 and self.kept[-1][0] > time:
            self.kept.pop()
