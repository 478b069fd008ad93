"""Units that drift among others: what is named, what is not, and how often a sound fleet is blamed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.core.finding import Name
from dynid.workflow.drift import EARLIER, FLEET, RULES, DatedFit, find_drift
from population.fleet import rates


def fits(units: int, days: int = 1, drift: float = 0.0) -> list[DatedFit]:
    """Friction with 3 % between units and 1 % from day to day; unit 0 drifts on the last day."""
    rng = np.random.default_rng(5)
    own = np.array([0.5, 2.0]) * (1 + 0.03 * rng.normal(size=(units, 2)))
    made = []
    for day in range(days):
        now = own * (1 + 0.01 * rng.normal(size=own.shape))
        now[0, 1] *= 1 + drift if day == days - 1 else 1
        for k in range(units):
            values = {"Fv1": (now[k, 0], 0.005), "Fc1": (now[k, 1], 0.02)}
            made.append(DatedFit(f"{k} {day}", str(k), float(day) if days > 1 else None, values))
    return made


def test_the_unit_is_named_with_its_figures() -> None:
    report = find_drift(fits(30, drift=0.5))
    assert report.drifting_units == ("0",)
    (finding,) = report.findings
    assert finding.name is Name.UNIT_DRIFTS
    assert finding.where.parameter == "Fc1"
    assert finding.figures["percent"] == pytest.approx(50, abs=10)


def test_a_change_since_earlier_fits_shows_where_the_fleet_hides_it() -> None:
    report = find_drift(fits(30, days=3, drift=0.2))
    named = {one.against for one in report.departures if one.drifts}
    assert report.drifting_units == ("0",)
    assert EARLIER in named
    assert find_drift(fits(30, days=3)).drifting_units == ()


def test_few_units_are_not_compared() -> None:
    report = find_drift(fits(RULES.least_units - 1, drift=2.0))
    assert (report.departures, [f.name for f in report.findings]) == ((), [Name.FLEET_NOT_COMPARED])
    assert find_drift([]).drifting_units == ()


def test_a_unit_that_lacks_a_parameter_hides_no_other() -> None:
    made = fits(20, drift=0.5)
    made[7] = replace(made[7], values={"Fv1": made[7].values["Fv1"]})
    assert find_drift(made).drifting_units == ("0",)
    dated = fits(20, days=3, drift=0.5)
    dated[7] = replace(dated[7], values={"Fv1": dated[7].values["Fv1"]})
    assert find_drift(dated).drifting_units == ("0",)


def test_the_largest_departure_is_named_also_where_none_is_large() -> None:
    for one in find_drift(fits(20)).departures:
        assert abs(one.z[one.worst]) == max(map(abs, one.z.values())) or abs(one.shares[one.worst]) > 0.05


def test_exact_fits_without_spread_are_no_alarm() -> None:
    made = [DatedFit(str(k), str(k), None, {"Fc1": (0.0, 0.0)}) for k in range(8)]
    assert find_drift(made).drifting_units == ()


def test_order_does_not_matter() -> None:
    made = fits(20, days=2, drift=0.5)
    assert find_drift(made[::-1]).drifting_units == find_drift(made).drifting_units == ("0",)


@pytest.mark.parametrize("against", [FLEET, EARLIER])
def test_sound_fleets_are_seldom_blamed(against: str) -> None:
    """Seldom: at most 6 of 100 on the half on which nothing was set; docs/fleets.md has the whole table."""
    assert rates("showing", 100, 25, 0.0, dated=against == EARLIER)[0] <= 0.06
