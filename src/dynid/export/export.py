"""Export: a result in a form of the user's choice, made, read back, and written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dynid.core.disk import create_file, new_token, part_name
from dynid.core.errors import DynidError, FileError, unknown_name
from dynid.core.files import read_text
from dynid.core.kinds import require_kinds
from dynid.core.lazy import later
from dynid.export.functions import base_values, standard_values
from dynid.export.model import Export, export_model_of
from dynid.export.model_code import forms_apart
from dynid.export.words import cautions_of, export_name
from dynid.model.loaders.xml_safe import parse_xml
from dynid.model.robot_source import RobotSource
from dynid.results.result import SavedResult
from dynid.results.view import ResultView


@dataclass(frozen=True)
class ExportForm:
    """A form that a model can be exported in.

    Args:
        words: what it is, in a few words.
        make: the exporter.
        body: whether it describes a possible robot to a simulator: it takes standard parameters and,
            perhaps, a file of the user's to write them into.
    """

    words: str
    make: Callable[..., Export]
    body: bool = False


def _form(words: str, module: str, function: str, *, body: bool = False) -> ExportForm:
    return ExportForm(words, later(f"dynid.export.{module}", function), body)


FORMS: Mapping[str, ExportForm] = {
    "urdf": _form("robot description of ROS and Pinocchio", "urdf", "to_urdf", body=True),
    "mjcf": _form("model of MuJoCo", "mjcf", "to_mjcf", body=True),
    "c": _form("C99 functions for a controller", "c", "to_c"),
    "python": _form("a Python module that needs only NumPy", "python", "to_python"),
    "matlab": _form("a MATLAB or Octave function, and a MAT file", "matlab", "to_matlab"),
    "latex": _form("tables for a paper", "latex", "to_latex"),
    "csv": _form("tables of base and standard parameters", "tables", "to_csv"),
    "json": _form("everything in one document", "tables", "to_json"),
}
"""Forms by name."""


def export_model(
    result: ResultView,
    form: str,
    out: str | Path | None = None,
    *,
    urdf: str | Path | None = None,
    name: str | None = None,
    force: bool = False,
) -> Export:
    """Export a model, and write it where a place is given.

    The files are made, read back and compared with the model before the first one is written, and they are
    written all or none.

    Args:
        result: of a fit, or read back from a folder.
        form: "urdf", "mjcf", "c", "python", "matlab", "latex", "csv" or "json".
        out: the file to write, where the form is one file, or a folder; nothing is written when None.
        urdf: a robot file to write the values into, for the forms urdf and mjcf.
        name: what files and functions are called; the robot's name, made usable, when None.
        force: whether existing files may be replaced.

    Raises:
        DynidError: when the form is not known, lacks what it needs, or cannot be written.
    """
    require_kinds(export_model, locals())
    made = _export_of(result.as_saved, form, urdf, name_by_place(out, name))
    if out is not None:
        write_export(made, Path(out), force=force)
    return made


def _export_of(result: SavedResult, form: str, urdf: str | Path | None, name: str | None) -> Export:
    if form not in FORMS:
        raise unknown_name("form", form, FORMS)
    chosen, own = FORMS[form], export_name(result.robot, name)
    _require_numbers(result)
    if not chosen.body:
        if urdf is not None:
            bodies = " and ".join(key for key, value in FORMS.items() if value.body)
            raise DynidError(
                f"A robot file to write into is for the forms {bodies}, not for {form}; leave it out."
            )
        return replace(chosen.make(result, own), cautions=cautions_of(result))
    source = None if urdf is None else _source(Path(urdf))
    made = chosen.make(export_model_of(result), source, None if name is None else own)
    apart = forms_apart(standard_values(result), base_values(result))
    figures = {**made.figures, "standard_from_base": apart}
    return replace(made, figures=figures, cautions=cautions_of(result))


def name_by_place(out: str | Path | None, name: str | None) -> str | None:
    """What files are called: the name given, or that of the file they are to be written to."""
    if name is not None or out is None or not Path(out).suffix or Path(out).is_dir():
        return name
    return Path(out).stem


def _require_numbers(result: SavedResult) -> None:
    further = () if result.further is None else (result.further.values, result.further.covariance)
    standard = () if result.standard is None else (result.standard,)
    if not all(np.all(np.isfinite(a)) for a in (result.values, result.covariance, *standard, *further)):
        raise DynidError(f"The result in {result.folder} holds values that are not finite; fit again.")


def _source(path: Path) -> RobotSource:
    text = read_text(path, "robot file", as_it_is=True)
    root = parse_xml(text, f"robot file {path.name}").tag
    forms = {"robot": "urdf", "mujoco": "mjcf"}
    if root not in forms:
        raise FileError(
            f"The root element of {path.name} is <{root}>; a robot file has <robot> (URDF) or <mujoco> "
            "(MJCF)."
        )
    return RobotSource(path.name, forms[root], text)


def write_export(made: Export, out: Path, *, force: bool = False) -> tuple[Path, ...]:
    """Write the files of an export, all or none; gives their paths.

    Args:
        made: the export.
        out: a folder, which is made where it is absent, or the file itself; others go beside it.
        force: whether existing files may be replaced.
    """
    names = [file.name for file in made.files]
    to_file = not out.is_dir() and out.suffix != ""
    if out.exists() and not out.is_dir() and not to_file:
        raise FileError(f"{out} is a file without an ending; give a folder, or a file with its ending.")
    if to_file and len(names) > 1 and out.name not in names:
        raise DynidError(
            f"{out} is one file, and this form writes {', '.join(names)}; give a folder, or a file of one of "
            "these names."
        )
    targets = [out] if to_file and len(names) == 1 else [(out.parent if to_file else out) / n for n in names]
    try:
        _require_free(targets, force)
        targets[0].parent.mkdir(parents=True, exist_ok=True)
        _write_all(targets, [file.content for file in made.files])
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{str(out)!r} cannot be written: {reason}.") from None
    return tuple(targets)


def _require_free(targets: Sequence[Path], force: bool) -> None:
    for target in targets:
        if target.is_dir():
            raise FileError(f"{target} is a folder; give another place, or another name.")
        if os.path.lexists(target) and not force:
            raise FileError(f"{target} exists already; add --force (force=True) to overwrite it.")


def _write_all(targets: Sequence[Path], contents: Sequence[bytes]) -> None:
    """All files under names of their own first: what can fail has failed before one takes its place."""
    token = new_token()
    places = [Path(os.path.realpath(target)) for target in targets]  # a link keeps leading to its file
    parts = [place.with_name(part_name(token, place.name)) for place in places]
    try:
        for part, content in zip(parts, contents, strict=True):
            create_file(part, content)
        for part, place in zip(parts, places, strict=True):
            os.replace(part, place)
    finally:
        for part in parts:
            with contextlib.suppress(OSError):
                os.unlink(part)


def figure_lines(figures: Mapping[str, Any]) -> list[str]:
    """What reading back has shown, in lines for people."""
    lines = []
    if "largest_difference" in figures:
        lines.append(f"read back: differs from the model by {figures['largest_difference']:.1g} at most")
    if "standard_from_base" in figures:
        apart = figures["standard_from_base"]
        lines.append(f"torques of standard and of base parameters are {100 * apart:.2g} % apart")
    for name, counts in figures.get("operations", {}).items():
        said = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
        lines.append(f"operations of {name}: {said or 'none'}")
    return lines
