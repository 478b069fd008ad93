"""Kernels of causal filters: exact delay, exact polynomials, gains, noise, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.core.errors import DynidError
from dynid.preparation.causal_design import (
    DEGREES,
    gain,
    half_length,
    highest_cutoff,
    raw_kernels,
    smooth_kernel,
    smoothing_kernels,
)
from dynid.preparation.causal_plan import CausalPlan, suggest_causal
from dynid.preparation.preparation import Preparation

RATE = 1000.0


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("half", [4, 11, 108])
def test_polynomials_pass_and_differentiate_exactly(degree: int, half: int) -> None:
    kernels = smoothing_kernels(half, degree, RATE)
    t = np.arange(-half, half + 1) / RATE
    scale = half / RATE
    for order, kernel in enumerate((kernels.smooth, kernels.speed, kernels.acceleration)):
        for power in range(degree + 1 + order):
            wanted = float(np.prod(range(1, order + 1))) if power == order else 0.0
            made = kernel @ (t / scale) ** power * scale**order
            assert made == pytest.approx(wanted, abs=1e-11)


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("cutoff", [3.5, 10.0, 77.0])
def test_sines_keep_their_phase_and_have_half_the_amplitude_at_the_cutoff(degree: int, cutoff: float) -> None:
    kernels = smoothing_kernels(half_length(cutoff, RATE, degree), degree, RATE)
    t = np.arange(-kernels.half, kernels.half + 1) / RATE
    for frequency in (0.1 * cutoff, 0.5 * cutoff, cutoff):
        w = 2.0 * np.pi * frequency
        wave = np.exp(1j * w * t)
        h, h1, h2 = kernels.smooth @ wave, kernels.speed @ wave, kernels.acceleration @ wave
        for response in (h, h1 / 1j, -h2):
            assert abs(np.angle(response)) < 1e-9
        assert h.real == pytest.approx(float(gain(kernels.smooth, frequency, RATE)), abs=1e-12)
        assert h1 == pytest.approx(1j * w * h, rel=2e-3)
        assert h2 == pytest.approx(-(w**2) * h, rel=6e-3)
    assert 0.4 < gain(kernels.smooth, cutoff, RATE) <= 0.5
    assert np.max(np.abs(gain(kernels.smooth, np.linspace(3.1 * cutoff, 500.0, 999), RATE))) < 2e-3


def test_long_kernels_have_one_gain_at_all_frequencies() -> None:
    """q̈ through h″ is what the low-pass leaves of q̈: torques and inertias are filtered alike."""
    kernels = smoothing_kernels(108, 3, RATE)
    t = np.arange(-108, 109) / RATE
    w = 2.0 * np.pi * np.linspace(0.5, 300.0, 600)
    h = gain(kernels.smooth, w / (2.0 * np.pi), RATE)
    assert np.max(np.abs(np.sin(np.outer(w, t)) @ kernels.speed / w - h)) < 1e-7
    assert np.max(np.abs(np.cos(np.outer(w, t)) @ kernels.acceleration / -(w**2) - h)) < 1e-6


def test_noise_is_as_the_kernels_say() -> None:
    kernels = smoothing_kernels(20, 3, RATE)
    noise = np.random.default_rng(7).standard_normal((40_000, 41))
    for kernel, predicted in zip(kernels.as_rows(), kernels.noise_gains, strict=True):
        assert np.std(noise @ kernel) == pytest.approx(predicted, rel=0.02)
    assert kernels.noise_gains[0] < 0.35


def test_raw_kernels_are_central_differences() -> None:
    q = np.array([1.0, 4.0, 9.0])
    kernels = raw_kernels(10.0)
    assert (kernels.as_rows() @ q).tolist() == [4.0, 40.0, 200.0]
    assert kernels.half == 1


def test_held_values_are_read_half_a_sample_later() -> None:
    kernel = smooth_kernel(12, 3, 0.5)
    stamps = np.arange(-12, 13.0)
    for power, wanted in enumerate((1.0, 0.0, 0.0, 0.0)):
        assert kernel @ (stamps + 0.5) ** power == pytest.approx(wanted, abs=1e-9)


def test_cutoffs_that_no_kernel_has_are_refused() -> None:
    with pytest.raises(DynidError, match=r"The cut-off is 600 Hz .* at most at 217\.2 Hz"):
        CausalPlan(RATE, 600.0)
    assert CausalPlan(RATE, highest_cutoff(RATE, 3)).delay_s == pytest.approx(0.004)
    with pytest.raises(DynidError, match="torque cannot wait longer than its motion"):
        CausalPlan(RATE, 10.0, torque_cutoff_hz=5.0)
    with pytest.raises(DynidError, match="the positions are not filtered"):
        CausalPlan(RATE, torque_cutoff_hz=5.0)
    with pytest.raises(DynidError, match=r"decimation is 100: 10 instants per second .* give at most 50"):
        CausalPlan(RATE, 10.0, decimation=100)
    with pytest.raises(DynidError, match="rate_hz is 0"):
        CausalPlan(0.0)


def test_torques_are_filtered_as_the_rows_need_it() -> None:
    alike = CausalPlan(RATE, 10.0)
    np.testing.assert_array_equal(alike.torque_kernel, alike.kernels.smooth)
    delayed = CausalPlan(RATE, 10.0, row_decimation=40).torque_kernel
    assert np.flatnonzero(delayed).tolist() == [len(delayed) // 2]
    clear = CausalPlan(RATE, 10.0, decimation=10, row_decimation=4).torque_kernel
    assert 0.4 < gain(clear, 50.0, RATE) <= 0.5
    held = CausalPlan(RATE, 10.0, row_decimation=40, held_torque=True).torque_kernel
    half = len(held) // 2
    assert held[half - 1 : half + 1].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(("cutoff", "decimation"), [(100.0, 10), (25.9, 193), (5.0, 1), (None, 20)])
def test_suggested_plans_keep_band_and_rows(cutoff: float | None, decimation: int) -> None:
    batch = Preparation(cutoff_hz=cutoff, decimation=decimation, speed_thresholds=(0.1, 0.2))
    plan = suggest_causal(batch, RATE)
    assert plan.speed_thresholds == (0.1, 0.2)
    assert plan.cutoff_hz == cutoff
    assert plan.row_rate_hz == pytest.approx(RATE / decimation, rel=0.02)
    if plan.row_decimation > 1:
        at_half = float(gain(plan.row_kernel, 0.5, float(plan.row_decimation)))
        assert 0.4 < at_half <= 0.5
    assert plan.row_delay_s >= plan.delay_s


def test_suggested_cutoffs_are_lowered_to_what_the_rate_allows() -> None:
    plan = suggest_causal(Preparation(cutoff_hz=250.0), RATE)
    assert plan.cutoff_hz == highest_cutoff(RATE, 3)
