"""``dynid fit-many``: a table of robots and logs, a row of results each, and the robots that drift."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dynid.cli.calibration_options import PAGE
from dynid.cli.command import JsonOption, OptionGroup, command, option
from dynid.cli.estimation import METHODS, LoopOptions, MethodOptions, SettingOptions, chosen_strategy
from dynid.cli.log_options import FitLogOptions, PreparationOptions
from dynid.cli.output import (
    Screen,
    document_text,
    print_json,
    progress_line,
    require_free_folder,
    typed_command,
    write_files,
)
from dynid.cli.robot_options import RobotOptions, chosen_robot
from dynid.cli.worker_options import WorkerOptions
from dynid.consistency.knowledge import load_knowledge
from dynid.core.answer_store import AnswerStore
from dynid.core.disk import replaced_file
from dynid.core.errors import DynidError, FileError, unknown_name
from dynid.core.lazy import later
from dynid.core.text import TextTable
from dynid.estimators.strategy import Strategy
from dynid.logs.read import read_logs
from dynid.model.robot import Robot
from dynid.preparation.preparation import Preparation
from dynid.report.fleet_document import FLEET_SCHEMA, fleet_document, table_columns
from dynid.report.fleet_page import drifting_units, fleet_answer, render_fleet
from dynid.workflow.fitting import fit as fit_logs
from dynid.workflow.fleet import FAILED, Fleet, fit_many as fit_plan
from dynid.workflow.fleet_plan import PATHS, FleetPlan, load_fleet_plan
from dynid.workflow.result import FitResult

DOCUMENT, KEPT, RESULTS = "fleet.json", "rows.jsonl", "results"
FORMATS = ("csv", "parquet")
_MOST_LINES = 20
"""Rows that cannot be trusted which are printed."""
_arrow_table, _write_parquet = later("pyarrow", "table"), later("pyarrow.parquet", "write_table")


@dataclass(frozen=True)
class FleetFileOptions(OptionGroup, title="Files"):
    """What is written."""

    out: Path = option(
        Path("out/fleet"),
        "FOLDER",
        f"Folder for the table, {DOCUMENT}, {PAGE} and {KEPT}, which keeps finished rows: a run that was "
        "interrupted goes on.",
    )
    format: str = option("csv", "NAME", "Of the table: fits.csv or fits.parquet.", choices=FORMATS)
    keep_results: bool = option(False, "", f"Also write the result folder of each fit, in {RESULTS}.")
    force: bool = option(
        False, "", "Overwrite these files; finished rows whose files have not changed are kept all the same."
    )


@command(
    examples=[
        "dynid fit-many fleet.toml",
        "dynid fit-many fleet.csv --out out/march --format parquet --workers 8",
    ],
    exit_0="Every row is fitted and can be trusted; the page says which units drift.",
    exit_2="Some rows are not; the table says why.",
)
def fit_many(
    context: typer.Context,
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="TOML file or CSV table of fits.")],
    where: WorkerOptions,
    target: FleetFileOptions,
    as_json: JsonOption = False,
) -> int:
    """Fit a table of robots and logs, and find the robots whose friction departs from the others."""
    if target.format not in FORMATS:
        raise unknown_name("format", target.format, FORMATS)
    table = f"fits.{target.format}"
    rows = load_fleet_plan(plan)
    _require_rows(rows)
    executor = where.executor()
    require_free_folder(target.out, (*(f"fits.{own}" for own in FORMATS), DOCUMENT, PAGE), target.force)
    keep = (target.out / RESULTS).resolve() if target.keep_results else None
    with progress_line(quiet=as_json) as tell, _kept_rows(target.out / KEPT, target.force) as store:
        fleet = fit_plan(rows, fit_row, executor, keep=keep, store=store, progress=tell)
        tell("writing the files")
        document = fleet_document(
            fleet.rows, fleet.findings, _comparisons(fleet), typed_command(context, (where, target))
        )
        for other in set(FORMATS) - {target.format}:  # of an earlier run, which this one replaces
            (target.out / f"fits.{other}").unlink(missing_ok=True)
        _write_table(target.out / table, table_columns(document))
        texts = {DOCUMENT: document_text(document), PAGE: render_fleet(document)}
        write_files(target.out, texts, target.force)
    if as_json:
        print_json({**document, "drifting": drifting_units(document), "folder": str(target.out)})
    else:
        _print(document, target.out, table)
    return 0 if document["trustworthy"] else 2


def _kept_rows(path: Path, force: bool) -> AnswerStore:
    """Rows that are done; those that failed are tried again, their cause may have gone."""
    try:
        return AnswerStore(path, FLEET_SCHEMA, worth=_is_done)
    except FileError:
        if not force:
            raise
        return AnswerStore(path, FLEET_SCHEMA, worth=_is_done, fresh=True)


def _is_done(row: Any) -> bool:
    return isinstance(row, dict) and {"status", "parameters"} <= row.keys() and row["status"] != FAILED


@dataclass(frozen=True)
class _RowChoice:
    """A row's options as ``dynid fit`` has them."""

    robot: Robot
    strategy: Strategy
    files: FitLogOptions
    estimator: MethodOptions
    plan: Preparation | None
    keys: Mapping[str, Any]


