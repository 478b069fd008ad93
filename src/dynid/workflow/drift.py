"""Which robots of a fleet depart from the others, or from what they were themselves.

Unit i has the value x_i of a parameter with the standard deviation σ_i. Beside the others it is off by

    z_i = (x_i − m) / √(σ_i² + s²),   m = median(x),   s² = max((1.4826 MAD)² − median(σ²), floor²)

where s is the spread between sound units. Beside its own earlier fits, x is the change since their mean and m
is zero. Both the largest |z| of a unit and the mean of its z² over all friction parameters are judged, with
bounds for all units and parameters at once, so that a sound fleet seldom has a unit named; docs/fleets.md has
the rates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, Where
from dynid.preparation.robust import MAD_TO_SIGMA

Pair = tuple[float, float]
"""Value and standard deviation, SI."""
FLEET, EARLIER = "fleet", "earlier fits"


@dataclass(frozen=True)
class DriftRules:
    """Thresholds, set on the half "setting" of ``tests/population/fleet.py``.

    Args:
        false_alarms: share of sound fleets in which a unit may be named if spreads are as ``freedom`` says,
            half of it for each test; 0 to 2.7 % of the half "showing", whose tails are heavier.
        freedom: degrees of freedom of a MAD-based spread over (units − 1); fewer widen the bounds.
        most_freedom: and at most so many, because the spread of real units is not quite normal.
        least_units: units below which nothing is compared.
        least_share: departures below this share of the median are not told.
        floor: least spread between units as a share of the median, where σ alone would be too proud.
    """

    false_alarms: float = 0.01
    freedom: float = 0.45
    most_freedom: float = 9.0
    least_units: int = 6
    least_share: float = 0.05
    floor: float = 0.01

    def bounds(self, units: int, parameters: int) -> Pair:
        """Bounds of the largest |z| and of the mean of z², for all units and parameters at once.

        Args:
            units: how many are compared.
            parameters: friction parameters of each.
        """
        from scipy.stats import f, t

        freedom = min(max(self.freedom * (units - 1), 1.0), self.most_freedom)
        each = self.false_alarms / 2 / units
        return float(t.isf(each / 2 / parameters, freedom)), float(f.isf(each, parameters, freedom))


RULES = DriftRules()


@dataclass(frozen=True)
class DatedFit:
    """The friction of one unit at one time.

    Args:
        name: of the fit.
        unit: the robot.
        order: days or hours; None where it is not known.
        values: friction parameters by name, with their standard deviations [SI].
    """

    name: str
    unit: str
    order: float | None
    values: Mapping[str, Pair]


@dataclass(frozen=True)
class Departure:
    """How far one unit is from the centre.

    Args:
        unit: the robot.
        fit: name of the fit that was compared.
        against: "fleet" or "earlier fits".
        z: standard deviations by parameter.
        shares: (x − centre)/|centre| by parameter; the earlier mean is the centre of "earlier fits".
        score: root of the mean of z² over the parameters.
        drifts: whether a bound is exceeded.
        worst: the parameter with the largest |z| among those that are off enough to be told.
    """

    unit: str
    fit: str
    against: str
    z: Mapping[str, float]
    shares: Mapping[str, float]
    score: float
    drifts: bool
    worst: str

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {**vars(self), "z": dict(self.z), "shares": dict(self.shares)}

    @property
    def as_finding(self) -> Finding:
        """What to say of a unit that drifts."""
        share, z = self.shares[self.worst], self.z[self.worst]
        side = "above" if share > 0 else "below"
        centre = "the fleet's median" if self.against == FLEET else "its own earlier fits"
        sentence = (
            f"Unit {self.unit}: {self.worst} is {100 * abs(share):.0f} % {side} {centre} "
            f"({abs(z):.1f} standard deviations); score over all friction {self.score:.1f}."
        )
        remedy = (
            f"Look at the drive, the gear and the lubricant behind {self.worst}, and log the unit again at "
            "the usual temperature to confirm it."
        )
        figures = {"unit": self.unit, "against": self.against, "z": z, "percent": 100 * share}
        where = Where(log=self.fit, parameter=self.worst)
        return Finding(Name.UNIT_DRIFTS, Level.CARE, sentence, remedy, where, figures)


@dataclass(frozen=True)
class DriftReport:
    """All comparisons of a fleet.

    Args:
        departures: one per unit and comparison, the largest score first.
        centres: median and spread between units by parameter [SI].
        notes: what could not be compared, in findings.
    """

    departures: tuple[Departure, ...] = ()
    centres: Mapping[str, Pair] = field(default_factory=dict)
    notes: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One per drifting unit and comparison, then the notes."""
        return (*(one.as_finding for one in self.departures if one.drifts), *self.notes)

    @property
    def drifting_units(self) -> tuple[str, ...]:
        """Units that drift, each once."""
        return tuple(dict.fromkeys(one.unit for one in self.departures if one.drifts))


