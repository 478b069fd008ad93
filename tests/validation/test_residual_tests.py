"""Residual tests: against SciPy where it has them, against their own promise elsewhere."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import special, stats

from dynid.validation.residual_tests import (
    GAUSSIAN,
    LAGS,
    QUANTILES,
    chi_square_tail,
    normal_tail,
    residual_tests,
)


def coloured(rng: np.random.Generator, samples: int, memory: float) -> np.ndarray:
    noise = rng.normal(size=samples)
    out = np.zeros(samples)
    for k in range(1, samples):
        out[k] = memory * out[k - 1] + noise[k]
    return out


def test_jarque_bera_is_scipy_s() -> None:
    e = np.random.default_rng(0).gamma(3.0, size=500)
    expected = stats.jarque_bera(e)
    found = residual_tests([e])
    assert found.jarque_bera == pytest.approx(expected.statistic)
    assert found.jarque_bera_p == pytest.approx(expected.pvalue)
    assert found.skewness == pytest.approx(stats.skew(e))
    assert found.excess_kurtosis == pytest.approx(stats.kurtosis(e))


def test_ljung_box_by_its_formula() -> None:
    e = coloured(np.random.default_rng(1), 300, 0.2)
    x, n = e - e.mean(), 300
    r = np.array([x[k:] @ x[:-k] for k in range(1, LAGS + 1)]) / (x @ x)
    q = n * (n + 2) * np.sum(r**2 / (n - np.arange(1, LAGS + 1)))
    found = residual_tests([e])
    assert found.ljung_box == pytest.approx(q)
    assert found.ljung_box_p == pytest.approx(stats.chi2.sf(q, LAGS))
    np.testing.assert_allclose(found.autocorrelation, r)


def test_durbin_watson_and_runs_by_hand() -> None:
    e = np.tile([1.0, -1.0], 50)  # every neighbour has the other sign
    found = residual_tests([e])
    assert found.durbin_watson == pytest.approx(4.0)
    expected, variance = 1 + 2 * 50 * 50 / 100, 2 * 2500 * (5000 - 100) / (100**2 * 99)
    assert found.runs_z == pytest.approx((100 - expected) / np.sqrt(variance))


def test_white_noise_is_rejected_as_often_as_promised() -> None:
    rng = np.random.default_rng(2)
    found = [residual_tests([rng.normal(size=400)]) for _ in range(400)]
    for name in ("ljung_box_p", "runs_p", "jarque_bera_p"):
        share = np.mean([getattr(test, name) < 0.05 for test in found])
        assert 0.02 < share < 0.09, name
    assert np.mean([test.durbin_watson for test in found]) == pytest.approx(2.0, abs=0.02)


def test_coloured_and_heavy_residuals_are_told() -> None:
    rng = np.random.default_rng(3)
    slow = residual_tests([coloured(rng, 2000, 0.8)])
    assert not slow.white()
    assert slow.gaussian(1e-6)
    assert slow.durbin_watson < 0.6
    assert slow.runs_z < -10
    heavy = residual_tests([rng.standard_t(3, size=2000)])
    assert heavy.white(1e-4)
    assert not heavy.gaussian()
    assert heavy.excess_kurtosis > 1


def test_experiments_never_pair() -> None:
    """Two halves of opposite level: white inside, one long run across if they were glued."""
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=500), rng.normal(size=500)
    apart = residual_tests([a, b])
    pairs = [a[k:] @ a[:-k] + b[k:] @ b[:-k] for k in (1, 2)]
    x = np.concatenate([a, b])
    mean = x.mean()
    a, b = a - mean, b - mean
    pairs = [a[k:] @ a[:-k] + b[k:] @ b[:-k] for k in (1, 2)]
    np.testing.assert_allclose(apart.autocorrelation[:2], np.array(pairs) / (a @ a + b @ b))


def test_holes_are_left_out() -> None:
    rng = np.random.default_rng(5)
    e = rng.normal(size=3000)
    holed = np.where(rng.random(3000) < 0.3, np.nan, e)
    found = residual_tests([holed])
    assert found.samples == np.count_nonzero(np.isfinite(holed))
    assert found.white(1e-3)
    slow = np.where(np.isfinite(holed), coloured(rng, 3000, 0.7), np.nan)
    assert not residual_tests([slow]).white()


@pytest.mark.parametrize("values", [np.zeros(5), np.full(100, 2.0), np.full(100, np.nan)], ids=str)
def test_too_little_gives_no_verdict(values: np.ndarray) -> None:
    found = residual_tests([values])
    assert found.white()
    assert found.gaussian()
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["ljung_box_p"] is None


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 20, 21, 60, 201])
def test_chi_square_tail_is_scipy_s(degrees: int) -> None:
    for x in np.logspace(-8, 3, 200):
        expected = float(special.chdtrc(degrees, x))
        assert chi_square_tail(degrees, float(x)) == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_ends_of_the_chi_square_tail() -> None:
    assert chi_square_tail(20, 0.0) == 1.0
    assert chi_square_tail(3, -1.0) == 1.0
    assert chi_square_tail(20, 1e7) == 0.0
    assert math.isnan(chi_square_tail(20, float("nan")))


def test_normal_tail_is_scipy_s() -> None:
    for z in np.linspace(-9, 36, 300):
        assert normal_tail(float(z)) == pytest.approx(float(special.ndtr(-z)), rel=1e-12)
    assert math.isnan(normal_tail(float("nan")))


def test_gaussian_quantiles_are_scipy_s() -> None:
    np.testing.assert_allclose(GAUSSIAN, special.ndtri(QUANTILES), rtol=1e-14, atol=1e-16)
