"""What ``dynid fit`` prints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dynid.cli.output import Screen
from dynid.core.text import TextTable
from dynid.estimators.estimate import Estimate
from dynid.results.folder import REPORT
from dynid.workflow.result import FitResult


def summarise(result: FitResult, document: Mapping[str, Any], out: Path, seconds: float) -> dict[str, Any]:
    """What the command prints as JSON."""
    estimate = result.estimate
    rows = zip(
        estimate.names, estimate.values, estimate.sigma, estimate.relative_sigma, estimate.kept, strict=True
    )
    return {
        "robot": estimate.problem.robot.name,
        "verdict": document["verdict"],
        "trustworthy": document["verdict"]["trustworthy"],
        "n_base": len(estimate.values),
        "n_kept": int(estimate.kept.sum()),
        "outcome": estimate.outcome.name,
        "plan": result.plan.to_dict(),
        "reasons": list(result.suggestion.reasons) if result.suggestion else [],
        "parameters": [
            {
                "name": n,
                "value": float(v),
                "sigma": float(s),
                "relative_sigma_percent": float(r),
                "kept": bool(k),
            }
            for n, v, s, r, k in rows
        ],
        "further": _further(estimate),
        "fit": result.own.judged.to_dict(),
        "validation": None if result.unseen is None else result.unseen.judged.to_dict(),
        "result": str(out),
        "report": str(out / REPORT),
        "seconds": seconds,
    }


def _further(estimate: Estimate) -> list[dict[str, Any]]:
    """Parameters beside the base ones, of friction that is not linear."""
    further = estimate.further
    if further is None:
        return []
    rows = zip(further.names, further.values, further.sigma, further.units, strict=True)
    return [{"name": n, "value": float(v), "sigma": float(s), "unit": u} for n, v, s, u in rows]


def print_summary(result: FitResult, summary: Mapping[str, Any]) -> None:
    """The verdict and its findings, how the data were prepared, errors per joint, where the report lies."""
    screen = Screen()
    screen.print(summary["verdict"]["sentence"], style="bold")
    screen.findings(summary["verdict"]["findings"])
    for reason in summary["reasons"]:
        screen.print(f"  {reason}", style="dim")
    joints = result.own.joints
    unseen = result.unseen.judged.relative_percent if result.unseen else None
    rows = [
        [
            name,
            f"{result.own.judged.relative_percent[j]:.2f} %",
            "" if unseen is None else f"{unseen[j]:.2f} %",
        ]
        for j, name in enumerate(joints)
    ]
    screen.print(TextTable("", ("joint", "fit", _kind(result)), rows))
    if summary["further"]:
        more = [[row["name"], _with_doubt(row)] for row in summary["further"]]
        screen.print(TextTable("", ("nonlinear friction", "value"), more))
    screen.print(f"{summary['n_kept']} of {summary['n_base']} base parameters in {summary['seconds']:.1f} s")
    screen.print(f"report: {summary['report']}")


def _with_doubt(row: Mapping[str, Any]) -> str:
    unit = "" if row["unit"] == "1" else f" {row['unit']}"
    return f"{row['value']:.4g} ± {row['sigma']:.2g}{unit}"


def _kind(result: FitResult) -> str:
    if result.unseen is None or not (result.unseen.seen or result.unseen.repeated):
        return "unseen"
    return "its own" if result.unseen.seen else "repeated"
