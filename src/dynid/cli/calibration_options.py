"""Options that `dynid gains` and `dynid payload` share: the logs, the payload, the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from dynid.checks.check import accept_findings
from dynid.cli.command import REQUIRED, OptionGroup, option
from dynid.cli.log_options import PreparationOptions
from dynid.cli.output import typed_command
from dynid.core.errors import DynidError
from dynid.logs.log import Log
from dynid.logs.read import read_logs
from dynid.model.robot import Robot
from dynid.preparation.preparation import Preparation
from dynid.preparation.suggestion import Suggestion
from dynid.workflow.calibration_logs import CalibrationLogs, prepare_calibration

PAGE = "report.html"


@dataclass(frozen=True)
class CalibrationLogOptions(OptionGroup, title="The logs"):
    """Logs without and with the payload; all words up to the next option belong to each."""

    loaded: list[Path] = option(REQUIRED, "LOG…", "Logs with the payload.")
    free: list[Path] | None = option(None, "LOG…", "Logs without it: the same motion, or another one.")
    mapping: Path | None = option(
        None, "MAP", "TOML file that says what the columns of the logs mean.", name="--map"
    )
    accept: list[str] | None = option(
        None, "NAME", "Finding of the data check that you know better about, once each; the page says so."
    )
    repair: bool = option(False, "", "Repair repairable defects of the logs.")

    def read(self, paths: Sequence[Path] | None) -> list[Log]:
        """Some of the logs, with what the user accepts."""
        read = read_logs(list(paths or []), self.mapping)
        return [accept_findings(log, self.accept or ()) for log in read]


@dataclass(frozen=True)
class WeighingOptions(OptionGroup, title="The payload"):
    """What is known of it, and where it sits."""

    mass: float | None = option(None, "KG", "Its mass, as weighed [kg].")
    mass_sigma: float | None = option(
        None, "KG", "Standard deviation of the weighed mass [kg].", shown="0: exact"
    )
    carrier: str | None = option(
        None, "JOINT", "Joint whose link carries the payload.", shown="the last joint"
    )

    def require_mass(self) -> None:
        """Refuse a mass that nothing has, and a σ without a mass."""
        if self.mass is not None and not 0 < self.mass < float("inf"):
            raise DynidError(
                f"--mass is {self.mass:g}; give the mass in kg that was weighed, which is above 0."
            )
        if self.mass_sigma is not None and self.mass is None:
            raise DynidError("--mass-sigma is given without --mass; give the weighed mass, too.")
        if self.mass_sigma is not None and not 0 <= self.mass_sigma < float("inf"):
            raise DynidError(f"--mass-sigma is {self.mass_sigma:g}; give 0 kg or more.")


def prepared_logs(
    robot: Robot,
    logs: CalibrationLogOptions,
    carrier: str | None,
    preparation: PreparationOptions,
    tell: Callable[[str], None],
) -> CalibrationLogs:
    """The logs of a command line, read, checked and prepared."""
    plan, keys = preparation.chosen(robot.n_coordinates)
    tell("reading")
    return prepare_calibration(
        robot,
        logs.read(logs.free),
        logs.read(logs.loaded),
        carrier=carrier,
        plan=plan,
        overrides=keys,
        repair=logs.repair,
        progress=tell,
    )


def command_facts(
    context: typer.Context, groups: Sequence[OptionGroup], plan: Preparation, suggestion: Suggestion | None
) -> dict[str, Any]:
    """How a command was run, for its document."""
    return {
        **typed_command(context, groups),
        "preparation": {name: value for name, value in plan.to_dict().items() if value},
        "reasons": [] if suggestion is None else list(suggestion.reasons),
    }
