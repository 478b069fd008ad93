"""``dynid suspects``: what may be wrong with the logs or missing in the model, and what has changed since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dynid.cli.command import JsonOption, OptionGroup, ResultArgument, command, option
from dynid.cli.log_options import UsedLogOptions
from dynid.cli.output import Screen, print_json, progress_line
from dynid.core.errors import DynidError
from dynid.core.lazy import later
from dynid.core.text import TextTable
from dynid.results.load import load_result
from dynid.results.result import SavedResult
from dynid.results.view import document_reader
from dynid.suspects.account import suspect_lines, suspect_table

# The table of a fit is read from its folder; only new logs need the way through a regression.
_find_suspects = later("dynid.workflow.saved_suspects", "find_suspects")
_read_as_fitted = later("dynid.workflow.saved_model", "read_as_fitted")


@dataclass(frozen=True)
class RowOptions(OptionGroup):
    """How much of the table is shown."""

    top: int | None = option(
        None, "N", "Rows to show: behind the ranked ones those that explain most.", shown="the ranked", min=1
    )


@command(
    examples=[
        "dynid suspects out/fit",
        "dynid suspects out/fit --top 20",
        "dynid suspects out/fit friday.csv",
    ],
    exit_0="The table is printed.",
    exit_2="A log is not usable.",
)
def suspects(
    result: ResultArgument,
    files: UsedLogOptions,
    shown: RowOptions,
    logs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[LOG…]", help="Logs taken later: what has changed since the fit?"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the suspects of a fit, or those of later logs beside its model: what has changed since?"""
    saved = load_result(result)
    if not logs:
        for name in files.given:
            typed = {"mapping": "map"}.get(name, name)
            raise DynidError(f"--{typed} is for logs, and none was given; leave it out, or give later logs.")
        entry = _of_fit(saved)
    else:
        with progress_line(quiet=as_json) as tell:
            tell("reading")
            given = files.with_accepted(files.in_conditions(_read_as_fitted(saved, logs, files.mapping)))
            entry = _find_suspects(saved, given, repair=files.repair, progress=tell).to_dict()
    if as_json:
        cut = {"scores": entry["scores"][: shown.top]} if shown.top else {}
        print_json({"result": str(result), **entry, **cut})
        return
    screen = Screen()
    for what, style in _shown(entry, shown.top):
        screen.print(what, style=style)


def _of_fit(saved: SavedResult) -> dict[str, Any]:
    """The entry of the folder's document."""
    entry = saved.section("suspects")
    if not entry:
        lost = (saved.section("estimate").get("outcome") or {}).get("level") == "fail"
        later = "" if lost else ", or give a log that was taken later"
        raise DynidError(
            f"The result in {saved.folder} holds no suspects: fits of this version by least squares have "
            "them (wls and its relatives), where the rows fit the memory and the fit can be trusted; fit "
            f"again{later}."
        )
    return dict(entry)


@document_reader()
def _shown(entry: Mapping[str, Any], top: int | None) -> list[tuple[str | TextTable, str]]:
    """What is printed, with its style."""
    made: list[tuple[str | TextTable, str]] = []
    if "error_percent" in entry:
        errors = entry["error_percent"]
        missed = f"the model misses up to {max(errors):.3g} % of the torque"
        made.append((f"{', '.join(entry['logs'])}: {missed} (joint {errors.index(max(errors)) + 1})", ""))
    made += [(entry["sentence"], "bold"), *((line, "") for line in suspect_lines(entry))]
    if entry["ranked"] or top:
        made += [("", ""), (suspect_table(entry, top), "")]
    words = [f"{row['suspect']}: {row['words']}" for row in entry["ranked"][:top]]
    return made + [(line, "") for line in (["", *words] if words else [])]
