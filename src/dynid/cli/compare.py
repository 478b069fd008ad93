"""``dynid compare``: results side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from dynid.cli.command import JsonOption, OptionGroup, command, option
from dynid.cli.output import Screen, print_json, write_file
from dynid.core.finding import finding_line
from dynid.core.text import TextTable
from dynid.results.comparison import Comparison, compare_results
from dynid.results.load import load_result
from dynid.results.save import csv_text


@dataclass(frozen=True)
class TableOptions(OptionGroup):
    """A file to write the parameters to."""

    out: Path | None = option(
        None, "FILE", "Write the parameters as CSV: value and sigma of each result, largest gap."
    )
    force: bool = option(False, "", "Overwrite that file.")


@command(
    examples=["dynid compare out/wls out/didim", "dynid compare out/monday out/friday --out drift.csv"],
    exit_0="The results agree within their doubt.",
    exit_2="They disagree.",
)
def compare(
    results: Annotated[list[Path], typer.Argument(metavar="RESULT…", help="Folders written by dynid fit.")],
    table: TableOptions,
    as_json: JsonOption = False,
) -> int:
    """Put results of one robot side by side, and say whether they agree within their doubt."""
    found = compare_results([load_result(folder) for folder in results])
    if table.out is not None:
        write_file(table.out, _csv(found), table.force)
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    return 0 if found.agree else 2


def _print(found: Comparison) -> None:
    screen = Screen()
    screen.print(found.sentence)
    if found.agree and found.contradiction is not None:
        screen.print(finding_line(found.contradiction.to_dict()))
    head = ("result", "method", "kept", "fit", "unseen", "iterations", "time", "outcome")
    screen.print(
        TextTable("", head, [_row(*pair) for pair in zip(found.labels, found.summaries, strict=True)])
    )
    screen.print()
    gaps = found.gaps
    rows = [
        [
            name,
            *(_value(found.values[k, i], found.sigma[k, i]) for k in range(len(found.labels))),
            f"{gaps[i]:.1f}" if math.isfinite(gaps[i]) else "",
            found.units[i],
        ]
        for i, name in enumerate(found.names)
    ]
    screen.print(TextTable("", ("parameter", *found.labels, "largest gap [σ]", "unit"), rows))


def _row(label: str, summary: dict[str, object]) -> list[str]:
    def percent(key: str) -> str:
        value = summary[key]
        return f"{value:.2f} %" if isinstance(value, int | float) else ""

    seconds, passes = summary["seconds"], summary["iterations"]
    return [
        label,
        str(summary["method"]),
        str(summary["kept"]),
        percent("relative_residual_percent"),
        percent("unseen_percent"),
        "" if passes is None else str(passes),
        f"{seconds:.2f} s" if isinstance(seconds, int | float) else "",
        str(summary["outcome"] or ""),
    ]


def _value(value: float, sigma: float) -> str:
    if math.isnan(value):
        return ""
    return f"{value:.5g} ± {sigma:.2g}" if sigma > 0 else "not essential"


def _csv(found: Comparison) -> str:
    head = ["name", "unit"]
    for label in found.labels:
        head += [f"{label} value", f"{label} sigma"]
    gaps, rows = found.gaps, list[list[str]]()
    for i, name in enumerate(found.names):
        cells = [name, found.units[i]]
        for k in range(len(found.labels)):
            cells += [f"{found.values[k, i]:.10g}", f"{found.sigma[k, i]:.6g}"]
        rows.append([*cells, f"{gaps[i]:.4g}"])
    return csv_text([*head, "largest_gap_sigma"], rows)
