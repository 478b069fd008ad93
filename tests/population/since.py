"""How often ``dynid suspects RESULT LOG`` is right: ``python -m population.since --half showing OUT.jsonl``.

A robot is identified on all its logs but the last; the last one is then as sound as the others, or taken
after a change. Cases with one log only are left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from dynid.core.errors import DynidError
from dynid.core.finding import Level
from dynid.estimators import WLS, identify
from dynid.logs.convert import to_joint_side
from dynid.preparation import prepare, suggest
from dynid.problem import build_problem
from dynid.suspects.new_logs import judge_new_logs
from population.cases import Case, draw_case
from population.defects import DEFECTS, damage
from population.robots import HALVES
from population.run import read_rows
from population.table import rate

CHANGES = [name for name in DEFECTS if name.startswith("one log with")]
"""Defects of the population that are in the last log alone."""


def rows_of(half: str, index: int) -> list[dict[str, Any]]:
    """Rows of one case: its last log sound, and after each change."""
    sound = draw_case(half, index)
    if len(sound.experiments) < 2:
        return []
    logs = [to_joint_side(log, sound.robot) for log in sound.logs[:-1]]
    plan = suggest(max(logs, key=lambda log: log.samples)).plan
    try:
        estimate = identify(build_problem(sound.robot, [prepare(log, plan) for log in logs], plan), WLS())
    except DynidError:
        return []
    if not estimate.outcome.trustworthy:
        return []
    sizes = [DEFECTS[name].sizes for name in CHANGES]
    grades = [own[index % len(own)] for own in sizes]
    cases = [sound, *(damage(sound, name, grade) for name, grade in zip(CHANGES, grades, strict=True))]
    return [_row(case, estimate) for case in cases if case is not None]


def _row(case: Case, estimate: Any) -> dict[str, Any]:
    problem = estimate.problem
    last = to_joint_side(case.logs[-1], case.robot)
    new = build_problem(case.robot, [prepare(last, problem.plan)], problem.plan, problem.base)
    found = judge_new_logs(new, estimate.values, estimate.covariance, estimate.kept, estimate.joint_sigma)
    own, now = (
        float(np.linalg.norm(p.residual_norms(estimate.values)) / np.linalg.norm(p.torque_norms()))
        for p in (problem, new)
    )
    return {
        "half": case.half,
        "index": case.index,
        "defect": case.defect,
        "grade": case.grade,
        "joint": None if case.joint is None else case.joint + 1,
        "size": case.size,
        "own": own,
        "now": now,
        "care": [f.figures["suspect"] for f in found.findings if f.level >= Level.CARE],
        "ranked": [
            {
                "suspect": r.suspect.key,
                "kind": r.suspect.kind.value,
                "size": r.together.size.tolist(),
                "z": r.after.z,
                "share": r.after.share,
                "effect": float(np.max(r.together.effect)),
                "missed": float(np.max(r.together.missed)),
            }
            for r in found.table.ranked
        ],
    }


def is_first(row: dict[str, Any]) -> bool:
    """Whether the first suspect is what was changed, on its joint."""
    what = str(row["defect"]).removeprefix("one log with ")
    meant = f"{'torque gain' if what == 'gain' else what} since"
    wanted = meant if row["joint"] is None else f"{meant}@{row['joint']}"
    return bool(row["ranked"]) and row["ranked"][0]["suspect"] == wanted


def table_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Rates by what was changed, as a table of a page."""
    lines = ["| last log | cases | asks for care | right one first |", "|---|---|---|---|"]
    kinds = sorted({(str(row["defect"]), abs(float(row["grade"]))) for row in rows})
    for defect, grade in kinds:
        own = [row for row in rows if row["defect"] == defect and abs(row["grade"]) == grade]
        name = "as before" if defect == "sound" else f"{defect.removeprefix('one log with ')}, {grade:g} %"
        first = "" if defect == "sound" else rate(own, is_first)
        lines.append(f"| {name} | {len(own)} | {rate(own, lambda row: bool(row['care']))} | {first} |")
    return lines


def main() -> None:
    """Run cases, write their rows and print the rates."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file", type=Path)
    options.add_argument("--half", choices=HALVES, default="showing")
    options.add_argument("--cases", type=int, default=100)
    options.add_argument("--first", type=int, default=0, help="number of the first case")
    given = options.parse_args()
    with ProcessPoolExecutor(2) as pool, given.file.open("w", encoding="utf-8") as file:
        numbers = range(given.first, given.first + given.cases)
        for number, rows in enumerate(pool.map(rows_of, [given.half] * given.cases, numbers)):
            file.writelines(json.dumps(row) + "\n" for row in rows)
            file.flush()
            print(f"\r{number + 1} of {given.cases}", end="", file=sys.stderr)
    print("\n".join(table_lines(list(read_rows(given.file)))))


if __name__ == "__main__":
    main()
