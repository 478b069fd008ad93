"""Friction that drifts is told by joint and size; coloured residuals are not taken for it."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.tracking.watch.friction_change import FrictionWatch
from support.motions import coloured

BLOCK, AVERAGE, LEARNT = 250, 3, 9


def watched(change: float, blocks: int, seed: int, joint: int = 1) -> FrictionWatch:
    """Two joints with coloured residuals; one rubs more by ``change`` [N m] after the learnt blocks."""
    rng, watch = np.random.default_rng(seed), FrictionWatch(2, BLOCK, AVERAGE, LEARNT)
    n = BLOCK * blocks
    speed = np.sin(0.02 * np.arange(n)[:, None] * [1.0, 1.7]) + 0.1
    residual = coloured(rng, (n, 2), 0.2, 0.95)
    residual[BLOCK * LEARNT :, joint] += change * np.sign(speed[BLOCK * LEARNT :, joint])
    for r, v in zip(residual, speed, strict=True):
        if watch.take(r, v, np.ones(2), np.ones(2)):
            watch.close()
    return watch


def test_a_drift_comes_out_with_its_size() -> None:
    change, sigma = watched(0.5, LEARNT + AVERAGE, 1).change()
    assert abs(change[1] - 0.5) < 4 * sigma[1] < 0.4
    assert abs(change[0]) < 4 * sigma[0]


def test_coloured_residuals_are_no_drift() -> None:
    ratios = [np.divide(*watched(0.0, LEARNT + AVERAGE, seed).change()) for seed in range(2, 22)]
    assert np.max(np.abs(ratios)) < 8.0


def test_nothing_is_said_before_there_is_something_to_compare_with() -> None:
    assert np.all(np.isnan(watched(0.5, LEARNT + AVERAGE - 1, 3).change()))


def test_what_has_been_told_is_usual_from_then_on() -> None:
    watch = watched(0.5, LEARNT + AVERAGE, 4)
    watch.accept(1)
    assert np.isnan(watch.change()[0][1])
    watch.last[:, 1] = watch.first[:, 1].mean()
    assert abs(watch.change()[0][1]) < 1e-9


def test_a_joint_that_never_turns_back_says_nothing() -> None:
    watch = FrictionWatch(1, 10, 1, 1)
    for _ in range(10):
        watch.take(np.ones(1), np.ones(1), np.ones(1), np.ones(1))
    assert np.isnan(watch.close()[0])


@pytest.mark.parametrize("torque", [2.0, 0.0])
def test_the_rms_torque_is_of_the_rows_that_count(torque: float) -> None:
    watch = FrictionWatch(1, 10, 1, 1)
    for k in range(10):
        watch.take(np.zeros(1), np.ones(1), np.full(1, torque * (k % 2)), np.full(1, float(k % 2)))
    watch.close()
    np.testing.assert_allclose(watch.rms_torque(), torque)
