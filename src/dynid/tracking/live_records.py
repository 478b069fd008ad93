"""Live records: what a run says of itself while it goes on, one JSON object each.

``header`` first, then ``record`` every so often and ``event`` when something happens, ``end`` last.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding
from dynid.core.plain import plain
from dynid.estimators.recursive.recursion import RecursiveEstimate


def header_of(
    base: BaseMap, method: str, rate_hz: float, delay_s: float, plan: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The first record.

    Args:
        base: base parameters of the robot.
        method: name of the recursion.
        rate_hz: samples per second of the stream.
        delay_s: age of an estimate: what the causal filters need [s].
        plan: keys of the causal plan, where there is one.
    """
    robot = base.robot
    parts = zip(base.names, base.units, base.formulas, strict=True)
    return {
        "kind": "header",
        "robot": robot.name,
        "joints": [robot.joints[c].name for c in robot.coordinates],
        "parameters": [{"name": name, "unit": unit, "formula": text} for name, unit, text in parts],
        "method": method,
        "rate_hz": rate_hz,
        "delay_s": delay_s,
        **({} if plan is None else {"plan": dict(plan)}),
    }


def record_of(
    time: float,
    estimate: RecursiveEstimate,
    measured: FloatArray,
    predicted: FloatArray,
    innovation: float | None,
    inertia: float | None,
    counts: Mapping[str, int],
) -> dict[str, Any]:
    """The state of a moment.

    Args:
        time: stamp [s].
        estimate: values and σ.
        measured: torques, (joints,) [N m or N].
        predicted: by the parameters before this instant, (joints,).
        innovation: mean χ² per row since the last record; None without rows.
        inertia: smallest eigenvalue of M(q).
        counts: of the feed.
    """
    found: dict[str, Any] = plain({
        "kind": "record",
        "t": time,
        "values": estimate.values,
        "sigma": estimate.sigma,
        "measured": measured,
        "predicted": predicted,
        "innovation": innovation,
        "inertia": inertia,
        "used": estimate.rows,
        "counts": dict(counts),
    })  # fmt: skip
    return found


def event_of(time: float | None, finding: Finding) -> dict[str, Any]:
    """Something that happened.

    Args:
        time: when it was noticed [s]; None before the first row.
        finding: what it was.
    """
    text = f"{finding.sentence} {finding.remedy}".strip()
    found: dict[str, Any] = plain({
        "kind": "event",
        "t": time,
        "name": str(finding.name),
        "level": finding.level.word,
        "text": text,
        "figures": dict(finding.figures),
    })  # fmt: skip
    return found


def end_of(time: float | None, outcome: str, counts: Mapping[str, int], **figures: Any) -> dict[str, Any]:
    """The last record.

    Args:
        time: stamp of the last sample [s].
        outcome: how the run ended, as a sentence.
        counts: of the feed.
        **figures: further ones, such as the difference from a batch fit.
    """
    made: dict[str, Any] = {"kind": "end", "t": time, "outcome": outcome, "counts": dict(counts), **figures}
    found: dict[str, Any] = plain(made)
    return found
