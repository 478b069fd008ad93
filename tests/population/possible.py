"""Rates of the possible robot on the population: ``python -m population.possible --half showing OUT.jsonl``.

Each case is fitted once by least squares; its possible robot, what both make of a clean motion, and what
would have been recommended and told, are written down.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta

import dynid
from dynid.core.errors import DynidError
from dynid.results.view import predicted_torques
from dynid.validation.model import as_model
from dynid.workflow.possibility import is_reversed, mirrored_cost
from population.cases import Case, draw_case
from population.defects import damage
from population.robots import HALVES
from population.run import defects_of, publish, read_rows, run

MARK = "<!-- results: written by make possible -->"
STRUCTURAL = ("coupling", "motor inertia", "reversed position", "reversed torque", "swapped columns")
"""Defects after which no robot of the file's structure makes the torques."""
MATTERS = 0.05
"""Error of a joint's torque on clean motion from which a model is not right."""


def row_of(case: Case) -> dict[str, Any]:
    """What the possible robot is worth on one case."""
    row: dict[str, Any] = {"half": case.half, "index": case.index, "defect": case.defect, "grade": case.grade}
    try:
        result = dynid.fit(case.robot, list(case.logs), consistent="never")
    except DynidError as error:
        return row | {"refused": str(error)}
    found = result.possibility
    if found is None:
        return row | {"refused": "no possible robot was found"}
    clean, model = case.clean, as_model(result.estimate)
    state = (clean.q, clean.qd, clean.qdd)
    plain, joints = clean.errors(predicted_torques(model, *state))
    possible, _ = clean.errors(predicted_torques(replace(model, values=found.found.values), *state))
    asked = replace(found, choice="auto")
    # Least squares of mirrored torques is mirrored, so that its costs are the same two in the other order.
    other = mirrored_cost(case.robot, found.rows)
    return row | {
        "plain": plain,
        "worst_joint": float(np.max(joints)),
        "possible": possible,
        "cost": found.found.cost,
        "as_it_is": found.as_it_is,
        "recommended": asked.is_recommended,
        "far": found.is_far and not found.torques_reversed,
        "reversed": found.torques_reversed,
        "reversed_if_mirrored": is_reversed(other, found.found.cost),
    }


def rows_of(half: str, index: int, count: int) -> list[dict[str, Any]]:
    """Rows of one case: sound, then with each of its defects that it can have."""
    case = draw_case(half, index)
    damaged = (damage(case, defect, grade) for defect, grade in defects_of(index, count))
    return [row_of(one) for one in (case, *damaged) if one is not None]


def table_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The table as Markdown."""
    judged = [row for row in rows if "plain" in row]
    sound = [row for row in judged if row["defect"] == "sound"]
    damaged = [row for row in judged if row["defect"] != "sound"]
    right = [row for row in sound if row["worst_joint"] <= MATTERS]
    structural = [row for row in damaged if row["defect"] in STRUCTURAL and row["worst_joint"] > MATTERS]
    chosen = [row for row in judged if row["recommended"]]
    lines = [
        f"{len(sound)} sound and {len(damaged)} damaged cases ({len(rows) - len(judged)} logs were refused).",
        "",
        "| | rate | 95 % |",
        "|---|---|---|",
        _rate("sound fit that is possible as it is", [row["as_it_is"] for row in sound]),
        _rate("possible robot recommended, of all that are not", [
            row["recommended"] for row in judged if not row["as_it_is"]]),
        _rate("recommended and more than 2 % worse on clean motion", [
            row["possible"] > 1.02 * row["plain"] for row in chosen]),
        _rate('"impossible robot" on sound logs whose model errs at most 5 %', [row["far"] for row in right]),
        _rate('"impossible robot" on all sound logs', [row["far"] for row in sound]),
        _rate('"impossible robot" where the structure is wrong and matters', [
            row["far"] or row["reversed"] for row in structural]),
        _rate('"reversed torques" on sound logs', [row["reversed"] for row in sound]),
        _rate('"reversed torques" on damaged logs', [row["reversed"] for row in damaged]),
        _rate('"reversed torques" on sound logs with all torques reversed', [
            row["reversed_if_mirrored"] for row in sound]),
    ]  # fmt: skip
    return [*lines, "", *_gains(chosen)]


def _gains(chosen: Sequence[dict[str, Any]]) -> list[str]:
    """How much the recommended robots change the error on clean motion."""
    if not chosen:
        return ["No possible robot was recommended."]
    ratio = np.array([row["possible"] / row["plain"] for row in chosen])
    low, middle, high = np.quantile(ratio, [0.05, 0.5, 0.95])
    mean = float(np.exp(np.mean(np.log(ratio))))
    return [
        f"Error on clean motion of the {len(ratio)} recommended ones over that of least squares: geometric "
        f"mean {mean:.3f}, median {middle:.3f}, 5 % below {low:.3f}, 5 % above {high:.3f}."
    ]


def _rate(what: str, told: Sequence[bool]) -> str:
    """A row of the table with the interval of Clopper and Pearson."""
    hits, count = int(np.sum(told)), len(told)
    if not count:
        return f"| {what} | – | |"
    low = beta.ppf(0.025, hits, count - hits + 1) if hits else 0.0
    high = beta.ppf(0.975, hits + 1, count - hits) if hits < count else 1.0
    return f"| {what} | {hits}/{count} = {100 * hits / count:.1f} % | {100 * low:.1f}–{100 * high:.1f} % |"


def main() -> None:
    """Run, and print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file", type=Path, help="JSON lines, one per case")
    options.add_argument("--half", choices=HALVES, default="showing")
    options.add_argument("--cases", type=int, default=300, help="sound cases")
    options.add_argument("--first", type=int, default=0, help="number of the first case")
    options.add_argument("--defects", type=int, default=2, help="defects per case")
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--page", type=Path, help="a document whose table is renewed")
    given = options.parse_args()
    cases = range(given.first, given.first + given.cases)
    run(given.file, given.half, cases, partial(rows_of, count=given.defects), given.workers)
    wanted = [row for row in read_rows(given.file) if row["half"] == given.half and row["index"] in cases]
    lines = table_lines(wanted)
    print("\n".join(lines))
    if given.page is not None:
        publish(given.page, lines, MARK)


if __name__ == "__main__":
    main()
