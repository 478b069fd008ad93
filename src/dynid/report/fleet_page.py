"""The page of a fleet: which units depart from the others, friction over units or time, all fits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dynid.report import sections
from dynid.report.charts import Chart, Line, chart_drawing, line
from dynid.report.fleet_document import FLEET_SCHEMA
from dynid.report.page import Page, Section, render_document

Content = Mapping[str, Any]
_FEW_UNITS = 12  # below which +50 % of one friction parameter is found in less than a fifth of fleets
_MOST_CHARTS = 24  # of one robot's friction: Fv and Fc of twelve joints


def render_fleet(document: Content) -> str:
    """A fleet as one HTML page.

    Args:
        document: schema "dynid.fleet/1", as ``dynid fit-many`` writes it, or the same read back from JSON.
    """
    return render_document(FLEET_PAGE, document, (FLEET_SCHEMA,), "fleet", "dynid fit-many")


def fleet_answer(document: Content) -> Content:
    """How many fits can be trusted, which units drift, and all findings."""
    fits = document["fits"]
    drifting = drifting_units(document)
    lost = len(fits) - document["trusted"]
    few = (
        " Among so few, only large departures show."
        if len({row["unit"] for row in fits}) < _FEW_UNITS
        else ""
    )
    words = {
        0: f"No unit departs from the others.{few}",
        1: f"Unit {drifting[0]} drifts." if drifting else "",
    }.get(len(drifting), f"{len(drifting)} units drift.")
    if not any(part["departures"] for part in document["comparisons"].values()):
        words = "The units were not compared."
    told = f"{document['trusted']} of {len(fits)} fits can be trusted"
    sentence = f"{told}; the others are not compared." if lost else f"{told}."
    figures = [
        {"key": key, "label": label, "value": value, "unit": "", "note": ""}
        for key, label, value in (
            ("fits", "Fits", len(fits)),
            ("units", "Units", len({row["unit"] for row in fits})),
            ("drifting", "Units that drift", len(drifting)),
            ("lost", "Fits not trusted", lost),
        )
    ]
    return {
        "grade": document["grade"],
        "words": words,
        "sentence": sentence,
        "figures": figures,
        "findings": document["findings"],
    }


def drifting_units(document: Content) -> list[str]:
    """Units that drift, each once."""
    found = [one for part in document["comparisons"].values() for one in part["departures"] if one["drifts"]]
    return list(dict.fromkeys(one["unit"] for one in found))


def departures(document: Content) -> Content | None:
    """All units, the one that departs most first."""
    rows = [
        {
            **one,
            "robot": robot,
            "z_worst": one["z"][one["worst"]],
            "percent": 100 * one["shares"][one["worst"]],
        }
        for robot, part in document["comparisons"].items()
        for one in part["departures"]
    ]
    return {"rows": rows} if rows else None


def friction(document: Content) -> Content | None:
    """Each friction parameter over units, or over time where the fits have one."""
    charts = []
    drifting = drifting_units(document)
    for robot, part in document["comparisons"].items():
        own = [row for row in document["fits"] if row["robot"] == robot and row["trustworthy"]]
        for name, (centre, spread) in list(part["centres"].items())[:_MOST_CHARTS]:
            charts.append(_chart(name, document["units"][name], centre, spread, own, drifting))
    return {"charts": [chart_drawing(chart) for chart in charts]} if charts else None


def _chart(
    name: str, unit: str, centre: float, spread: float, rows: Sequence[Content], drifting: Sequence[str]
) -> Chart:
    timed = all(row["order"] is not None for row in rows)
    label = "time [h]" if timed else "unit, in the order of the plan"
    start = min((row["order"] for row in rows), default=0.0) if timed else 0.0
    points: dict[str, list[tuple[float, float]]] = {}
    for place, row in enumerate(rows, 1):
        value = next((p["value"] for p in row["parameters"] if p["name"] == name), math.nan)
        kind = row["unit"] if row["unit"] in drifting else "others"
        points.setdefault(kind, []).append((row["order"] - start if timed else float(place), value))
    every = [x for own in points.values() for x, _ in own]
    ends = (min(every), max(every))
    lines: list[Line] = [
        line("median", ends, (centre, centre), colour="measured"),
        line("± 3 spreads between units", ends, (centre + 3 * spread,) * 2, colour="limit"),
        line("", ends, (centre - 3 * spread,) * 2, colour="limit"),
    ]
    for kind, own in points.items():
        # A point is a line of one point with a mark: lines between different units would mean nothing.
        colour = "predicted" if kind == "others" else "residual"
        shown = "other units" if kind == "others" else f"unit {kind}"
        lines += [
            line(shown if k == 0 else "", [x], [y], marks=True, colour=colour) for k, (x, y) in enumerate(own)
        ]
    return Chart(name, label, unit, tuple(lines))


def fits(document: Content) -> Content:
    """Every fit with its verdict."""
    return {"rows": document["fits"], "timed": any(row["order"] is not None for row in document["fits"])}


def run(document: Content) -> Content:
    """Command, options, versions."""
    facts = document["run"]
    pairs = sections.worded_pairs(facts["options"])
    none = dict.fromkeys(("mapping", "controller", "seed"))
    return {
        **none,
        **{name: [] for name in ("inputs", "reasons", "steps")},
        "command": facts["command"],
        "versions": facts["versions"],
        "created": "",
        "blocks": [("Options", pairs)] if pairs else [],
    }


FLEET_PAGE = Page(
    "dynid fit-many",
    (
        Section("verdict", "", fleet_answer),
        Section("units", "Units", departures, "fleet_units"),
        Section("friction", "Friction", friction, "fleet_friction"),
        Section("fits", "Fits", fits, "fleet_fits"),
        Section("run", "How it was made", run),
    ),
)
