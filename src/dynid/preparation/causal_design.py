"""Kernels of causal filters: one smoothing kernel and its two derivatives, of one length and one delay.

h(x) = cos⁴(πx/2) p(x²) with the polynomial p that lets polynomials up to a degree pass unchanged; q̇ and q̈ are
filtered by h′ and h″ themselves. Torques and all terms of the model that are linear in q̇ and q̈ then see one
and the same gain at every frequency, and τ = W χ holds behind the filter as before it. cos⁴ ends with three
continuous derivatives, so that sampled h′ and h″ have the gains jωH and −ω²H to 1e-8 from 100 samples on.

Savitzky and Golay (1964) are the case of flat weights; theirs let noise through beyond the cut-off.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial import Polynomial

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError

DEGREES = (1, 3, 5)
"""Polynomials that pass unchanged; a higher degree is flatter in the pass band and longer (0.65, 1.08, 1.46
periods of the cut-off to either side)."""


@dataclass(frozen=True, eq=False)
class CausalKernels:
    """What the newest L = 2 m + 1 samples are multiplied by, oldest first; all belong to the middle sample.

    Args:
        smooth: h, (L,).
        speed: h′ [1/s], (L,).
        acceleration: h″ [1/s²], (L,).
    """

    smooth: FloatArray
    speed: FloatArray
    acceleration: FloatArray

    @property
    def half(self) -> int:
        """m, the delay in samples."""
        return len(self.smooth) // 2

    @property
    def noise_gains(self) -> tuple[float, float, float]:
        """√Σh² of each: rms of q, q̇ and q̈ per rms of white noise in the positions."""
        smooth, speed, acceleration = (
            float(np.linalg.norm(kernel)) for kernel in (self.smooth, self.speed, self.acceleration)
        )
        return smooth, speed, acceleration

    def as_rows(self) -> FloatArray:
        """(3, L), ready for one product."""
        return np.ascontiguousarray(np.stack([self.smooth, self.speed, self.acceleration]))


def gain(kernel: FloatArray, frequency_hz: FloatArray | float, rate_hz: float) -> FloatArray:
    """H(f) = Σ_k h_k cos(2πf k/f_s) of a symmetric kernel.

    Args:
        kernel: h, (2 m + 1,).
        frequency_hz: f, any shape.
        rate_hz: f_s.
    """
    k = np.arange(len(kernel)) - len(kernel) // 2
    angle = 2.0 * np.pi * np.asarray(frequency_hz, dtype=float)[..., None] * k / rate_hz
    return np.asarray(np.cos(angle) @ kernel)


def raw_kernels(rate_hz: float) -> CausalKernels:
    """Central differences over three samples and no filter: q_k, (q_{k+1} − q_{k−1})/2T, second difference.

    Args:
        rate_hz: 1/T.
    """
    kernels = np.array([[0.0, 1.0, 0.0], [-0.5, 0.0, 0.5], [1.0, -2.0, 1.0]])
    return CausalKernels(kernels[0], kernels[1] * rate_hz, kernels[2] * rate_hz**2)


def smoothing_kernels(half: int, degree: int, rate_hz: float) -> CausalKernels:
    """h, h′ and h″ of 2 m + 1 samples, exact on polynomials up to the degree, one more for q̇, two for q̈.

    Args:
        half: m, the delay in samples.
        degree: one of ``DEGREES``.
        rate_hz: samples per second.
    """
    x = np.arange(-half, half + 1.0) / (half + 1)
    w, w1, w2 = _window(x)
    p = _flat_polynomial(x, w, degree)
    p1, p2, scale = p.deriv(), p.deriv(2), rate_hz / (half + 1)
    h1 = -(w1 * p(x) + w * p1(x))  # a product with the window reads h backward in time
    h2 = w2 * p(x) + 2 * w1 * p1(x) + w * p2(x)
    return CausalKernels(
        smooth_kernel(half, degree),
        _exact_on_powers(h1, x, w, 1, range(1, degree + 1, 2)) * scale,
        _exact_on_powers(h2, x, w, 2, range(0, degree + 2, 2)) * scale**2,
    )


def smooth_kernel(half: int, degree: int, shift: float = 0.0) -> FloatArray:
    """h, (2 m + 1,).

    Args:
        half: m, at least (degree + 1) / 2.
        degree: one of ``DEGREES``.
        shift: samples by which values belong later than their stamps; ½ where they are held until the next.
    """
    x = (np.arange(-half, half + 1.0) + shift) / (half + 1)
    w = _window(x)[0]
    return _exact_on_powers(w * _flat_polynomial(x, w, degree)(x), x, w, 0, range(degree + 1))


@lru_cache(maxsize=64)
def half_length(cutoff_hz: float, rate_hz: float, degree: int, shortest: int = 4) -> int:
    """m of the shortest kernel that halves the amplitude at the cut-off, as a batch's filter does, or below.

    Args:
        cutoff_hz: frequency of half the amplitude.
        rate_hz: samples per second.
        degree: of the polynomials that pass unchanged.
        shortest: least m; from 4 on h″ has the gain −ω²H within 4 % at the cut-off.

    Raises:
        DynidError: when even the shortest kernel lies lower.
    """

    def at_cutoff(half: int) -> float:
        return float(gain(smooth_kernel(half, degree), cutoff_hz, rate_hz))

    highest = highest_cutoff(rate_hz, degree, shortest)
    if not 0.0 < cutoff_hz <= highest:
        raise DynidError(
            f"The cut-off is {cutoff_hz:g} Hz and the rate {rate_hz:g} Hz; the cut-off of a causal filter of "
            f"degree {degree} lies above 0 and at most at {highest:.4g} Hz. Lower it, or leave it out for "
            "central differences without a filter."
        )
    low, high = shortest, 2 * shortest
    while at_cutoff(high) > 0.5:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if at_cutoff(middle) <= 0.5 else (middle, high)
    return low if at_cutoff(low) <= 0.5 else high


@lru_cache(maxsize=64)
def highest_cutoff(rate_hz: float, degree: int, shortest: int = 4) -> float:
    """Cut-off of the shortest kernel [Hz]: 0.13, 0.22 and 0.3 of the rate for degrees 1, 3 and 5.

    Args:
        rate_hz: samples per second.
        degree: of the polynomials that pass unchanged.
        shortest: m, as in ``half_length``.
    """
    kernel = smooth_kernel(shortest, degree)
    frequency = np.linspace(0.0, 0.5 * rate_hz, 2001)
    return float(frequency[np.argmax(gain(kernel, frequency, rate_hz) <= 0.5)])


def _window(x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """cos⁴(πx/2) for −1 < x < 1, and its first and second derivative."""
    angle = 0.5 * np.pi
    cos, sin = np.cos(angle * x), np.sin(angle * x)
    return (
        cos**4,
        -4.0 * angle * cos**3 * sin,
        angle**2 * (12.0 * cos**2 * sin**2 - 4.0 * cos**4),
    )


def _flat_polynomial(x: FloatArray, w: FloatArray, degree: int) -> Polynomial:
    """p of least degree with Σ w p = 1 and Σ w p x^2i = 0 for 2i below the degree."""
    powers = np.stack([x**i for i in range(0, degree, 2)])
    even = np.linalg.solve((powers * w) @ powers.T, np.eye(len(powers))[0])
    coefficients = np.zeros(2 * len(even) - 1)
    coefficients[::2] = even
    return Polynomial(coefficients)


def _exact_on_powers(
    kernel: FloatArray, x: FloatArray, w: FloatArray, order: int, powers: range
) -> FloatArray:
    """The kernel with Σ h x^i = i! for i = order, else 0, by the least change relative to the window.

    Sampling leaves these sums off by as little as it leaves the gains off.
    """
    V = np.stack([x**i for i in powers])
    wanted = np.array([1.0 + (order == 2) if i == order else 0.0 for i in powers])
    for _ in range(2):  # the second round takes off the rounding of the first
        kernel = kernel + w * (np.linalg.solve((V * w) @ V.T, wanted - V @ kernel) @ V)
    return kernel
