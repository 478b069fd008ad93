"""Stamps of files as seconds, counted from one zero without loss of digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dynid.logs.readers.table import RawArray
from dynid.logs.units import TIME_UNITS

FloatArray = NDArray[np.float64]
_EPOCH = 1e8
"""Stamps [s] beyond this count from a calendar date; they are made to begin at zero."""


def zero_of(stamps: RawArray, unit: str) -> float | int:
    """The stamp that becomes zero: the first, when stamps count from a calendar date; else 0.

    Args:
        stamps: as the file has them.
        unit: s, ms, us or ns; dates are nanoseconds whatever it says.
    """
    if stamps.dtype.kind == "M":
        known = stamps[~np.isnat(stamps)]
        return int(known[:1].astype("M8[ns]").astype(np.int64)[0]) if len(known) else 0
    first = stamps[0].item()
    counted = stamps.dtype.kind in "iu" or not np.isfinite(first)
    far = np.isfinite(first) and abs(first) * TIME_UNITS[unit] > _EPOCH
    return (int(first) if counted else float(first)) if far else 0


def seconds_since(stamps: RawArray, unit: str, zero: float | int | Fraction) -> FloatArray:
    """Seconds from a zero, (samples,); lost stamps are NaN.

    Args:
        stamps: as the file has them.
        unit: s, ms, us or ns; dates are nanoseconds whatever it says.
        zero: stamp that is zero, in that unit; a fraction where it is of another clock.
    """
    lost = np.isnat(stamps) if stamps.dtype.kind == "M" else None
    if lost is not None:
        stamps, unit = stamps.astype("M8[ns]").astype(np.int64), "ns"
    # The difference is taken before the scaling: nanoseconds since 1970 do not fit a float.
    exact = stamps.astype(object) if stamps.dtype == np.uint64 else stamps
    whole, rest = _whole(zero, counted=stamps.dtype.kind in "iu")
    since = np.asarray(exact - whole if whole else exact, dtype=float)
    with np.errstate(over="ignore", invalid="ignore"):
        seconds = (since - rest if rest else since) * TIME_UNITS[unit]
    if lost is not None and lost.any():
        seconds[lost] = np.nan
    return np.asarray(seconds)


def in_other_unit(zero: float | int, unit: str, other: str) -> Fraction:
    """A stamp in the unit of another clock, exactly.

    Args:
        zero: the stamp.
        unit: its unit.
        other: the unit wanted.
    """
    return Fraction(zero) * _per_second(other) / _per_second(unit)


def _per_second(unit: str) -> int:
    return round(1 / TIME_UNITS[unit])


def _whole(zero: float | int | Fraction, counted: bool) -> tuple[float | int, float]:
    """A zero as the part that is taken from the stamps first, and what is left of it."""
    if not isinstance(zero, Fraction):
        return zero, 0.0
    first = int(zero) if counted else float(zero)
    return first, float(zero - Fraction(first))