def _choice_of(given: Mapping[str, Any]) -> _RowChoice:
    """The objects behind a row's options.

    Args:
        given: options by name, as ``FleetPlan.options`` gives them.
    """
    options = dict(given)
    if options.get("method", "wls") not in METHODS:
        raise unknown_name("method", options["method"], METHODS)
    if isinstance(options.get("mask"), list | float | int):
        mask = options["mask"]
        options["mask"] = ",".join(map(repr, mask if isinstance(mask, list) else [mask]))
    if "terms" in options:
        options["terms"] = ",".join(options["terms"])
    options |= {name: Path(options[name]) for name in PATHS if name in options}
    options["mapping"] = options.pop("map", None)
    files, estimator, preparation, variant = (
        _group(kind, options) for kind in (FitLogOptions, MethodOptions, PreparationOptions, RobotOptions)
    )
    robot = chosen_robot(options["robot"], variant)
    strategy = chosen_strategy(robot, estimator, SettingOptions(), LoopOptions())
    return _RowChoice(robot, strategy, files, estimator, *preparation.chosen(robot.n_coordinates))


def _group(kind: type[Any], options: Mapping[str, Any]) -> Any:
    return kind(**{name: options[name] for name in kind.__dataclass_fields__ if name in options})


def fit_row(task: Mapping[str, Any]) -> FitResult:
    """Fit one row as ``dynid fit`` would; runs in a process of its own.

    Args:
        task: the row, as ``fit_tasks`` gives it.
    """
    choice = _choice_of(task["options"])
    files, known = choice.files, choice.estimator.known
    logs, held = (
        files.with_accepted(read_logs([Path(path) for path in task[name]], files.mapping))
        for name in ("logs", "validate")
    )
    return fit_logs(
        choice.robot,
        logs,
        choice.strategy,
        plan=choice.plan,
        overrides=choice.keys,
        validate=held,
        split=files.split,
        repair=files.repair,
        consistent=choice.estimator.consistent,
        known=None if known is None else load_knowledge(known),
    )


def _require_rows(plan: FleetPlan) -> None:
    """Refuse before any work a row whose robot, options or logs cannot be."""
    seen: set[str] = set()
    for entry in plan.fit:
        options = plan.options(entry)
        for patterns in (entry.logs, entry.validate):
            plan.files(entry, patterns)
        text = json.dumps(options)
        if text not in seen:
            try:
                _choice_of(options)
            except DynidError as error:
                raise type(error)(f"Row {entry.name!r}: {error}") from None
        seen.add(text)


def _comparisons(fleet: Fleet) -> dict[str, Any]:
    return {
        robot: {"centres": dict(report.centres), "departures": [one.to_dict() for one in report.departures]}
        for robot, report in fleet.drift.items()
    }


def _write_table(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """One row per fit, as CSV or Parquet."""
    try:
        if path.suffix == ".csv":
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
            content = text.getvalue().encode()
            with replaced_file(path) as file:
                file.write(content)
            return
        made = _arrow_table({name: list(values) for name, values in columns.items()})
        with replaced_file(path) as file:
            _write_parquet(made, file)
    except ImportError:
        raise DynidError("A Parquet table needs pyarrow; install dynid[logs], or use --format csv.") from None
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}.") from None


def _print(document: Mapping[str, Any], folder: Path, table: str) -> None:
    screen, answer = Screen(), fleet_answer(document)
    screen.print(answer["words"], style="bold")
    screen.print(answer["sentence"])
    screen.findings(document["findings"])
    lost = [row for row in document["fits"] if not row["trustworthy"]]
    if lost:
        rows = [[row["name"], row["status"], row["sentence"]] for row in lost[:_MOST_LINES]]
        screen.print(TextTable("rows that cannot be trusted", ("row", "status", "why"), rows))
    screen.print(f"table: {folder / table}")
    screen.print(f"page: {folder / PAGE}")
