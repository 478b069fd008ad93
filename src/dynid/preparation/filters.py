"""The zero-phase Butterworth low-pass in two conventions, and recursive filters as products of matrices.

With H(z) = g + Σ s_i z⁻¹ / (1 − p_i z⁻¹) an output needs the samples of its own block before it, and one
number per pole for all that lies before the block: S_i = Σ_m p_i^(n−1−m) x[m]. Blocks become one matrix
product, and the S_i obey first-order recursions from block to block. Nothing is truncated, and SciPy's
signal package, which takes most of a second to import, is not needed. All zeros of the filters lie at z = −1,
and their gain at rest is one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, NotTrustworthyError, ShapeError, unknown_name
from dynid.preparation.preparation import CONVENTIONS

ComplexArray = NDArray[np.complex128]

_PAD_PERIODS = 3.0
"""Continuation at the ends, in periods of the cut-off; a kink so far out no longer shows in q̈."""
_BLOCK = 64
"""Samples in a block: fewer cost more steps of the recursion, more cost a larger product; measured."""
_PIECE = 4096
"""Blocks that are worked on at once: 2 MB per signal, so that a long one is not held several times."""


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
        return filtfilt(*_trusted_transfer(b, a, what), x, axis=0)
    needed = max(3 * order + 1, math.ceil(rate_hz / cutoff_hz))
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


def zero_phase(x: FloatArray, poles: ComplexArray, pad: int) -> FloatArray:
    """Filter forward and backward: no phase, |H|² in place of H.

    The ends are continued by a turn of 180° about the end point (2 x₀ − x_m), and each pass starts in the
    steady state of its first sample: ``scipy.signal.sosfiltfilt``, with less rounding at low cut-offs.

    Args:
        x: signals (samples, axes).
        poles: all p_i of the filter, simple; its zeros are at −1, as many, and H(1) = 1.
        pad: samples of the continuation at each end, less than those of the signal.
    """
    rows = x.T
    first, last = rows[:, :1], rows[:, -1:]
    before, after = 2.0 * first - rows[:, pad:0:-1], 2.0 * last - rows[:, -2 : -pad - 2 : -1]
    one_way = _OneWay.of(poles)
    signals = np.concatenate([before, rows, after], axis=1)
    one_way.run(signals)
    one_way.run(signals[:, ::-1])
    return np.ascontiguousarray(signals[:, pad : pad + len(x)].T)


@dataclass(frozen=True, eq=False)
class _OneWay:
    """One pass, laid out for blocks of B samples.

    Args:
        poles: those with Im p ≥ 0 (m,); the others are their conjugates.
        product: (B, B + 2 m): response within the block, then Re and Im of the weights p^(B−1−n) of S.
        from_state: (m, B): what S gives to the outputs of its block.
    """

    poles: ComplexArray
    product: FloatArray
    from_state: ComplexArray

    @classmethod
    def of(cls, poles: ComplexArray) -> _OneWay:
        upper = poles[poles.imag >= 0]
        apart = upper[:, None] - poles[None, :]
        apart[apart == 0] = 1.0
        gain = float(np.real(np.prod((1.0 - poles) / 2.0)))
        # g (1 + p)^N / Π (p − p_k), factor by factor: the factors are of one size, their products are not.
        weights = np.prod((1.0 + upper[:, None]) / apart, axis=1) * gain
        weights *= np.where(upper.imag > 0, 2.0, 1.0)
        powers = upper[:, None] ** np.arange(_BLOCK)
        response = np.concatenate([[gain], np.real(weights @ powers)[:-1]])
        later = np.arange(_BLOCK)[None, :] - np.arange(_BLOCK)[:, None]
        within = np.where(later >= 0, response[np.abs(later)], 0.0)
        ahead = powers[:, ::-1].T
        product = np.concatenate([within, ahead.real, ahead.imag], axis=1)
        return cls(upper, product, weights[:, None] * powers)

    def run(self, rows: FloatArray) -> None:
        """Put outputs in the place of signals (k, n)."""
        k, n = rows.shape
        state = rows[:, :1] / (1.0 - self.poles)
        m, size = len(self.poles), _PIECE * _BLOCK
        for first in range(0, n, size):
            part = rows[:, first : first + size]
            whole = np.zeros((k, -(-part.shape[1] // _BLOCK), _BLOCK))
            whole.reshape(k, -1)[:, : part.shape[1]] = part
            made = whole @ self.product
            sums = made[..., _BLOCK : _BLOCK + m] + 1j * made[..., _BLOCK + m :]
            before, state = states_before(self.poles**_BLOCK, sums, state)
            made[..., :_BLOCK] += real_product(before, self.from_state)
            part[:] = made[..., :_BLOCK].reshape(k, -1)[:, : part.shape[1]]


def states_before(
    step: ComplexArray, sums: ComplexArray, start: ComplexArray
) -> tuple[ComplexArray, ComplexArray]:
    """S[b+1] = p^B S[b] + sums[b] from S[0] = start: the S before each block, and the last one.

    Args:
        step: p^B (m,).
        sums: what each block adds (k, blocks, m).
        start: S[0] (k, m).
    """
    before = np.empty_like(sums)
    state = start
    for b in range(sums.shape[1]):
        before[:, b] = state
        state = state * step + sums[:, b]
    return before, state


def real_product(sums: ComplexArray, weights: ComplexArray) -> FloatArray:
    """Re(sums @ weights) without the imaginary half."""
    parts = np.concatenate([sums.real, sums.imag], axis=-1)
    product: FloatArray = parts @ np.concatenate([weights.real, -weights.imag])
    return product


def butterworth_poles(order: int, edge: float) -> ComplexArray:
    """Poles of the Butterworth low-pass, |H|² = 1 / (1 + (Ω/Ω_c)^(2·order)) (Butterworth 1930).

    Args:
        order: N, the number of poles; conjugates come in pairs, the real one of an odd order in the middle.
        edge: cut-off as a share of half the rate, 0 < edge < 1.
    """
    return _digital_poles(-np.exp(1j * _angles(order)), edge)


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
    return _digital_poles(-np.sinh(mu + 1j * _angles(order)), edge)


def _angles(order: int) -> NDArray[np.float64]:
    """Angles of the poles from the negative real axis [rad]."""
    return np.pi * np.arange(1 - order, order, 2) / (2 * order)


def _digital_poles(poles: ComplexArray, edge: float) -> ComplexArray:
    """Poles of a filter with Ω_c = 1 after the bilinear transform, which puts Ω_c at the edge."""
    half = math.tan(0.5 * math.pi * edge) * poles
    made: ComplexArray = (1.0 + half) / (1.0 - half)
    return made


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


def _trusted_transfer(b: FloatArray, a: FloatArray, what: str) -> tuple[FloatArray, FloatArray]:
    """Refuse a transfer function that rounding has made unstable or wrong at zero frequency."""
    unstable = np.max(np.abs(np.roots(a)), initial=0.0) >= 1.0
    if unstable or not abs(np.sum(b) / np.sum(a) - 1.0) < 1e-4:
        raise NotTrustworthyError(
            f"{what} cannot be written as a transfer function in double precision; use the 'scipy' "
            "convention, which works in second-order sections."
        )
    return b, a
