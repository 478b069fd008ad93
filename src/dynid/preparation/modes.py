"""A zero-phase recursive low-pass as a sum of two-sided exponentials, so that few outputs cost little.

Forward and backward filtering with H(z) = D + Σ r_i / (1 − p_i z⁻¹) is the convolution with the even kernel

    h[n] = Σ_i C_i p_i^|n| + D h₀ δ[n],   C_i = r_i H(1/p_i),   h₀ = D + Σ_i r_i.

An output therefore needs, besides its own block of samples, one number per pole from everything before the
block and one from everything after it. Blocks become one matrix product, and the numbers that join them obey
first-order recursions at the rate of the blocks. Nothing is truncated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dynid.preparation.design import chebyshev_poles

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]

_ORDER, _RIPPLE_DB, _BAND = 8, 0.05, 0.8
_BLOCK, _OUTPUTS = 256, 32
"""Samples in a block, roughly, and most outputs in one, where the decimation is small; measured."""
_FORGOTTEN = 1e-13


@dataclass(frozen=True, eq=False)
class BlockFilter:
    """The decimation filter of one factor, laid out for blocks of B = outputs · factor samples.

    Args:
        outputs: outputs of a block, at its samples 0, r, 2r, …
        block: B.
        poles: p_i with Im p_i > 0 (m,).
        product: (B, outputs + 4 m): kernel inside the block, then Re and Im of the weights p^(B−n) of the sum
            handed to the right, then of the weights p^n of the sum handed to the left.
        from_left: (m, outputs): 2 C_i p_i^(l r), what the sum from the left gives to output l.
        from_right: (m, outputs): 2 C_i p_i^(B − l r).
    """

    outputs: int
    block: int
    poles: ComplexArray
    product: FloatArray
    from_left: ComplexArray
    from_right: ComplexArray

    @property
    def step(self) -> ComplexArray:
        """p^B: what is left of a sum one block further."""
        return self.poles**self.block

    @property
    def memory_blocks(self) -> int:
        """Blocks after which the trace of a sample has fallen below 1e-13."""
        slowest = float(np.max(np.abs(self.poles)))
        return int(np.ceil(np.log(_FORGOTTEN) / np.log(slowest) / self.block)) + 1

    def apply(self, x: FloatArray) -> tuple[FloatArray, ComplexArray, ComplexArray]:
        """Outputs from within (k, blocks, outputs), sums to the right and to the left (k, blocks, m)."""
        made = x.reshape(len(x), x.shape[1] // self.block, self.block) @ self.product
        o, m = self.outputs, len(self.poles)
        right = made[..., o : o + m] + 1j * made[..., o + m : o + 2 * m]
        left = made[..., o + 2 * m : o + 3 * m] + 1j * made[..., o + 3 * m :]
        return made[..., :o].copy(), right, left

    def from_left_of(self, sums: ComplexArray) -> FloatArray:
        """What sums from the left give to the outputs of their blocks."""
        return real_product(sums, self.from_left)

    def from_right_of(self, sums: ComplexArray) -> FloatArray:
        """What sums from the right give to the outputs of their blocks."""
        return real_product(sums, self.from_right)


def handed_right(
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


def handed_left(
    step: ComplexArray, sums: ComplexArray, end: ComplexArray
) -> tuple[ComplexArray, ComplexArray]:
    """A[b] = p^B A[b+1] + sums[b] from the right end: the A after each block, and the last one, A[0]."""
    after, start = handed_right(step, sums[:, ::-1], end)
    return after[:, ::-1], start


def zero_phase_modes(factor: int) -> tuple[ComplexArray, ComplexArray, float]:
    """Poles with Im > 0, their weights 2 C_i, and the weight of the sample itself.

    Chebyshev I, order 8, 0.05 dB, band edge 0.8/r of half the rate, forward and backward, scaled to unit gain
    at zero frequency (an even order would otherwise take 1.15 % off a constant).

    Args:
        factor: r, at least 2.
    """
    poles = chebyshev_poles(_ORDER, _RIPPLE_DB, _BAND / factor)
    gain = float(np.real(np.prod((1.0 - poles) / 2.0)))  # H(1) = 1; all zeros lie at −1
    upper = poles[poles.imag > 0]
    apart = 1.0 - poles[None, :] / upper[:, None]
    apart[poles[None, :] == upper[:, None]] = 1.0
    residues = gain * (1.0 + 1.0 / upper) ** _ORDER / np.prod(apart, axis=1)
    mirrored = gain * (1.0 + upper) ** _ORDER / np.prod(1.0 - poles[None, :] * upper[:, None], axis=1)
    direct = float(np.real(gain / np.prod(-poles)))
    first = direct + 2.0 * float(np.sum(residues.real))
    return upper, 2.0 * residues * mirrored, direct * first


@lru_cache(maxsize=16)
def block_filter(factor: int) -> BlockFilter:
    """The filter of a decimation by ``factor``.

    Args:
        factor: r, at least 2.
    """
    poles, weights, own = zero_phase_modes(factor)
    outputs = max(1, min(round(_BLOCK / factor), _OUTPUTS))
    size = outputs * factor
    sample, output = np.arange(size), factor * np.arange(outputs)
    distance = np.abs(sample[:, None] - output[None, :])
    powers = poles[:, None] ** np.arange(size + 1)
    kernel = np.real(weights @ powers)[distance] + own * (distance == 0)
    right, left = powers[:, size - sample], powers[:, sample]
    product = np.concatenate([kernel.T, right.real, right.imag, left.real, left.imag]).T
    return BlockFilter(
        outputs=outputs,
        block=size,
        poles=poles,
        product=np.ascontiguousarray(product),
        from_left=weights[:, None] * powers[:, output],
        from_right=weights[:, None] * powers[:, size - output],
    )


def real_product(sums: ComplexArray, weights: ComplexArray) -> FloatArray:
    """Re(sums @ weights) without the imaginary half."""
    parts = np.concatenate([sums.real, sums.imag], axis=-1)
    product: FloatArray = parts @ np.concatenate([weights.real, -weights.imag])
    return product
