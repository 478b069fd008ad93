"""``dynid export``: a result in the form that a simulator, a controller or a paper takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dynid.cli.command import REQUIRED, JsonOption, OptionGroup, command, option
from dynid.cli.output import TextFileOptions, print_json
from dynid.cli.robot_options import RobotOptions, chosen_robot
from dynid.compile.trace import KERNELS
from dynid.core.errors import DynidError
from dynid.core.lazy import later
from dynid.export.export import FORMS, export_model, figure_lines, name_by_place, write_export
from dynid.export.model import Export
from dynid.model.load import catalog
from dynid.model.robot import Robot
from dynid.results.load import load_result

_kernel_source = later("dynid.cli.kernel_source", "KernelSource")


@dataclass(frozen=True)
class FormOptions(OptionGroup, title="The form"):
    """What is written."""

    to: str = option(REQUIRED, "FORM", f"One of {', '.join(FORMS)}.", choices=FORMS)
    urdf: Path | None = option(None, "FILE", "Robot file to write the values into (urdf, mjcf).")
    name: str | None = option(
        None, "NAME", "What files and functions are called.", shown="the robot's, or the kernel's"
    )


@dataclass(frozen=True)
class KernelOptions(OptionGroup, title="A kernel of a robot (--to c, without values)"):
    """One kernel in place of an identified model."""

    kernel: str | None = option(None, "KERNEL", f"One of {', '.join(KERNELS)}.", choices=KERNELS)
    base: bool = option(False, "", "Base columns only, for regressors.")


@dataclass(frozen=True)
class ExportFileOptions(TextFileOptions):
    """Where the files go."""

    out: Path | None = option(
        None,
        "PATH",
        "File or folder to write, whole or not at all.",
        shown="standard output for one file, this folder for several",
    )


@command(
    examples=[
        "dynid export out/fit --to c --out controller",
        "dynid export out/fit --to python --name arm --out arm.py",
        "dynid export tx40 --to c --kernel regressor --base --name tx40_regressor",
    ],
    exit_0="The files were made, read back and written.",
)
def export(
    result: Annotated[
        str, typer.Argument(metavar="RESULT", help="A folder written by dynid fit; with --kernel, a robot.")
    ],
    form: FormOptions,
    kernel: KernelOptions,
    variant: RobotOptions,
    target: ExportFileOptions,
    as_json: JsonOption = False,
) -> None:
    """Write an identified model for a simulator, a controller, a script or a paper."""
    if kernel.kernel is not None:
        _require_kernel_form(form)
        source = _kernel_source(_robot(result, variant), kernel.kernel, kernel.base, form.name)
        source.write(target.out, target.force, as_json)
        return
    for given in (*kernel.given, *variant.given):
        raise DynidError(f"--{given} is for a kernel of a robot; add --kernel NAME, or leave it out.")
    if not Path(result).is_dir():
        raise DynidError(
            f"{result} is no folder; give a result of dynid fit, or a robot with --to c --kernel NAME."
        )
    name = name_by_place(target.out, form.name)
    _write(export_model(load_result(result), form.to, urdf=form.urdf, name=name), target, as_json)


def _robot(given: str, variant: RobotOptions) -> Robot:
    """The robot of a result folder, or one that is named."""
    if given in catalog() or not Path(given).is_dir():
        return chosen_robot(given, variant)
    for option_given in variant.given:
        raise DynidError(f"--{option_given} is for robots, and {given} is a result folder; leave it out.")
    return load_result(given).robot


def _require_kernel_form(form: FormOptions) -> None:
    if form.to != "c" or form.urdf is not None:
        raise DynidError(f"--kernel writes C, and --to is {form.to!r}; give --to c, without --urdf.")


def _write(made: Export, target: ExportFileOptions, as_json: bool) -> None:
    """Write or print an export; what is said about it goes where the text does not."""
    printed = target.out is None and len(made.files) == 1
    paths = () if printed else write_export(made, target.out or Path(), force=target.force)
    if as_json:
        print_json(_document(made, [str(path) for path in paths]))
        return
    if printed:
        typer.echo(made.files[0].content.decode(), nl=not made.files[0].content.endswith(b"\n"))
    for file, path in zip(made.files, paths, strict=False):
        typer.echo(f"wrote {path} ({len(file.content)} bytes)")
    lines = [f"care: {sentence}" for sentence in made.cautions]
    lines += [f"not in it: {sentence}" for sentence in made.lost]
    for line in (*lines, *figure_lines(made.figures)):
        typer.echo(line, err=printed)


def _document(made: Export, paths: list[str]) -> dict[str, Any]:
    document: dict[str, Any] = {"form": made.form, "files": paths, "figures": dict(made.figures)}
    document |= {"lost": list(made.lost), "cautions": list(made.cautions)}
    return document if paths else document | {"text": made.files[0].content.decode()}
