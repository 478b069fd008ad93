"""Experiments against each other, and what is needed to run it all again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dynid.report.html import cell, facts, section, shown, table, text, words

_ROWS = 12
_OWN = ("versions", "inputs", "preparation", "steps", "command", "created", "seed", "options", "mapping")


def stability_section(document: Mapping[str, Any]) -> str:
    """Parameters from each experiment alone, and cross-validation, where they were made."""
    parts = []
    stability, cross = document.get("stability"), document.get("cross_validation")
    if stability:
        parts.append(_stability(stability))
    if cross and cross.get("folds"):
        parts.append(_cross(cross, document["fit"]["joints"]))
    if not parts:
        return ""
    lead = "Each experiment on its own should tell the same parameters and predict the others."
    return section("stability", "Experiments against each other", *parts, lead=lead)


def _stability(stability: Mapping[str, Any]) -> str:
    order = sorted(range(len(stability["names"])), key=lambda i: -(stability["gaps"][i] or -1.0))
    rows = []
    for i in order[:_ROWS]:
        values = "".join(cell(row[i]) for row in stability["values"])
        rows.append(words(stability["names"][i]) + values + cell(stability["gaps"][i], 2))
    head = ("parameter", *(text(name) for name in stability["experiments"]), "largest gap [σ]")
    moved = len(stability["moved"])
    said = "No parameter moves by more than 3 combined σ."
    if moved:
        said = (
            f"{moved} parameters move by more than 3 combined σ: σ is too small, or the robot changed "
            "between the experiments."
        )
    return f"<h3>Parameters from each experiment alone</h3><p>{said} The largest gaps:</p>" + table(
        head, rows, label="Parameters by experiment"
    )


def _cross(cross: Mapping[str, Any], joints: list[str]) -> str:
    rows = [
        words(fold["left_out"])
        + cell(fold["overall_percent"])
        + "".join(cell(v) for v in fold["relative_percent"])
        for fold in cross["folds"]
    ]
    head = ("left out", "all joints [%]", *(f"{text(name)} [%]" for name in joints))
    return "<h3>Each experiment predicted by a fit on the others</h3>" + table(
        head, rows, label="Cross-validation over experiments"
    )


def run_section(document: Mapping[str, Any]) -> str:
    """Command, inputs with hashes, steps, versions."""
    run = document["reproducibility"]
    command = f"<pre><code>{text(run['command'])}</code></pre>" if run.get("command") else ""
    pairs = [("Made", text(run.get("created", ""))), ("Seed", shown(run["seed"]) if "seed" in run else "")]
    pairs += [(text(name), text(value)) for name, value in run["versions"].items()]
    strategy = document["estimate"]["strategy"]
    blocks = [
        command,
        facts(pairs),
        _inputs(run["inputs"]),
        _details("Preparation plan", run["preparation"]),
        _steps(run["steps"]),
        _details("Estimator", strategy),
        _details("Options", run.get("options", {})),
        _mapping(run.get("mapping")),
        _details("Further facts", {key: value for key, value in run.items() if key not in _OWN}),
    ]
    lead = "What is needed to make the same page again."
    return section("run", "How it was made", *blocks, lead=lead)


def _mapping(mapping: Mapping[str, Any] | None) -> str:
    if not mapping:
        return ""
    title = f"Mapping of the columns ({text(mapping['path'])})"
    content = f"<pre><code>{text(mapping['text'])}</code></pre>"
    digest = f"<p>SHA-256 <code>{text(mapping['sha256'])}</code></p>"
    return f"<details><summary>{title}</summary>{content}{digest}</details>"


def _inputs(inputs: list[Mapping[str, Any]]) -> str:
    if not inputs:
        return ""
    rows = [
        words(item["path"]) + cell(item["size"]) + f"<td><code>{text(item['sha256'])}</code></td>"
        for item in inputs
    ]
    return "<h3>Input files</h3>" + table(
        ("file", "bytes", "SHA-256"), rows, label="Input files", mark="left"
    )


def _steps(runs: list[Mapping[str, Any]]) -> str:
    items = ""
    for run in runs:
        steps = "".join(f"<li>{_step(step)}</li>" for step in run["steps"])
        if steps:
            items += f"<h4>{text(run['motion'])}</h4><ol>{steps}</ol>"
    return f"<details><summary>Steps each log went through</summary>{items}</details>" if items else ""


def _step(step: Mapping[str, Any]) -> str:
    options = ", ".join(f"{key} = {_value(value)}" for key, value in step["options"].items())
    told = f" ({text(options)})" if options else ""
    note = f" – {text(step['note'])}" if step["note"] else ""
    return f"<b>{text(step['name'])}</b>{told}{note}"


def _details(title: str, content: Mapping[str, Any]) -> str:
    if not content:
        return ""
    pairs = [(text(key), f"<code>{text(_value(value))}</code>") for key, value in content.items()]
    return f"<details><summary>{title}</summary>{facts(pairs)}</details>"


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
