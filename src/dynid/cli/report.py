"""``dynid report``: the page of a result folder, made anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dynid.cli.command import command
from dynid.cli.output import print_json, write_file
from dynid.report.page import render_report
from dynid.results.folder import REPORT
from dynid.results.load import load_result

ResultArgument = Annotated[Path, typer.Argument(metavar="RESULT", help="A folder written by dynid fit.")]


@command(examples=["dynid report out/fit", "dynid report out/fit --out page.html"])
def report(
    result: ResultArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="HTML file; the folder's own report.html is renewed when absent."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite that file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report's content as JSON.")] = False,
) -> None:
    """Write the report of a result again, or print its content."""
    saved = load_result(result)
    if as_json:
        print_json(saved.document)
        return
    target = out or result / REPORT
    write_file(target, render_report(dict(saved.document)), force or out is None)
    typer.echo(f"wrote {target}")
