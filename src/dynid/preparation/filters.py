"""The zero-phase Butterworth low-pass in two conventions."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError, ShapeError, unknown_name
from dynid.preparation.design import butterworth_poles
from dynid.preparation.matlab import checked_transfer, filtfilt
from dynid.preparation.preparation import CONVENTIONS
from dynid.preparation.recursive import zero_phase

FloatArray = NDArray[np.float64]

_PAD_PERIODS = 3.0
"""Continuation at the ends, in periods of the cut-off; a kink so far out no longer shows in q̈."""
_FEWEST_PERIODS = 1.0


def low_pass(
    x: FloatArray, cutoff_hz: float, rate_hz: float, order: int = 4, convention: str = "scipy"
) -> FloatArray:
    """Butterworth low-pass, forward and backward: no phase, |H|² = 1 / (1 + (f/f_c)^(2·order)) (P1 §2.2.2).

    Args:
        x: signals (samples, axes).
        cutoff_hz: f_c [Hz]; the two passes together halve the amplitude there.
        rate_hz: samples per second.
        order: order of one pass.
        convention: "scipy" (``scipy.signal.sosfiltfilt``: sound at any cut-off, ends continued over three
            periods of the cut-off) or "matlab" (transfer function and padding of MATLAB's filtfilt).
    """
    if convention not in CONVENTIONS:
        raise unknown_name("filter convention", convention, CONVENTIONS)
    edge = _checked_edge(cutoff_hz, rate_hz)
    if convention == "matlab":
        from scipy import signal

        b, a = signal.butter(order, edge)
        what = f"A Butterworth filter of order {order} at {cutoff_hz:g} Hz for {rate_hz:g} Hz"
        return filtfilt(*checked_transfer(b, a, what), x, axis=0)
    needed = max(3 * order + 1, math.ceil(_FEWEST_PERIODS * rate_hz / cutoff_hz))
    if len(x) < needed:
        raise ShapeError(
            f"The signal has {len(x)} samples; a low-pass at {cutoff_hz:g} Hz and {rate_hz:g} Hz needs at "
            f"least {needed}. Raise the cut-off or use a longer log."
        )
    pad = min(len(x) - 1, max(3 * order, math.ceil(_PAD_PERIODS * rate_hz / cutoff_hz)))
    return zero_phase(x, butterworth_poles(order, edge), pad)


def _checked_edge(cutoff_hz: float, rate_hz: float) -> float:
    """Cut-off as a share of half the rate."""
    if not 0.0 < cutoff_hz < rate_hz / 2.0:
        raise DynidError(
            f"The cut-off is {cutoff_hz:g} Hz and the rate {rate_hz:g} Hz; the cut-off must lie above 0 "
            f"and below half the rate, {rate_hz / 2:g} Hz."
        )
    return 2.0 * cutoff_hz / rate_hz
