"""What each section of a page shows: the contexts of the templates, made from a page's content.

A function takes the content of the page (the document of a report, or the result of a case) and gives what
its template needs, unformatted; None leaves the section out. Templates turn values into text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from dynid.estimators.estimate import SIGMA_WORDS
from dynid.report.charts import Chart, chart_drawing, line
from dynid.suspects.account import suspect_cells
from dynid.validation.verdict import tested_on

Content = Mapping[str, Any]
_LEVELS = ("fail", "care", "note", "good")
_CHECK_FACTS = (
    ("samples", "samples", ""),
    ("rate_hz", "rate", "Hz"),
    ("duration_s", "duration", "s"),
    ("jitter_percent", "jitter", "%"),
    ("gaps", "gaps", ""),
    ("condition", "condition number", ""),
)
_CONDITIONS = {
    "condition": "Condition of W",
    "condition_scaled": "with columns scaled",
    "condition_weighted": "with rows weighted",
    "condition_weighted_scaled": "with both (what was solved)",
}
_PARTS = (
    ("gravity", "gravity"),
    ("friction", "friction and offset"),
    ("inertia", "links: inertia, Coriolis"),
    ("drive", "drive inertia"),
)
_LISTED_CORRELATION = 0.5
"""|r| from which a pair of parameters is listed."""
_FAR_FROM_PRIOR = 5.0
"""Standard deviations beyond which a value is said to be far from its prior."""
_STABILITY_ROWS = 12
_SHOWN_APART = {
    *("versions", "inputs", "preparation", "steps", "command", "created", "seed", "options"),
    *("mapping", "preparation_reasons", "controller", "fitted"),
}
"""Facts of a run with a place of their own on the page; ``fitted`` repeats hashes of the input files."""
_UNITS = {"_hz": "Hz", "_s": "s", "_deg": "°"}


def verdict(document: Content) -> Content:
    """Trust it or not, three figures, and all findings, the gravest first."""
    answer = document["verdict"]
    # Results of version 0.1 call them reasons.
    return {**answer, "findings": answer.get("findings") or answer.get("reasons", ())}


def robot(document: Content) -> Content:
    """What the robot is, and how its frames lie."""
    own = document["robot"]
    frames = own.get("frames", ())
    return {"robot": own, "frames": frames, "branched": any(f["gamma_deg"] or f["b"] for f in frames)}


def data_checks(document: Content) -> Content:
    """What the data check says of each log."""

    def facts(check: Content) -> list[tuple[str, float, str]]:
        known = [(label, check["facts"].get(key), unit) for key, label, unit in _CHECK_FACTS]
        return [(label, value, unit) for label, value, unit in known if isinstance(value, int | float)]

    def findings(check: Content) -> list[Content]:
        return sorted(check["findings"], key=lambda finding: _LEVELS.index(finding["level"]))

    checks = [{**check, "facts": facts(check), "findings": findings(check)} for check in document["data"]]
    return {"checks": checks}


def fit(document: Content) -> Content:
    """The fit's own torques, joint by joint."""
    return {
        "title": "Torque fit per joint",
        "lead": "How far the model is from the torques it was fitted to. Relative error is the size of what "
        "is left against the size of the torque.",
        "errors": _errors(document["fit"]),
        "motions": [],
        "curves": _curves(document, "fit", document["fit"], seen=True),
    }


def validation(document: Content) -> Content:
    """Torques of motion that was kept for validation."""
    proof = document["validation"]
    if proof is None:
        return {"title": "Validation on unseen motion", "lead": "", "errors": None, "motions": []}
    where = _tested_on(document)
    lead = "The proof: torques of motion that the fit has not seen, predicted and compared."
    if proof["seen"] or proof.get("repeated"):
        lead = f"Torques of {where}, predicted and compared: a small error here proves little."
    several = len(proof["motions"]) > 1
    return {
        "title": f"Validation on {where}",
        "lead": lead,
        "errors": _errors(proof, document["fit"]),
        "motions": [{**m, "judged": _judged(m)} for m in proof["motions"]] if several else [],
        "curves": _curves(document, "unseen", proof, seen=False),
    }


def _tested_on(document: Content) -> str:
    tested = document["validation"] or document["fit"]
    return tested_on(tested["seen"], tested.get("repeated", False))


def _judged(figures: Content) -> Content:
    """The figures comparable with the residual of a regression."""
    found: Content = figures["decimated"] or figures["full"]
    return found


