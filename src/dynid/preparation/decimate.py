"""Parallel decimation: the same low-pass on the torques and on every column, then one sample of r.

The low-pass is a Chebyshev filter, forward and backward. With H(z) = D + Σ r_i / (1 − p_i z⁻¹) that is the
convolution with the even kernel

    h[n] = Σ_i C_i p_i^|n| + D h₀ δ[n],   C_i = r_i H(1/p_i),   h₀ = D + Σ_i r_i.

An output therefore needs, besides its own block of samples, one number per pole from everything before the
block and one from everything after it: few outputs cost little, and rows may arrive piece by piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, NotTrustworthyError, ShapeError, unknown_name
from dynid.preparation.filters import chebyshev_poles, filtfilt, real_product, states_before
from dynid.preparation.preparation import CONVENTIONS

ComplexArray = NDArray[np.complex128]


@dataclass(frozen=True)
class DecimationFilter:
    """The low-pass of both conventions, that of MATLAB's ``decimate``, and how its blocks are laid out.

    Args:
        order: of the Chebyshev filter of the first kind.
        ripple_db: in its pass band [dB].
        band: end of the pass band, over half the decimated rate.
        edge_db: how far from the ripple the gain at the band edge may be before MATLAB lowers the order [dB].
        block: samples in a block, roughly; measured.
        outputs: most outputs in a block, where the decimation is small; measured.
        forgotten: a sample whose trace has fallen below this share no longer counts.
    """

    order: int = 8
    ripple_db: float = 0.05
    band: float = 0.8
    edge_db: float = 1e-6
    block: int = 256
    outputs: int = 32
    forgotten: float = 1e-13


FILTER = DecimationFilter()


def decimate_rows(rows: FloatArray, factor: int, convention: str = "scipy") -> FloatArray:
    """Low-pass each row without phase and keep one sample of ``factor`` (P0 §II, P1 eq 13).

    Linear, and the same for every row, so that τ = W χ stays exact. The band edge is 0.8·f_s/(2 r).

    Args:
        rows: signals (k, samples); rows that are zero stay zero and cost nothing.
        factor: r; 1 returns a copy.
        convention: "scipy" keeps samples 0, r, 2r, …, unit gain at zero frequency, ends mirrored; "matlab" is
            MATLAB's ``decimate``, which keeps the last sample.

    Returns:
        (k, ⌈samples / r⌉).
    """
    array = _checked_rows(rows, factor, convention)
    if factor == 1:
        return array.copy()
    used = _nonzero_rows(array)
    if len(used) == len(array):
        return _decimated_rows(array, factor, convention)
    out = np.zeros((len(array), -(-array.shape[1] // factor)))
    if len(used):
        out[used] = _decimated_rows(array[used], factor, convention)
    return out


def _decimated_rows(array: FloatArray, factor: int, convention: str) -> FloatArray:
    if convention == "matlab":
        b, a = matlab_filter(factor)
        return filtfilt(b, a, array)[:, (array.shape[1] - 1) % factor :: factor]
    return Decimator(len(array), factor).finish(array)


def _nonzero_rows(array: FloatArray) -> NDArray[np.intp]:
    """Rows that hold anything; most show it in their first or last sample."""
    if not array.size:
        return np.empty(0, dtype=np.intp)
    nonzero = (array[:, 0] != 0) | (array[:, -1] != 0)
    doubtful = np.flatnonzero(~nonzero)
    nonzero[doubtful] = [bool(np.any(array[row])) for row in doubtful]
    return np.flatnonzero(nonzero)


def _checked_rows(rows: FloatArray, factor: int, convention: str) -> FloatArray:
    if convention not in CONVENTIONS:
        raise unknown_name("decimation convention", convention, CONVENTIONS)
    if factor < 1:
        raise DynidError(f"The decimation is {factor}; it must be at least 1.")
    array = np.asarray(rows, dtype=float)
    if array.ndim != 2:
        raise ShapeError(f"The rows have shape {array.shape}; expected (rows, samples).")
    return array


class Decimator:
    """The "scipy" decimation of k rows; the same outputs whatever the pieces, to rounding.

    ``push`` returns the outputs that no longer depend on what is to come, ``finish`` the others. What is kept
    between calls is about 300 outputs per row.

    Args:
        rows: k, signals filtered in parallel.
        factor: r; 1 passes everything through.
    """

    def __init__(self, rows: int, factor: int) -> None:
        """Begin before the first sample."""
        self._rows = rows
        self._factor = factor
        self._filter: BlockFilter = block_filter(max(factor, 2))  # a factor of 1 never uses it
        self._rest: FloatArray = np.empty((rows, 0))
        """Samples that do not fill a block yet."""
        self._outputs: FloatArray = np.empty((rows, 0, self._filter.outputs))
        """Outputs that still lack what comes from the right."""
        self._left: ComplexArray = np.empty((rows, 0, len(self._filter.poles)), dtype=complex)
        """What each of their blocks hands to the left."""
        self._state: ComplexArray = np.zeros((rows, len(self._filter.poles)), dtype=complex)
        """What all blocks so far hand to the right."""
        self._samples = 0
        self._first: FloatArray = np.empty((rows, 0))
        self._last: FloatArray = np.empty((rows, 0))
        self._begun = False
        """Whether the mirrored start is in the state."""
        self._given = 0

    def push(self, rows: FloatArray) -> FloatArray:
        """Take more samples (k, any number); return the outputs that are complete (k, some, often none)."""
        x = self._rest_and(rows)
        if self._factor == 1:
            return x.copy()
        whole = x.shape[1] // self._filter.block * self._filter.block
        self._take(x[:, :whole])
        self._rest = x[:, whole:].copy()
        memory = self._filter.memory_blocks
        waiting = self._left.shape[1]
        if waiting < 2 * memory:
            return np.empty((self._rows, 0))
        nothing = np.zeros_like(self._state)
        if not self._begun:
            self._begin(states_after(self._filter.step, self._left, nothing)[1] - self._first)
        return self._release(waiting - memory, nothing)

    def finish(self, rows: FloatArray | None = None) -> FloatArray:
        """Take the last samples, if any; return all outputs that are left."""
        x = self._rest_and(np.empty((self._rows, 0)) if rows is None else rows)
        n, p, size = self._samples, self._filter.poles, self._filter.block
        if n < 2 or self._factor == 1:
            return x.copy()
        whole = x.shape[1] // size * size
        self._take(x[:, :whole])
        missing = -x.shape[1] % size
        if missing:
            self._take(np.pad(x[:, whole:], ((0, 0), (0, missing))))
        # The ends are mirrors: what lies before sample 0 is what lies after it, and so at the end. The two
        # mirrors see each other over a period of 2n − 2 samples.
        tail = self._state / p**missing - p * self._last
        if not self._begun:
            start = states_after(self._filter.step, self._left, np.zeros_like(self._state))[1] - self._first
            self._begin((start + p ** (n - 2) * tail) / (1.0 - p ** (2 * n - 2)))
            tail = self._state / p**missing - p * self._last
        wanted = -(-n // self._factor) - self._given
        return self._release(self._left.shape[1], tail / p ** (2 + missing))[:, :wanted]

    def _rest_and(self, rows: FloatArray) -> FloatArray:
        """The rest of the last piece followed by this one."""
        array = np.asarray(rows, dtype=float)
        if array.ndim != 2 or len(array) != self._rows:
            raise ShapeError(
                f"The rows have shape {array.shape}; this decimation takes ({self._rows}, samples)."
            )
        if array.shape[1]:
            self._first = array[:, :1].copy() if self._samples == 0 else self._first
            self._last = array[:, -1:].copy()
            self._samples += array.shape[1]
        return np.concatenate([self._rest, array], axis=1) if self._rest.shape[1] else array

    def _take(self, x: FloatArray) -> None:
        """Filter whole blocks and hand their sums to the right."""
        if x.shape[1] == 0:
            return
        inner, right, left = self._filter.apply(x)
        before, self._state = states_before(self._filter.step, right, self._state)
        inner += self._filter.from_left_of(before)
        waiting = self._left.shape[1] > 0
        self._outputs = np.concatenate([self._outputs, inner], axis=1) if waiting else inner
        self._left = np.concatenate([self._left, left], axis=1) if waiting else left

    def _begin(self, start: ComplexArray) -> None:
        """Add what lies before the first sample to all blocks so far."""
        waiting = self._left.shape[1]
        before = start[:, None, :] * self._filter.step ** np.arange(waiting)[:, None]
        self._outputs = self._outputs + self._filter.from_left_of(before)
        self._state = self._state + start * self._filter.step**waiting
        self._begun = True

    def _release(self, blocks: int, end: ComplexArray) -> FloatArray:
        """Complete the first blocks that wait, given what lies right of the last one that waits."""
        after, _ = states_after(self._filter.step, self._left, end)
        done = self._outputs[:, :blocks] + self._filter.from_right_of(after[:, :blocks])
        self._outputs, self._left = self._outputs[:, blocks:].copy(), self._left[:, blocks:].copy()
        self._given += blocks * self._filter.outputs
        return done.reshape(self._rows, blocks * self._filter.outputs)


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
        return int(np.ceil(np.log(FILTER.forgotten) / np.log(slowest) / self.block)) + 1

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


def states_after(
    step: ComplexArray, sums: ComplexArray, end: ComplexArray
) -> tuple[ComplexArray, ComplexArray]:
    """A[b] = p^B A[b+1] + sums[b] from the right end: the A after each block, and the last one, A[0]."""
    after, start = states_before(step, sums[:, ::-1], end)
    return after[:, ::-1], start


def zero_phase_modes(factor: int) -> tuple[ComplexArray, ComplexArray, float]:
    """Poles with Im > 0, their weights 2 C_i, and the weight of the sample itself.

    Chebyshev I, order 8, 0.05 dB, band edge 0.8/r of half the rate, forward and backward, scaled to unit gain
    at zero frequency (an even order would otherwise take 1.15 % off a constant).

    Args:
        factor: r, at least 2.
    """
    poles = chebyshev_poles(FILTER.order, FILTER.ripple_db, FILTER.band / factor)
    gain = float(np.real(np.prod((1.0 - poles) / 2.0)))  # H(1) = 1; all zeros lie at −1
    upper = poles[poles.imag > 0]
    apart = 1.0 - poles[None, :] / upper[:, None]
    apart[poles[None, :] == upper[:, None]] = 1.0
    residues = gain * (1.0 + 1.0 / upper) ** FILTER.order / np.prod(apart, axis=1)
    mirrored = gain * (1.0 + upper) ** FILTER.order / np.prod(1.0 - poles[None, :] * upper[:, None], axis=1)
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
    outputs = max(1, min(round(FILTER.block / factor), FILTER.outputs))
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


def matlab_filter(factor: int) -> tuple[FloatArray, FloatArray]:
    """Numerator and denominator of the low-pass of ``decimate(x, r)``.

    Chebyshev I of order 8, 0.05 dB, band edge 0.8/r of half the rate. The order is lowered while the gain at
    the band edge, computed from the rounded coefficients, is not −0.05 dB within 1e-6 dB.

    Args:
        factor: r.
    """
    from scipy import signal

    edge = FILTER.band / factor
    for order in range(FILTER.order, 0, -1):
        b, a = signal.cheby1(order, FILTER.ripple_db, edge)
        z = np.exp(-1j * np.pi * edge * np.arange(order + 1))
        passed, fed_back = abs(z @ b), abs(z @ a)
        if passed > 0 and fed_back > 0:
            gain_db = 20.0 * np.log10(passed / fed_back)
            if abs(gain_db + FILTER.ripple_db) <= FILTER.edge_db:
                return b, a
    raise NotTrustworthyError(
        f"No Chebyshev low-pass for a decimation by {factor} survives rounding in MATLAB's form; use the "
        "'scipy' convention or a smaller factor."
    )
