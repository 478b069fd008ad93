"""``dynid gains``: drive gains from logs without and with a weighed payload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from dynid.calibration.gains import CONSTRAINED, GAIN_RANGE, METHODS, SHARED, require_effect
from dynid.calibration.knowledge import PayloadKnowledge
from dynid.calibration.knowledge_file import load_payload_file
from dynid.cli.calibration_options import (
    PAGE,
    CalibrationLogOptions,
    WeighingOptions,
    command_facts,
    prepared_logs,
)
from dynid.cli.command import JsonOption, OptionGroup, command, numbers_in, option
from dynid.cli.log_options import PreparationOptions
from dynid.cli.output import (
    Screen,
    document_text,
    print_json,
    progress_line,
    require_free_folder,
    write_files,
)
from dynid.cli.robot_options import RobotArgument, VariantOptions, chosen_robot
from dynid.core.errors import DynidError, unknown_name
from dynid.core.text import TextTable
from dynid.estimators.linear.least_squares import OLS, TLS
from dynid.model.robot import Robot
from dynid.report.calibration_document import gains_document
from dynid.report.calibration_page import gains_answer, render_gains
from dynid.workflow.gain_calibration import calibrate

DRIVES, DOCUMENT = "drives.toml", "gains.json"
ESTIMATORS = {"ols": OLS, "tls": TLS}


@dataclass(frozen=True)
class KnownOptions(WeighingOptions):
    """What else is known of the payload."""

    known: Path | None = option(
        None,
        "FILE",
        "TOML file with what else is known of the payload: mass, com and inertia in the frame of a link of "
        "the robot's file (link) or in dynid's own, or [values], [sigma] and [bounds] by name.",
    )

    def knowledge(self, robot: Robot) -> PayloadKnowledge:
        """All that is known."""
        self.require_mass()
        if self.known is not None:
            return load_payload_file(
                self.known, self.mass, self.mass_sigma, robot=robot, carrier=self.carrier
            )
        if self.mass is None:
            raise DynidError("Nothing is known of the payload; give --mass, as a weighing machine shows it.")
        return PayloadKnowledge.of_mass(self.mass, self.mass_sigma or 0.0)


@dataclass(frozen=True)
class GainOptions(OptionGroup, title="Method"):
    """How the gains are found."""

    method: str = option(
        SHARED,
        "NAME",
        "shared (one arm for all motors), global, sequential (P2: the mass, then the payload, then further "
        "motors) or constrained (gains in bounds, a payload that can exist).",
        choices=METHODS,
    )
    estimator: str = option(
        "ols",
        "NAME",
        "Least squares on each motor's rows: ols, or tls (errors in all; not for shared).",
        choices=ESTIMATORS,
    )
    bounds: str | None = option(
        None,
        "LOW,HIGH",
        "Gains over the a-priori ones that the constrained method allows.",
        shown=f"{GAIN_RANGE[0]:g},{GAIN_RANGE[1]:g}",
    )

    def arguments(self) -> dict[str, Any]:
        """For ``calibrate``."""
        if self.method not in METHODS:
            raise unknown_name("method", self.method, METHODS)
        if self.estimator not in ESTIMATORS:
            raise unknown_name("estimator", self.estimator, ESTIMATORS)
        found = {"method": self.method, "strategy": ESTIMATORS[self.estimator]()}
        if self.bounds is None:
            return found
        if self.method != CONSTRAINED:
            raise DynidError(f"--bounds is for --method {CONSTRAINED}, and the method is {self.method}.")
        limits = numbers_in(self.bounds, 2) if "," in self.bounds else ()
        if not limits or not 0 < limits[0] < limits[1] < float("inf"):
            raise DynidError(
                f"--bounds is {self.bounds!r}; give two positive numbers, the smaller first, such as 0.5,2."
            )
        return {**found, "gain_range": limits}


@dataclass(frozen=True)
class GainFileOptions(OptionGroup, title="Files"):
    """What is written."""

    out: Path = option(Path("out/gains"), "FOLDER", f"Folder for {DRIVES}, {DOCUMENT} and {PAGE}.")
    force: bool = option(False, "", "Overwrite these files in the folder.")


@command(
    examples=[
        "dynid gains rx90 --free free.csv --loaded loaded.csv --mass 7.025 --mass-sigma 0.05",
        "dynid gains arm.urdf --drives guess.toml --free a.csv --loaded b.csv --mass 5 --map amps.toml",
        "dynid fit rx90 log.csv --drives out/gains/drives.toml",
    ],
    exit_0="Gains were found; the page says of which motors, and how well.",
    exit_2="They cannot be trusted (the page says why, no drives are written), or a log is not usable.",
)
def gains(
    context: typer.Context,
    robot: RobotArgument,
    logs: CalibrationLogOptions,
    payload: KnownOptions,
    how: GainOptions,
    preparation: PreparationOptions,
    variant: VariantOptions,
    target: GainFileOptions,
    as_json: JsonOption = False,
) -> int:
    """Find the drive gains of a robot from logs without and with a payload of known mass."""
    payload.require_mass()
    arm = chosen_robot(robot, variant)
    known, arguments = payload.knowledge(arm), how.arguments()
    require_effect(arguments["method"], arguments["strategy"], known)
    require_free_folder(target.out, (DRIVES, DOCUMENT, PAGE), target.force)
    with progress_line(quiet=as_json) as tell:
        used = prepared_logs(arm, logs, payload.carrier, preparation, tell)
        found = calibrate(used, known, progress=tell, **arguments)
        tell("writing the files")
        groups = (logs, payload, how, preparation, variant, target)
        run = command_facts(context, groups, used.plan, used.suggestion)
        document = gains_document(
            found.gains,
            found.before,
            found.after,
            found.motions,
            used.checks,
            run,
            on_joint_side=used.on_joint_side,
        )
        texts = {DOCUMENT: document_text(document), PAGE: render_gains(document)}
        if document["trustworthy"] and document["calibrated"]:
            texts[DRIVES] = document["drives"]
        write_files(target.out, texts, target.force)
        if DRIVES not in texts:  # what an earlier run found must not stand beside a page that says no
            (target.out / DRIVES).unlink(missing_ok=True)
    if as_json:
        print_json({**document, "folder": str(target.out)})
    else:
        _print(document, target.out)
    return 0 if DRIVES in texts else 2


def _print(document: Mapping[str, Any], folder: Path) -> None:
    screen, answer = Screen(), gains_answer(document)
    screen.print(answer["words"], style="bold")
    screen.findings(document["findings"])
    rows = [
        [
            str(row["motor"]),
            row["joint"],
            f"{row['relative']:.4f}" if row["stage"] else "–",
            f"{row['sigma']:.4f}" if row["stage"] else "–",
            f"{100 * row['sigma'] / row['relative']:.2g} %" if row["stage"] else "–",
            f"{row['absolute']:.6g}",
        ]
        for row in document["gains"]
    ]
    screen.print(TextTable("", ("motor", "joint", "relative gain", "σ", "σ %", "gain"), rows))
    if document["trustworthy"] and document["calibrated"]:
        screen.print(f"drives: {folder / DRIVES}")
        screen.print(document["use"])
    screen.print(f"page: {folder / PAGE}")
