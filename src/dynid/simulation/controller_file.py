"""Controllers from TOML files and back: shipped ones by name, the user's own by path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, FileError
from dynid.core.files import named_file, naming_file, read_toml, shipped_names, toml_text
from dynid.core.kinds import require_kinds
from dynid.core.tables import table_by_kind, to_table
from dynid.model.drives import HOW_TO_GIVE
from dynid.model.robot import Robot
from dynid.simulation.controller import Controller, Velocity
from dynid.simulation.controller_keys import (
    KINDS,
    ROBOT,
    BandwidthKeys,
    CascadeKeys,
    ComputedTorqueKeys,
    ControllerKeys,
    ModelParameters,
    OpenLoopKeys,
    PIDKeys,
    PythonKeys,
)
from dynid.simulation.inertia import joint_inertias, own_values
from dynid.simulation.law import DriveSide, Law, per_axis
from dynid.simulation.laws import PID, Bandwidth, Cascade, ComputedTorque, OpenLoop
from dynid.simulation.parameter_file import ParametersReader, named_parameters, read_parameters
from dynid.simulation.user_law import python_law

_HOME = ("dynid.simulation", "controllers")
_TORQUE_GAINS: dict[type[Law], tuple[str, ...]] = {
    PID: ("kp", "kd", "ki", "acceleration"),
    Cascade: ("kv", "acceleration"),
}
"""Gains that make torque, so that they carry the unit of the controller's output."""
_WRITTEN: dict[type[Law], tuple[str, type[ControllerKeys]]] = {
    Bandwidth: ("bandwidth", BandwidthKeys),
    PID: ("pid", PIDKeys),
    Cascade: ("cascade", CascadeKeys),
}
"""Kinds and keys of the laws whose fields are keys."""


def controller_names() -> tuple[str, ...]:
    """Names of the controllers shipped with the package."""
    return shipped_names(*_HOME)


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
    require_kinds(load_controller, locals())
    with named_file(name_or_path, *_HOME, "controller", "Or give a path to a .toml file.") as file:
        content = read_toml(file.path, "controller file")
        folder = file.path.parent if file.own else None
        with naming_file(file.path, "Controller"):
            made = controller_from_table(content, robot, folder, parameters_of)
        return replace(made, name=file.path.stem)


