"""Units at the door: what a column is written in, as a factor to SI."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from dynid.core.errors import unknown_name

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

_ALL = frozenset(TIME_UNITS).union(*UNITS.values())
_WRITTEN = {unit.lower(): unit for unit in sorted(_ALL)} | {
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "msec": "ms", "usec": "us", "nsec": "ns",
    "degree": "deg", "degrees": "deg", "radian": "rad", "radians": "rad", "turn": "rev",
    "r/min": "rpm", "1/min": "rpm", "amp": "A", "amps": "A", "ampere": "A", "volt": "V",
    "newtonmeter": "Nm", "n-m": "Nm",
    "deg/sec": "deg/s", "rad/sec": "rad/s", "degs": "deg",
}  # fmt: skip
"""Other ways to write units, in small letters."""


def plain_unit(unit: str) -> str:
    """A unit without the ways to write a product or a micro: "N·m" is "Nm"."""
    for mark in (" ", "·", "*", ".", "⋅", "_"):
        unit = unit.replace(mark, "")
    return unit.replace("µ", "u").replace("μ", "u").replace("°", "deg")


def bare_unit(text: str) -> str:
    """A unit without brackets and the ways to write a product: "[N·m]" is "Nm", "-" is nothing."""
    plain = plain_unit(text.strip().strip("[](){}<>").strip())
    return "" if set(plain) <= {"-"} else plain


def known_unit(text: str) -> str | None:
    """The unit that a text means, whatever its capitals and brackets: "(Deg)" is "deg"; None for other text.

    Args:
        text: such as a cell of a row of units.
    """
    plain = bare_unit(text)
    return plain if plain in _ALL else _WRITTEN.get(plain.lower())


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
