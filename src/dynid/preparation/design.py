"""Poles of the digital low-passes in use; all their zeros lie at z = −1, and their gain at rest is one."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

ComplexArray = NDArray[np.complex128]


def butterworth_poles(order: int, edge: float) -> ComplexArray:
    """Poles of the Butterworth low-pass, |H|² = 1 / (1 + (Ω/Ω_c)^(2·order)) (Butterworth 1930).

    Args:
        order: N, the number of poles; conjugates come in pairs, the real one of an odd order in the middle.
        edge: cut-off as a share of half the rate, 0 < edge < 1.
    """
    return _digital(-np.exp(1j * _angles(order)), edge)


def chebyshev_poles(order: int, ripple_db: float, edge: float) -> ComplexArray:
    """Poles of the Chebyshev low-pass of the first kind, |H|² = 1 / (1 + ε² T_N²(Ω/Ω_c)).

    They are those of Butterworth's circle pressed into an ellipse, −sinh(μ + jθ), sinh(N μ) = 1/ε.

    Args:
        order: N.
        ripple_db: depth of the ripple in the pass band [dB]; ε² = 10^(ripple/10) − 1.
        edge: end of the pass band as a share of half the rate, 0 < edge < 1.
    """
    epsilon = math.sqrt(10.0 ** (0.1 * ripple_db) - 1.0)
    mu = math.asinh(1.0 / epsilon) / order
    return _digital(-np.sinh(mu + 1j * _angles(order)), edge)


def _angles(order: int) -> NDArray[np.float64]:
    """Angles of the poles from the negative real axis [rad]."""
    return np.pi * np.arange(1 - order, order, 2) / (2 * order)


def _digital(poles: ComplexArray, edge: float) -> ComplexArray:
    """Poles of a filter with Ω_c = 1 after the bilinear transform, which puts Ω_c at the edge."""
    half = math.tan(0.5 * math.pi * edge) * poles
    made: ComplexArray = (1.0 + half) / (1.0 - half)
    return made