def controller_from_table(
    content: Mapping[str, Any],
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
    keys = table_by_kind(content, KINDS, "controller", robot.n_coordinates)
    at = _surroundings(keys, robot, folder, parameters_of)
    law = _law(keys, at)
    feedforward = at.parameters(keys.feedforward, "feedforward")
    law, limits = _law_and_limits(keys, law, at)
    kind = keys.velocity or ("exact" if keys.continuous else "backward")
    velocity = Velocity(kind, keys.velocity_cutoff_hz)
    made = Controller(law, keys.sample_time, velocity, keys.delay, limits, feedforward, keys.posture)
    follows = isinstance(keys, BandwidthKeys) and keys.inertia == ROBOT
    return _tuned_controller(made, robot) if follows else made


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What a file says about where its law acts.

    Args:
        robot: the robot.
        side: "joint" or "motor".
        drive_gain: torque per unit of the controller's output, per axis.
        folder: of the user's own file; None for shipped ones.
        parameters_of: reads parameter files.
    """

    robot: Robot
    side: str
    drive_gain: tuple[float, ...]
    folder: Path | None
    parameters_of: ParametersReader

    @property
    def ratio(self) -> FloatArray:
        """R between joints and the side where the gains act."""
        drives = self.robot.drives
        return np.eye(self.robot.n_coordinates) if self.side == "joint" or drives is None else drives.matrix

    @property
    def has_coupled_motors(self) -> bool:
        """Whether motors move more than one joint."""
        R = self.ratio
        return bool(np.any(np.diag(np.diag(R)) != R))

    @property
    def torque_factor(self) -> FloatArray:
        """Joint torque per position error for a gain of one: r² × drive gain; 1 for coupled motors."""
        if self.has_coupled_motors:
            return np.ones(self.robot.n_coordinates)
        return np.asarray(np.diag(self.ratio) ** 2 * np.array(self.drive_gain), dtype=float)

    def on_drive_side(self, law: Law) -> DriveSide:
        """A law in the controller's own units, on the motors where the file says so."""
        drives = self.robot.drives
        offset = (0.0,) * law.axes if self.side == "joint" or drives is None else drives.offset
        return DriveSide(law, tuple(map(tuple, self.ratio.tolist())), offset, self.drive_gain)

    def file(self, name: str, key: str) -> Path:
        """A file that the user's file names, relative to its own folder."""
        if self.folder is None:
            raise FileError(f"{key} names a file, which only a file given by its path may do.")
        return self.folder / name

    def parameters(self, given: ModelParameters, key: str) -> dict[str, float] | None:
        """A model's parameters; None for none."""
        if isinstance(given, str):
            return self.parameters_of(self.file(given, key), self.robot)
        if isinstance(given, Mapping):
            return named_parameters(given, self.robot)
        if given and not self.robot.parameters:
            raise FileError(
                f"{key} asks for the robot's own parameters, and robot {self.robot.name!r} has none; give a "
                "table or a file of parameters."
            )
        return dict(self.robot.parameters) if given else None


def _surroundings(
    keys: ControllerKeys, robot: Robot, folder: Path | None, parameters_of: ParametersReader
) -> Surroundings:
    if keys.side == "motor" and robot.drives is None:
        raise FileError(
            f'side is "motor", but robot {robot.name!r} has no drives; {HOW_TO_GIVE}; or give gains with '
            f'side = "joint". {robot.drives_note}'.rstrip()
        )
    if keys.side == "motor" and isinstance(keys, ComputedTorqueKeys | OpenLoopKeys):
        raise FileError(f'A {keys.kind} controller acts on the joints; leave out side = "motor".')
    gain = per_axis(keys.drive_gain, robot.n_coordinates, "drive_gain")
    return Surroundings(robot, keys.side, gain, folder, parameters_of)


def _law(keys: ControllerKeys, at: Surroundings) -> Law:
    """The law, its gains on the joint side and in SI; inertias that follow the robot are 1 until tuned."""
    if isinstance(keys, ComputedTorqueKeys):
        return _computed_torque(keys, at)
    if isinstance(keys, OpenLoopKeys):
        return OpenLoop(at.robot.n_coordinates)
    if isinstance(keys, PythonKeys):
        file = at.file(keys.file, "file")
        own = python_law(file, keys.function, at.robot, keys.gains, keys.states)
        return own if at.side == "joint" and set(at.drive_gain) == {1.0} else at.on_drive_side(own)
    if isinstance(keys, BandwidthKeys):
        law: Law = _bandwidth(keys, at)
    else:
        kind = Cascade if isinstance(keys, CascadeKeys) else PID
        given = {f.name: np.array(getattr(keys, f.name)) for f in fields(kind) if hasattr(keys, f.name)}
        for name in _TORQUE_GAINS[kind]:
            if name in given:
                given[name] = given[name] * at.torque_factor
        law = kind(**{name: tuple(values.tolist()) for name, values in given.items()})
    return at.on_drive_side(law) if at.has_coupled_motors else law


def _bandwidth(keys: BandwidthKeys, at: Surroundings) -> Bandwidth:
    if not isinstance(keys.inertia, str):
        inertia = tuple((np.array(keys.inertia) * at.torque_factor).tolist())
        return Bandwidth(keys.natural_frequency, keys.damping, inertia)
    if at.has_coupled_motors:
        raise FileError(
            "The gains act on coupled motors, whose inertias do not follow from single joints; give inertia "
            'as numbers, or side = "joint".'
        )
    return Bandwidth(keys.natural_frequency, keys.damping, 1.0)


def _computed_torque(keys: ComputedTorqueKeys, at: Surroundings) -> ComputedTorque:
    kp, kd = keys.kp, keys.kd
    if keys.natural_frequency:
        omega, zeta = np.array(keys.natural_frequency), np.array(keys.damping or 1.0)
        kp, kd = tuple((omega**2).tolist()), tuple((2 * zeta * omega).tolist())
    model = at.parameters(keys.model, "model")
    assert model is not None  # its keys refuse that
    return ComputedTorque(at.robot.with_parameters(model), kp, kd)


def _law_and_limits(keys: ControllerKeys, law: Law, at: Surroundings) -> tuple[Law, tuple[float, ...]]:
    """The law and the joint torques it is limited to; limits of coupled motors go inside the law."""
    if not keys.saturation:
        return law, ()
    if not (isinstance(law, DriveSide) and at.has_coupled_motors):
        factor = np.abs(np.diag(at.ratio) * np.array(at.drive_gain))
        return law, tuple((np.array(keys.saturation) * factor).tolist())
    if keys.feedforward:
        raise FileError(
            "The motors are coupled, and their saturation cannot be combined with feedforward; leave one of "
            "them out."
        )
    return replace(law, limit=keys.saturation), ()


def _tuned_controller(controller: Controller, robot: Robot) -> Controller:
    """The bandwidth law for the robot's own inertias, by the controller's posture (P0 eq 51 and 57)."""
    found = joint_inertias(robot, robot.table.vector(own_values(robot)), controller)
    if not np.all(found > 0):
        values = ", ".join(f"{value:.3g}" for value in found)
        raise FileError(
            f"inertia is taken from robot {robot.name!r}, whose own parameters give {values}; give inertia "
            "as numbers."
        )
    return controller.scaled(found.tolist())


def controller_to_toml(controller: Controller) -> str:
    """The controller as the text of a controller file, from which it is loaded as it was.

    Gains come out on the joint side and in SI, with one number per axis; only those of coupled motors stay on
    the motors.

    Raises:
        DynidError: for a law of the user's own, which is code and not data.
    """
    law, velocity = controller.law, controller.velocity
    common: dict[str, Any] = {
        "sample_time": controller.sample_time,
        "continuous": controller.sample_time is None,
        "velocity": None if controller.sample_time is None else velocity.kind,
        "velocity_cutoff_hz": velocity.cutoff_hz,
        "delay": controller.delay,
        "saturation": controller.saturation,
        "posture": controller.posture,
        "feedforward": False if controller.feedforward is None else controller.feedforward,
    }
    if isinstance(law, DriveSide):
        common |= {"side": "motor", "drive_gain": law.drive_gain}
        common["saturation"] = law.limit or controller.saturation
        law = law.inner
    if type(law) in _WRITTEN:
        kind, cls = _WRITTEN[type(law)]
        keys = cls(kind=kind, **{f.name: getattr(law, f.name) for f in fields(law)}, **common)
    elif isinstance(law, ComputedTorque):
        gains: dict[str, Any] = {"kp": law.kp, "kd": law.kd, "model": law.robot.parameters}
        keys = ComputedTorqueKeys(kind="computed-torque", **gains, **common)
    elif isinstance(law, OpenLoop):
        keys = OpenLoopKeys(kind="open-loop", **common)
    else:
        raise DynidError(
            f"The law {getattr(law, 'name', type(law).__name__)!r} is a Python function and cannot be "
            "written as TOML; keep its file and name it in a controller file of kind 'python'."
        )
    return toml_text(to_table(keys))
