"""``dynid report``: the page of a result folder, made anew."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import typer

from dynid.cli.command import OptionGroup, ResultArgument, command, option
from dynid.cli.output import print_json, write_file
from dynid.report.page import render_report
from dynid.results.folder import REPORT
from dynid.results.load import load_result


@dataclass(frozen=True)
class PageOptions(OptionGroup):
    """Where the page goes."""

    out: Path | None = option(None, "FILE", "HTML file; the folder's own report.html is renewed when absent.")
    force: bool = option(False, "", "Overwrite that file.")
    as_json: bool = option(False, "", "Print the report's content as JSON.", name="--json")


@command(examples=["dynid report out/fit", "dynid report out/fit --out page.html"])
def report(result: ResultArgument, page: PageOptions) -> None:
    """Write the report of a result again, or print its content."""
    saved = load_result(result)
    if page.as_json:
        print_json(saved.document)
        return
    target = page.out or result / REPORT
    write_file(target, render_report(dict(saved.document)), page.force or page.out is None)
    typer.echo(f"wrote {target}")
