"""A recursive low-pass forward and backward over whole signals, as products of matrices.

With H(z) = g + Σ s_i z⁻¹ / (1 − p_i z⁻¹) an output needs the samples of its own block before it, and one
number per pole for all that lies before the block: S_i = Σ_m p_i^(n−1−m) x[m]. Blocks become one matrix
product, and the S_i obey first-order recursions from block to block. Nothing is truncated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.preparation.modes import handed_right, real_product

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]
_BLOCK = 64
"""Samples in a block: fewer cost more steps of the recursion, more cost a larger product; measured."""
_PIECE = 4096
"""Blocks that are worked on at once: 2 MB per signal, so that a long one is not held several times."""


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
            before, state = handed_right(self.poles**_BLOCK, sums, state)
            made[..., :_BLOCK] += real_product(before, self.from_state)
            part[:] = made[..., :_BLOCK].reshape(k, -1)[:, : part.shape[1]]
