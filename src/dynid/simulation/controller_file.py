"""Controllers from TOML files: shipped ones by name, the user's own by path."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from dynid.core.errors import FileError
from dynid.core.files import read_toml
from dynid.logs.log import SIDES
from dynid.model.drives import HOW_TO_GIVE
from dynid.model.robot import Robot
from dynid.model.table_values import Table
from dynid.simulation.controller import MAXIMUM, Controller
from dynid.simulation.drive_side import DriveSide
from dynid.simulation.file_values import (
    by_name_or_path,
    choice,
    kind_of,
    naming,
    numbers,
    one_of,
    positive,
    shipped,
    shown,
    truth,
    whole,
)
from dynid.simulation.inertia import joint_inertias
from dynid.simulation.law import Law, per_axis
from dynid.simulation.law_table import LAW_KEYS, ROBOT, Surroundings, law_from_table, parameters_under
from dynid.simulation.parameter_file import ParametersReader, read_parameters
from dynid.simulation.velocity import KINDS, Velocity

FOLDER = "controllers"
CLOCKS = ("sample_time", "rate_hz", "continuous")
KEYS = (
    "kind", "title", "source", *CLOCKS, "velocity", "velocity_cutoff_hz", "delay", "saturation", "side",
    "drive_gain", "feedforward", "posture",
)  # fmt: skip
"""Keys of every controller; those of the kinds are ``LAW_KEYS``."""
_MODEL_KINDS = ("computed-torque", "open-loop")
_MAX_DELAY = 1000


def controller_names() -> tuple[str, ...]:
    """Names of the controllers shipped with the package."""
    return shipped(FOLDER)


def load_controller(
    name_or_path: str | Path, robot: Robot, *, parameters_of: ParametersReader = read_parameters
) -> Controller:
    """A controller by name or from a TOML file; its keys are described in ``docs/controllers.md``.

    A file of kind "python" names a Python file, which is run: load only files that you trust.

    Args:
        name_or_path: a name that ``controller_names()`` lists, or a path.
        robot: the robot it controls; sizes, gear ratios and inertias are taken from it.
        parameters_of: reads the parameter files that a controller file names.

    Raises:
        FileError: when the file is missing, not understood, or does not fit the robot.
    """

    def read(file: Path, own: bool) -> Controller:
        content = read_toml(file, "controller file")
        with naming("Controller", file):
            made = controller_from_table(content, robot, file.parent if own else None, parameters_of)
        return replace(made, name=file.stem)

    return by_name_or_path(name_or_path, FOLDER, "controller", ".toml file", read)


def controller_from_table(
    content: Table,
    robot: Robot,
    folder: Path | None = None,
    parameters_of: ParametersReader = read_parameters,
) -> Controller:
    """Build a controller from the parsed content of a controller file.

    Args:
        content: the tables and values.
        robot: the robot it controls.
        folder: where files that it names lie; None forbids them.
        parameters_of: reads parameter files.
    """
    kind = kind_of(content, LAW_KEYS, KEYS, "controller")
    at = _surroundings(content, kind, robot, folder, parameters_of)
    law = law_from_table(content, kind, at)
    sample_time = _clock(content)
    feedforward = parameters_under(content, "feedforward", at)
    law, limits = _limited(content, law, at, feedforward is not None)
    made = Controller(
        law,
        sample_time,
        _velocity(content, sample_time),
        whole(content, "delay", 0, _MAX_DELAY),
        limits,
        feedforward,
        _posture(content, robot.n_coordinates),
    )
    return _tuned(made, robot) if kind == "bandwidth" and content.get("inertia", ROBOT) == ROBOT else made


def _surroundings(
    row: Table, kind: str, robot: Robot, folder: Path | None, parameters_of: ParametersReader
) -> Surroundings:
    side = choice(row, "side", SIDES, "joint")
    if side == "motor" and robot.drives is None:
        raise FileError(
            f'side is "motor", but robot {robot.name!r} has no drives; {HOW_TO_GIVE}; or give gains with '
            f'side = "joint". {robot.drives_note}'.rstrip()
        )
    if side == "motor" and kind in _MODEL_KINDS:
        raise FileError(f'A {kind} controller acts on the joints; leave out side = "motor".')
    gain = per_axis(
        numbers(row, "drive_gain") if "drive_gain" in row else 1.0, robot.n_coordinates, "drive_gain"
    )
    if 0.0 in gain:
        raise FileError("drive_gain is 0 for an axis; its output would move nothing.")
    return Surroundings(robot, side, gain, folder, parameters_of)


def _clock(row: Table) -> float | None:
    given = {key: value for key, value in row.items() if key != "continuous" or truth(row, key)}
    key = one_of(given, CLOCKS, "The controller's clock")
    if key == "continuous":
        return None
    value = positive(row, key)
    return value if key == "sample_time" else 1.0 / value


def _velocity(row: Table, sample_time: float | None) -> Velocity:
    kind = choice(row, "velocity", KINDS, "exact" if sample_time is None else "backward")
    if sample_time is None and kind != "exact":
        raise FileError(
            f"velocity is {kind!r}, but a continuous law knows the speed; give sample_time or rate_hz, or "
            "leave velocity out."
        )
    cutoff = positive(row, "velocity_cutoff_hz") if "velocity_cutoff_hz" in row else None
    if (kind == "filtered") != (cutoff is not None):
        raise FileError(
            f"velocity is {kind!r} {'with' if cutoff else 'without'} velocity_cutoff_hz; a cut-off belongs "
            "to 'filtered' and to no other."
        )
    return Velocity(kind, cutoff)


def _limited(row: Table, law: Law, at: Surroundings, feedforward: bool) -> tuple[Law, tuple[float, ...]]:
    """The law and the joint torques it is limited to; limits of coupled motors go inside the law."""
    if "saturation" not in row:
        return law, ()
    limits = per_axis(numbers(row, "saturation"), at.robot.n_coordinates, "saturation")
    if not (isinstance(law, DriveSide) and at.coupled):
        return law, tuple(np.array(limits) * at.limit_factor)
    if feedforward:
        raise FileError(
            "The motors are coupled, and their saturation cannot be combined with feedforward; leave one of "
            "them out."
        )
    return replace(law, limit=limits), ()


def _posture(row: Table, n: int) -> str | tuple[float, ...]:
    value = row.get("posture", MAXIMUM)
    if isinstance(value, str):
        if value != MAXIMUM:
            raise FileError(f"posture is {shown(value)}; give {MAXIMUM!r} or one position per axis.")
        return value
    return per_axis(numbers(row, "posture"), n, "posture")


def _tuned(controller: Controller, robot: Robot) -> Controller:
    """The bandwidth law for the robot's own inertias, by the controller's posture (P0 eq 51 and 57)."""
    found = joint_inertias(robot, robot.table.vector(robot.parameters), controller)
    if not np.all(found > 0):
        told = ", ".join(f"{value:.3g}" for value in found)
        raise FileError(
            f"inertia is taken from robot {robot.name!r}, whose own parameters give {told}; give inertia as "
            "numbers."
        )
    return controller.scaled(found.tolist())
