"""Units at the door: what a column is written in, as a factor to SI."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from dynid.errors import unknown_name

TIME_UNITS: Mapping[str, float] = MappingProxyType({"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9})
_ANGLES = {"rad": 1.0, "mrad": 1e-3, "deg": math.pi / 180, "rev": 2 * math.pi}
_LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6}
_POSITIONS = _ANGLES | _LENGTHS
_SIGNALS = {"A": 1.0, "mA": 1e-3, "V": 1.0, "mV": 1e-3}
UNITS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "position": _POSITIONS,
        "reference": _POSITIONS,
        "velocity": {f"{unit}/s": factor for unit, factor in _POSITIONS.items()} | {"rpm": math.pi / 30},
        "torque": {"Nm": 1.0, "mNm": 1e-3, "kNm": 1e3, "Ncm": 1e-2, "N": 1.0, "mN": 1e-3, "kN": 1e3}
        | _SIGNALS,
    }
)
"""Units by channel, with their factors to rad, m, s, N m, N."""


def plain_unit(unit: str) -> str:
    """A unit without the ways to write a product or a micro: "N·m" is "Nm"."""
    for mark in (" ", "·", "*", ".", "⋅", "_"):
        unit = unit.replace(mark, "")
    return unit.replace("µ", "u").replace("μ", "u").replace("°", "deg")


def unit_factor(channel: str, unit: object) -> float:
    """Factor from a unit to SI.

    Args:
        channel: position, velocity, torque or reference.
        unit: such as "deg", "N m", "A".
    """
    known = UNITS[channel]
    plain = plain_unit(str(unit))
    if plain not in known:
        raise unknown_name(f"unit of {channel}", str(unit), known)
    return known[plain]


def is_signal(unit: str) -> bool:
    """Whether a unit is that of a drive signal, which only a gain makes a torque."""
    return plain_unit(unit) in _SIGNALS
