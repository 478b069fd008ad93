"""``dynid fit``: from logs to a judged model with a report."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from dynid.cli.fit_options import (
    ConventionOption,
    CutoffOption,
    DecimationOption,
    EssentialOption,
    LogsArgument,
    MapOption,
    MaskOption,
    MethodOption,
    PlanOption,
    RuleOption,
    UncertaintyOption,
    as_typed,
    chosen_plan,
    chosen_strategy,
)
from dynid.cli.output import console, print_json, table
from dynid.cli.robot_options import GravityOption, PayloadOption, RobotArgument, TermsOption, chosen_robot
from dynid.errors import DynidError
from dynid.export.result import REPORT, check_free, save_result
from dynid.report.page import render_report
from dynid.signals.read import read_logs
from dynid.workflow.document import document_of
from dynid.workflow.fit import FitResult, Progress, fit_logs
from dynid.workflow.logs import is_long
from dynid.workflow.stream import LONG, fit_stream


def fit(
    context: typer.Context,
    robot: RobotArgument,
    logs: LogsArgument,
    mapping: MapOption = None,
    method: MethodOption = "wls",
    essential: EssentialOption = False,
    rule: RuleOption = "sigma",
    uncertainty: UncertaintyOption = "classical",
    validate: Annotated[
        list[Path] | None, typer.Option("--validate", help="Logs kept for validation (repeatable).")
    ] = None,
    split: Annotated[
        float | None, typer.Option("--split", help="Fit this share of each log, validate on the rest.")
    ] = None,
    plan: PlanOption = None,
    cutoff_hz: CutoffOption = None,
    decimation: DecimationOption = None,
    mask: MaskOption = None,
    convention: ConventionOption = None,
    repair: Annotated[bool, typer.Option("--repair", help="Repair repairable defects of the logs.")] = False,
    out: Annotated[Path, typer.Option("--out", help="Result folder.")] = Path("out/fit"),
    force: Annotated[bool, typer.Option("--force", help="Replace an existing result folder.")] = False,
    terms: TermsOption = None,
    gravity: GravityOption = None,
    payload: PayloadOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> int:
    """Identify a robot's parameters from logs, with uncertainties, a verdict and a report."""
    check_free(out, force)
    found = chosen_robot(robot, terms, gravity, payload)
    strategy = chosen_strategy(method, essential, rule, uncertainty)
    steps, keys = chosen_plan(plan, cutoff_hz, decimation, mask, convention, found.n_coordinates)
    started = time.perf_counter()
    with progress_line(quiet=as_json) as tell:
        tell("reading")
        if len(logs) == 1 and is_long(logs[0], mapping, LONG):
            _refuse_with_long(validate=validate, split=split, repair=repair)
            result = fit_stream(found, logs[0], mapping, strategy, plan=steps, overrides=keys, progress=tell)
        else:
            given, kept = read_logs(logs, mapping), read_logs(validate or [], mapping)
            result = fit_logs(
                found,
                given,
                strategy,
                plan=steps,
                overrides=keys,
                unseen=kept,
                split=split,
                repair=repair,
                progress=tell,
            )
        tell("writing the report")
        document = document_of(result, {"command": as_typed(context)})
        save_result(out, result.estimate, document, render_report(document), force=force)
    seconds = time.perf_counter() - started
    summary = summarise(result, document, out, seconds)
    if as_json:
        print_json(summary)
    else:
        _print(result, summary)
    return 0 if summary["trustworthy"] else 2


def _refuse_with_long(**options: object) -> None:
    for name, value in options.items():
        if value:
            raise DynidError(
                f"--{name} needs the whole log in memory, and this log has more than {LONG:,} samples; cut "
                "it, or use dynid validate on another one.",
                name=name,
                value=value,
            )


@contextmanager
def progress_line(quiet: bool) -> Iterator[Progress]:
    """A line on standard error that says what is being done; nothing when output is for a machine."""
    screen = Console(stderr=True)
    if quiet or not screen.is_terminal:
        yield lambda text: None
        return
    with screen.status("") as status:
        yield lambda text: status.update(f"{text} …")


def summarise(result: FitResult, document: dict[str, Any], out: Path, seconds: float) -> dict[str, Any]:
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
        "fit": result.own.judged.to_dict(),
        "validation": None if result.unseen is None else result.unseen.judged.to_dict(),
        "result": str(out),
        "report": str(out / REPORT),
        "seconds": seconds,
    }


def _print(result: FitResult, summary: dict[str, Any]) -> None:
    screen = console()
    # Names of joints and logs are in it, and may look like markup.
    screen.print(f"[bold]{escape(summary['verdict']['sentence'])}[/bold]")
    for reason in summary["reasons"]:
        screen.print(f"  {reason}", style="dim", markup=False)
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
    screen.print(table("", ("joint", "fit", "unseen"), rows))
    screen.print(f"{summary['n_kept']} of {summary['n_base']} base parameters in {summary['seconds']:.1f} s")
    screen.print(f"report: {summary['report']}", markup=False)
