"""``dynid reproduce``: published figures beside ours."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from dynid.casestudies.case import CaseResult, Row, data_folder
from dynid.casestudies.cases import CASES
from dynid.cli.command import JsonOption, OptionGroup, command, completion_of, option
from dynid.cli.output import Screen, print_json, progress_line, require_free, write_file
from dynid.core.errors import FileError, unknown_name
from dynid.core.text import TextTable
from dynid.report.page import render_case

PAGE = "report.html"


@dataclass(frozen=True)
class ExperimentOptions(OptionGroup, title="The experiment"):
    """What of a case is run; each case takes some of these."""

    section: str | None = option(
        None,
        "S",
        "Only this section (scara: A to E, or claims; tx90: designs, validation or measured; rx90: gains or "
        "payload).",
    )
    seeds: int | None = option(
        None, "N", "How many simulated experiments (scara, rx90, haptic), or random starts (tx90).", shown="5"
    )
    loop: str | None = option(
        None, "L", "How the loop's ω_n is read (scara): hz or rad.", choices=("hz", "rad"), shown="hz"
    )
    data: Path | None = option(None, "FOLDER", "Folder with the measured logs.", shown="$DYNID_DATA")


@dataclass(frozen=True)
class CasePageOptions(OptionGroup):
    """Where the page goes."""

    out: Path | None = option(None, "FOLDER", f"Write {PAGE} with tables and figures there.")
    force: bool = option(False, "", f"Overwrite {PAGE} in that folder.")


@command(
    examples=[
        "dynid reproduce scara --section A --seeds 2",
        "dynid reproduce tx90 --out out/tx90",
        "dynid reproduce emps --data FOLDER --out out/emps",
    ],
    exit_0="Every figure that is held to a rule is accepted.",
    exit_2="A figure is not accepted.",
)
def reproduce(
    case: Annotated[
        str,
        typer.Argument(
            metavar="CASE", help=f"One of {', '.join(CASES)}.", autocompletion=completion_of(CASES)
        ),
    ],
    experiment: ExperimentOptions,
    target: CasePageOptions,
    as_json: JsonOption = False,
) -> int:
    """Run a published experiment again and compare figure by figure."""
    if case not in CASES:
        raise unknown_name("case", case, CASES)
    chosen = CASES[case]
    folder = (
        None if chosen.data is None else data_folder(experiment.data, chosen.data, [Path("../shared/data")])
    )
    page = None if target.out is None else _page(target.out, target.force)
    with progress_line(quiet=as_json) as tell:
        own = {name: value for name, value in experiment.given.items() if name != "data"}
        result = chosen.reproduce(folder, own, tell)
    if page is not None:
        write_file(page, render_case(result.to_dict(), result.figures), target.force)
    if as_json:
        print_json(result.to_dict())
    else:
        _print(result, page)
    return 0 if result.ok else 2


def _page(folder: Path, force: bool) -> Path:
    """The page to write; refused before the case runs when it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise FileError(f"The folder {folder} cannot be made: {reason}.") from None
    require_free(folder / PAGE, force)
    return folder / PAGE


def _print(result: CaseResult, page: Path | None) -> None:
    screen = Screen()
    for group, members in groupby(result.rows, key=lambda row: row.group):
        _print_rows(screen, group or result.title, list(members))
    for note in result.notes:
        screen.print(note, style="dim")
    if page is not None:
        screen.print(f"written: {page}")
    held = sum(row.bound for row in result.rows)
    if held < len(result.rows):
        screen.print(f"{held} figures are held to a rule, {len(result.rows) - held} are only shown")
    screen.print("all accepted" if result.ok else "not all accepted")


def _print_rows(screen: Screen, title: str, rows: list[Row]) -> None:
    several = any(row.worst is not None for row in rows)
    columns = ("quantity", "published", "ours", *(("worst",) if several else ()), "accept", "")
    lines = [
        [
            row.quantity,
            "" if row.published is None else f"{row.published:g}",
            f"{row.ours:.6g}",
            *(("" if row.worst is None else f"{row.worst:.6g}",) if several else ()),
            row.accept,
            ("ok" if row.ok else "NO") if row.bound else "",
        ]
        for row in rows
    ]
    screen.print(TextTable(title, columns, lines))
