"""Control laws from the keys of a controller file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dynid.core.errors import FileError
from dynid.model.robot import Robot
from dynid.model.table_values import Table
from dynid.simulation.drive_side import DriveSide
from dynid.simulation.file_values import beside, numbers, one_of, text, truth, whole
from dynid.simulation.law import FloatArray, Law, per_axis
from dynid.simulation.laws import PID, Bandwidth, Cascade
from dynid.simulation.model_laws import ComputedTorque, Replay
from dynid.simulation.parameter_file import ParametersReader, named_parameters
from dynid.simulation.python_law import python_law

FREQUENCIES = ("natural_frequency", "natural_frequency_hz")
ROBOT = "robot"
"""Word for inertias that follow from the robot's own parameters."""
LAW_KEYS: dict[str, tuple[str, ...]] = {
    "bandwidth": (*FREQUENCIES, "damping", "inertia"),
    "p": ("kp",),
    "pd": ("kp", "kd", "reference_speed", "acceleration"),
    "pi": ("kp", "ki"),
    "pid": ("kp", "kd", "ki", "reference_speed", "acceleration"),
    "cascade": ("kp", "kv", "ki", "reference_speed", "acceleration"),
    "computed-torque": ("kp", "kd", *FREQUENCIES, "damping", "model"),
    "open-loop": (),
    "python": ("file", "function", "gains", "states"),
}
"""Keys of each kind of law."""
_NEEDED = {
    "p": ("kp",),
    "pd": ("kp", "kd"),
    "pi": ("kp", "ki"),
    "pid": ("kp", "kd", "ki"),
    "cascade": ("kp", "kv"),
    "python": ("file", "function"),
}
_TORQUE_GAINS = {"cascade": ("kv", "acceleration")}
"""Keys that make torque, so that they carry the unit of the controller's output; the default is below."""
_PID_TORQUE_GAINS = ("kp", "kd", "ki", "acceleration")
_MAX_STATES = 10_000


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
        n = self.robot.n_coordinates
        drives = self.robot.drives
        return np.eye(n) if self.side == "joint" or drives is None else drives.matrix

    @property
    def coupled(self) -> bool:
        """Whether motors move more than one joint."""
        R = self.ratio
        return bool(np.any(np.diag(np.diag(R)) != R))

    @property
    def torque_factor(self) -> FloatArray:
        """Joint torque per position error for a gain of one: r² × drive gain, per axis."""
        return np.asarray(np.diag(self.ratio) ** 2 * np.array(self.drive_gain), dtype=float)

    @property
    def limit_factor(self) -> FloatArray:
        """Joint torque per unit of the controller's output, without sign."""
        return np.asarray(np.abs(np.diag(self.ratio) * np.array(self.drive_gain)), dtype=float)


def law_from_table(row: Table, kind: str, at: Surroundings) -> Law:
    """The law, its gains on the joint side and in SI; motors' inertias "robot" are 1 for the time being."""
    for key in _NEEDED.get(kind, ()):
        if key not in row:
            raise FileError(f"A {kind} controller needs {key}.")
    if kind == "computed-torque":
        return _computed_torque(row, at)
    if kind == "open-loop":
        return Replay(at.robot.n_coordinates)
    if kind == "python":
        return _python(row, at)
    scale = np.ones(at.robot.n_coordinates) if at.coupled else at.torque_factor
    law = _bandwidth(row, at, scale) if kind == "bandwidth" else _gains(row, kind, at, scale)
    return wrapped(law, at) if at.coupled else law


def wrapped(law: Law, at: Surroundings) -> DriveSide:
    """A law in the controller's own units, on the motors where the file says so."""
    drives = at.robot.drives
    offset = (0.0,) * law.axes if at.side == "joint" or drives is None else drives.offset
    return DriveSide(law, tuple(map(tuple, at.ratio.tolist())), offset, at.drive_gain)


def _frequency(row: Table, n: int) -> tuple[float, ...]:
    key = one_of(row, FREQUENCIES, "The natural frequency")
    factor = 2 * math.pi if key.endswith("_hz") else 1.0
    values = tuple(factor * value for value in per_axis(numbers(row, key), n, key))
    if min(values) <= 0:
        raise FileError(f"{key} must be positive for every axis.")
    return values


