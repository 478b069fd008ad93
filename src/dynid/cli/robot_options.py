"""The robot argument and the options that vary a robot, shared by commands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from dynid.cli.command import OptionGroup, completion_of, option
from dynid.core.errors import DynidError
from dynid.core.files import naming_file
from dynid.model.load import catalog, load_robot
from dynid.model.loaders.mdh import load_drives
from dynid.model.parameters import MOTOR_TERMS
from dynid.model.payload import free_and_loaded
from dynid.model.robot import Robot

RobotArgument = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT",
        help="A name from `dynid robots`, or a .toml, .urdf or .xml file.",
        autocompletion=completion_of(catalog),
    ),
]


@dataclass(frozen=True)
class VariantOptions(OptionGroup, title="The robot"):
    """How a command line varies a robot."""

    terms: str | None = option(
        None,
        "A,B,…",
        "Parameter terms beside the inertial ones, such as Ia,Fv,Fc,off,Fvm,Fcm; '' for none.",
    )
    gravity: str | None = option(None, "X,Y,Z", "Gravity in the base frame [m/s²], such as 0,0,-9.81.")
    drives: Path | None = option(
        None, "FILE", "TOML file with [drives]: gears between motors and joints, in place of the robot's."
    )


@dataclass(frozen=True)
class RobotOptions(VariantOptions):
    """The same, with a payload."""

    payload: bool = option(
        False,
        "",
        "An unknown payload on the last link (parameters XXL … ML), in logs of the condition `loaded` and "
        "not of `free`; `dynid payload` says more about it.",
    )


@dataclass(frozen=True)
class NamedRobotOptions(OptionGroup, title=VariantOptions.title):
    """The robot of a command that can do without one."""

    robot: str | None = option(
        None,
        "ROBOT",
        "A name from `dynid robots` or a robot file; more is told with it.",
        choices=catalog,
    )


def chosen_robot(name: str, options: VariantOptions) -> Robot:
    """The robot of a command line."""
    robot = load_robot(name)
    terms, gravity = options.terms, options.gravity
    wanted = None if terms is None else [term.strip() for term in terms.split(",") if term.strip()]
    if options.drives is not None:
        robot = _driven(robot, options.drives, wanted)
    if wanted is not None:
        robot = robot.with_terms(*wanted)
    if gravity is not None:
        robot = robot.with_gravity(*_three_numbers(gravity))
    loaded = isinstance(options, RobotOptions) and options.payload
    return free_and_loaded(robot) if loaded else robot


def _driven(robot: Robot, path: Path, wanted: list[str] | None) -> Robot:
    """The robot behind the drives of a file; motor terms that are not wanted need not fit them."""
    drives = load_drives(path)
    if wanted is not None:
        robot = robot.with_terms(*(t for t in robot.terms if t in wanted or t not in MOTOR_TERMS))
    with naming_file(path, "Drives file"):
        return robot.with_drives(drives)


def _three_numbers(text: str) -> tuple[float, float, float]:
    try:
        x, y, z = (float(part) for part in text.split(","))
    except ValueError:
        raise DynidError(
            f"--gravity is {text!r}; give three numbers separated by commas, such as 0,0,-9.81."
        ) from None
    return x, y, z
