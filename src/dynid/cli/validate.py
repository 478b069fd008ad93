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
from dynid.workflow.fit import Progress
from dynid.workflow.saved import Proof, read_as_fitted, validate_saved

# Only results of closed-loop methods need the simulator: the others should not wait for it.
_prove_loop = later("dynid.cli.validate_loop", "prove_loop")


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
        proof = _proven(saved, logs, mapping, controller, reference or [], repair, tell)
    found = proof.validation
    if as_json:
        print_json({"result": str(result), **found.to_dict(), "data": list(proof.data)})
    else:
        _print(proof)
    return 0 if found.trustworthy else 2


def _proven(
    saved: SavedResult,
    logs: list[Path],
    mapping: Path | None,
    controller: str | None,
    references: list[str],
    repair: bool,
    tell: Progress,
) -> Proof:
    tell("reading")
    asked = controller is not None or bool(references)
    simulates = _simulates(saved)
    if asked and not simulates:
        raise _needless(saved, "controller" if controller is not None else "reference")
    if simulates:
        simulated: Proof = _prove_loop(saved, logs, mapping, controller, references, repair, tell)
        return simulated
    given = read_as_fitted(saved, logs, mapping)
    tell("predicting")
    return validate_saved(saved, given, repair=repair)


def _simulates(saved: SavedResult) -> bool:
    """Whether a closed-loop method made the result, alone or inside ``Essential``."""
    return _method(saved) in LOOP_METHODS.values()


def _method(saved: SavedResult) -> str:
    strategy = saved.section("estimate").get("strategy")
    inner = (strategy.get("strategy") or strategy) if isinstance(strategy, dict) else None
    return str(inner.get("name")) if isinstance(inner, dict) else ""


def _needless(saved: SavedResult, option: str) -> DynidError:
    return DynidError(
        f"--{option} is for results of methods that simulate the closed loop ({', '.join(LOOP_METHODS)}), "
        f"and the result in {saved.folder} was found by {_method(saved)}; leave it out."
    )


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