def _errors(tested: Content, fit: Content | None = None) -> Content:
    """Errors per joint and in all, beside those of the fit where given."""
    used, full = _judged(tested), tested["full"]
    rows = []
    for j, name in enumerate(tested["joints"]):
        percent, rms, bias = used["relative_percent"][j], used["rms"][j], used["bias"][j]
        rounding = bias is not None and rms is not None and abs(bias) < 1e-3 * rms
        rows.append(
            {
                "name": name,
                "percent": percent,
                "grade": _joint_grade(percent, rms),
                "fit_percent": _judged(fit)["relative_percent"][j] if fit else None,
                "rms": rms,
                "unit": tested["units"][j],
                "range_percent": used["nrmse_percent"][j],
                "bias": 0.0 if rounding else bias,
                "largest": used["max_error"][j],
                "full_percent": full["relative_percent"][j],
            }
        )
    return {
        "rows": rows,
        "joints": tested["joints"],
        "with_fit": fit is not None,
        "filtered": tested["decimated"] is not None,
        "percent": used["overall_percent"],
        "fit_percent": _judged(fit)["overall_percent"] if fit else None,
        "full_percent": full["overall_percent"],
    }


def _joint_grade(percent: float | None, rms: float | None) -> str:
    """Colour of a joint's bar; one without torque has an error, but no share to judge it by."""
    if percent is None:
        return "fail" if rms is None else "good"
    return "fail" if percent > 30 else "care" if percent > 15 else "good"


def _curves(document: Content, key: str, tested: Content, *, seen: bool) -> Content | None:
    """Torque plots of the fit's own or of the kept motions: one figure per motion and joint."""
    motions = [i for i, curve in enumerate(document["curves"]) if curve["seen"] == seen]
    if not motions:
        return None
    figures = []
    for n, i in enumerate(motions):
        used = _judged(tested["motions"][n] if n < len(tested["motions"]) else tested)
        for j, name in enumerate(tested["joints"]):
            figure = {"motion": i, "joint": j, "name": name, "unit": tested["units"][j], "hidden": n > 0}
            figure |= {"percent": used["relative_percent"][j], "rms": used["rms"][j]}
            figures.append(figure | {"whose": document["curves"][i]["name"]})
    names = [(i, document["curves"][i]["name"]) for i in motions]
    return {"key": key, "motions": names, "joints": tested["joints"], "figures": figures}


def parameters(document: Content) -> Content:
    """The table of base parameters with their standard deviations and what was known before."""
    rows, estimate = document["parameters"], document["estimate"]
    return {
        "rows": [{**row, **doubt_bar(row["percent_sigma"])} for row in rows],
        "n_base": estimate["n_base"],
        "n_further": len(rows) - estimate["n_base"],
        "uncertainty": _uncertainty(document),
        "uncertainty_reason": document["estimate"]["facts"].get("uncertainty_reason", ""),
        "prior": _prior(document),
    }


def _uncertainty(document: Content) -> str:
    return SIGMA_WORDS[document["estimate"]["uncertainty"]]


def doubt_bar(percent: float | None) -> Content:
    """The bar of %σ, on a logarithmic axis from 0.1 % to 100 %."""
    if percent is None:
        return {"doubt": None, "doubt_grade": ""}
    grade = "good" if percent <= 5 else "care" if percent <= 20 else "fail"
    length = 0.0 if percent <= 0 else 100 * (math.log10(percent) + 1) / 3
    return {"doubt": max(1.5, length), "doubt_grade": grade}


def _prior(document: Content) -> Content | None:
    """Where the values known before come from, and how many of them the estimate contradicts."""
    rows = [row for row in document["parameters"] if row["prior"] is not None]
    if not rows:
        return None
    strategy = document["estimate"]["strategy"]
    gaps = {row["name"]: row["prior_gap"] for row in rows if row["prior_gap"] is not None}
    far = [name for name, gap in gaps.items() if abs(gap) > _FAR_FROM_PRIOR]
    worst = max(far, key=lambda name: abs(gaps[name]), default="")
    return {
        "count": len(rows),
        "used": (strategy.get("strategy") or strategy).get("prior") is not None,
        "source": document["robot"]["source"],
        "far": len(far),
        "far_from": _FAR_FROM_PRIOR,
        "worst": worst,
        "worst_gap": abs(gaps.get(worst, 0.0)),
    }


def essential(document: Content) -> Content:
    """Which parameters the data ask for."""
    estimate = document["estimate"]
    return {"estimate": estimate, "rows": document["parameters"][: estimate["n_base"]]}


def condition(document: Content) -> Content:
    """Condition numbers, and how the parameters hang together."""
    facts, correlation = document["estimate"]["facts"], document["correlation"]
    return {
        "conditions": [(label, facts[key]) for key, label in _CONDITIONS.items() if key in facts],
        "correlation": correlation,
        "listed_from": _LISTED_CORRELATION,
        "pairs": [pair for pair in correlation["pairs"] if abs(pair["r"]) >= _LISTED_CORRELATION],
    }


def parts(document: Content) -> Content:
    """What the torque is made of."""
    tested = document["validation"] or document["fit"]
    rows = [
        {
            "name": name,
            "unit": tested["units"][j],
            "parts": [
                (key, tested["parts"][key]["percent"][j], tested["parts"][key]["rms"][j]) for key, _ in _PARTS
            ],
        }
        for j, name in enumerate(tested["joints"])
    ]
    return {"rows": rows, "labels": [label for _, label in _PARTS], "where": _tested_on(document)}


