"""Units whose friction drifts, found among their fleet: rates on drawn fleets.

``python -m population.fleet setting`` prints what the thresholds were set on, ``… showing`` the rates on the
other half, as docs/fleets.md has them. Estimates are drawn directly: true friction with a spread between
units, and the error of a fit with its σ, which is itself told a little wrong.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.workflow.drift import EARLIER, FLEET, DatedFit, DriftReport, find_drift
from population.robots import generator

Array = NDArray[np.float64]
SIZES = (6, 12, 25, 50, 100)
SHAPES = ("normal", "lognormal", "heavy tails")
"""Of the spread between units; heavy tails are Student's t with five degrees of freedom."""
DRIFTS = (0.0, 0.2, 0.3, 0.5)
"""Of one Coulomb or viscous parameter of one unit, as a share of itself."""


@dataclass(frozen=True)
class DrawnFleet:
    """Fits of a fleet; unit 0 has drifted where there is a drift."""

    fits: list[DatedFit]
    shape: str
    spread: float


def draw_fleet(half: str, number: int, units: int, drift: float, *, dated: bool = False) -> DrawnFleet:
    """Two to seven joints with Fv and Fc; spread between units of 2 to 10 %, σ of 0.5 to 5 %.

    Args:
        half: "setting" or "showing".
        number: of the fleet.
        units: how many.
        drift: of one parameter of unit 0, as a share.
        dated: whether each unit has three fits, with friction that varies by 1 to 4 % from day to day.
    """
    rng = generator(half, 21, 1000 * units + number)
    joints = int(rng.integers(2, 8))
    names = [f"{symbol}{j + 1}" for j in range(joints) for symbol in ("Fv", "Fc")]
    shape = SHAPES[number % len(SHAPES)]
    spread, daily = rng.uniform(0.02, 0.10), rng.uniform(0.01, 0.04)
    truth = 10.0 ** rng.uniform(-2, 1, len(names))
    sigma = rng.uniform(0.005, 0.05, len(names)) * truth
    own = truth * (1 + spread * _draws(shape, (units, len(names)), rng))
    drifted = int(rng.integers(len(names)))
    fits = []
    for day in range(3 if dated else 1):
        now = own * (1 + daily * rng.normal(size=own.shape)) if dated else own.copy()
        if day == 2 or not dated:
            now[0, drifted] *= 1 + drift
        found = now + sigma * rng.normal(size=now.shape)
        told = sigma * rng.uniform(0.7, 1.2, size=now.shape)
        for k in range(units):
            pairs = zip(found[k].tolist(), told[k].tolist(), strict=True)
            values = dict(zip(names, pairs, strict=True))
            fits.append(DatedFit(f"{k} on {day}", str(k), float(day) if dated else None, values))
    return DrawnFleet(fits, shape, spread)


def _draws(shape: str, size: tuple[int, int], rng: np.random.Generator) -> Array:
    """Draws of mean zero and variance one."""
    if shape == "lognormal":
        width = 0.3
        drawn = np.exp(width * rng.normal(size=size) - width**2 / 2)
        return np.asarray((drawn - 1) / np.sqrt(np.exp(width**2) - 1))
    if shape == "heavy tails":
        return np.asarray(rng.standard_t(5, size=size) / np.sqrt(5 / 3))
    return rng.normal(size=size)


def named(report: DriftReport, against: str) -> set[str]:
    """Units that one of the comparisons names."""
    return {one.unit for one in report.departures if one.drifts and one.against == against}


def rates(half: str, fleets: int, units: int, drift: float, *, dated: bool = False) -> tuple[float, float]:
    """Share of fleets in which a sound unit is named, and in which the drifted one is.

    Args:
        half: of the population.
        fleets: how many are drawn.
        units: of each.
        drift: as in ``draw_fleet``.
        dated: compare with earlier fits, not with the fleet.
    """
    false, found = 0, 0
    for number in range(fleets):
        report = find_drift(draw_fleet(half, number, units, drift, dated=dated).fits)
        told = named(report, EARLIER if dated else FLEET)
        found += drift > 0 and "0" in told
        false += bool(told - {"0"} if drift else told)
    return false / fleets, found / fleets


def main(half: str, fleets: int) -> None:
    """Print the rates as a table."""
    head = "| compared with | units | sound fleets with a false alarm |"
    print(head + "".join(f" +{100 * d:.0f} % found |" for d in DRIFTS[1:]))
    print("|---|---|---|" + "---|" * len(DRIFTS[1:]))
    for dated in (False, True):
        for units in SIZES:
            shown = [rates(half, fleets, units, drift, dated=dated) for drift in DRIFTS]
            cells = [f"{100 * shown[0][0]:.1f} %", *(f"{100 * found:.0f} %" for _, found in shown[1:])]
            words = "own earlier fits" if dated else "the fleet"
            print(f"| {words} | {units} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 600)
