"""Many fits as one job: each row of a plan is fitted by itself, then the units are compared."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

import dynid
from dynid.core.answer_store import AnswerStore
from dynid.core.errors import DynidError, FileError, NotTrustworthyError
from dynid.core.executor import Executor, Progress, no_progress
from dynid.core.finding import Finding
from dynid.core.plain import plain
from dynid.workflow.drift import DatedFit, DriftReport, find_drift
from dynid.workflow.fleet_plan import PATHS, FleetPlan
from dynid.workflow.result import FitResult, document_of

FITTED, NOT_USABLE, FAILED = "fitted", "not usable", "failed"
"""A fit was made; a log is not usable; the row could not be fitted at all."""
FRICTION_FAMILIES = ("friction", "motor")
FitTask = Mapping[str, Any]
"""A row as plain data: version, name, unit, date, hours, order, options, logs, validate, hashes, keep."""
RowFit = Callable[[FitTask], FitResult]
"""Fits a row by its options; a function of a module, so that other processes find it."""


@dataclass(frozen=True, eq=False)
class Fleet:
    """All fits of a plan.

    Args:
        rows: what each fit gave, as plain data: "name", "unit", "status", "sentence", "grade" and, where it
            was fitted, "residual_percent", "joints", "unseen_percent" and "parameters" [SI].
        drift: how the units compare, by robot.
    """

    rows: tuple[Mapping[str, Any], ...]
    drift: Mapping[str, DriftReport] = field(default_factory=dict)

    @cached_property
    def trustworthy(self) -> bool:
        """Whether every row is fitted and can be trusted."""
        return all(row["trustworthy"] for row in self.rows)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is said of units, robot by robot."""
        return tuple(finding for report in self.drift.values() for finding in report.findings)

    @property
    def drifting_units(self) -> tuple[str, ...]:
        """Units that drift."""
        return tuple(unit for report in self.drift.values() for unit in report.drifting_units)

    def __repr__(self) -> str:
        """How many rows, how many trusted, which units drift."""
        good = sum(row["trustworthy"] for row in self.rows)
        named = ", ".join(self.drifting_units[:10]) or "none"
        return f"Fleet of {len(self.rows)} fits, {good} of them trustworthy; units that drift: {named}"


def fit_many(
    plan: FleetPlan,
    fit_row: RowFit,
    executor: Executor,
    *,
    keep: Path | None = None,
    store: AnswerStore | None = None,
    progress: Progress = no_progress,
) -> Fleet:
    """Fit every row of a plan and compare the units; a row that fails says why and stops no other.

    Args:
        plan: robots, logs and options.
        fit_row: what fits one row.
        executor: where rows are fitted.
        keep: folder for the result folders of all rows; none are written when None.
        store: rows that were finished before and have not changed; new ones are added.
        progress: told how many rows are done.

    Raises:
        DynidError: when a row names no robot or no log.
    """
    tasks = fit_tasks(plan, keep)
    for task in tasks:
        if store is not None and keep is not None and not Path(task["keep"], "result.json").is_file():
            store.forget(store.key(task))
    answers = executor.map(partial(row_answer, fit_row), tasks, progress=progress, what="fits", store=store)
    rows = [
        {**{name: task[name] for name in ("name", "unit", "date", "hours", "order")}, **answer}
        for task, answer in zip(tasks, answers, strict=True)
    ]
    return Fleet(tuple(rows), compare_units(rows))


def fit_tasks(plan: FleetPlan, keep: Path | None = None) -> list[dict[str, Any]]:
    """The rows of a plan as plain data, with hashes of all files: a changed file makes another task."""
    tasks = []
    hashes: dict[str, str] = {}
    for entry in plan.fit:
        options = plan.options(entry)
        logs, held = plan.files(entry, entry.logs), plan.files(entry, entry.validate)
        named = [v for k, v in options.items() if k in ("robot", *PATHS)]
        for path in (*logs, *held, *named):
            if path not in hashes:
                hashes[path] = file_digest(Path(path))
        tasks.append(
            {
                "version": dynid.__version__,
                "name": entry.name,
                "unit": entry.serial,
                "date": entry.date,
                "hours": entry.hours,
                "order": entry.order,
                "options": options,
                "logs": logs,
                "validate": held,
                "hashes": {path: hashes[path] for path in (*logs, *held, *named)},
                "keep": None if keep is None else str(keep / entry.name),
            }
        )
    return tasks


