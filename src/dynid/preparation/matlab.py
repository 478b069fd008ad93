"""MATLAB's filtfilt and decimate, with its padding, initial conditions, filter order and phase."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import NotTrustworthyError, ShapeError

FloatArray = NDArray[np.float64]

_ORDER, _RIPPLE_DB, _BAND = 8, 0.05, 0.8
_EDGE_DB = 1e-6
"""How far from −0.05 dB the band edge may be before MATLAB lowers the order."""


def filtfilt(b: FloatArray, a: FloatArray, x: FloatArray, axis: int = -1) -> FloatArray:
    """Filter forward and backward as MATLAB's ``filtfilt(b, a, x)`` does.

    The signal is continued by 3·(max(len a, len b) − 1) samples at both ends by a turn of 180° about the end
    point (2 x₀ − x_m), and each pass starts in the steady state of its first sample.

    Args:
        b: numerator in powers of z⁻¹.
        a: denominator.
        x: signals.
        axis: the axis of time.
    """
    from scipy import signal

    pad = 3 * (max(len(a), len(b)) - 1)
    if x.shape[axis] <= pad:
        raise ShapeError(
            f"The signal has {x.shape[axis]} samples; this filter, forward and backward, needs more than "
            f"{pad}."
        )
    y: FloatArray = signal.filtfilt(b, a, x, axis=axis, padtype="odd", padlen=pad)
    return y


def checked_transfer(b: FloatArray, a: FloatArray, what: str) -> tuple[FloatArray, FloatArray]:
    """Refuse a transfer function that rounding has made unstable or wrong at zero frequency."""
    unstable = np.max(np.abs(np.roots(a)), initial=0.0) >= 1.0
    if unstable or not abs(np.sum(b) / np.sum(a) - 1.0) < 1e-4:
        raise NotTrustworthyError(
            f"{what} cannot be written as a transfer function in double precision; use the 'scipy' "
            "convention, which works in second-order sections."
        )
    return b, a


def decimation_filter(factor: int) -> tuple[FloatArray, FloatArray]:
    """Numerator and denominator of the low-pass of ``decimate(x, r)``.

    Chebyshev I of order 8, 0.05 dB, band edge 0.8/r of half the rate. The order is lowered while the gain at
    the band edge, computed from the rounded coefficients, is not −0.05 dB within 1e-6 dB.

    Args:
        factor: r.
    """
    from scipy import signal

    edge = _BAND / factor
    for order in range(_ORDER, 0, -1):
        b, a = signal.cheby1(order, _RIPPLE_DB, edge)
        z = np.exp(-1j * np.pi * edge * np.arange(order + 1))
        passed, fed_back = abs(z @ b), abs(z @ a)
        if passed > 0 and fed_back > 0 and abs(20.0 * np.log10(passed / fed_back) + _RIPPLE_DB) <= _EDGE_DB:
            return b, a
    raise NotTrustworthyError(
        f"No Chebyshev low-pass for a decimation by {factor} survives rounding in MATLAB's form; use the "
        "'scipy' convention or a smaller factor."
    )


def decimate(rows: FloatArray, factor: int) -> FloatArray:
    """MATLAB's ``decimate(x, r)`` of each row.

    Of the filtered samples 1 … n those at n_b, n_b + r, …, n are kept with n_b = r − (r·⌈n/r⌉ − n): the last
    one always is. The filter's order is even, so a constant comes out 1.15 % smaller, on both sides alike.

    Args:
        rows: signals (k, samples).
        factor: r.
    """
    b, a = decimation_filter(factor)
    return filtfilt(b, a, rows)[:, (rows.shape[1] - 1) % factor :: factor]