def tests(document: Content) -> Content:
    """Whiteness and normality of what is left of the torques."""
    tested = document["validation"] or document["fit"]
    rows = []
    for name, test in zip(tested["joints"], tested["tests"], strict=True):
        bars = [0.0 if r is None else r for r in test["autocorrelation"]]
        band = min(1.0, 1.96 / math.sqrt(max(test["samples"], 1)))  # of chance, for white residuals
        beyond = sum(abs(r) > band for r in bars)
        rows.append({**test, "name": name, "bars": bars, "band": band, "beyond": beyond})
    return {"rows": rows, "where": _tested_on(document)}


def stability(document: Content) -> Content | None:
    """Parameters from each experiment alone, and cross-validation, where they were made."""
    alone, cross = document.get("stability"), document.get("cross_validation")
    folds = (cross or {}).get("folds") or []
    if not alone and not folds:
        return None
    order: list[int] = []
    if alone:
        order = sorted(range(len(alone["names"])), key=lambda i: -(alone["gaps"][i] or -1.0))
    return {
        "alone": alone,
        "order": order[:_STABILITY_ROWS],
        "folds": folds,
        "joints": document["fit"]["joints"],
    }


def suspects(document: Content) -> Content | None:
    """What may be wrong with the logs or missing in the model, and the best one over the residual."""
    entry = document.get("suspects")
    if not entry:
        return None
    rows = [{**row, "cells": suspect_cells(row)} for row in entry["ranked"]]
    found, drawing = entry["picture"], None
    if found is not None:
        name, unit = (document["fit"][key][found["joint"] - 1] for key in ("joints", "units"))
        drawn = [
            line("left by the fit", found["time"], found["left"], colour="measured"),
            line(f"explained by {found['suspect']}", found["time"], found["explained"], colour="residual"),
        ]
        title = f"{found['suspect']}, felt most by {name} ({found['log']})"
        drawing = chart_drawing(Chart(title, "time [s]", f"torque [{unit}]", tuple(drawn)))
    return {**entry, "rows": rows, "drawing": drawing, "asked": len(entry["scores"])}


def run(document: Content) -> Content:
    """Command, inputs with hashes, steps, versions: what is needed to make the same page again."""
    facts = document["reproducibility"]
    steps = [
        {**motion, "steps": [{**step, "options": worded_pairs(step["options"])} for step in motion["steps"]]}
        for motion in facts["steps"]
        if motion["steps"]
    ]
    further = {key: value for key, value in facts.items() if key not in _SHOWN_APART}
    blocks = {
        "Preparation plan": {key: value for key, value in facts["preparation"].items() if value},
        "Estimator": document["estimate"]["strategy"],
        "Options": {key: value for key, value in facts.get("options", {}).items() if value is not False},
        "Further facts": further,
    }
    return {
        "command": facts.get("command", ""),
        "created": facts.get("created", ""),
        "seed": facts.get("seed"),
        "versions": facts["versions"],
        "inputs": facts["inputs"],
        "steps": steps,
        "reasons": facts.get("preparation_reasons", []),
        "mapping": facts.get("mapping"),
        "controller": facts.get("controller"),
        "blocks": [(title, pairs) for title, content in blocks.items() if (pairs := worded_pairs(content))],
    }


def worded_pairs(content: Content) -> list[tuple[str, str]]:
    """What is set, as words for people: a name with its unit, and a value without brackets or nulls."""
    return [(_named(str(key)), _said(value)) for key, value in content.items() if _is_set(value)]


def _is_set(value: Any) -> bool:
    return value is not None and value not in ("", [], {}, ())


def _named(key: str) -> str:
    for ending, unit in _UNITS.items():
        if key.endswith(ending):
            return f"{key.removesuffix(ending).replace('_', ' ')} [{unit}]"
    return key.replace("_", " ")


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {said}" for name, said in worded_pairs(value))
    if isinstance(value, list | tuple):
        nested = any(isinstance(item, list | tuple | Mapping) for item in value)
        return ("; " if nested else ", ").join(_said(item) for item in value if _is_set(item))
    return str(value)


def words(document: Content) -> Content:
    """What the words of the page mean."""
    return {"uncertainty": _uncertainty(document)}


def drawn_data(document: Content) -> Content:
    """What the script of a report draws."""
    return {
        "curves": document["curves"],
        "correlation": {key: document["correlation"][key] for key in ("names", "matrix")},
        "units": document["fit"]["units"],
    }


def case_answer(case: Content) -> Content:
    """Whether the published figures are reached."""
    held = [row for row in case["rows"] if row["accept"] != "shown"]
    refused = sum(not row["ok"] for row in held)
    return {**case, "held": len(held), "refused": refused, "shown": len(case["rows"]) - len(held)}


def case_rows(case: Content) -> Content:
    """Published figures and ours, one table per group, in order."""
    tables: list[tuple[str, Sequence[Content]]] = []
    for group, rows in groupby(case["rows"], key=lambda row: row.get("group", "")):
        tables.append((group, list(rows)))
    return {"tables": tables}
