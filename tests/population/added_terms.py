"""What ``--add auto`` does to the error on clean motion: ``python -m population.added_terms``.

Every case comes sound, with physics that the model lacks, and with another defect, which no term mends. A
model with added terms is compared with the one without on two motions that no log shows: one like the logs',
and one of the other kind, up to one and a half times as fast.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dynid.core.errors import DynidError
from dynid.estimators import Estimate, Separable, identify
from dynid.results.view import predicted_torques
from dynid.suspects.ranking import suspect_ledger
from dynid.validation.model import as_model
from dynid.workflow import fit
from dynid.workflow.added_terms import is_poorly_shown
from dynid.workflow.term_choice import AddedTerm, TermRules, choose_terms, terms_of
from population.cases import Case, draw_case
from population.defects import DEFECTS, damage
from population.motions import draw_path
from population.robots import generator

LACKING = ("Stribeck", "flattening", "load friction", "asymmetry", "spring", "ripple", "coupling")
"""Physics that the model lacks; no term has the shape of the last."""
OTHERS = tuple(
    name
    for name in DEFECTS
    if name not in LACKING and not name.startswith(("reversed", "degrees", "swapped"))
)
RULES: Mapping[str, TermRules] = {
    "as it is": TermRules(),
    "gain of 5 %": TermRules(gain=0.05),
}
"""The rule as it is beside neighbours of it."""


def cases_of(half: str, index: int) -> Iterator[tuple[str, Case]]:
    """A case sound, with physics that its model lacks, and with another defect."""
    case = draw_case(half, index)
    yield "sound", case
    for kind, names in (("lacking", LACKING), ("defect", OTHERS)):
        name = names[index % len(names)]
        sizes = DEFECTS[name].sizes
        made = damage(case, name, sizes[index // len(names) % len(sizes)])
        if made is not None:
            yield kind, made


def other_kind(case: Case) -> Case:
    """The case with a clean motion of another kind and speed than its logs have."""
    rng = generator(case.half, 7, case.index)
    path = case.experiments[0].path
    kind = "fourier" if type(path).__name__ == "Moves" else "moves"
    rms = float(np.sqrt(np.mean(path.at(np.arange(0, path.seconds, 0.01))[1] ** 2)))
    return replace(case, unseen=draw_path(case.robot, kind, rms * float(rng.uniform(0.7, 1.5)), 12.0, rng))


def rows_of(half: str, index: int, rules: Mapping[str, TermRules] = RULES) -> list[dict[str, Any]]:
    """Errors of a case's models on both clean motions, without and with the terms of each rule."""
    rows = []
    for kind, case in cases_of(half, index):
        try:
            rows.append(_row(kind, case, rules))
        except (DynidError, np.linalg.LinAlgError):
            continue
    return rows


def _row(kind: str, case: Case, rules: Mapping[str, TermRules]) -> dict[str, Any]:
    plain = fit(case.robot, case.logs).estimate
    ledger = suspect_ledger(plain)
    cleans = (case, other_kind(case))
    default, seen = _errors(cleans, plain), dict[tuple[str, ...], list[float]]()
    row = {"index": case.index, "kind": kind, "defect": case.defect, "grade": case.grade, "default": default}
    for name, rule in rules.items():
        steps = () if is_poorly_shown(plain) else choose_terms(ledger, rule)
        keys = tuple(sorted(step.effect.key for step in steps))
        if keys not in seen:
            seen[keys] = _errors(cleans, _with_terms(plain, steps)) if steps else default
        row[name] = {"terms": keys, "errors": seen[keys]}
    return row


def _with_terms(plain: Estimate, steps: Sequence[AddedTerm]) -> Estimate:
    return identify(plain.problem, Separable(terms=terms_of(steps), uncertainty="classical"))


def _errors(cleans: Sequence[Case], estimate: Estimate) -> list[float]:
    model = as_model(estimate)
    return [
        case.clean.errors(predicted_torques(model, case.clean.q, case.clean.qd, case.clean.qdd))[0]
        for case in cleans
    ]


def table(rows: Sequence[Mapping[str, Any]], rules: Mapping[str, TermRules] = RULES) -> list[str]:
    """A Markdown table: rule × kind of case, how often terms were added and what they did."""
    lines = [
        "| rule | cases | with terms | terms each | error on like motion, × | better, worse by 5 % | "
        "on other motion, × | better, worse by 5 % | worst |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in rules:
        for kind in ("sound", "lacking", "defect"):
            own = [row for row in rows if row["kind"] == kind]
            added = [row for row in own if row[name]["terms"]]
            if not added:
                lines.append(f"| {name} | {kind} {len(own)} | 0 | | | | | | |")
                continue
            ratios = np.array([row[name]["errors"] for row in added]) / [row["default"] for row in added]
            cells = [name, f"{kind} {len(own)}", str(len(added))]
            cells.append(f"{np.mean([len(row[name]['terms']) for row in added]):.1f}")
            for ratio in ratios.T:
                cells += [
                    f"{np.exp(np.mean(np.log(ratio))):.2f}",
                    f"{np.mean(ratio < 1 / 1.05):.0%}, {np.mean(ratio > 1.05):.0%}",
                ]
            lines.append(f"| {' | '.join([*cells, f'{ratios.max():.2f}'])} |")
    return lines


def main() -> None:
    """Run, and print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--half", choices=("setting", "showing"), default="showing")
    options.add_argument("--cases", type=int, default=100)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--rows", type=Path, help="rows as JSON lines, beside the table")
    given = options.parse_args()
    rows = list[dict[str, Any]]()
    for index in range(given.first, given.first + given.cases):
        rows += rows_of(given.half, index)
        if given.rows is not None:
            given.rows.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