def _optional(row: Table, key: str, n: int, default: float) -> tuple[float, ...]:
    return per_axis(numbers(row, key) if key in row else default, n, key)


def _bandwidth(row: Table, at: Surroundings, scale: FloatArray) -> Bandwidth:
    n = at.robot.n_coordinates
    omega, zeta = _frequency(row, n), _optional(row, "damping", n, 1.0)
    if row.get("inertia", ROBOT) != ROBOT:
        if isinstance(row["inertia"], str):
            raise FileError(
                f"inertia is {row['inertia']!r}; give numbers, or {ROBOT!r} for those of the robot's own "
                "parameters."
            )
        given = np.array(per_axis(numbers(row, "inertia"), n, "inertia"))
        return Bandwidth(omega, zeta, tuple(given * scale))
    if at.coupled:
        raise FileError(
            "The gains act on coupled motors, whose inertias do not follow from single joints; give inertia "
            'as numbers, or side = "joint".'
        )
    return Bandwidth(omega, zeta, (1.0,) * n)


def _gains(row: Table, kind: str, at: Surroundings, scale: FloatArray) -> Law:
    n = at.robot.n_coordinates
    values: dict[str, tuple[float, ...]] = {}
    for key in LAW_KEYS[kind]:
        if key in row:
            factor = scale if key in _TORQUE_GAINS.get(kind, _PID_TORQUE_GAINS) else 1.0
            values[key] = tuple(np.array(per_axis(numbers(row, key), n, key)) * factor)
    return Cascade(**values) if kind == "cascade" else PID(**values)


def _computed_torque(row: Table, at: Surroundings) -> ComputedTorque:
    n = at.robot.n_coordinates
    if any(key in row for key in (*FREQUENCIES, "damping")):
        if "kp" in row or "kd" in row:
            raise FileError(
                "A computed-torque controller has either kp and kd, or a natural frequency and damping."
            )
        omega, zeta = np.array(_frequency(row, n)), np.array(_optional(row, "damping", n, 1.0))
        kp, kd = tuple(omega**2), tuple(2 * zeta * omega)
    elif "kp" in row and "kd" in row:
        kp, kd = per_axis(numbers(row, "kp"), n, "kp"), per_axis(numbers(row, "kd"), n, "kd")
    else:
        raise FileError(
            "A computed-torque controller needs kp and kd, or a natural frequency (natural_frequency or "
            "natural_frequency_hz)."
        )
    model = parameters_under(row, "model", at) if "model" in row else parameters_of_robot(at.robot, "model")
    if model is None:
        raise FileError("model is false; a computed-torque controller needs one.")
    return ComputedTorque(at.robot.with_parameters(model), kp, kd)


def _python(row: Table, at: Surroundings) -> Law:
    given = numbers(row, "gains") if "gains" in row else ()
    states = whole(row, "states", 0, _MAX_STATES)
    file = beside(at.folder, text(row, "file"), "file")
    law = python_law(file, text(row, "function"), at.robot, given, states)
    plain = at.side == "joint" and set(at.drive_gain) == {1.0}
    return law if plain else wrapped(law, at)


def parameters_under(row: Table, key: str, at: Surroundings) -> dict[str, float] | None:
    """A model's parameters: true (the robot's own), false, a table, or a file; None for none."""
    value = row.get(key, False)
    if isinstance(value, str):
        return at.parameters_of(beside(at.folder, value, key), at.robot)
    if isinstance(value, dict):
        return named_parameters(value, at.robot)
    return parameters_of_robot(at.robot, key) if truth(row, key) else None


def parameters_of_robot(robot: Robot, key: str) -> dict[str, float]:
    """The robot's own parameters, which must be there."""
    if not robot.parameters:
        raise FileError(
            f"{key} asks for the robot's own parameters, and robot {robot.name!r} has none; give a table or "
            "a file of parameters."
        )
    return dict(robot.parameters)
