"""What makes gains doubtful beside the torques: bounds that hold them, and units that slipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name

Range = tuple[float, float]


@dataclass(frozen=True)
class DoubtRules:
    """Gains over the a-priori ones that ask for a word.

    Args:
        usual: data sheets and controllers err by less; a mass in pounds does not.
        possible: beyond, a unit has slipped: grams, or a gear ratio counted twice.
        at_bound: distance to a bound, as a share of it, that is rounding of the solver.
    """

    usual: Range = (0.5, 2.0)
    possible: Range = (0.1, 10.0)
    at_bound: float = 1e-4


RULES = DoubtRules()


def held_by_bounds(
    relative: FloatArray, gain_range: Range, payload: Mapping[str, float], bounds: Mapping[str, Range]
) -> list[Finding]:
    """A finding where gains or parameters of the payload stand at bounds: these are then not found.

    Args:
        relative: gains over the a-priori ones, (motors,); not numbers where not calibrated.
        gain_range: their bounds.
        payload: parameters of the payload by name.
        bounds: of some of them.
    """
    motors = [f"the gain of motor {k + 1}" for k, gain in enumerate(relative) if _at_bound(gain, gain_range)]
    names = [name for name, limits in bounds.items() if _at_bound(payload.get(name, np.nan), limits)]
    held = [*motors, *names]
    if not held:
        return []
    return [
        Finding(
            Name.GAIN_AT_BOUND,
            Level.FAIL,
            f"Bounds hold {', '.join(held)}: the torques ask for values beyond them, so these are not found "
            "but given, and the others follow them.",
            "Widen the bounds, or check the mass and its unit, the logs and what is known of the payload.",
            figures={"held": held},
        )
    ]


def _at_bound(value: float, limits: Range) -> bool:
    return any(abs(value - limit) <= RULES.at_bound * max(abs(limit), 1e-12) for limit in limits)


def unusual_gains(relative: Sequence[float]) -> list[Finding]:
    """A finding where gains are far from the a-priori ones: a unit that slipped scales them all.

    Args:
        relative: gains over the a-priori ones of the motors that are calibrated.
    """
    if not len(relative):
        return []
    middle = float(np.median(relative))
    low, high = RULES.usual
    if low <= middle <= high:
        return []
    possible = RULES.possible[0] <= middle <= RULES.possible[1]
    return [
        Finding(
            Name.GAINS_UNUSUAL,
            Level.CARE if possible else Level.FAIL,
            f"The gains are about {middle:.3g} times the a-priori ones.",
            "Check the unit of the mass (kg), the gear ratios and the unit of the logged signal; where the "
            "a-priori gains mean nothing, as for raw currents, leave them at 1 and name the unit (A, V) in "
            "the mapping.",
            figures={"factor": middle},
        )
    ]
