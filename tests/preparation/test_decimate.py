"""Parallel decimation: both conventions, whole and in pieces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy import signal

from dynid.core.errors import DynidError, NotTrustworthyError, ShapeError, UnknownNameError
from dynid.preparation.decimate import Decimator, decimate_rows, matlab_filter

FloatArray = NDArray[np.float64]
CASES = [(2, 1000), (2, 3), (3, 2), (7, 50), (10, 4501), (25, 3000), (100, 4000), (1000, 12_000)]


def walk(rows: int, samples: int, seed: int = 0) -> FloatArray:
    return np.cumsum(np.random.default_rng(seed).standard_normal((rows, samples)), axis=1)


def mirrored_filter(x: FloatArray, factor: int) -> FloatArray:
    """The filter in second-order sections over many mirror images of the signal."""
    sections = signal.cheby1(8, 0.05, 0.8 / factor, output="sos")
    period = np.concatenate([x, x[:, -2:0:-1]], axis=1)
    copies = int(np.ceil(200 * factor / period.shape[1]))
    endless = np.tile(period, 2 * copies + 1)
    filtered = signal.sosfilt(sections, signal.sosfilt(sections, endless)[:, ::-1])[:, ::-1]
    gain = 10 ** (-0.05 / 20)
    first = copies * period.shape[1]
    return filtered[:, first : first + x.shape[1] : factor] / gain**2


@pytest.mark.parametrize(("factor", "samples"), CASES)
def test_scipy_convention_is_the_filter_in_sections(factor: int, samples: int) -> None:
    x = walk(3, samples)
    wanted = mirrored_filter(x, factor)
    assert wanted.shape == (3, -(-samples // factor))
    np.testing.assert_allclose(decimate_rows(x, factor), wanted, rtol=0, atol=1e-9 * np.max(np.abs(x)))


def test_scipy_convention_is_scipy_s_decimate_inside() -> None:
    x = walk(2, 20_000)
    theirs = signal.decimate(x, 10, ftype="iir", zero_phase=True)
    ours = decimate_rows(x, 10) * 10 ** (-0.1 / 20)  # theirs takes 0.1 dB off a constant
    np.testing.assert_allclose(ours[:, 200:-200], theirs[:, 200:-200], rtol=0, atol=1e-9)


@pytest.mark.parametrize(("factor", "samples"), CASES)
def test_pieces_give_the_same(factor: int, samples: int) -> None:
    x = walk(2, samples)
    rng = np.random.default_rng(5)
    stream, parts, at = Decimator(2, factor), [], 0
    while at < samples:
        size = int(rng.integers(0, max(3, samples // 9)))
        parts.append(stream.push(x[:, at : at + size]))
        at += size
    parts.append(stream.finish())
    whole = decimate_rows(x, factor)
    np.testing.assert_allclose(np.concatenate(parts, axis=1), whole, rtol=0, atol=1e-11 * np.max(np.abs(x)))


def test_a_stream_gives_early_and_keeps_little() -> None:
    stream = Decimator(1, 10)
    piece = walk(1, 1000)
    given_out = [stream.push(piece).shape[1] for _ in range(50)]
    waiting = 100 * np.arange(1, 51) - np.cumsum(given_out)
    assert max(waiting) < 500
    assert sum(given_out) + stream.finish().shape[1] == 5000


@pytest.mark.parametrize("factor", [1, 2, 3, 10, 13])
@pytest.mark.parametrize("samples", [100, 101, 104, 109])
def test_matlab_keeps_the_last_sample(factor: int, samples: int) -> None:
    x = walk(2, samples)
    kept = slice((samples - 1) % factor, samples, factor)
    numbers = np.arange(1, samples + 1)[kept]
    outputs = -(-samples // factor)
    assert numbers[0] == factor - (factor * outputs - samples)
    assert numbers[-1] == samples
    small = decimate_rows(x, factor, "matlab")
    assert small.shape == (2, outputs)
    if factor > 1:
        b, a = signal.cheby1(8, 0.05, 0.8 / factor)
        full = signal.filtfilt(b, a, x, padlen=24)
        np.testing.assert_allclose(small, full[:, kept], rtol=0, atol=1e-9 * np.max(np.abs(x)))


def test_matlab_lowers_the_order_when_rounding_spoils_the_filter() -> None:
    orders = [len(matlab_filter(factor)[1]) - 1 for factor in (2, 10, 100, 1000)]
    assert orders[:2] == [8, 8]
    assert 1 <= orders[3] < orders[2] < 8
    with pytest.raises(NotTrustworthyError, match=r"decimation by 1000.*use the 'scipy' convention"):
        matlab_filter(10**17)


@given(seed=st.integers(0, 2**31), factor=st.integers(1, 40), convention=st.sampled_from(["scipy", "matlab"]))
@settings(max_examples=40, deadline=None)
def test_the_regression_identity_stays_exact(seed: int, factor: int, convention: str) -> None:
    """W x = τ before decimation is W x = τ after it."""
    rng = np.random.default_rng(seed)
    W = np.cumsum(rng.standard_normal((5, int(rng.integers(60, 900)))), axis=1)
    x = rng.standard_normal(5)
    small = decimate_rows(np.vstack([W, x @ W]), factor, convention)
    rounding = 1e-6 if convention == "matlab" else 1e-11  # a transfer function of order 8 rounds badly
    np.testing.assert_allclose(x @ small[:5], small[5], rtol=0, atol=rounding * np.max(np.abs(W)))


@pytest.mark.parametrize("factor", [2, 10, 300, 1000])
def test_constants_and_slow_sines_pass(factor: int) -> None:
    samples = 60 * factor
    np.testing.assert_allclose(decimate_rows(np.full((1, samples), -3.0), factor), -3.0, rtol=1e-11)
    slow = np.cos(np.pi * np.arange(samples) * 4 / (samples - 1))[None]  # whole periods: the mirror is smooth
    kept = slow[:, ::factor]
    ripple = 1 - 10 ** (-0.1 / 20)
    assert np.max(np.abs(decimate_rows(slow, factor) - kept)) < 1.05 * ripple


def test_what_would_alias_is_removed() -> None:
    t = np.arange(5000)
    fast = np.sin(0.21 * np.pi * t)[None]  # above half the new rate, 0.1 π
    assert np.max(np.abs(decimate_rows(fast, 10)[:, 50:-50])) < 1e-5


def test_zero_rows_stay_zero_and_views_are_taken() -> None:
    x = walk(4, 500)
    x[1] = 0.0
    x[2, 0] = x[2, -1] = 0.0
    for convention in ("scipy", "matlab"):
        small = decimate_rows(x, 5, convention)
        assert not np.any(small[1])
        assert np.all(np.any(small[[0, 2, 3]], axis=1))
        np.testing.assert_allclose(decimate_rows(np.asfortranarray(x), 5, convention), small, atol=1e-12)
        np.testing.assert_allclose(decimate_rows(x[::2], 5, convention), small[::2], atol=1e-12)
    assert decimate_rows(np.zeros((3, 100)), 5).shape == (3, 20)
    assert decimate_rows(np.empty((0, 100)), 5).shape == (0, 20)


def test_factor_one_copies() -> None:
    x = walk(2, 30)
    small = decimate_rows(x, 1)
    assert small is not x
    np.testing.assert_array_equal(small, x)
    stream = Decimator(2, 1)
    np.testing.assert_allclose(np.concatenate([stream.push(x), stream.finish()], axis=1), x)


def test_sentences() -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown decimation convention 'mat'"):
        decimate_rows(np.zeros((1, 9)), 2, "mat")
    with pytest.raises(DynidError, match=r"decimation is 0; it must be at least 1"):
        decimate_rows(np.zeros((1, 9)), 0)
    with pytest.raises(ShapeError, match=r"shape \(9,\); expected \(rows, samples\)"):
        decimate_rows(np.zeros(9), 2)
    with pytest.raises(ShapeError, match=r"this decimation takes \(3, samples\)"):
        Decimator(3, 2).push(np.zeros((2, 5)))
    with pytest.raises(ShapeError, match=r"20 samples.*needs more than 24"):
        decimate_rows(np.ones((1, 20)), 2, "matlab")
