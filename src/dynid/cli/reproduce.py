"""``dynid reproduce``: published figures beside ours."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from dynid.casestudies.case import CaseResult, Row, data_folder
from dynid.casestudies.cases import CASES
from dynid.cli.output import print_json, write_file
from dynid.cli.progress import progress_line
from dynid.cli.screen import Screen
from dynid.core.errors import FileError, unknown_name
from dynid.core.text import TextTable
from dynid.report.page import render_case

PAGE = "report.html"


def reproduce(
    case: Annotated[str, typer.Argument(metavar="CASE", help=f"One of: {', '.join(CASES)}.")],
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder with the measured logs; else $DYNID_DATA.")
    ] = None,
    section: Annotated[
        str | None, typer.Option("--section", help="Only this section of the paper (scara: A to E).")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", help="How many simulated experiments (scara: 5).")
    ] = None,
    loop: Annotated[
        str | None, typer.Option("--loop", help="How the loop's ω_n is read (scara: hz or rad).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help=f"Write {PAGE} with all figures there.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help=f"Overwrite {PAGE} in that folder.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> int:
    """Run a published experiment again and compare figure by figure; exit 2 when one is not accepted."""
    if case not in CASES:
        raise unknown_name("case", case, CASES)
    chosen = CASES[case]
    given = {"section": section, "seeds": seeds, "loop": loop}
    options = {name: value for name, value in given.items() if value is not None}
    folder = None if chosen.data is None else data_folder(data, chosen.data, [Path("../shared/data")])
    page = None if out is None else _page(out, force)
    with progress_line(quiet=as_json) as tell:
        tell(f"reproducing {chosen.title}")
        result = chosen.reproduce(folder, options)
    if page is not None:
        write_file(page, render_case(result.to_dict(), result.figures), force)
    if as_json:
        print_json(result.to_dict())
    else:
        _print(result, page)
    return 0 if result.ok else 2


def _page(folder: Path, force: bool) -> Path:
    """The page to write; told before the case runs when it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise FileError(f"The folder {folder} cannot be made: {reason}.") from None
    page = folder / PAGE
    if page.exists() and not force:
        raise FileError(f"{page} exists already; add --force to overwrite it.")
    return page


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
