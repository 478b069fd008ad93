"""The low-passes designed and run without SciPy, against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

from dynid.preparation.filters import butterworth_poles, chebyshev_poles, zero_phase

EDGES = (0.0005, 0.008, 0.04, 0.25, 0.5, 0.8, 0.99)
ORDERS = (1, 2, 3, 4, 5, 8, 12)


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("order", ORDERS)
def test_poles_are_scipy_s(order: int, edge: float) -> None:
    _, butter, _ = signal.butter(order, edge, output="zpk")
    _, cheby, _ = signal.cheby1(order, 0.05, edge, output="zpk")
    for found, expected in (
        (butterworth_poles(order, edge), butter),
        (chebyshev_poles(order, 0.05, edge), cheby),
    ):
        nearest = np.abs(found[:, None] - expected[None, :])
        assert nearest.min(axis=0).max() < 1e-13  # every one of SciPy's, in whatever order
        assert nearest.min(axis=1).max() < 1e-13


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("order", ORDERS)
def test_zero_phase_is_sosfiltfilt(order: int, edge: float) -> None:
    x = np.cumsum(np.random.default_rng(order).standard_normal((1500, 3)), axis=0)
    pad = min(len(x) - 1, max(3 * order, int(6 / edge)))
    expected = signal.sosfiltfilt(
        signal.butter(order, edge, output="sos"), x, axis=0, padtype="odd", padlen=pad
    )
    # SciPy's sections have poles near one in their coefficients and lose digits at low cut-offs; ours do not.
    close = np.abs(x).max() * max(1e-12, 1e-16 / edge**2)
    np.testing.assert_allclose(
        zero_phase(x, butterworth_poles(order, edge), pad), expected, rtol=0, atol=close
    )


@pytest.mark.parametrize("samples", [2, 3, 63, 64, 65, 128, 1000])
def test_any_length_and_no_padding(samples: int) -> None:
    x = np.random.default_rng(samples).standard_normal((samples, 2))
    sections = signal.butter(4, 0.1, output="sos")
    for pad in (0, samples - 1):
        expected = signal.sosfiltfilt(sections, x, axis=0, padtype="odd", padlen=pad)
        np.testing.assert_allclose(
            zero_phase(x, butterworth_poles(4, 0.1), pad), expected, rtol=0, atol=1e-12
        )


def test_lines_pass_unchanged() -> None:
    """The continuation at the ends keeps constants and slopes, so only rounding is left."""
    t = np.linspace(0.0, 1.0, 900)
    x = np.stack([np.full_like(t, 3.0), 2.0 - 5.0 * t], axis=1)
    np.testing.assert_allclose(zero_phase(x, butterworth_poles(4, 0.05), 400), x, rtol=0, atol=1e-9)
