"""A fleet as data: everything that its page, its table and its JSON show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dynid.core.finding import Finding, Level, gravest_first, worst_level
from dynid.core.plain import plain
from dynid.report.document import versions

FLEET_SCHEMA = "dynid.fleet/1"
_FIRST = ("name", "unit", "date", "hours", "robot", "status", "grade", "sentence")
_PERCENT = ("residual_percent", "unseen_percent")


def fleet_document(
    rows: Sequence[Mapping[str, Any]],
    findings: Sequence[Finding],
    comparisons: Mapping[str, Mapping[str, Any]],
    run: Mapping[str, Any],
) -> dict[str, Any]:
    """Assemble the document of a fleet.

    Args:
        rows: what each fit gave.
        findings: what is said of units.
        comparisons: by robot: "centres" (median and spread by parameter) and "departures".
        run: how it was run: "command" and "options".
    """
    trusted = sum(row["trustworthy"] for row in rows)
    failed = trusted < len(rows)
    grade = "fail" if failed else "care" if worst_level(findings) >= Level.CARE else "good"
    return {
        "schema": FLEET_SCHEMA,
        "title": f"Fleet of {len({row['unit'] for row in rows})} robots",
        "grade": grade,
        "trustworthy": not failed,
        "trusted": trusted,
        "findings": [plain(finding.to_dict()) for finding in gravest_first(findings)],
        "fits": plain(list(rows)),
        "units": {p["name"]: p["unit"] for row in rows for p in row["parameters"]},
        "comparisons": plain(dict(comparisons)),
        "run": {"command": "", "options": {}, "versions": versions(), **plain(dict(run))},
    }


def table_columns(document: Mapping[str, Any]) -> dict[str, list[Any]]:
    """One row per fit as columns by name: labels, verdict, errors [%], value and sigma of parameters [SI]."""
    fits = document["fits"]
    columns: dict[str, list[Any]] = {name: [row[name] for row in fits] for name in (*_FIRST, *_PERCENT)}
    for joint in dict.fromkeys(joint for row in fits for joint in row["joints"]):
        columns[f"residual_percent_{joint}"] = [row["joints"].get(joint) for row in fits]
    found = [{p["name"]: p for p in row["parameters"]} for row in fits]
    for name in document["units"]:
        columns[name] = [own[name]["value"] if name in own else None for own in found]
        columns[f"sigma_{name}"] = [own[name]["sigma"] if name in own else None for own in found]
    return columns
