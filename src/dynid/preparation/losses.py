"""What filter and differences take off the accelerations: a bias of inertias that σ does not tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.preparation.derivative import difference_gain
from dynid.preparation.preparation import Preparation
from dynid.preparation.spectrum import PositionSpectrum

FloatArray = NDArray[np.float64]
_TINY = 1e-300


def filter_gain(frequency_hz: FloatArray, cutoff_hz: float | None, order: int, rate_hz: float) -> FloatArray:
    """What the zero-phase Butterworth low-pass leaves: 1 / (1 + (w/w_c)^(2·order)), w = tan(πf/f_s).

    Args:
        frequency_hz: below half the rate.
        cutoff_hz: f_c; None for no filter.
        order: order of one pass.
        rate_hz: f_s.
    """
    if cutoff_hz is None:
        return np.ones_like(frequency_hz)
    ratio = np.tan(np.pi * frequency_hz / rate_hz) / np.tan(np.pi * cutoff_hz / rate_hz)
    return np.asarray(1.0 / (1.0 + ratio ** (2 * order)))


def acceleration_loss(
    spectrum: PositionSpectrum, plan: Preparation, rate_hz: float, band_hz: float
) -> tuple[FloatArray, FloatArray]:
    """Shares of the acceleration that the position filter and the differences take off, per axis.

    An acceleration that is (1 − x) of the true one makes inertias 1/(1 − x) of theirs. Frequencies are
    weighted with the power of the motion's acceleration there; noise and what the decimation removes are
    left out.

    Args:
        spectrum: of the positions.
        plan: cut-off, order and points of the differences.
        rate_hz: rate at which it runs.
        band_hz: band of the regression.

    Returns:
        (filter, differences), each (axes,); 0 for axes that do not move.
    """
    f = spectrum.frequency
    seen = (f[:, None] <= np.minimum(spectrum.noise_begin(), band_hz)) & (f[:, None] < 0.49 * rate_hz)
    power = spectrum.acceleration * spectrum.width[:, None] * (seen & spectrum.moving())
    total = np.maximum(np.sum(power, axis=0), _TINY)
    inside = np.minimum(f, 0.49 * rate_hz)
    by_filter = 1.0 - filter_gain(inside, plan.cutoff_hz, plan.order, rate_hz)
    by_differences = 1.0 - difference_gain(inside, rate_hz, plan.difference_points) ** 2
    return by_filter @ power / total, by_differences @ power / total
