"""A kernel of a robot as C99 source, for ``dynid export ROBOT --to c --kernel NAME``."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from dynid import __version__
from dynid.base.find import base_of
from dynid.cli.output import print_json, write_file
from dynid.compile.kernels import RobotKernels, kernels
from dynid.compile.trace import KERNELS, describe
from dynid.core.errors import DynidError, unknown_name
from dynid.model.robot import Robot


@dataclass(frozen=True)
class KernelSource:
    """A kernel written as one C99 function that needs nothing but math.h.

    Args:
        robot: the robot.
        kernel: one of ``KERNELS``.
        base: whether regressors have base columns only.
        name: of the function; the kernel's when None.
    """

    robot: Robot
    kernel: str
    base: bool = False
    name: str | None = None

    def write(self, out: Path | None, force: bool, as_json: bool) -> None:
        """Print the source, or write it to a file and say so.

        Args:
            out: the file; standard output when None.
            force: whether it may be replaced.
            as_json: print one JSON document instead.
        """
        made = kernels(self.robot, self._columns())
        text = _heading(made, self.kernel) + made.c_source(self.kernel, self.name)
        if out is not None:
            write_file(out, text, force)
        if as_json:
            print_json(_document(made, self.kernel, text, out))
        elif out is None:
            typer.echo(text, nl=False)
        else:
            typer.echo(f"wrote {out} ({text.count(chr(10))} lines)")

    def _columns(self) -> tuple[int, ...] | None:
        if self.kernel not in KERNELS:
            raise unknown_name("kernel", self.kernel, KERNELS)
        if self.base and "regressor" not in self.kernel:
            allowed = ", ".join(name for name in KERNELS if "regressor" in name)
            raise DynidError(
                f"--base selects the columns of a regressor, and the kernel {self.kernel!r} has none; leave "
                f"it out or choose one of {allowed}."
            )
        return base_of(self.robot).columns if self.base else None


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
