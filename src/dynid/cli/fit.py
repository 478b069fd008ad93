"""``dynid fit``: from logs to a judged model with a report."""

from __future__ import annotations

import hashlib
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import typer

from dynid.cli.command import JsonOption, OptionGroup, command, option
from dynid.cli.estimation import LOOP_METHODS, LoopOptions, MethodOptions, SettingOptions, chosen_strategy
from dynid.cli.log_options import FitLogOptions, LogsArgument, PreparationOptions
from dynid.cli.output import STYLES, Screen, as_json_value, print_json, progress_line
from dynid.cli.robot_options import RobotArgument, RobotOptions, chosen_robot
from dynid.consistency.knowledge import load_knowledge
from dynid.core.files import read_text
from dynid.core.lazy import later
from dynid.estimators.estimate import Estimate
from dynid.logs.read import read_logs
from dynid.report.page import render_report
from dynid.results.folder import REPORT, reserved_folder
from dynid.results.save import write_result
from dynid.results.view import summary_lines
from dynid.workflow.added_terms import NONE, term_request
from dynid.workflow.fitting import fit as fit_logs
from dynid.workflow.result import FitResult, document_of

# Only methods that simulate the closed loop need the simulator: the others should not wait for it.
_loop_fit_arguments = later("dynid.cli.closed_loop", "loop_fit_arguments")


@dataclass(frozen=True)
class ResultOptions(OptionGroup):
    """Where the result goes and how much of it is printed."""

    out: Path = option(Path("out/fit"), "FOLDER", "Result folder.")
    force: bool = option(
        False, "", "Replace the result in an existing result folder; other files in it stay as they are."
    )
    verbose: bool = option(False, "", "Print all parameters and how the data were prepared, too.")


@command(
    examples=[
        "dynid fit tx40 log.csv --map map.toml --validate other.csv",
        "dynid fit tx40 log.csv --split 0.7 --method irls --essential --out out/few",
        "dynid fit tx40 log.csv --split 0.7 --add auto --out out/terms",
        "dynid fit scara log.csv --method didim --controller scara --out out/didim",
    ],
    exit_0="The model can be used, perhaps with care.",
    exit_2="It cannot be trusted (the folder is written all the same), or a log is not usable.",
)
def fit(
    context: typer.Context,
    robot: RobotArgument,
    logs: LogsArgument,
    files: FitLogOptions,
    estimator: MethodOptions,
    settings: SettingOptions,
    loop: LoopOptions,
    preparation: PreparationOptions,
    variant: RobotOptions,
    target: ResultOptions,
    as_json: JsonOption = False,
) -> int:
    """Identify a robot's parameters from logs, with uncertainties, a verdict and a report."""
    arm = chosen_robot(robot, variant)
    strategy = chosen_strategy(arm, estimator, settings, loop)
    terms = term_request(estimator.add or NONE, arm, strategy)
    plan, keys = preparation.chosen(arm.n_coordinates)
    facts = _run_facts(context, robot, files.mapping)
    started = time.perf_counter()
    reserved = reserved_folder(target.out, force=target.force, inputs=_input_paths(context))
    with reserved, progress_line(quiet=as_json) as tell:
        tell("reading")
        if estimator.method in LOOP_METHODS:
            given = _loop_fit_arguments(arm, strategy, logs, files, loop)
        else:
            kept = read_logs(files.validate or [], files.mapping)
            given = {"logs": read_logs(logs, files.mapping), "validate": kept}
        every = files.with_accepted(files.in_conditions([*given["logs"], *given["validate"]]))
        given |= {"logs": every[: len(logs)], "validate": every[len(logs) :]}
        result = fit_logs(
            arm,
            strategy=strategy,
            plan=plan,
            overrides=keys,
            split=files.split,
            repair=files.repair,
            add=terms,
            consistent=estimator.consistent,
            known=None if estimator.known is None else load_knowledge(estimator.known),
            digits=estimator.digits,
            progress=tell,
            **given,
        )
        tell("writing the report")
        document = document_of(result, {**facts, "seconds": time.perf_counter() - started})
        page = render_report(document)
        write_result(
            target.out, result.estimate, document, page, trails=result.trails, standard=result.standard
        )
    summary = _summary(result, document, target.out, time.perf_counter() - started)
    if as_json:
        print_json(summary)
    else:
        _print(document, summary, target.verbose)
    return 0 if summary["trustworthy"] else 2


def _print(document: Mapping[str, Any], summary: Mapping[str, Any], verbose: bool) -> None:
    """Verdict, findings, joints, main parameters, and where the report is."""
    screen = Screen()
    styles = ["bold", "", *(STYLES[finding["level"]] for finding in document["verdict"]["findings"])]
    for line, style in zip_longest(summary_lines(document, verbose=verbose), styles, fillvalue=""):
        screen.print(line, style=style)
    screen.print()
    screen.print(f"{summary['n_kept']} of {summary['n_base']} base parameters in {summary['seconds']:.1f} s")
    screen.print(f"report: {summary['report']}")


def _summary(result: FitResult, document: Mapping[str, Any], out: Path, seconds: float) -> dict[str, Any]:
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
    """Parameters beside the base ones, of added terms."""
    further = estimate.further
    if further is None:
        return []
    rows = zip(further.names, further.values, further.sigma, further.units, strict=True)
    return [{"name": n, "value": float(v), "sigma": float(s), "unit": u} for n, v, s, u in rows]


# ── how the command was run, for the result folder ────────────────────────────────────────────────────────

_MAY_BE_FOLDERS = ("logs", "validate", "prior", "start")
"""Options that name a file or a folder; any other text may only happen to be the name of a folder."""


def _run_facts(context: typer.Context, robot: str, mapping: Path | None) -> dict[str, Any]:
    """What was typed, and the robot and mapping files with their hashes; the mapping with its text too."""
    typed = (context.find_root().obj or {}).get("typed", [])
    facts = {
        "command": shlex.join(["dynid", *typed]),
        "options": {name: as_json_value(value) for name, value in context.params.items()},
        "robot_source": {"given": robot, "sha256": _file_hash(Path(robot))},
        "mapping": None,
    }
    if mapping is not None:
        text = read_text(mapping, "mapping")
        facts["mapping"] = {"path": str(mapping), "sha256": _file_hash(mapping), "text": text}
    return facts


def _input_paths(context: typer.Context) -> list[Path]:
    """Files and folders that a command reads, as far as its options name them."""
    found: list[Path] = []
    for name, value in context.params.items():
        for item in value if isinstance(value, list | tuple) else [value]:
            path = Path(item) if isinstance(item, str | Path) and name != "out" else None
            if path is not None and (path.is_file() or name in _MAY_BE_FOLDERS):
                found.append(path)
    return found


def _file_hash(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
