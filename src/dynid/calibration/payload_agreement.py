"""Whether loaded logs, or the halves of one, carry the same payload: weight and centre must not move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dynid.calibration.payload_sight import TenParameters
from dynid.core.finding import Finding, Level, Name

_GRAVITY = (6, 7, 8, 9)
"""Places of MX, MY, MZ and M among the ten parameters: what a payload that slips or changes moves first."""


@dataclass(frozen=True)
class AgreementRules:
    """When parts do not carry the same payload; docs/payload.md has the rates.

    Args:
        sigmas: difference over its own σ: that of a half of a log rests on few blocks of time.
        mass: share of the mass by which parts must differ.
        centre_m: distance by which the centre of mass must differ [m].
    """

    sigmas: float = 6.0
    mass: float = 0.05
    centre_m: float = 0.01


RULES = AgreementRules()


def agreement_findings(parts: Sequence[tuple[str, TenParameters]]) -> list[Finding]:
    """A finding where two parts do not carry the same payload.

    Args:
        parts: name of each part of the loaded logs, and the payload from it alone.
    """
    worst: tuple[float, str] | None = None
    for (name, first), (other, second) in combinations(parts, 2):
        for place, words in zip(_GRAVITY, ("MX", "MY", "MZ", "mass"), strict=True):
            found = _difference(first, second, place)
            if found is not None and (worst is None or found > worst[0]):
                worst = found, f"{words} of {name} and of {other}"
    if worst is None:
        return []
    return [
        Finding(
            Name.PAYLOAD_CHANGED,
            Level.FAIL,
            f"The loaded logs do not carry one payload: {worst[1]} differ by {worst[0]:.0f} times their σ.",
            "Look whether the payload slipped, or was changed between the logs; give logs of one payload.",
            figures={"sigmas": worst[0]},
        )
    ]


def _difference(first: TenParameters, second: TenParameters, place: int) -> float | None:
    """|Δ| over its σ, where it is large both in σ and in size; None otherwise."""
    if not (first.seen[place] and second.seen[place] and first.seen[-1] and second.seen[-1]):
        return None
    apart = abs(float(first.values[place] - second.values[place]))
    mass = max(float(first.values[-1]), float(second.values[-1]))
    least = mass * (RULES.mass if place == _GRAVITY[-1] else RULES.centre_m)
    sigmas = apart / max(float(np.hypot(first.sigma[place], second.sigma[place])), 1e-300)
    return sigmas if apart > least and sigmas > RULES.sigmas else None
