"""``dynid source``: C99 source of a robot's kernels."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dynid import __version__
from dynid.base.find import base_of
from dynid.cli.command import JsonOption, OptionGroup, command, completion_of, option
from dynid.cli.output import TextFileOptions, print_json, write_file
from dynid.cli.robot_options import RobotArgument, RobotOptions, chosen_robot
from dynid.compile.kernels import RobotKernels, kernels
from dynid.compile.trace import KERNELS, describe
from dynid.core.errors import DynidError, unknown_name
from dynid.model.robot import Robot


@dataclass(frozen=True)
class FunctionOptions(OptionGroup, title="The function"):
    """What the C function is."""

    name: str | None = option(None, "NAME", "Name of the C function.", shown="the kernel's")
    base: bool = option(False, "", "Base columns only, for regressors.")


@command(
    examples=[
        "dynid source scara inverse",
        "dynid source tx40 regressor --base --name tx40_regressor --out tx40_regressor.c",
    ]
)
def source(
    robot: RobotArgument,
    kernel: Annotated[
        str,
        typer.Argument(
            metavar="KERNEL", help=f"One of {', '.join(KERNELS)}.", autocompletion=completion_of(KERNELS)
        ),
    ],
    function: FunctionOptions,
    variant: RobotOptions,
    target: TextFileOptions,
    as_json: JsonOption = False,
) -> None:
    """Write a kernel of a robot as one C99 function that needs nothing but math.h."""
    arm = chosen_robot(robot, variant)
    made = kernels(arm, _columns(arm, kernel, function.base))
    text = _heading(made, kernel) + made.c_source(kernel, function.name)
    out = target.out
    if out is not None:
        write_file(out, text, target.force)
    if as_json:
        print_json(_document(made, kernel, text, out))
    elif out is None:
        typer.echo(text, nl=False)
    else:
        typer.echo(f"wrote {out} ({text.count(chr(10))} lines)")


def _columns(robot: Robot, kernel: str, base: bool) -> tuple[int, ...] | None:
    if kernel not in KERNELS:
        raise unknown_name("kernel", kernel, KERNELS)
    if base and "regressor" not in kernel:
        allowed = ", ".join(name for name in KERNELS if "regressor" in name)
        raise DynidError(
            f"--base selects the columns of a regressor, and the kernel {kernel!r} has none; leave it out or "
            f"choose one of {allowed}."
        )
    return base_of(robot).columns if base else None


def _names(made: RobotKernels, kernel: str) -> tuple[str, ...]:
    """Parameters in the order of the function's ``in_parameters``, or of the regressor's columns."""
    chosen = (
        range(len(made.robot.table)) if made.columns is None or "regressor" not in kernel else made.columns
    )
    return tuple(made.robot.table.names[c] for c in chosen)


def _has_parameters(kernel: str) -> bool:
    return "regressor" in kernel or "parameters" in KERNELS[kernel][0]


def _heading(made: RobotKernels, kernel: str) -> str:
    """A comment that says what the numbers in the arrays are."""
    lines = [f"Kernel {kernel} of robot {made.robot.name}, by dynid {__version__}; SI units, joint side."]
    if _has_parameters(kernel):
        what = "Columns" if "regressor" in kernel else "in_parameters"
        lines += textwrap.wrap(f"{what}: {' '.join(_names(made, kernel))}", 100)
    comment = "\n   ".join(lines).replace("*/", "* /")  # names come from robot files
    return f"/* {comment} */\n"


def _document(made: RobotKernels, kernel: str, text: str, out: Path | None) -> dict[str, Any]:
    ports = describe(made.robot, kernel, made.columns)
    document: dict[str, Any] = {
        "robot": made.robot.name,
        "kernel": kernel,
        "lines": text.count("\n"),
        "file": str(out) if out else None,
        "inputs": [{"name": f"in_{port.name}", "size": port.width} for port in ports.inputs],
        "outputs": [{"name": f"out_{port.name}", "size": port.width} for port in ports.outputs],
        "parameters": list(_names(made, kernel)) if _has_parameters(kernel) else [],
    }
    return document if out else document | {"source": text}
