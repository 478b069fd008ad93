"""``dynid validate``: a saved model against logs it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynid.cli.command import JsonOption, OptionGroup, ResultArgument, command, option
from dynid.cli.estimation import LOOP_METHODS
from dynid.cli.log_options import LogsArgument, UsedLogOptions
from dynid.cli.output import Screen, print_json, progress_line
from dynid.core.errors import DynidError
from dynid.core.lazy import later
from dynid.core.text import TextTable
from dynid.results.load import load_result
from dynid.results.result import SavedResult
from dynid.results.view import accept_lines
from dynid.workflow.proof import Proof
from dynid.workflow.saved_model import LOOP_STRATEGIES, read_as_fitted, strategy_of, validate as validate_logs

# Only results of closed-loop methods need the simulator: the others should not wait for it.
_loop_validate_arguments = later("dynid.cli.closed_loop", "loop_validate_arguments")


@dataclass(frozen=True)
class ReplayOptions(OptionGroup, title="Closed loop (results of didim, iv, oe)"):
    """What the robot ran under and followed, to simulate it."""

    controller: str | None = option(
        None,
        "C",
        "Control law the robot ran under: a shipped name or a TOML file.",
        shown="that of the fit",
    )
    reference: list[str] | None = option(
        None, "R", "What it followed: one for all logs, or one each.", shown="the logs' own"
    )


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
    files: UsedLogOptions,
    loop: ReplayOptions,
    as_json: JsonOption = False,
) -> int:
    """Predict the torques of logs with a saved model and say what the prediction is worth."""
    saved = load_result(result)
    with progress_line(quiet=as_json) as tell:
        tell("reading")
        given = _arguments(saved, logs, files.mapping, loop)
        given["logs"] = files.with_accepted(files.in_conditions(given["logs"]))
        proof = validate_logs(saved, **given, repair=files.repair, progress=tell)
    found = proof.validation
    if as_json:
        print_json({"result": str(result), **found.to_dict(), "data": proof.data})
    else:
        _print(proof)
    return 0 if found.trustworthy else 2


def _arguments(
    saved: SavedResult, logs: list[Path], mapping: Path | None, loop: ReplayOptions
) -> dict[str, Any]:
    """Logs, law and references for ``validate``."""
    if strategy_of(saved) in LOOP_STRATEGIES:
        found: dict[str, Any] = _loop_validate_arguments(
            saved, logs, mapping, loop.controller, loop.reference or []
        )
        return found
    for option_given in loop.given:
        raise DynidError(
            f"--{option_given} is for results of methods that simulate the closed loop "
            f"({', '.join(LOOP_METHODS)}), and the result in {saved.folder} was found by "
            f"{strategy_of(saved)}; leave it out."
        )
    return {"logs": read_as_fitted(saved, logs, mapping)}


def _print(proof: Proof) -> None:
    found = proof.validation
    screen = Screen()
    screen.print(found.verdict.sentence, style="bold")
    findings = [finding.to_dict() for finding in found.verdict.findings]
    screen.findings(findings)
    for line in accept_lines(findings):
        screen.print(line)
    figures = found.judged
    rows = [
        [
            name,
            "–" if figures.undriven[j] else f"{figures.relative_percent[j]:.2f} %",
            f"{figures.rms[j]:.4g} {found.units[j]}",
        ]
        for j, name in enumerate(found.joints)
    ]
    screen.print(TextTable("", ("joint", "relative error", "RMS"), rows))
