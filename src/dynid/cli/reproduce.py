"""``dynid reproduce``: published figures beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dynid.casestudies.case import data_folder
from dynid.casestudies.cases import CASES
from dynid.cli.fit import progress_line
from dynid.cli.output import console, print_json, table
from dynid.errors import unknown_name


def reproduce(
    case: Annotated[str, typer.Argument(metavar="CASE", help=f"One of: {', '.join(CASES)}.")],
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder with the measured logs; else $DYNID_DATA.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> int:
    """Run a published experiment again and compare figure by figure; exit 2 when one is not accepted."""
    if case not in CASES:
        raise unknown_name("case", case, CASES)
    chosen = CASES[case]
    folder = data_folder(data, chosen.data, [Path("../shared/data")])
    with progress_line(quiet=as_json) as tell:
        tell(f"reproducing {chosen.title}")
        result = chosen.run(folder)
    if as_json:
        print_json(result.to_dict())
        return 0 if result.ok else 2
    screen = console()
    rows = [
        [
            row.quantity,
            "" if row.published is None else f"{row.published:g}",
            f"{row.ours:.6g}",
            row.accept,
            "ok" if row.ok else "NO",
        ]
        for row in result.rows
    ]
    screen.print(table(result.title, ("quantity", "published", "ours", "accept", ""), rows))
    for note in result.notes:
        screen.print(note, style="dim", markup=False)
    screen.print("all accepted" if result.ok else "not all accepted")
    return 0 if result.ok else 2