def file_digest(path: Path) -> str:
    """SHA-256 of a file, or of all files of a folder; empty where there is none."""
    if path.is_dir():
        parts = [f"{one.name}{file_digest(one)}" for one in sorted(path.iterdir()) if one.is_file()]
        return hashlib.sha256("".join(parts).encode()).hexdigest()
    if not path.is_file():
        return ""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"The file {path} cannot be read: {error.strerror or error}.") from None


def row_answer(fit_row: RowFit, task: FitTask) -> dict[str, Any]:
    """What one row gives, as plain data; its failure is an answer, too.

    Args:
        fit_row: what fits it.
        task: the row.
    """
    started = time.perf_counter()
    try:
        result = fit_row(task)
        document = document_of(result, {"fleet_row": task["name"]})
        if task["keep"] is not None:
            result.save(task["keep"], force=True)
    except NotTrustworthyError as error:
        return _without_fit(NOT_USABLE, str(error))
    except DynidError as error:
        return _without_fit(FAILED, str(error))
    except Exception as error:  # one row must not end the others
        cause = " ".join(str(error).split())
        return _without_fit(FAILED, f"The fit failed unexpectedly ({type(error).__name__}: {cause}).")
    verdict, own, unseen = document["verdict"], result.own.judged, result.unseen
    names = [result.robot.joints[j].name for j in result.robot.coordinates]
    found: dict[str, Any] = plain(
        {
            "status": FITTED,
            "robot": result.robot.name,
            "sentence": verdict["sentence"],
            "grade": verdict["grade"],
            "trustworthy": verdict["trustworthy"],
            "residual_percent": own.overall_percent,
            "joints": dict(zip(names, own.relative_percent, strict=True)),
            "unseen_percent": None if unseen is None else unseen.judged.overall_percent,
            "parameters": _parameters(result),
            "seconds": time.perf_counter() - started,
        }
    )
    return found


def _without_fit(status: str, sentence: str) -> dict[str, Any]:
    """A row that has no values."""
    nothing = dict.fromkeys(("residual_percent", "unseen_percent", "robot", "seconds"))
    told = {"status": status, "sentence": sentence, "grade": "fail", "trustworthy": False}
    return {**nothing, **told, "joints": {}, "parameters": []}


def _parameters(result: FitResult) -> list[dict[str, Any]]:
    """Base parameters that were kept: value, σ, unit, and whether they are friction alone."""
    estimate = result.estimate
    alone = {e.name for e in result.robot.table if e.family in FRICTION_FAMILIES and e.symbol[0] == "F"}
    units = estimate.problem.base.units
    rows = zip(estimate.names, estimate.values, estimate.sigma, units, estimate.kept, strict=True)
    return [
        {"name": n, "value": float(v), "sigma": float(s), "unit": unit, "friction": n in alone}
        for n, v, s, unit, kept in rows
        if kept and np.isfinite(s)
    ]


def compare_units(rows: Sequence[Mapping[str, Any]]) -> dict[str, DriftReport]:
    """How units compare, by robot; only fits that can be trusted count."""
    kinds: dict[str, list[DatedFit]] = {}
    for row in rows:
        if row["trustworthy"]:
            friction = [p for p in row["parameters"] if p["friction"]]
            values = {p["name"]: (p["value"], p["sigma"]) for p in friction}
            kinds.setdefault(row["robot"], []).append(
                DatedFit(row["name"], row["unit"], row["order"], values)
            )
    return {robot: find_drift(fits) for robot, fits in kinds.items()}
