"""Options of methods that simulate the closed loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from dynid.errors import DynidError

LOOP_METHODS = {"didim": "DIDIM", "iv": "IV", "oe": "OutputError"}
"""Methods by the names of their strategies; what they need is loaded only when one of them is asked for."""
ControllerOption = Annotated[
    str | None,
    typer.Option("--controller", help="Control law of didim, iv and oe: a shipped name or a TOML file."),
]
ReferenceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--reference",
        help="Reference of didim, iv, oe: one per log (--validate's last); the logs' own when absent.",
    ),
]


def refuse_loop_options(method: str, controller: str | None, references: Sequence[str]) -> None:
    """A method that does not simulate takes neither law nor reference."""
    for name, given in (("controller", controller), ("reference", references)):
        if given:
            raise DynidError(
                f"--{name} is for methods that simulate the closed loop ({', '.join(LOOP_METHODS)}), and "
                f"--method is {method}.",
                name=name,
                value=given,
            )


@dataclass(frozen=True)
class LoopFiles:
    """What a command line names for a closed-loop fit.

    Args:
        logs: to fit.
        mapping: what their columns are.
        kept: logs for validation.
        split: share of every log to fit, the rest for validation.
        controller: name or file.
        references: names or files.
    """

    logs: Sequence[Path]
    mapping: Path | None
    kept: Sequence[Path]
    split: float | None
    controller: str | None
    references: Sequence[str]
