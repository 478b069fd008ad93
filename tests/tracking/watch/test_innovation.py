"""What is usual is learnt from the residuals themselves, coloured as they are."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.tracking.watch.innovation import Excess, ResidualScale
from support.motions import coloured

RATE = 50.0


def learnt(residual: np.ndarray, rows: np.ndarray | None = None) -> ResidualScale:
    scale = ResidualScale(residual.shape[1], RATE, 0.5, 1000.0)
    for k, r in enumerate(residual):
        scale.take(r, np.ones(len(r)) if rows is None else rows[k], True)
    return scale


@pytest.mark.parametrize("memory_s", [0.02, 0.1, 0.5])
def test_the_long_run_sigma_is_that_of_a_mean_of_coloured_residuals(memory_s: float) -> None:
    pole = float(np.exp(-1 / (memory_s * RATE)))
    residual = coloured(np.random.default_rng(1), (60_000, 2), np.array([1.0, 3.0]), pole)
    scale = learnt(residual)
    means = residual[:59_800].reshape(-1, 200, 2).mean(axis=1)
    np.testing.assert_allclose(scale.sigma, [1.0, 3.0], rtol=0.1)
    np.testing.assert_allclose(scale.long_run_sigma, np.sqrt(200) * means.std(axis=0), rtol=0.3)


def test_white_residuals_count_as_many_as_they_are() -> None:
    scale = learnt(np.random.default_rng(2).normal(size=(40_000, 3)))
    np.testing.assert_allclose(scale.long_run_sigma, 1.0, rtol=0.15)


def test_a_change_does_not_teach_its_own_size() -> None:
    residual = np.random.default_rng(3).normal(size=(20_000, 1))
    residual[19_900:] += 100.0
    assert learnt(residual).sigma[0] < 1.2


def test_masked_rows_teach_nothing() -> None:
    residual, rows = np.random.default_rng(4).normal(size=(5_000, 2)), np.ones((5_000, 2))
    rows[::2, 1], residual[::2, 1] = 0.0, 0.0
    np.testing.assert_allclose(learnt(residual, rows).sigma, 1.0, rtol=0.1)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_excess_does_not_depend_on_units(unit: float) -> None:
    rng, usual = np.random.default_rng(5), Excess(1, 100, 60)
    for value in rng.chisquare(4, 20_000):
        usual.learn(np.log([unit * value]))
    largest = [float(usual.of(np.log([unit * v]))[0]) for v in rng.chisquare(4, 20_000)]
    assert max(largest) < 5.0
    assert float(usual.of(np.log([unit * 200.0]))[0]) > 5.0


def test_nothing_is_excessive_before_enough_is_learnt() -> None:
    usual = Excess(2, 10, 60)
    for _ in range(99):
        usual.learn(np.zeros(2))
    assert not usual.ready
    assert np.all(usual.of(np.full(2, 50.0)) == -np.inf)
    usual.learn(np.zeros(2))
    assert usual.ready
    assert np.all(usual.of(np.full(2, 50.0)) > 100.0)