def find_drift(fits: Sequence[DatedFit], rules: DriftRules = RULES) -> DriftReport:
    """Compare each unit's last fit with the fleet, and with the unit's own earlier fits.

    Args:
        fits: friction of all fits that can be trusted, of one kind of robot.
        rules: thresholds.
    """
    by_unit: dict[str, list[DatedFit]] = {}
    for fit in sorted(fits, key=lambda fit: -math.inf if fit.order is None else fit.order):
        by_unit.setdefault(fit.unit, []).append(fit)
    last = [own[-1] for own in by_unit.values()]
    named = dict.fromkeys(name for fit in last for name in fit.values)
    shared = [name for name in named if sum(name in fit.values for fit in last) >= rules.least_units]
    if len(last) < rules.least_units or not shared:
        return DriftReport(notes=(_too_few(len(last), len(shared), rules),))
    values, sigma = _table(last, shared)
    centre = np.nanmedian(values, axis=0)
    spread = _spread(values - centre, sigma, rules.floor * np.abs(centre))
    found = _departures(last, FLEET, shared, values - centre, sigma, centre, spread, rules)
    dated = [own for own in by_unit.values() if len(own) > 1 and all(one.order is not None for one in own)]
    if len(dated) >= rules.least_units:
        found += _changes(dated, shared, rules)
    return DriftReport(
        tuple(sorted(found, key=lambda one: (not one.drifts, -one.score))),
        {name: (float(m), float(s)) for name, m, s in zip(shared, centre, spread, strict=True)},
    )


def _changes(dated: Sequence[Sequence[DatedFit]], names: Sequence[str], rules: DriftRules) -> list[Departure]:
    """The change of each unit since the mean of its earlier fits, beside the changes of all units."""
    last = [own[-1] for own in dated]
    values, sigma = _table(last, names)
    before = [_table(own[:-1], names) for own in dated]
    centre = np.array([earlier.mean(axis=0) for earlier, _ in before])  # of what all earlier fits have
    doubt = np.array([(s**2).sum(axis=0) / len(s) ** 2 for _, s in before])
    change, sigma = values - centre, np.sqrt(sigma**2 + doubt)
    known = np.isfinite(change).sum(axis=0) >= rules.least_units
    if not known.any():
        return []
    change, sigma, centre = change[:, known], sigma[:, known], centre[:, known]
    names = [name for name, own in zip(names, known, strict=True) if own]
    spread = _spread(change, sigma, rules.floor * np.nanmedian(np.abs(centre), axis=0))
    return _departures(last, EARLIER, names, change, sigma, centre, spread, rules)


def _table(fits: Sequence[DatedFit], names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Values and standard deviations, (fits, parameters); NaN of what a fit has not."""
    pairs = np.array([[fit.values.get(name, (math.nan, math.nan)) for name in names] for fit in fits])
    return pairs[..., 0], pairs[..., 1]


def _spread(off: FloatArray, sigma: FloatArray, floor: FloatArray) -> FloatArray:
    """Spread between units by parameter, without what the estimates' own σ explains."""
    seen = MAD_TO_SIGMA * np.nanmedian(np.abs(off), axis=0)
    return np.sqrt(np.maximum(seen**2 - np.nanmedian(sigma**2, axis=0), floor**2))


def _departures(
    fits: Sequence[DatedFit],
    against: str,
    names: Sequence[str],
    off: FloatArray,
    sigma: FloatArray,
    centre: FloatArray,
    spread: FloatArray,
    rules: DriftRules,
) -> list[Departure]:
    off, size = np.nan_to_num(off), np.sqrt(np.nan_to_num(sigma) ** 2 + spread**2)
    z = np.divide(off, size, out=np.zeros_like(off), where=size > 0)
    around = np.abs(np.broadcast_to(centre, off.shape))
    shares = np.divide(off, around, out=np.zeros_like(off), where=around > 0)
    largest, mean_square = rules.bounds(len(fits), len(names))
    told = np.where(np.abs(shares) > rules.least_share, np.abs(z), 0.0)
    made = []
    for k, fit in enumerate(fits):
        worst = int(np.argmax(told[k] if told[k].any() else np.abs(z[k])))
        score = float(np.mean(z[k] ** 2))
        drifts = told[k, worst] > largest or (score > mean_square and told[k, worst] > 0)
        own, off_by = (dict(zip(names, part[k].tolist(), strict=True)) for part in (z, shares))
        made.append(
            Departure(fit.unit, fit.name, against, own, off_by, math.sqrt(score), bool(drifts), names[worst])
        )
    return made


def _too_few(units: int, parameters: int, rules: DriftRules) -> Finding:
    sentence = (
        f"{units} units have fits that can be trusted; from {rules.least_units} on they are compared."
        if parameters or not units
        else "The fits share no friction parameter, so that units are not compared."
    )
    remedy = "Fit more units, or one kind of robot with the same terms in all rows."
    return Finding(Name.FLEET_NOT_COMPARED, Level.NOTE, sentence, remedy)
