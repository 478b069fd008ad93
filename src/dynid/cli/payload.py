"""``dynid payload``: mass, centre of mass and inertia of what a robot carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer

from dynid.calibration.central_form import FlangeFrame
from dynid.calibration.payload_identification import AUTO
from dynid.calibration.payload_ways import WAYS
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
from dynid.model.file_frames import frame_on_carrier
from dynid.model.robot import Robot
from dynid.report.calibration_page import payload_answer, render_payload
from dynid.report.payload_document import payload_document
from dynid.results.load import load_result
from dynid.workflow.payload_weighing import weigh_payload

DOCUMENT = "payload.json"


@dataclass(frozen=True)
class WayOptions(OptionGroup, title="Method"):
    """How the arm itself is accounted for."""

    model: Path | None = option(
        None, "RESULT", "A folder written by dynid fit: the arm without the payload.", shown="none"
    )
    way: str = option(
        AUTO,
        "NAME",
        "fixed (the model's inertias are held), refitted (arm and payload together, from free and loaded "
        "logs), difference (loaded less free torques of one motion), or auto: refitted with free logs.",
        choices=(AUTO, *WAYS),
    )
    hold_friction: bool = option(
        False,
        "",
        "Take the friction of the model, or of the free logs, for the loaded ones, too; it changes with "
        "temperature.",
    )
    flange_link: str | None = option(
        None,
        "LINK",
        "Link or body of the robot's file, such as tool0, whose frame is the flange's.",
        shown="the link that carries the payload",
    )
    flange: str | None = option(
        None, "X,Y,Z", "Origin of the flange in that link's frame [m].", shown="0,0,0"
    )
    flange_rpy_deg: str | None = option(
        None, "R,P,Y", "Roll, pitch and yaw of the flange in that link's frame [deg].", shown="0,0,0"
    )

    def frame(self, robot: Robot, carrier: str | None) -> FlangeFrame:
        """The flange's frame on the link that carries the payload."""
        position = _three(self.flange, "--flange", "0,0,0.1")
        angles = _three(self.flange_rpy_deg, "--flange-rpy-deg", "0,0,90")
        held = frame_on_carrier(robot, carrier, self.flange_link)
        own = FlangeFrame.from_rpy(position, np.radians(angles))
        return FlangeFrame(held.rotation @ own.rotation, held.position + held.rotation @ own.position)


def _three(text: str | None, name: str, example: str) -> tuple[float, ...]:
    if text is None:
        return (0.0, 0.0, 0.0)
    numbers = numbers_in(text, 3) if text.count(",") == 2 else ()
    if not numbers:
        raise DynidError(f"{name} is {text!r}; give three numbers separated by commas, such as {example}.")
    return numbers


@dataclass(frozen=True)
class PayloadFileOptions(OptionGroup, title="Files"):
    """What is written."""

    out: Path = option(Path("out/payload"), "FOLDER", f"Folder for {DOCUMENT} and {PAGE}.")
    force: bool = option(False, "", "Overwrite these files in the folder.")


@command(
    examples=[
        "dynid payload tx40 --model out/fit --loaded loaded.csv",
        "dynid payload tx40 --free free.csv --loaded loaded.csv --mass 2.01 --mass-sigma 0.01",
        "dynid payload arm.urdf --drives out/gains/drives.toml --free a.csv --loaded b.csv --flange 0,0,0.1",
    ],
    exit_0="A payload was found; the page says how well.",
    exit_2="It cannot be trusted (the page says why), or a log is not usable.",
)
def payload(
    context: typer.Context,
    robot: RobotArgument,
    logs: CalibrationLogOptions,
    weighing: WeighingOptions,
    how: WayOptions,
    preparation: PreparationOptions,
    variant: VariantOptions,
    target: PayloadFileOptions,
    as_json: JsonOption = False,
) -> int:
    """Identify the payload of a robot: mass, centre of mass and inertia, as controllers ask for them."""
    weighing.require_mass()
    if how.way not in (AUTO, *WAYS):
        raise unknown_name("way", how.way, (AUTO, *WAYS))
    require_free_folder(target.out, (DOCUMENT, PAGE), target.force)
    arm = chosen_robot(robot, variant)
    frame = how.frame(arm, weighing.carrier)
    model = None if how.model is None else load_result(how.model)
    if model is not None:
        _require_same_drives(model.robot, arm)
    with progress_line(quiet=as_json) as tell:
        used = prepared_logs(arm, logs, weighing.carrier, preparation, tell)
        tell("identifying the payload")
        found = weigh_payload(
            used,
            model=model,
            way=how.way,
            mass=weighing.mass,
            mass_sigma=weighing.mass_sigma or 0.0,
            flange=frame,
            refit_friction=not how.hold_friction,
        )
        tell("writing the files")
        groups = (logs, weighing, how, preparation, variant, target)
        run = command_facts(context, groups, used.plan, used.suggestion)
        document = payload_document(found, used.motions, used.checks, run)
        texts = {DOCUMENT: document_text(document), PAGE: render_payload(document)}
        write_files(target.out, texts, target.force)
    if as_json:
        print_json({**document, "folder": str(target.out)})
    else:
        _print(document, target.out)
    return 0 if document["trustworthy"] else 2


def _require_same_drives(fitted: Robot, robot: Robot) -> None:
    """Refuse a model whose torques went through other drives than those of the loaded logs will."""
    if fitted.drives != robot.drives:
        raise DynidError(
            "The model was fitted with other drives (gears or gains) than those given now, so that its "
            "torques and those of the loaded logs do not compare; fit the arm again with --drives, or leave "
            "it out."
        )


def _print(document: Mapping[str, Any], folder: Path) -> None:
    screen, answer = Screen(), payload_answer(document)
    screen.print(answer["words"], style="bold")
    screen.print(answer["sentence"])
    screen.findings(document["findings"])
    rows = [
        [row["name"], _shown(row["value"], 5), _shown(row["sigma"], 2), row["unit"]]
        for row in document["parameters"]
    ]
    title = f"in dynid's frame of {document['carrier']}, z along its axis"
    screen.print(TextTable(title, ("parameter", "value", "σ", "unit"), rows))
    record = document["controller_forms"].get("record")
    if record is not None and document["trustworthy"]:
        screen.print(f"[mass,[x,y,z] mm,[quaternion],ix,iy,iz] at the flange: {record}")
    screen.print(f"page: {folder / PAGE}")


def _shown(value: float | None, digits: int) -> str:
    return "not shown" if value is None else f"{value:.{digits}g}"
