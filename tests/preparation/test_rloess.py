"""Robust local regression."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from dynid.core.errors import ShapeError
from dynid.preparation.robust import rloess, window_samples

FloatArray = NDArray[np.float64]


def plain_rloess(y: FloatArray, window: int) -> FloatArray:
    """The definition, one weighted fit per sample."""
    n = len(y)
    robust, smooth = np.ones(n), np.empty(n)
    for _ in range(6):
        for i in range(n):
            first = min(max(i - window // 2, 0), n - window)
            d = np.arange(first, first + window) - i
            w = np.sqrt((1 - (np.abs(d) / np.max(np.abs(d))) ** 3) ** 3 * robust[first : first + window])
            A = np.stack([np.ones(window), d, d**2], axis=1)
            smooth[i] = np.linalg.lstsq(A * w[:, None], w * y[first : first + window], rcond=None)[0][0]
        scaled = np.abs(y - smooth) / (6 * np.median(np.abs(y - smooth)))
        robust = np.where(scaled < 1, (1 - scaled**2) ** 2, 0.0)
    return smooth


def test_it_is_the_definition() -> None:
    rng = np.random.default_rng(0)
    y = np.sin(np.arange(150) / 12.0) + 0.1 * rng.standard_normal(150)
    y[[20, 75, 148]] += [5.0, -4.0, 6.0]
    np.testing.assert_allclose(rloess(y[:, None], 0.14)[:, 0], plain_rloess(y, 21), atol=1e-9)


def test_quadratics_are_kept_and_outliers_do_not_matter() -> None:
    t = np.linspace(-1, 1, 500)
    truth = np.stack([2 - t + 3 * t**2, t], axis=1)
    np.testing.assert_allclose(rloess(truth, 0.1), truth, atol=1e-10)
    rng = np.random.default_rng(1)
    noisy = truth + 0.01 * rng.standard_normal(truth.shape)
    spoiled = noisy.copy()
    spoiled[rng.choice(500, 25, replace=False)] += 40.0
    assert np.max(np.abs(rloess(spoiled, 0.1) - truth)) < 0.03
    assert np.sqrt(np.mean((rloess(noisy, 0.1) - truth)[30:-30] ** 2)) < 0.004


def test_windows() -> None:
    assert window_samples(1000, 0.02) == 19
    assert window_samples(101, 1.0) == 101
    with pytest.raises(ShapeError, match=r"span of 0.01 of 100 samples is a window of 1; .* at least 5"):
        window_samples(100, 0.01)
    constant = np.full((50, 1), 7.0)
    np.testing.assert_allclose(rloess(constant, 1.0), constant)


@pytest.mark.parametrize("span", [0.015, 0.02, 0.03])
def test_smooth_signals_stay_as_they_are(span: float) -> None:
    """All robust weights of a window may be zero: rounding must not take their place."""
    t = np.arange(625) / 62.5
    y = (5.0 * np.sin(np.pi * t) + np.cos(0.4 * np.pi * t))[:, None]
    assert np.max(np.abs(rloess(y, span) - y)) < 0.03
