"""Pages of calibrations: drive gains and payloads. Each section is a template and a context."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from dynid.report import sections
from dynid.report.calibration_document import GAINS_SCHEMA
from dynid.report.charts import Chart, chart_drawing, line
from dynid.report.page import Page, Section, render_document
from dynid.report.payload_document import PAYLOAD_SCHEMA

Content = Mapping[str, Any]
_GAIN_WORDS = {
    "good": "These drive gains can be used.",
    "care": "These drive gains can be used with care.",
    "fail": "These drive gains cannot be used.",
}


_PAYLOAD_WORDS = {
    "good": "This payload can be used.",
    "care": "This payload can be used with care.",
    "fail": "This payload cannot be used.",
}
_WAYS = {
    "fixed": "the inertias of a model of the arm were held",
    "refitted": "arm and payload were fitted together, from free and loaded logs",
    "difference": "the torques of free runs were taken off those of loaded runs of the same motion",
}


def render_payload(document: Content) -> str:
    """An identified payload as one HTML page.

    Args:
        document: schema "dynid.payload/1", as ``dynid payload`` writes it, or the same read back from JSON.
    """
    return render_document(PAYLOAD, document, (PAYLOAD_SCHEMA,), "payload", "dynid payload")


def payload_answer(document: Content) -> Content:
    """Mass and centre of mass, whether they can be used, and all findings."""
    central = document["central"]
    figures = [
        _figure("mass", "Mass", central["mass"], "kg", central["mass_sigma"]),
        *(
            _figure(f"com_{axis}", f"Centre of mass, {axis}", _mm(value), "mm", _mm(sigma))
            for axis, value, sigma in zip("xyz", central["com"], central["com_sigma"], strict=True)
        ),
    ]
    return {
        "grade": document["grade"],
        "words": _PAYLOAD_WORDS[document["grade"]],
        "sentence": f"{document['summary'][:1].upper()}{document['summary'][1:]}, at the flange; "
        f"{_WAYS[document['way']]}.",
        "figures": figures,
        "findings": document["findings"],
    }


def _mm(value: float | None) -> float | None:
    return None if value is None else 1e3 * value


def _figure(key: str, label: str, value: float | None, unit: str, sigma: float | None) -> Content:
    note = "the motion does not show it" if value is None or sigma is None else f"± {sigma:.2g}"
    return {"key": key, "label": label, "value": value, "unit": unit, "note": note}


def payload_rows(document: Content) -> Content:
    """The ten standard parameters with σ and correlation."""
    rows = [
        {
            **row,
            "percent": None
            if not row["value"] or row["sigma"] is None
            else 100 * row["sigma"] / abs(row["value"]),
        }
        for row in document["parameters"]
    ]
    names = [row["name"] for row in rows]
    return {
        "rows": rows,
        "names": names,
        "correlation": list(zip(names, document["correlation"], strict=True)),
        "carrier": document["carrier"],
        "uncertainty": document["uncertainty"],
    }


def payload_forms(document: Content) -> Content:
    """What controllers ask for, at the flange, with σ."""
    forms, central = document["controller_forms"], document["central"]
    plain = forms["plain"] or {}
    rows = zip(plain.get("inertia_kg_m2") or [], central["inertia_sigma"], strict=False)
    moments, sigma = central["principal_moments"], central["principal_sigma"]
    known = [(m, s) for m, s in zip(moments, sigma, strict=True) if m is not None and s is not None]
    near = [abs(a - b) < 2 * (s + t) for (a, s), (b, t) in pairwise(sorted(known))]
    return {
        "forms": forms,
        "central": central,
        "inertia": [list(zip(values, own, strict=True)) for values, own in rows],
        "possible": document["possible"] is not None,
        "alike": any(near),
        "usable": document["trustworthy"],
    }


def render_gains(document: Content) -> str:
    """A calibration of drive gains as one HTML page.

    Args:
        document: schema "dynid.gains/1", as ``dynid gains`` writes it, or the same read back from JSON.
    """
    return render_document(GAINS, document, (GAINS_SCHEMA,), "gains", "dynid gains")


def gains_answer(document: Content) -> Content:
    """Whether the gains can be used, how well they are known, and all findings."""
    found = [row for row in document["gains"] if row["stage"]]
    worst = max(found, key=lambda row: float(row["sigma"] / row["relative"]), default=None)
    figures = [
        {
            "key": "calibrated",
            "label": "Motors calibrated",
            "value": len(found),
            "unit": f"of {len(document['gains'])}",
            "note": f"{document['method']} method",
        }
    ]
    if worst is not None:
        figures.append(
            {
                "key": "worst_sigma",
                "label": "Largest σ of a gain",
                "value": 100 * worst["sigma"] / worst["relative"],
                "unit": "%",
                "note": f"motor {worst['motor']}",
            }
        )
        change = max(found, key=lambda row: abs(row["relative"] - 1))
        figures.append(
            {
                "key": "largest_change",
                "label": "Largest change",
                "value": 100 * (change["relative"] - 1),
                "unit": "%",
                "note": f"motor {change['motor']}, of its a-priori gain",
            }
        )
    return {
        "grade": document["grade"],
        "words": _GAIN_WORDS[document["grade"]],
        "sentence": _gain_sentence(found),
        "figures": figures,
        "findings": document["findings"],
    }


def _gain_sentence(found: list[Content]) -> str:
    if not found:
        return "No motor could be calibrated; what follows says why."
    listed = ", ".join(f"motor {row['motor']} {row['relative']:.4f} ± {row['sigma']:.4f}" for row in found)
    return f"Gains over the a-priori ones, with one standard deviation: {listed}."


def gain_rows(document: Content) -> Content:
    """Each motor's gain, and how it was found."""
    rows = [
        {**row, "percent": 100 * row["sigma"] / row["relative"] if row["stage"] else None}
        for row in document["gains"]
    ]
    named = [row["motor"] for row in document["gains"]]
    shown = [k for k, row in enumerate(rows) if row["stage"]]
    correlation = [[document["correlation"][i][j] for j in shown] for i in shown]
    motors = [named[k] for k in shown]
    return {
        "rows": rows,
        "motors": motors,
        "correlation": list(zip(motors, correlation, strict=True)),
        "drives": document["drives"],
        "use": document["use"],
        "uncertainty": document["uncertainty"],
    }


