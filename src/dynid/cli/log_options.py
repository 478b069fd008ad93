"""Logs and how they are prepared, as command lines name them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

LogsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="LOG…", help="Log files, bags, or folders that a mapping describes."),
]
MapOption = Annotated[
    Path | None,
    typer.Option(
        "--map",
        metavar="MAP",
        help="TOML file that says what the columns mean; `dynid map` writes one to start from.",
        rich_help_panel="The logs",
    ),
]
