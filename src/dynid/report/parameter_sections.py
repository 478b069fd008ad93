"""Parameters, the essential set, and how the parameters hang together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dynid.report.html import badge, cell, facts, section, shown, table, text, unit, words

_STATUS = {"known": "good", "poorly known": "care", "removed": "note", "undetermined": "fail"}
_CONDITIONS = {
    "condition": "Condition of W",
    "condition_scaled": "with columns scaled",
    "condition_weighted": "with rows weighted",
    "condition_weighted_scaled": "with both (what was solved)",
}
_LISTED = 0.5
_HEAD = (
    ("name", "parameter"),
    ("value", "value"),
    ("percent", "σ [%]"),
    ("", '<span class="axis"><i>0.1</i><i>1</i><i>10</i><i>100 %</i></span>'),
    ("sigma", "σ"),
    ("prior", "prior"),
    ("gap", "value − prior [σ]"),
    ("status", "status"),
)


def parameter_section(document: Mapping[str, Any]) -> str:
    """The table of base parameters with their doubt."""
    rows = document["parameters"]
    with_prior = any(row["prior"] is not None for row in rows)
    shown_columns = [item for item in _HEAD if with_prior or item[0] not in ("prior", "gap")]
    head = [_heading(key, label) for key, label in shown_columns]
    body = [_row(row, with_prior) for row in rows]
    estimate = document["estimate"]
    beside = len(rows) - estimate["n_base"]
    counted = f"{estimate['n_base']} base parameters"
    if beside:
        counted += f" and {beside} of friction that is not linear in them"
    lead = (
        f"{counted}, SI, joint side; σ is one standard deviation "
        f"({text(estimate['uncertainty'])}). Open a name for what it is made of."
    )
    controls = (
        '<div class="tools noprint">'
        '<label>Find <input type="search" id="find" placeholder="ZZ, Fv, 3 …"></label>'
        '<label>Show <select id="show"><option value="">all</option><option>known</option>'
        "<option>poorly known</option><option>undetermined</option><option>removed</option></select></label>"
        f'<output id="count" for="find show">{len(rows)} of {len(rows)}</output></div>'
    )
    listing = table(head, body, label="Base parameters", mark="parameters sortable")
    return section("parameters", "Parameters", controls, listing, lead=lead)


def _heading(key: str, label: str) -> str:
    return f'<button type="button" data-sort="{key}">{label}</button>' if key else label


def _row(row: Mapping[str, Any], with_prior: bool) -> str:
    removed = row["status"] == "removed"
    name = (
        f'<td class="name" data-value="{text(row["name"])}"><details><summary title="{text(row["formula"])}">'
        f"{text(row['name'])}</summary><code>{text(row['formula'])}</code></details></td>"
    )
    value = '<td data-value="0.0" class="soft">0</td>'
    if not removed:
        value = cell(row["value"], 4, suffix=f" <em>{unit(row['unit'])}</em>")
    sigma = cell(None if removed else row["sigma"], 2)
    percent = cell(row["percent_sigma"], 2)
    prior = _prior(row) + cell(row["prior_gap"], 2) if with_prior else ""
    status = f'<td data-value="{text(row["status"])}">{badge(_STATUS[row["status"]], row["status"])}</td>'
    doubt = f"<td>{_doubt_bar(row['percent_sigma'])}</td>"
    return f"{name}{value}{percent}{doubt}{sigma}{prior}{status}"


def _prior(row: Mapping[str, Any]) -> str:
    """What was known before; where a part of the sum has no value, nothing, and which part on pointing."""
    lacks = row.get("prior_lacks")
    if row["prior"] is not None or not lacks:
        return cell(row["prior"], 4)
    return f'<td data-value="" title="no a-priori value of {text(", ".join(lacks))}">{shown(None)}</td>'


def _doubt_bar(percent: float | None) -> str:
    """%σ on a logarithmic axis from 0.1 % to 100 %."""
    if percent is None:
        return ""
    share = 100.0 if percent <= 0 or percent >= 100 else 100 * (math.log10(percent) + 1) / 3
    share = 0.0 if percent <= 0 else share
    grade = "good" if percent <= 5 else "care" if percent <= 20 else "fail"
    width = max(share, 1.5)
    return f'<span class="bar doubt {grade}" aria-hidden="true"><i style="width:{width:.1f}%"></i></span>'


def essential_section(document: Mapping[str, Any]) -> str:
    """Which parameters the data ask for."""
    estimate = document["estimate"]
    rows = document["parameters"][: estimate["n_base"]]
    kept = [row["name"] for row in rows if row["essential"]]
    removed = estimate["removed"]
    poor = [row["name"] for row in rows if row["status"] == "poorly known"]
    pairs = [
        ("Kept", f'<b data-figure="n_kept" data-value="{len(kept)}">{len(kept)}</b> of {estimate["n_base"]}'),
        ("Removed as not essential", shown(len(removed))),
        ("Kept but poorly known", shown(len(poor))),
    ]
    if removed:
        told = (
            "Removed parameters change the torque less than the noise does: the data cannot tell them from "
            "zero. They are zero in the model."
        )
    else:
        told = "No parameter was removed; all base parameters are in the model."
    if not removed:
        return section("essential", "Essential set", facts(pairs), f"<p>{told}</p>")
    chips = "".join(f"<li>{text(name)}</li>" for name in kept)
    gone = "".join(f'<li class="gone">{text(name)}</li>' for name in removed)
    lists = f'<h3>Kept</h3><ul class="chips">{chips}</ul><h3>Removed</h3><ul class="chips">{gone}</ul>'
    return section("essential", "Essential set", facts(pairs), f"<p>{told}</p>", lists)


def condition_section(document: Mapping[str, Any]) -> str:
    """Condition numbers and the correlation map."""
    estimate, correlation = document["estimate"], document["correlation"]
    conditions = condition_facts(estimate["facts"])
    pairs = [
        (text(name), f'<b data-figure="{text(key)}" data-value="{value!r}">{shown(value)}</b>')
        for key, name, value in conditions
    ]
    pairs.append(
        (f"Pairs with |r| above {correlation['strong_from']:g}", shown(correlation["strong"])),
    )
    strong = [p for p in correlation["pairs"] if abs(p["r"]) >= _LISTED]
    rows = [words(p["a"], "name") + words(p["b"]) + cell(p["r"]) for p in strong]
    listing = f"<p>No two parameters have |r| above {_LISTED:g}.</p>"
    if rows:
        listing = "<h3>Strongest pairs</h3>" + table(
            ("parameter", "with", "r"), rows, label="Strongest correlations"
        )
    lead = (
        "A small condition number says that the motion shows every parameter by itself. Two parameters with "
        "a correlation near ±1 are known only together."
    )
    picture = (
        '<div class="map">'
        '<div id="heat" tabindex="0" role="img" aria-label="Correlation of the parameters"></div>'
        '<p class="readout" id="heat-readout">Point at a square to read it.</p>'
        '<p class="key"><span><i class="minus"></i>−1</span><span><i class="zero"></i>0</span>'
        '<span><i class="plus"></i>+1</span></p></div>'
    )
    return section(
        "condition",
        "Condition and correlation",
        facts(pairs),
        f'<div class="pair">{picture}<div>{listing}</div></div>',
        lead=lead,
    )


def condition_facts(known: Mapping[str, Any]) -> list[tuple[str, str, float]]:
    """Condition numbers among the facts of an estimate, whether plain numbers or grouped."""
    found = []
    for key, value in known.items():
        if "condition" not in str(key):
            continue
        inner = value.items() if isinstance(value, Mapping) else [("", value)]
        for part, number in inner:
            if isinstance(number, int | float) and not isinstance(number, bool):
                whole = f"{key}.{part}" if part else str(key)
                plain = whole.replace("_", " ").replace(".", " ")
                found.append((whole, _CONDITIONS.get(whole, plain.capitalize()), float(number)))
    return found