def fit_changes(document: Content) -> Content:
    """What the gains make of the payload and of the errors: P2's tables 2 and 4."""
    return {"payload": document["payload"], "errors": document["errors"]}


def torques(document: Content) -> Content | None:
    """Measured and modelled torques along a loaded motion."""
    charts = [
        chart_drawing(
            Chart(
                f"{curve['joint']}, {curve['motion']}",
                "time [s]",
                curve["unit"],
                tuple(
                    line(one["name"], one["x"], one["y"], colour=colour)
                    for one, colour in zip(curve["lines"], ("measured", "predicted"), strict=True)
                ),
            )
        )
        for curve in document["torques"]
    ]
    return {"charts": charts} if charts else None


def run(document: Content) -> Content:
    """Command, options, files, versions."""
    facts = document["run"]
    blocks = {"Preparation plan": facts["preparation"], "Options": facts["options"]}
    pairs = [(title, found) for title, part in blocks.items() if (found := sections.worded_pairs(part))]
    shown = {key: facts[key] for key in ("command", "versions", "inputs", "reasons")}
    return {**shown, "created": facts.get("created", ""), "seed": None, "blocks": pairs} | {
        "steps": [],
        "mapping": None,
        "controller": None,
    }


GAINS = Page(
    "dynid gains",
    (
        Section("verdict", "", gains_answer),
        Section("gains", "Gains", gain_rows, "drive_gains"),
        Section("change", "Before and after", fit_changes, "gain_changes"),
        Section("torques", "Torques", torques, "calibration_torques"),
        Section("data", "Data", sections.data_checks),
        Section("run", "How it was made", run),
    ),
)
PAYLOAD = Page(
    "dynid payload",
    (
        Section("verdict", "", payload_answer),
        Section("forms", "For the controller", payload_forms, "payload_forms"),
        Section("parameters", "Parameters", payload_rows, "payload_rows"),
        Section("data", "Data", sections.data_checks),
        Section("run", "How it was made", run),
    ),
)
