"""The zero-phase Butterworth filter in both conventions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import signal

from dynid.core.errors import DynidError, NotTrustworthyError, ShapeError, UnknownNameError
from dynid.preparation.filters import filtfilt, low_pass

FloatArray = NDArray[np.float64]
RATE = 500.0


def textbook_pass(b: FloatArray, a: FloatArray, x: FloatArray) -> FloatArray:
    """One pass by the difference equation, started in the steady state of the first sample."""
    n = len(a) - 1
    companion = np.zeros((n, n))
    companion[:, 0] = -a[1:]
    companion[:-1, 1:] += np.eye(n - 1)
    state = np.linalg.solve(np.eye(n) - companion, b[1:] - b[0] * a[1:]) * x[0]
    y = np.empty_like(x)
    for k, value in enumerate(x):
        y[k] = b[0] * value + state[0]
        state = np.append(state[1:], 0.0) + b[1:] * value - a[1:] * y[k]
    return y


def textbook_filtfilt(b: FloatArray, a: FloatArray, x: FloatArray) -> FloatArray:
    """MATLAB's filtfilt, written out."""
    pad = 3 * (max(len(a), len(b)) - 1)
    extended = np.concatenate([2 * x[0] - x[pad:0:-1], x, 2 * x[-1] - x[-2 : -pad - 2 : -1]])
    forward = textbook_pass(b, a, extended)
    return textbook_pass(b, a, forward[::-1])[::-1][pad:-pad]


def test_matlab_convention_is_the_written_out_filtfilt() -> None:
    rng = np.random.default_rng(1)
    x = np.cumsum(rng.standard_normal((200, 2)), axis=0)
    b, a = signal.butter(4, 0.2)
    wanted = np.stack([textbook_filtfilt(b, a, column) for column in x.T], axis=1)
    np.testing.assert_allclose(low_pass(x, 50.0, RATE, 4, "matlab"), wanted, rtol=0, atol=1e-11)
    np.testing.assert_allclose(filtfilt(b, a, x.T), wanted.T, rtol=0, atol=1e-11)


def test_conventions_agree_away_from_the_ends() -> None:
    x = np.cumsum(np.random.default_rng(2).standard_normal((3000, 2)), axis=0)
    ours, matlab = (low_pass(x, 20.0, RATE, 4, convention) for convention in ("scipy", "matlab"))
    np.testing.assert_allclose(ours[600:-600], matlab[600:-600], rtol=0, atol=1e-8)
    assert np.max(np.abs(ours - matlab)) > 1e-3


@pytest.mark.parametrize("convention", ["scipy", "matlab"])
@pytest.mark.parametrize("frequency", [1.0, 5.0, 20.0, 40.0])
def test_a_sine_keeps_its_phase_and_is_damped_by_the_law(convention: str, frequency: float) -> None:
    t = np.arange(8000) / RATE
    wave = np.exp(2j * np.pi * frequency * t)
    x = np.stack([wave.real, wave.imag], axis=1)
    y = low_pass(x, 20.0, RATE, 4, convention)[2000:-2000]
    seen = np.mean((y[:, 0] + 1j * y[:, 1]) / wave[2000:-2000])
    warped = np.tan(np.pi * frequency / RATE) / np.tan(np.pi * 20.0 / RATE)
    assert abs(np.angle(seen)) < 1e-9
    assert abs(seen) == pytest.approx(1.0 / (1.0 + warped**8), rel=1e-9)


@pytest.mark.parametrize("convention", ["scipy", "matlab"])
def test_linear_and_keeps_constants_and_ramps(convention: str) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((2, 400, 3))
    filtered = low_pass(2.0 * x - 3.0 * y, 30.0, RATE, 4, convention)
    parts = 2.0 * low_pass(x, 30.0, RATE, 4, convention) - 3.0 * low_pass(y, 30.0, RATE, 4, convention)
    np.testing.assert_allclose(filtered, parts, atol=1e-12)
    constant = np.full((400, 1), 1.7)
    np.testing.assert_allclose(low_pass(constant, 30.0, RATE, 4, convention), constant, rtol=1e-10)
    if convention == "scipy":  # the kink where the continuation ends is three periods away
        ramp = np.arange(400.0)[:, None]
        assert np.max(np.abs(low_pass(ramp, 30.0, RATE) - ramp)) < 1e-2


def test_a_very_low_cut_off_is_sound_in_sections_and_refused_as_a_transfer_function() -> None:
    t = np.arange(200_000) / 5000.0
    x = np.sin(2 * np.pi * 0.05 * t)[:, None] + 0.1
    y = low_pass(x, 0.5, 5000.0, 6)
    assert np.max(np.abs(y - x)[20_000:-20_000]) < 1e-4
    with pytest.raises(NotTrustworthyError, match=r"order 6 at 0.5 Hz.*use the 'scipy' convention"):
        low_pass(x, 0.5, 5000.0, 6, "matlab")


def test_sentences() -> None:
    x = np.zeros((100, 1))
    with pytest.raises(DynidError, match=r"cut-off is 250 Hz and the rate 500 Hz.*half the rate, 250 Hz"):
        low_pass(x, 250.0, RATE)
    with pytest.raises(
        ShapeError, match=r"12 samples; this filter, forward and backward, needs more than 12"
    ):
        low_pass(x[:12], 50.0, RATE, 4, "matlab")
    with pytest.raises(ShapeError, match=r"100 samples; a low-pass at 1 Hz and 500 Hz needs at least 500"):
        low_pass(x, 1.0, RATE)
    with pytest.raises(UnknownNameError, match=r"Unknown filter convention 'mathlab'.*'matlab'"):
        low_pass(x, 50.0, RATE, 4, "mathlab")
