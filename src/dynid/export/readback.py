"""Reading files for an export: the user's own must be of the robot, the new one must have its torques."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.dynamics.inverse import inverse_dynamics
from dynid.dynamics.operations import NUMERIC
from dynid.export.bodies import first_difference, mimics_of
from dynid.export.joint_values import HeldValues
from dynid.export.model import ExportModel
from dynid.model.loaders.tree import SNAP_RAD
from dynid.model.parameters import MOTOR_TERMS
from dynid.model.robot import Robot
from dynid.model.robot_source import RobotSource

LARGEST_DIFFERENCE = 1e-9
"""Relative difference of a torque above which an export is refused: rounding leaves a thousandth of it."""
_SAMPLES = 20


def matching_snap(
    robot: Robot, source: RobotSource, form: str, read: Callable[[str, float], Robot]
) -> tuple[float, str]:
    """The tolerance of angles with which a file gives the robot [rad], and the first difference, if any.

    Args:
        robot: the robot of the result.
        source: the file.
        form: "URDF" or "MJCF".
        read: reads a text with a tolerance of angles.

    Raises:
        DynidError: when the file is of another form or cannot be read.
    """
    if source.form != form.lower():
        raise DynidError(f"{source.name} is a file of the form {source.form!r}; give a file of form {form}.")
    loops = form == "MJCF"  # URDF has none
    found = [
        first_difference(robot, read(source.text, snap_rad), loops=loops) for snap_rad in (SNAP_RAD, 0.0)
    ]
    return (0.0, "") if found[0] and not found[1] else (SNAP_RAD, found[0])


def other_robot(source: RobotSource, form: str, difference: str) -> DynidError:
    """The error for a file that was given and is of another robot."""
    return DynidError(
        f"{source.name} is not the {form} of the result's robot: {difference}; give the file that the robot "
        "was read from."
    )


def read_back(
    model: ExportModel, held: HeldValues, read: Callable[[float], Robot], form: str, *, loops: bool = False
) -> tuple[float, str]:
    """The largest relative difference of a torque, and a sentence where the file must be read with care.

    Args:
        model: the model that was written.
        held: what the form holds of it.
        read: reads the text with a tolerance of angles [rad].
        form: such as "URDF", for the error sentence.
        loops: whether the text holds the robot's loops.

    Raises:
        DynidError: when the text gives another robot or other torques.
    """
    difference, reason = np.inf, ""
    for snap_rad in (SNAP_RAD, 0.0):
        robot = read(snap_rad)
        reason = first_difference(model.robot, robot, mimics_of(model.robot), loops=loops)
        if reason:
            continue
        difference = torque_difference(model.robot, held.standard(model), robot)
        if difference <= LARGEST_DIFFERENCE:
            care = (
                ""
                if snap_rad
                else f"Angles of the {form} near right angles are meant: dynid reads them so with snap_rad=0."
            )
            return difference, care
    raise DynidError(
        f"The {form} that was made of robot {model.robot.name!r} cannot be read back as the same model "
        f"({reason or f'its torques differ by {difference:.1e} of their size'}); please report this."
    )


def torque_difference(robot: Robot, standard: FloatArray, read: Robot) -> float:
    """Largest difference of a torque at random states, relative to the joint's largest torque.

    Couplings are cut, so that every moving joint has a torque; joints go by name. A joint whose torques are
    below a thousandth of the largest joint's is compared with that, since rounding scales with what cancels.

    Args:
        robot: the robot of the model.
        standard: its parameters that the form holds.
        read: the robot read back, with its values.
    """
    free, free_read = _free_tree(robot), _free_tree(read)
    names = [free.joints[j].name for j in free.movable]
    rng = np.random.default_rng(1)
    states = [rng.normal(0.0, size, (len(names), _SAMPLES)) for size in (2.0, 3.0, 10.0)]
    ours = _torques(free, robot.table.mapping(standard), names, states)
    theirs = _torques(free_read, read.parameters, names, states)
    size = np.abs(ours).max(axis=1)
    floor = max(1e-3 * float(size.max()), np.finfo(float).tiny)
    return float((np.abs(ours - theirs).max(axis=1) / np.maximum(size, floor)).max())


def _free_tree(robot: Robot) -> Robot:
    """The robot without couplings and drives, which have no torques of their own in URDF and MJCF."""
    terms = tuple(term for term in robot.terms if term not in MOTOR_TERMS)
    return replace(robot, coupling=None, closure=None, drives=None, terms=terms, parameters={})


def _torques(
    robot: Robot, values: Mapping[str, float], names: list[str], states: list[FloatArray]
) -> FloatArray:
    """Torques (joints, samples) in the order of the names, of a robot whose joints may have another order."""
    order = [names.index(robot.joints[j].name) for j in robot.movable]
    chi = robot.table.vector({name: value for name, value in values.items() if name in robot.table.names})
    q, qd, qdd = (list(x[order]) for x in states)
    torques = inverse_dynamics(robot, chi.tolist(), q, qd, qdd, NUMERIC)
    found = np.zeros((len(names), _SAMPLES))
    for place, torque in zip(order, torques, strict=True):
        found[place] = torque
    return found
