"""Rows filtered in parallel: the block's numbers, τ = W χ kept, alignment, masks, saved states."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from dynid.core.errors import DynidError
from dynid.preparation.causal_plan import CausalPlan
from dynid.preparation.causal_rows import CausalRows, filtered_rows, row_times

Array = NDArray[np.float64]
JOINTS, COLUMNS = 2, 5


def drawn(instants: int = 400) -> tuple[Array, Array, Array]:
    """W, Z and speeds at instants."""
    rng = np.random.default_rng(1)
    W = rng.standard_normal((instants, JOINTS, COLUMNS))
    return W, W + 0.1 * rng.standard_normal(W.shape), rng.standard_normal((instants, JOINTS))


def rows_of(rows: CausalRows, W: Array, Z: Array, speed: Array, chi: Array) -> list[tuple[Array, ...]]:
    made = []
    for w, z, v in zip(W, Z, speed, strict=True):
        if rows.push(w, w @ chi, v, z):
            assert rows.Z is not None
            made.append(tuple(x.copy() for x in (rows.W, rows.y, rows.Z, rows.speed, rows.moving)))
    return made


@pytest.mark.parametrize("decimation", [1, 2, 3, 8, 25])
def test_pushing_gives_what_the_block_gives(decimation: int) -> None:
    plan = CausalPlan(500.0, 40.0, row_decimation=decimation)
    W, Z, speed = drawn()
    chi = np.arange(1.0, COLUMNS + 1)
    made = rows_of(CausalRows(plan, JOINTS, COLUMNS, instruments=True), W, Z, speed, chi)
    whole = np.concatenate([W.reshape(len(W), -1), Z.reshape(len(W), -1), speed], axis=1)
    expected = filtered_rows(whole.T, plan).T
    assert len(made) == len(expected) == len(row_times(np.arange(400.0), plan))
    flat = np.stack([np.concatenate([row[0].ravel(), row[2].ravel(), row[3]]) for row in made])
    np.testing.assert_allclose(flat, expected, atol=1e-13)
    for row in made:
        np.testing.assert_allclose(row[1], row[0] @ chi, atol=1e-12)


@pytest.mark.parametrize("decimation", [1, 4, 9])
def test_rows_belong_to_the_time_that_the_delay_says(decimation: int) -> None:
    plan = CausalPlan(500.0, decimation=2, row_decimation=decimation)
    rows = CausalRows(plan, 1, 1)
    times = np.arange(300) * 2 / 500.0
    made = []
    for time in times:
        if rows.push(np.array([[time]]), np.array([time**3]), np.array([1.0])):
            assert rows.W[0, 0] == pytest.approx(time - rows.delay_s, abs=1e-12)
            assert rows.y[0] == pytest.approx((time - rows.delay_s) ** 3, abs=1e-12)
            made.append(rows.W[0, 0])
    np.testing.assert_allclose(made, row_times(times, plan), atol=1e-12)
    assert plan.row_delay_s == pytest.approx(plan.delay_s + rows.delay_s)


def test_slow_joints_are_left_out() -> None:
    W, y = np.ones((3, 2)), np.ones(3)
    for slow, expected in (("joint", [True, False, True]), ("all", [False, False, False])):
        rows = CausalRows(CausalPlan(100.0, speed_thresholds=(0.1, 0.1, 0.1), slow=slow), 3, 2)
        assert rows.push(W, y, np.array([0.2, -0.05, -0.1]))
        assert rows.moving.tolist() == expected
        assert rows.push(W, y, np.array([0.2, -0.5, -0.1]))
        assert rows.moving.all()


def test_a_state_that_was_saved_goes_on_identically() -> None:
    plan = CausalPlan(500.0, 40.0, row_decimation=8)
    W, Z, speed = drawn()
    chi = np.ones(COLUMNS)
    whole = rows_of(CausalRows(plan, JOINTS, COLUMNS, instruments=True), W, Z, speed, chi)
    first = CausalRows(plan, JOINTS, COLUMNS, instruments=True)
    begun = rows_of(first, W[:203], Z[:203], speed[:203], chi)
    second = CausalRows(plan, JOINTS, COLUMNS, instruments=True)
    second.restore(first.state())
    ended = rows_of(second, W[203:], Z[203:], speed[203:], chi)
    for one, other in zip(whole, begun + ended, strict=True):
        for x, y in zip(one, other, strict=True):
            np.testing.assert_array_equal(x, y)


def test_a_new_stretch_forgets_the_old_one() -> None:
    plan = CausalPlan(500.0, row_decimation=4)
    W, Z, speed = drawn(200)
    chi = np.ones(COLUMNS)
    used = CausalRows(plan, JOINTS, COLUMNS, instruments=True)
    rows_of(used, 50 * W[:77], Z[:77], speed[:77], chi)
    used.restart()
    fresh = CausalRows(plan, JOINTS, COLUMNS, instruments=True)
    for one, other in zip(*(rows_of(rows, W, Z, speed, chi) for rows in (used, fresh)), strict=True):
        np.testing.assert_array_equal(one[0], other[0])


def test_nothing_is_allocated_after_the_warm_up() -> None:
    rows = CausalRows(CausalPlan(500.0, 40.0, row_decimation=8, speed_thresholds=(0.1, 0.1)), JOINTS, COLUMNS)
    W, y = np.ones((JOINTS, COLUMNS)), np.ones(JOINTS)
    for _ in range(500):
        rows.push(W, y, y)
    blocks = sys.getallocatedblocks()
    for _ in range(5000):
        rows.push(W, y, y)
    assert sys.getallocatedblocks() - blocks < 50


def test_what_cannot_be_filtered_is_refused() -> None:
    with pytest.raises(DynidError, match="The plan has 1 speed thresholds for 2 joints"):
        CausalRows(CausalPlan(500.0, speed_thresholds=(0.1,)), JOINTS, COLUMNS)
    rows = CausalRows(CausalPlan(500.0), JOINTS, COLUMNS, instruments=True)
    with pytest.raises(DynidError, match="An instant has no instruments"):
        rows.push(np.ones((JOINTS, COLUMNS)), np.ones(JOINTS), np.ones(JOINTS))
    with pytest.raises(DynidError, match="restore it with the plan and robot"):
        rows.restore(CausalRows(CausalPlan(500.0, row_decimation=3), JOINTS, COLUMNS).state())
