"""``dynid validate``: a saved model against logs it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dynid.cli.command import JsonOption, command
from dynid.cli.fit_options import RepairOption
from dynid.cli.log_options import LogsArgument, MapOption
from dynid.cli.loop_options import LOOP_METHODS
from dynid.cli.output import Screen, print_json, progress_line
from dynid.cli.report import ResultArgument
from dynid.core.errors import DynidError
from dynid.core.lazy import later
from dynid.core.text import TextTable
from dynid.results.load import load_result
from dynid.results.result import SavedResult
from dynid.workflow.motion_source import Progress
from dynid.workflow.proof import Proof
from dynid.workflow.saved_model import LOOP_STRATEGIES, read_as_fitted, strategy_of, validate as validate_logs

# Only results of closed-loop methods need the simulator: the others should not wait for it.
_loop_validate_arguments = later("dynid.cli.closed_loop", "loop_validate_arguments")


@command(
    examples=[
        "dynid validate out/fit other.csv",
        "dynid validate out/didim other.csv --controller scara --reference scara",
    ],
    exit_0="The model holds on these logs, perhaps with care.",
    exit_2="It does not hold, or a log is not usable or cannot be simulated.",
)
def validate(
    result: ResultArgument,
    logs: LogsArgument,
    mapping: MapOption = None,
    controller: Annotated[
        str | None,
        typer.Option(
            "--controller", help="Control law to simulate didim, iv, oe with; the fit's when absent."
        ),
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(
            "--reference", help="What it followed: one for all logs or one each; else the logs' own."
        ),
    ] = None,
    repair: RepairOption = False,
    as_json: JsonOption = False,
) -> int:
    """Predict the torques of logs with a saved model and say what the prediction is worth."""
    saved = load_result(result)
    with progress_line(quiet=as_json) as tell:
        proof = _proof(saved, logs, mapping, controller, reference or [], repair, tell)
    found = proof.validation
    if as_json:
        print_json({"result": str(result), **found.to_dict(), "data": proof.data})
    else:
        _print(proof)
    return 0 if found.trustworthy else 2


def _proof(
    saved: SavedResult,
    logs: list[Path],
    mapping: Path | None,
    controller: str | None,
    references: list[str],
    repair: bool,
    tell: Progress,
) -> Proof:
    tell("reading")
    if strategy_of(saved) in LOOP_STRATEGIES:
        given = _loop_validate_arguments(saved, logs, mapping, controller, references)
    elif controller is not None or references:
        option = "controller" if controller is not None else "reference"
        raise DynidError(
            f"--{option} is for results of methods that simulate the closed loop "
            f"({', '.join(LOOP_METHODS)}), and the result in {saved.folder} was found by "
            f"{strategy_of(saved)}; leave it out."
        )
    else:
        given = {"logs": read_as_fitted(saved, logs, mapping)}
    return validate_logs(saved, **given, repair=repair, progress=tell)


def _print(proof: Proof) -> None:
    found = proof.validation
    screen = Screen()
    screen.print(found.verdict.sentence, style="bold")
    screen.findings([finding.to_dict() for finding in found.verdict.findings])
    figures = found.judged
    rows = [
        [name, f"{figures.relative_percent[j]:.2f} %", f"{figures.rms[j]:.4g} {found.units[j]}"]
        for j, name in enumerate(found.joints)
    ]
    screen.print(TextTable("", ("joint", "relative error", "RMS"), rows))
