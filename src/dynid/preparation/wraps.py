"""Whole numbers that wrap: counters, signed numbers that were logged as unsigned ones or that overflow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.preparation.column import SAMPLED, ColumnStatistics, quantisation_step, stride


@dataclass(frozen=True)
class WrapRules:
    """When a column wraps. Set on half of a population of damaged files (docs/data-check.md).

    Args:
        bits: widths of whole numbers that buses and encoders use.
        narrower: range of a column whose wraps are taken back, over its range before, that leaves no doubt …
        mended: … else the share of the leaps that must be small when the wrap is taken back …
        left: … over the leap itself: friction steps where a torque changes its sign.
        full: share of its width that a column must fill to overflow.
        edge: what a leap from end to end leaves of the width …
        at_ends: … and the share of an overflowing column's leaps that are such, two at least.
        off: distance from a whole number of steps that still is one.
        leap: least leap of a counter, as a share of the column's range.
        filled: share of the modulus that the range of a counter fills when it wraps.
        spread: share of the modulus by which leaps of a counter may differ.
    """

    bits: tuple[int, ...] = (8, 10, 12, 13, 14, 16, 17, 18, 19, 20, 24, 32)
    narrower: float = 0.5
    mended: float = 0.9
    left: float = 0.6
    full: float = 0.95
    edge: float = 0.1
    at_ends: float = 0.1
    off: float = 0.02
    leap: float = 0.5
    filled: float = 0.8
    spread: float = 0.05


WRAP = WrapRules()


@dataclass(frozen=True)
class UnsignedNumbers:
    """Signed whole numbers that a column holds as unsigned ones: −3 is written as 2^16 − 3.

    Args:
        bits: their width.
        modulus: 2^bits steps of the column, negative where a mapping has turned its sign.
    """

    bits: int
    modulus: float

    def as_signed(self, x: FloatArray) -> FloatArray:
        """The numbers that a column, (samples,), stands for; garbage stays as it is."""
        share = x / self.modulus
        return np.where((share >= 0.5) & (share < 1.0), x - self.modulus, x)


def unsigned_numbers(columns: Iterable[FloatArray]) -> tuple[UnsignedNumbers | None, ...]:
    """Which columns of a channel hold signed numbers as unsigned ones.

    Near zero such a column leaps by nearly its whole range, and no more when the upper half of the numbers is
    taken as negative. What one column shows holds for the others of its channel that reach the upper half of
    the same width: signed numbers do not.

    Args:
        columns: the axes of a channel, each (samples,), one after the other.
    """
    wholes, found = list[UnsignedNumbers | None](), list[UnsignedNumbers | None]()
    for x in columns:
        own = _upper_half(x)
        wholes.append(own)
        found.append(own if own is not None and _wraps_at_zero(x, own) else None)
    widths = {one.bits for one in found if one is not None}
    if len(widths) != 1:
        return tuple(found)
    return tuple(own if own is not None and own.bits in widths else None for own in wholes)


def _upper_half(x: FloatArray) -> UnsignedNumbers | None:
    """A column that is whole multiples of a step, all of one sign, in the upper half of a usual width."""
    finite = x[np.abs(x) < 1e12]  # NaN is not
    if len(finite) < 20:
        return None
    low, high = float(finite.min()), float(finite.max())
    if low == high or low < 0 < high:
        return None
    values = finite[:: stride(len(finite), SAMPLED.values)]
    step = quantisation_step(values)
    if step is None or not _is_whole(values, step):
        return None
    most = max(abs(low), abs(high)) / step
    bits = next((b for b in WRAP.bits if most < 2.0**b - 0.5), None)
    if bits is None or most <= 2.0 ** (bits - 1):
        return None
    return UnsignedNumbers(bits, (1.0 if low >= 0 else -1.0) * 2.0**bits * step)


def _wraps_at_zero(x: FloatArray, own: UnsignedNumbers) -> bool:
    """Whether a column leaps by nearly its width, and hardly when its upper half is negative."""
    finite = x[np.abs(x) < 1e12]
    mended = own.as_signed(finite)
    before, after = np.abs(np.diff(finite)), np.abs(np.diff(mended))
    leaps = before > abs(own.modulus) / 2
    if before.max(initial=0.0) < (1 - WRAP.edge) * abs(own.modulus):
        return False  # offset binary leaps too, where friction steps
    if np.ptp(mended) < WRAP.narrower * np.ptp(finite):
        return True
    new = np.count_nonzero(after > abs(own.modulus) / 2)
    small = np.mean(after[leaps] <= WRAP.left * before[leaps])
    return bool(small >= WRAP.mended and new <= (1 - WRAP.mended) * np.count_nonzero(leaps))


def overflowing_bits(x: FloatArray, usual: ColumnStatistics) -> int:
    """Width of signed whole numbers that overflow, 32768 being written as −32768; 0 when a column has none.

    It leaps from one end of its width to the other. A column that is saturated at both ends may do so too.

    Args:
        x: one axis, (samples,).
        usual: what is usual in it.
    """
    if usual.step is None or not usual.clean or not usual.least < 0 < usual.most:
        return 0
    bits = next((b for b in WRAP.bits if usual.span < (2.0**b - 0.5) * usual.step), 0)
    modulus = 2.0**bits * usual.step
    fits = max(-usual.least, usual.most) < 0.5 * modulus + 0.5 * usual.step
    if not fits or usual.span < WRAP.full * modulus or not _is_whole(x, usual.step):
        return 0
    change, at_limit = np.abs(np.diff(x)) / modulus, np.isin(x, (usual.least, usual.most))
    leaps, saturated = np.count_nonzero(change > 0.5), at_limit[1:] & at_limit[:-1]
    at_ends = np.count_nonzero((change > 1 - WRAP.edge) & ~saturated)
    usual_leaps = leaps <= WRAP.at_ends * len(x) and at_ends >= max(2, WRAP.at_ends * leaps)
    return bits if usual_leaps else 0


def _is_whole(x: FloatArray, step: float) -> bool:
    """Whether values are whole multiples of a step up to the largest, as rounded angles are not."""
    count = x / step
    return bool(np.quantile(np.abs(count - np.round(count)), 0.99) < WRAP.off)


def counter_modulus(x: FloatArray, usual: ColumnStatistics) -> float:
    """Distance by which a counter leaps when it is full or empty; 0 when the column has no such leaps.

    The leaps go across the whole range, against the motion, and are alike. Where the counter's step is seen
    the modulus is 2^bits of them, else leaps in both directions, or three, must agree on it.

    Args:
        x: one axis, (samples,).
        usual: what is usual in it.
    """
    x = usual.without_garbage(x)
    if len(x) < 20 or usual.span == 0:
        return 0.0
    change = np.diff(x)
    at = np.flatnonzero(np.abs(change) > WRAP.leap * usual.span)
    at = at[(at > 1) & (at < len(change) - 2)]
    if not len(at) or len(at) > len(x) // 10:
        return 0.0
    speed = 0.5 * (change[at - 1] + change[at + 1])
    sizes = np.abs(change[at] - speed)
    size = float(np.median(sizes))
    against = np.mean(np.sign(speed) != np.sign(change[at])) >= WRAP.mended
    if not against or np.max(np.abs(sizes - size)) > WRAP.spread * size:
        return 0.0
    bits = 0.0 if usual.step is None else np.log2(size / usual.step)
    if (
        usual.step is not None
        and round(bits) in WRAP.bits
        and abs(2.0 ** (bits - round(bits)) - 1) < WRAP.spread
    ):
        modulus = float(2.0 ** round(bits) * usual.step)
        return modulus if usual.span < modulus else 0.0
    both = len(np.unique(np.sign(change[at]))) == 2 or len(at) >= 3
    return size if both and WRAP.filled * size <= usual.span <= 1.05 * size else 0.0
