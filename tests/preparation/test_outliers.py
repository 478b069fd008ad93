"""The outlier filter."""

from __future__ import annotations

import numpy as np

from dynid.preparation.robust import replace_outliers


def test_spikes_go_and_everything_else_stays() -> None:
    rng = np.random.default_rng(0)
    t = np.arange(4000) / 1000.0
    x = np.stack([np.sin(2 * np.pi * t), np.sign(np.sin(7 * t)) + 0.1 * rng.standard_normal(4000)], axis=1)
    spoiled = x.copy()
    at = np.array([17, 18, 900, 2500, 3999])
    spoiled[at, 0] += [4.0, -3.0, 1e6, 0.5, 2.0]
    spoiled[at, 1] += 30.0
    made = replace_outliers(spoiled, 11, 8.0)
    assert made.replaced[0] == 5
    assert 5 <= made.replaced[1] <= 8  # a sample beside a jump may pass for a spike
    clean = np.delete(np.arange(4000), at)
    np.testing.assert_array_equal(made.values[clean, 0], x[clean, 0])
    assert np.count_nonzero(made.values[clean, 1] != x[clean, 1]) <= 3
    assert np.max(np.abs(made.values - x)[:, 0]) < 0.04
    assert np.max(np.abs(made.values[at, 1])) < 1.5


def test_a_flickering_sensor_at_rest_has_no_outliers() -> None:
    rng = np.random.default_rng(1)
    counts = (rng.random(5000) < 0.02).astype(float)[:, None] * 1e-4
    assert replace_outliers(counts, 7, 6.0).replaced == (0,)


def test_steps_ramps_noise_and_constants_have_none() -> None:
    rng = np.random.default_rng(2)
    x = np.stack(
        [
            np.repeat([0.0, 5.0, -2.0, 1.0], 250),
            np.abs(np.arange(1000) - 500.0),
            rng.standard_normal(1000),
            np.full(1000, 3.0),
        ],
        axis=1,
    )
    assert replace_outliers(x, 9, 8.0).replaced == (0, 0, 0, 0)


def test_a_window_longer_than_the_signal() -> None:
    x = np.arange(6.0)[:, None]
    x[3] = 1e3
    assert replace_outliers(x, 21, 6.0).values.shape == (6, 1)
