"""The robot and the logs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynid.report.html import badge, facts, section, shown, table, text, words

_FACTS = (
    ("samples", "samples", ""),
    ("rate_hz", "rate", " Hz"),
    ("duration_s", "duration", " s"),
    ("jitter_percent", "jitter", " %"),
    ("gaps", "gaps", ""),
    ("condition", "condition", ""),
)
_LEVEL_ORDER = ("fail", "care", "note", "good")


def robot_section(document: Mapping[str, Any]) -> str:
    """What the robot is."""
    robot = document["robot"]
    pairs = [
        ("Name", text(robot["name"])),
        ("Joints", shown(len(robot["joints"]))),
        ("Gravity", " ".join(shown(g) for g in robot["gravity"]) + " m/s²"),
        ("Terms beside inertia", text(", ".join(robot["terms"])) or "none"),
        ("Standard parameters", shown(robot["n_standard"])),
        ("Base parameters", f'<b data-figure="n_base" data-value="{robot["n_base"]}">{robot["n_base"]}</b>'),
        ("Lengths", text(", ".join(f"{k} = {shown(v)} m" for k, v in robot["lengths"].items()))),
    ]
    rows = [_joint_row(joint) for joint in robot["joints"]]
    head = ("joint", "kind", "range", "largest speed", "largest torque")
    joints = table(head, rows, label="Joints of the robot", mark="left")
    about = f"<p>{text(robot['title'])}</p>" if robot["title"] else ""
    origin = f'<p class="remark">Description from: {text(robot["source"])}</p>' if robot["source"] else ""
    more = f"<details><summary>Joints</summary>{joints}</details>"
    lead = "Base parameters are the combinations of standard parameters that torques can tell apart."
    return section("robot", "Robot", about, facts(pairs), origin, more, lead=lead)


def _joint_row(joint: Mapping[str, Any]) -> str:
    limits = joint["limits"]
    prismatic = joint["kind"] == "prismatic"
    length, force = ("m", "N") if prismatic else ("rad", "N m")
    reach = "–"
    if "lower" in limits and "upper" in limits:
        reach = f"{shown(limits['lower'])} … {shown(limits['upper'])} {length}"
    speed = f"{shown(limits['velocity'])} {length}/s" if "velocity" in limits else "–"
    effort = f"{shown(limits['effort'])} {force}" if "effort" in limits else "–"
    cells = (words(joint["name"]), words(joint["kind"]), words(reach), words(speed), words(effort))
    return "".join(cells)


def data_section(document: Mapping[str, Any]) -> str:
    """What the data check says of each log."""
    checks = document["data"]
    if not checks:
        empty = "<p>No data check was made; run it before trusting a fit.</p>"
        return section("data", "Data check", empty)
    logs = "".join(_check(check) for check in checks)
    lead = "Each log was checked before use. What was found stands here, even where it was repaired."
    return section("data", "Data check", f'<div class="cards">{logs}</div>', lead=lead)


def _check(check: Mapping[str, Any]) -> str:
    ordered = sorted(check["findings"], key=lambda finding: _LEVEL_ORDER.index(finding["level"]))
    findings = "".join(
        f"<li>{badge(finding['level'])}<span>{_named(finding)}</span></li>" for finding in ordered
    )
    listing = f'<ul class="reasons">{findings}</ul>' if findings else ""
    said = check["summary"] or ("" if findings else "Nothing was found.")
    summary = f"<p>{text(said)}</p>" if said else ""
    numbers = [
        (label, _fact(check["facts"][key], suffix))
        for key, label, suffix in _FACTS
        if isinstance(check["facts"].get(key), int | float)
    ]
    return (
        f'<article class="card"><h3>{text(check["log"])} {badge(check["level"], check["verdict"])}</h3>'
        f"{_use(check)}"
        f"{summary}{listing}{facts(numbers) if numbers else ''}</article>"
    )


def _use(check: Mapping[str, Any]) -> str:
    kept = check.get("use") == "validation"
    return '<p class="remark">kept for validation</p>' if kept else ""


def _fact(value: float, suffix: str) -> str:
    return (shown(value) if isinstance(value, int) or abs(value) >= 1e-3 else "0") + suffix


def _named(finding: Mapping[str, Any]) -> str:
    name = f"<b>{text(finding['name'])}</b> " if finding["name"] else ""
    return name + text(finding["sentence"])
