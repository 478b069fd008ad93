"""How a validation on another kind of motion ends: ``python -m population.other_motion OUT.jsonl``.

A robot is identified on its logs, Fourier series or moves with rests, and validated on a log of the other
kind: sound, or taken after its friction or its load has changed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import dynid
from dynid.core.errors import DynidError
from dynid.core.finding import Level
from dynid.logs.log import Log
from population.cases import Case, Clean, draw_case
from population.defects import _payload
from population.motions import Fourier, draw_path
from population.plant import Plant
from population.robots import HALVES, generator
from population.run import read_rows
from population.sensors import Experiment, record
from population.table import rate

STATES = ("sound", "friction", "payload")
"""The robot as before, with 40 % more friction, or with a payload of 40 % of its last link."""
_SECONDS = 20.0
_CLEAN_PERCENT = 5.0
"""Error of a joint on the clean new motion, up to which a model is good for it."""


def changed_plant(case: Case, state: str) -> Plant:
    """The plant of a case in one of ``STATES``."""
    plant = case.plant
    if state == "payload":
        return plant.with_payload(_payload(case, 40.0, generator(case.half, 78, case.index)))
    if state == "friction":
        names = ("Fv", "Fc", "stribeck", "flattening")
        more = {name: 1.4 * getattr(plant.drive, name) for name in names}
        return replace(plant, drive=replace(plant.drive, **more))
    return plant


def other_log(case: Case, state: str = "sound") -> tuple[Log, Clean]:
    """A log of the other kind of motion than the case's, and the same as it truly is."""
    first = case.experiments[0]
    kind = "moves" if isinstance(first.path, Fourier) else "fourier"
    qd = first.path.at(np.arange(0, first.path.seconds, 0.01))[1]
    speed = float(np.clip(np.sqrt(np.mean(qd**2)), 0.3, 1.5))
    path = draw_path(case.robot, kind, speed, _SECONDS, generator(case.half, 77, case.index))
    plant = changed_plant(case, state)
    made = Experiment(f"{kind} {state}", plant, path, first.sensors, (*first.seed[:-1], 99))
    log = record(made, case.robot.with_drives(case.plant.robot.drives))
    truth, tau = plant.torques(path, np.arange(0, path.seconds, 0.004), np.random.default_rng(0))
    return log, Clean(*(part[5:-5] for part in (*truth, tau)))


def rows_of(half: str, index: int) -> list[dict[str, Any]]:
    """Rows of one case, one per state of the robot."""
    case = draw_case(half, index)
    try:
        fit = dynid.fit(case.robot, case.logs)
        return [_row(case, fit, state) for state in STATES]
    except DynidError:
        return []


def _row(case: Case, fit: Any, state: str) -> dict[str, Any]:
    log, clean = other_log(case, state)
    found = dynid.validate(fit, log).validation
    grave = [finding for finding in found.verdict.findings if finding.level >= Level.CARE]
    return {
        "index": case.index,
        "kind": log.name.split()[0],
        "state": state,
        "grade": found.verdict.grade,
        "names": [finding.name.value for finding in grave],
        "first": grave[0].figures.get("suspect", "") if grave else "",
        "error": found.judged.relative_percent.tolist(),
        "clean": (
            100 * clean.errors(np.asarray(fit.as_saved.predict(clean.q, clean.qd, clean.qdd)))[1]
        ).tolist(),
    }


def table_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Rates by kind and state, as a table of a page."""
    lines = ["| new log | state | cases | not good | cause first |", "|---|---|---|---|---|"]
    for kind, state in sorted({(row["kind"], row["state"]) for row in rows}):
        own = [row for row in rows if (row["kind"], row["state"]) == (kind, state)]
        if state == "sound":
            own = [row for row in own if max(row["clean"]) <= _CLEAN_PERCENT]
        first = (
            ""
            if state == "sound"
            else rate(own, lambda row: row["first"].startswith(f"{row['state']} since"))
        )
        lines.append(
            f"| {kind} | {state} | {len(own)} | {rate(own, lambda row: row['grade'] != 'good')} | {first} |"
        )
    return lines


def main() -> None:
    """Run cases, write their rows and print the rates."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file", type=Path)
    options.add_argument("--half", choices=HALVES, default="setting")
    options.add_argument("--cases", type=int, default=40)
    options.add_argument("--first", type=int, default=0, help="number of the first case")
    given = options.parse_args()
    with given.file.open("w", encoding="utf-8") as file:
        for number in range(given.first, given.first + given.cases):
            file.writelines(json.dumps(row) + "\n" for row in rows_of(given.half, number))
            file.flush()
            print(f"\r{number + 1 - given.first} of {given.cases}", end="", file=sys.stderr)
    print("\n".join(table_lines(list(read_rows(given.file)))))


if __name__ == "__main__":
    main()
