"""What is kept is bounded, and comes back as it was."""

from __future__ import annotations

import numpy as np

from dynid.tracking.watch.memory import DelayLine, LearntState, RecentRows, State


class Inner(LearntState):
    def __init__(self) -> None:
        self.numbers, self.count, self._scratch = np.zeros(3), 0, 1.0


class Outer(LearntState):
    def __init__(self) -> None:
        self.inner, self.name = Inner(), "a"


class Recursion:
    """Values that are overwritten by the next update, as those of the real ones."""

    def __init__(self) -> None:
        self.values = np.zeros(1)

    def update(
        self, W: np.ndarray, y: np.ndarray, Z: np.ndarray | None = None, rows: int | None = None
    ) -> float:
        return 0.0

    def state(self) -> State:
        return {"values": self.values.copy()}

    def restore(self, state: State) -> None:
        self.values = state["values"].copy()


def test_a_state_comes_back_and_is_a_copy() -> None:
    first, second = Outer(), Outer()
    first.inner.numbers[:], first.inner.count, first.name = [1, 2, 3], 7, "b"
    state = first.state()
    assert set(state) == {"inner.numbers", "inner.count", "name"}
    first.inner.numbers[:] = 0
    second.restore(state)
    np.testing.assert_array_equal(second.inner.numbers, [1, 2, 3])
    assert (second.inner.count, second.name) == (7, "b")


def test_recent_rows_come_oldest_first_and_no_more_than_fit() -> None:
    rows = RecentRows(5, 2)
    for k in range(8):
        rows.put(float(k), np.full(2, k), np.full((2, 10), k))
    time, residual, columns = rows.since(4.5)
    assert time.tolist() == [5, 6, 7]
    assert residual[:, 0].tolist() == columns[:, 0, 0].tolist() == [5, 6, 7]
    X, r = rows.last(2)
    assert r.tolist() == [6, 6, 7, 7]
    assert X.shape == (4, 10)
    rows.forget()
    assert len(rows.since(0.0)[0]) == 0


def test_the_delay_line_gives_what_was_before_and_stays_short() -> None:
    line, recursion = DelayLine(4.0, 0.5), Recursion()
    assert line.before(0.0) is None
    for k in range(10_000):
        recursion.values[0] = k
        line.keep(0.01 * k, recursion)
    assert len(line.kept) <= 10
    found = line.before(97.99)
    assert found is not None
    assert 9700 <= found[0][0] <= 9799
    line.drop_after(97.0)
    assert line.kept[-1][0] <= 97.0
    line.drop_after(-1.0)
    assert len(line.kept) == 1
