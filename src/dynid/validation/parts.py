"""The torque taken apart: links, gravity, drive inertia, friction."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray
from dynid.core.plain import plain
from dynid.model.parameters import DRIVE_INERTIA, MOTOR_TERMS
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.validation.model import IdentifiedModel, check_width, nonlinear_part, regressor_blocks

_DRIVE_SYMBOLS = (DRIVE_INERTIA, MOTOR_TERMS[0])
PART_NAMES = ("inertia", "gravity", "drive", "friction")


@dataclass(frozen=True, eq=False)
class TorqueParts:
    """τ̂ = inertia + gravity + drive + friction, each (samples, coordinates) [N m or N].

    Args:
        inertia: links' inertia, Coriolis and centrifugal torques: what is left of the inertial columns
            once gravity is taken out.
        gravity: inertial columns at zero speed and acceleration.
        drive: columns of drive inertia (Ia, Iam); those that are regrouped into an inertia of a link, as Ia1
            into ZZ1R, count there.
        friction: columns of friction and offset, those of coupled motors, springs and dampers included, and
            friction that is not linear in its parameters.
    """

    inertia: FloatArray
    gravity: FloatArray
    drive: FloatArray
    friction: FloatArray

    def total(self) -> FloatArray:
        """The predicted torque."""
        whole: FloatArray = self.inertia + self.gravity + self.drive + self.friction
        return whole


@dataclass(frozen=True, eq=False)
class TorqueShares:
    """Size of each part against the measured torque, per coordinate.

    TorqueParts may cancel each other, so the shares need not sum to 100 %.

    Args:
        rms: by part, root mean square (coordinates,) [N m or N].
        percent: by part, 100 ‖τ_part‖ / ‖τ‖ (coordinates,).
    """

    rms: dict[str, FloatArray]
    percent: dict[str, FloatArray]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            name: {"rms": plain(self.rms[name]), "percent": plain(self.percent[name])} for name in self.rms
        }


def torque_parts(model: IdentifiedModel, motion: Motion) -> TorqueParts:
    """Take the predicted torque along a motion apart.

    Args:
        model: the model.
        motion: prepared motion.
    """
    check_width(model.robot, motion)
    family = column_parts(model.robot, model.base)
    values = {name: np.where(family == name, model.values, 0.0) for name in PART_NAMES}
    rest = np.zeros_like(motion.q)
    still = replace(motion, qd=rest, qdd=rest)
    arrays = {name: np.zeros(motion.q.shape) for name in PART_NAMES}
    for part in regressor_blocks(model, motion):
        for name in ("inertia", "drive", "friction"):
            part.put(arrays[name], values[name][part.columns] @ part.W)
    for part in regressor_blocks(model, still):
        part.put(arrays["gravity"], values["inertia"][part.columns] @ part.W)
    arrays["inertia"] -= arrays["gravity"]
    arrays["friction"] += nonlinear_part(model, motion)
    return TorqueParts(**arrays)


def column_parts(robot: Robot, base: BaseMap) -> NDArray[np.str_]:
    """The part each base column belongs to: "inertia", "drive" or "friction"."""
    kinds = []
    for column in base.columns:
        entry = robot.table.entries[column]
        if entry.family == "inertial":
            kinds.append("inertia")
        else:
            kinds.append("drive" if entry.symbol in _DRIVE_SYMBOLS else "friction")
    return np.array(kinds)


def torque_shares(model: IdentifiedModel, motions: tuple[Motion, ...]) -> TorqueShares:
    """Sizes of the parts over several motions.

    Args:
        model: the model.
        motions: prepared motions.
    """
    squares = {field.name: np.zeros(model.robot.n_coordinates) for field in fields(TorqueParts)}
    whole = np.zeros(model.robot.n_coordinates)
    samples = 0
    for motion in motions:
        for piece in motion.pieces():
            parts = torque_parts(model, piece)
            for name in squares:
                squares[name] += np.sum(getattr(parts, name) ** 2, axis=0)
            whole += np.sum(np.asarray(piece.tau) ** 2, axis=0)
        samples += motion.samples
    with np.errstate(divide="ignore", invalid="ignore"):
        percent = {name: 100 * np.sqrt(square / whole) for name, square in squares.items()}
    rms = {name: np.sqrt(square / max(samples, 1)) for name, square in squares.items()}
    return TorqueShares(rms, percent)
