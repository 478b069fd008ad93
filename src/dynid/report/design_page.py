"""The page of a designed motion: how good it is, how near its limits, and the robot as it moves.

Like those of a report, each section is a template and a context made from the document and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.report.charts import Chart, Line, chart_drawing, line
from dynid.report.page import Page, Section, number, render_document
from dynid.report.sections import doubt_bar, worded_pairs
from dynid.report.stick_figure import MOST_FRAMES

Content = Mapping[str, Any]
SCHEMA = "dynid.design/1"
_LEVELS = ("good", "note", "care", "fail")
_WORDS = {
    "good": "This motion keeps its limits.",
    "care": "Look at this motion before it is run.",
    "fail": "Do not run this motion.",
}
_CURVES = (("position", ""), ("velocity", "/s"), ("acceleration", "/s²"), ("torque", ""))
"""What is drawn, and what its unit has behind that of the position."""
_PASSED = 100.0 + 1e-4
"""Percent of a limit from which it is passed: designs keep limits to a millionth."""


def render_design(document: Content) -> str:
    """A designed motion as one HTML page.

    Args:
        document: schema "dynid.design/1", as ``dynid excite`` writes it, or the same read back from JSON.
    """
    return render_document(DESIGN, document, (SCHEMA,), "design", "dynid excite")


def answer(document: Content) -> Content:
    """Whether the motion may be run, its figures, and all findings, the gravest first."""
    limits = [row for row in document["limits"] if row["used_percent"] is not None]
    passed = [row for row in limits if row["used_percent"] > _PASSED]
    touched = [row for row in document["clearances"] if row["least"] <= 0]
    findings = sorted(document["findings"], key=lambda finding: -_LEVELS.index(finding["level"]))
    levels = [_LEVELS.index(finding["level"]) for finding in findings]
    worst = max([1, *levels, *([3] if passed or touched else []), *([] if limits else [2])])
    grade = {1: "good", 2: "care", 3: "fail"}[worst]
    said = [document["criterion"]["words"], _limit_words(limits, passed), _distance_words(document)]
    return {
        "grade": grade,
        "words": _WORDS[grade],
        "sentence": " ".join(part for part in said if part),
        "figures": _figures(document, limits),
        "findings": findings,
    }


def _limit_words(limits: Sequence[Content], passed: Sequence[Content]) -> str:
    if not limits:
        return "No limit was given, so nothing says that the robot can follow it."
    if passed:
        worst = max(passed, key=lambda row: float(row["used_percent"]))
        most = f"{worst['quantity']} of {worst['joint']} the most, {number(worst['used_percent'])} %"
        return f"{len(passed)} of {len(limits)} limits are passed ({most})."
    verified = sum(bool(row["verified"]) for row in limits)
    where = "at every instant" if verified == len(limits) else f"{verified} of them at every instant"
    rest = "" if verified == len(limits) else ", the others at the samples only"
    return f"All {len(limits)} limits hold, {where}{rest}."


def _distance_words(document: Content) -> str:
    proved = document.get("distance")
    if proved:
        return f"The least distance at every instant is {number(proved['bound'])} m, of {proved['pair']}."
    least = min(document["clearances"], key=lambda row: float(row["least"]), default=None)
    return "" if least is None else f"The least distance is {number(least['least'])} m, of {least['pair']}."


def _figures(document: Content, limits: Sequence[Content]) -> list[Content]:
    figures, trajectory, criterion = document["figures"], document["trajectory"], document["criterion"]
    effort = f"{number(figures['evaluations'])} evaluations in {number(figures['seconds'])} s"
    rows = [
        ("criterion", f"Criterion: {criterion['name']}", criterion["value"], "", effort),
        (
            "condition",
            "Condition of W",
            figures["condition"],
            "",
            "it depends on the units of the parameters",
        ),
        ("condition_scaled", "Condition, unit columns", figures["condition_scaled"], "", "above 100 is poor"),
        ("log_det", "log det", figures["log_det"], "", "of WᵀW: what all parameters gain together"),
        ("duration_s", "Duration", trajectory["duration_s"], "s", trajectory["words"]),
    ]
    if limits:
        full = max(limits, key=lambda row: float(row["used_percent"]))
        what = f"{full['quantity']} of {full['joint']}"
        rows.append(("used_percent", "Fullest limit", full["used_percent"], "%", what))
    if document["clearances"]:
        near = min(document["clearances"], key=lambda row: float(row["least"]))
        proved = document.get("distance") or {"bound": near["least"], "pair": near["pair"]}
        rows.append(("clearance", "Least distance", proved["bound"], "m", proved["pair"]))
    keys = ("key", "label", "value", "unit", "note")
    return [dict(zip(keys, row, strict=True)) for row in rows]


def figure(document: Content) -> Content | None:
    """The robot as it moves; its pictures are drawn by the script."""
    stick = document.get("stick")
    if not stick:
        return None
    return {
        "robot": document["robot"],
        "trajectory": document["trajectory"],
        "first": float(stick["times"][0]),
        "last": float(stick["times"][-1]),
        "capsules": len(stick["capsules"]),
        "floor": stick["floor"] is not None,
        "walls": len(stick["walls"]),
    }


def limits(document: Content) -> Content:
    """Position, velocity, acceleration and torque of each joint with their limits, and how much is used."""
    rows = []
    for row in document["limits"]:
        used = row["used_percent"]
        grade = "" if used is None else "fail" if used > _PASSED else "good"
        rows.append({**row, "grade": grade})
    names = [joint["name"] for joint in document["robot"]["joints"]]
    return {"rows": rows, "joints": [_joint_charts(document, j, name) for j, name in enumerate(names)]}


def _joint_charts(document: Content, j: int, name: str) -> Content:
    curves, joint = document["curves"], document["robot"]["joints"][j]
    bounds = {row["quantity"]: row for row in document["limits"] if row["joint"] == name}
    charts = []
    for quantity, behind in _CURVES:
        if not curves.get(quantity):
            continue
        unit = joint["torque_unit"] if quantity == "torque" else f"{joint['unit']}{behind}"
        lines = [line(quantity, curves["time"], curves[quantity][j], colour="predicted")]
        lines += _limit_lines(bounds.get(quantity, {}), curves["time"])
        charts.append(chart_drawing(Chart(f"{quantity} of {name}", "time [s]", unit, tuple(lines))))
    used = [(q, row["used_percent"]) for q, row in bounds.items() if row["used_percent"] is not None]
    return {"name": name, "charts": charts, "used": used}


def _limit_lines(bound: Content, time: Sequence[float]) -> list[Line]:
    ends = [time[0], time[-1]]
    known = [(word, bound[key]) for key, word in (("low", "lower"), ("high", "upper")) if key in bound]
    return [line(f"{word} limit", ends, [v, v], colour="limit") for word, v in known if v is not None]


def gains(document: Content) -> Content:
    """What each base parameter gains: its standard deviation before and with this motion."""
    rows = document["parameters"]
    found = [float(row["gain"]) for row in rows if row["gain"] is not None]
    full = 10.0 ** max(1, math.ceil(math.log10(max([*found, 1.0]))))
    bars = [_gain_bar(row["gain"], full) for row in rows]
    return {
        "rows": [
            {**row, **bar, **doubt_bar(row["percent_sigma"])} for row, bar in zip(rows, bars, strict=True)
        ],
        "words": document["sigma_words"],
        "with_gain": bool(found),
        "with_percent": any(row["percent_sigma"] is not None for row in rows),
        "full": full,
        "middle": math.sqrt(full),
    }


def _gain_bar(gain: float | None, full: float) -> Content:
    """The bar of a gain on a logarithmic axis from 1 to ``full``; one that is worse than before is short."""
    if gain is None or gain <= 0:
        return {"bar": None, "bar_grade": ""}
    length = 100 * math.log10(gain) / math.log10(full)
    return {"bar": max(1.5, length), "bar_grade": "good" if gain >= 1 else "fail"}


def clearances(document: Content) -> Content | None:
    """The least distances of links to each other, to the floor and to walls, the smallest first."""
    rows = sorted(document["clearances"], key=lambda row: float(row["least"]))
    return {"rows": rows, "figure": bool(document.get("stick"))} if rows else None


def starts(document: Content) -> Content | None:
    """What came of each start of the optimiser."""
    found = {"rows": document["starts"], "criterion": document["criterion"]["name"]}
    return found if document["starts"] else None


def run(document: Content) -> Content:
    """Command, seed, versions, options and files: what is needed to make the same motion again."""
    facts = document["run"]
    blocks = {"Files": facts.get("files", {}), "Options": facts["options"]}
    return {
        "command": facts["command"],
        "created": facts.get("created", ""),
        "seed": facts["seed"],
        "versions": facts["versions"],
        "inputs": facts.get("inputs", []),
        "blocks": [(title, pairs) for title, content in blocks.items() if (pairs := worded_pairs(content))],
        **{"steps": [], "reasons": [], "mapping": None, "controller": None},
    }


def drawn_data(document: Content) -> Content:
    """What the script draws: the figure with as many frames as a page can hold, and q in each of them.

    Raises:
        ValueError: when the parts of the figure do not fit together.
    """
    stick = document.get("stick")
    if not stick:
        return {"stick": None, "positions": []}
    times, parents = _numbers(stick["times"]), list(stick["parents"])
    shape = (len(times), len(parents))
    points, rotations = _numbers(stick["points"], *shape, 3), _numbers(stick["rotations"], *shape, 9)
    ordered = all(isinstance(p, int) and -1 <= p < k for k, p in enumerate(parents))
    bodies = [_capsule(capsule, len(parents)) for capsule in stick["capsules"]]
    if not ordered or not parents or np.any(np.diff(times) <= 0):
        raise ValueError("links come after their antecedents, frames one after another")
    kept = np.unique(np.linspace(0, len(times) - 1, min(len(times), MOST_FRAMES)).round().astype(int))
    shown = {
        "times": times[kept].tolist(),
        "parents": parents,
        "points": points[kept].tolist(),
        "rotations": rotations[kept].tolist(),
        "capsules": bodies,
        "floor": None if stick["floor"] is None else float(stick["floor"]),
        "walls": [_wall(wall) for wall in stick["walls"]],
    }
    curves = document["curves"]
    q = [np.interp(times[kept], curves["time"], part).tolist() for part in curves["position"]]
    return {"stick": shown, "positions": q}


def _numbers(values: Any, *shape: int) -> FloatArray:
    found = np.asarray(values, dtype=float)
    if found.shape != (shape or (len(values),)) or not np.all(np.isfinite(found)):
        raise ValueError("numbers of the figure are missing")
    return found


def _capsule(given: Content, links: int) -> Content:
    link = given["link"]
    if not isinstance(link, int) or not -1 <= link < links:
        raise ValueError("a capsule is on no link")
    ends = {key: _numbers(given[key], 3).tolist() for key in ("start", "end")}
    return {"link": link, **ends, "radius": float(given["radius"])}


def _wall(given: Content) -> Content:
    return {"normal": _numbers(given["normal"], 3).tolist(), "offset": float(given["offset"])}


DESIGN = Page(
    "dynid design",
    (
        Section("verdict", "", answer),
        Section("figure", "Robot in motion", figure, "stick"),
        Section("limits", "Limits", limits),
        Section("gains", "Parameters", gains),
        Section("clearances", "Distances", clearances),
        Section("starts", "Starts", starts),
        Section("run", "How it was made", run),
    ),
    drawn_data,
    "motion.js",
)
