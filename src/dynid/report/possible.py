"""Is this robot possible? The section about the nearest robot that can exist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dynid.report.robot_picture import robot_drawings

Content = Mapping[str, Any]
SOURCES = ("data", "bound", "prior")
"""What can fix a parameter."""
_NO_LARGER = 5e-5
"""Rise of the residual, as a share of it, that is not worth telling."""
_ROUNDING = 1e-6
"""Share of its σ below which a value is zero to a reader."""


def possible(document: Content) -> Content | None:
    """Whether a robot can have the values, the nearest one that can exist, and what fixed its parameters."""
    found = document.get("possibility")
    if not found:
        return None
    links, fixed_by = found["links"], found["fixed_by"]
    rows = [{**link, **_sources(link, fixed_by)} for link in links]
    for bound in found["active"]:
        if bound["link"] is not None:
            rows[bound["link"]]["edge"] = True
    return {
        "answer": _answer(found),
        "plain_percent": found["plain_percent"],
        "possible_percent": found["possible_percent"],
        "price": _price(found["cost"]),
        "links": rows,
        "total_mass": sum(link["mass"] for link in links),
        "totals": [sum(row["counts"][k] for row in rows) for k in range(len(SOURCES))],
        "sources": SOURCES,
        "drawings": robot_drawings(links, [row["mass_by"] for row in rows]),
        "active": found["active"],
        "reference": found["reference"],
        "parameters": _parameters(found),
    }


def _answer(found: Content) -> str:
    """One sentence that answers the heading."""
    if found["as_it_is"]:
        return (
            "Yes, as it is: no torque of these logs tells the values of the fit from those of a robot that "
            "can exist."
        )
    if found["recommended"]:
        asked = ", as was asked for" if found["choice"] == "always" else ""
        return f"Yes: the values are those of the nearest robot that can exist{asked}."
    if found["choice"] == "never":
        return "No: the values are those of the fit alone, and no robot has them."
    why = (
        "too little data were left to try both on parts that were not used"
        if found["possible_percent"] is None
        else "they predict parts of the logs that were not used better than the nearest possible robot"
    )
    return f"No: the values are those of the fit alone, which no robot has; they are kept because {why}."


def _price(cost: float) -> str:
    """What the residual of the fit grows by.

    Args:
        cost: residual of the possible robot over that of the fit.
    """
    rise = cost - 1.0
    if rise < _NO_LARGER:
        return "Its residual is no larger than that of the fit alone."
    size = f"{100 * rise:.2g} % larger than" if rise < 1.0 else f"{cost:.2g} times"
    return f"Its residual is {size} that of the fit alone."


def _sources(link: Content, fixed_by: Sequence[str]) -> Content:
    """What fixed the ten parameters of a link, of which the mass is the last."""
    own = [fixed_by[column] for column in link["columns"]]
    counts = Counter(own)
    return {"counts": [counts[source] for source in SOURCES], "mass_by": own[-1], "edge": False}


def _parameters(found: Content) -> list[Content]:
    """All standard parameters; what is zero but for rounding is shown as zero."""
    columns = (found[key] for key in ("names", "standard", "sigma", "units", "fixed_by"))
    return [
        {"name": name, "value": value, "sigma": sigma, "unit": unit, "fixed_by": source}
        | {"shown": 0.0 if sigma is not None and abs(value) < _ROUNDING * sigma else value}
        for name, value, sigma, unit, source in zip(*columns, strict=True)
    ]
