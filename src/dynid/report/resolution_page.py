"""The page of a study of resolution: thresholds, curves with the law, tables like P1's 3, 4 and 7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import ceil, log10
from typing import Any

from dynid.report import sections
from dynid.report.calibration_page import run
from dynid.report.charts import Chart, Figure, figure_drawing, line
from dynid.report.page import Page, Section, render_document
from dynid.report.resolution_document import RESOLUTION_SCHEMA

Content = Mapping[str, Any]
ENCODER, LS = "encoder", "LS"
_WORDS = {
    "good": "This is how coarse the sensors may be.",
    "care": "This is how coarse the sensors may be, with care.",
    "fail": "These logs cannot say how good the sensors must be.",
}
_LEVELS = {"sound": "good", "doubtful": "care", "biased": "fail"}


def render_resolution(document: Content) -> str:
    """A study of resolution as one HTML page.

    Args:
        document: schema "dynid.resolution/1", as ``dynid resolution`` writes it, or read back from JSON.
    """
    return render_document(RESOLUTION, document, (RESOLUTION_SCHEMA,), "resolution study", "dynid resolution")


def resolution_answer(document: Content) -> Content:
    """The coarsest encoders, and all findings."""
    figures = [
        {
            "key": f"threshold_{t['method']}_{t['percent']:g}",
            "label": f"{t['method']}, shifts below {t['percent']:g} %",
            "value": ceil(t["counts"]),
            "unit": document["count_unit"],
            "note": f"beyond that {t['limited_by']}" if t["limited_by"] else "the motion itself",
        }
        for t in document["thresholds"]
        if t["counts"] is not None
    ]
    side = "motors" if document["side"] == "motor" else "joints"
    return {
        "grade": document["grade"],
        "words": _WORDS[document["grade"]],
        "sentence": f"Encoders and torque sensors of the {side} were made coarser step by step, and the "
        "whole identification was run again each time. Thresholds belong to this motion and these filters.",
        "figures": figures,
        "findings": document["findings"],
    }


def thresholds(document: Content) -> Content:
    """Thresholds beside what the law expects."""
    rows = [
        {**t, "counts": ceil(t["counts"]), "law_counts": t["law_counts"] and ceil(t["law_counts"])}
        for t in document["thresholds"]
        if t["counts"] is not None
    ]
    return {"rows": rows, "unit": document["count_unit"], "law": document["law"]}


def tables(document: Content) -> Content:
    """One table per sensor, mode and method: parameters in rows, steps in columns, as P1 prints them."""
    parameters = document["parameters"]
    found = []
    for (channel, method, mode), group in groupby(document["outcomes"], key=_kind):
        steps = sorted(group, key=lambda o: o["step"])
        rows = [{**p, "cells": [_table_cell(o, k) for o in steps]} for k, p in enumerate(parameters)]
        found.append(
            {
                "title": _table_title(channel, method, mode, steps[0]["runs"]),
                "heads": [_step_head(o, document["count_unit"]) for o in steps],
                "rows": rows,
                "residuals": [o["residual_percent"] for o in steps],
                "law": channel == ENCODER and method == LS,
            }
        )
    return {"tables": found}


def _kind(outcome: Content) -> tuple[str, str, str]:
    return outcome["channel"], outcome["method"], outcome["mode"]


def _table_title(channel: str, method: str, mode: str, runs: int) -> str:
    sensor = "Encoders" if channel == ENCODER else "Torque sensors"
    return f"{sensor}, {mode}, by {method}: means of {runs} runs"


def _step_head(outcome: Content, unit: str) -> str:
    if outcome["counts"]:
        return f"{outcome['counts']:.4g} {unit.removeprefix('counts ')}"
    return f"{100 * outcome['step']:g} % of the largest torque"


def _table_cell(outcome: Content, k: int) -> Content:
    verdict = outcome["verdicts"][k]
    return {
        "value": outcome["values"][k],
        "sigma": outcome["percent_sigma"][k],
        "error": outcome["percent_error"][k],
        "law": None if outcome["law_ratios"] is None else 100 * (outcome["law_ratios"][k] - 1),
        "verdict": verdict,
        "level": _LEVELS[verdict],
    }


def curves(document: Content) -> Content:
    """Ratio of every main parameter against the resolution, with the law, and the residual."""
    swept = [o for o in document["outcomes"] if o["channel"] == ENCODER]
    groups = [(kind, sorted(g, key=lambda o: -o["step"])) for kind, g in groupby(swept, key=_kind)]
    main = [(k, p["name"]) for k, p in enumerate(document["parameters"]) if p["judged"]]
    charts = [_residual_chart(groups, document["count_unit"])]
    charts += [_ratio_chart(groups, k, name, document["count_unit"]) for k, name in main]
    caption = "Mean over the runs divided by the estimate from the logs as they are; points are simulated, "
    caption += "lines without points are the law. Finer encoders are to the right."
    return {"drawings": [figure_drawing(Figure("Against the resolution", caption, tuple(charts)))]}


def _ratio_chart(groups: Sequence[Any], k: int, name: str, unit: str) -> Chart:
    lines = []
    for (_, method, mode), outcomes in groups:
        x = [log10(o["counts"]) for o in outcomes]
        lines.append(line(f"{method} {mode}", x, [o["ratios"][k] for o in outcomes], marks=True))
        if outcomes[0]["law_ratios"] is not None:
            lines.append(line(f"law, {mode}", x, [o["law_ratios"][k] for o in outcomes]))
    return Chart(name, f"log₁₀ of {unit}", "ratio", tuple(lines))


def _residual_chart(groups: Sequence[Any], unit: str) -> Chart:
    lines = [
        line(
            f"{method} {mode}",
            [log10(o["counts"]) for o in outcomes],
            [max(o["residual_percent"], 1e-4) for o in outcomes],
            marks=True,
        )
        for (_, method, mode), outcomes in groups
    ]
    return Chart("Residual: %e(‖ρ‖)", f"log₁₀ of {unit}", "%", tuple(lines), logarithmic=True)


RESOLUTION = Page(
    "dynid resolution",
    (
        Section("verdict", "", resolution_answer),
        Section("thresholds", "Thresholds", thresholds, "resolution_thresholds"),
        Section("figures", "Curves", curves),
        Section("tables", "Tables", tables, "resolution_tables"),
        Section("data", "Data", sections.data_checks),
        Section("run", "How it was made", run),
    ),
)
