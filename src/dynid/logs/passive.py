"""Torques of joints without a motor: files often have no column for them, and they are zero."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import ShapeError
from dynid.logs.log import Log, Step
from dynid.logs.mapping import ChannelMap
from dynid.logs.spool import Samples, Spool, writer_of
from dynid.model.robot import Robot

UNDRIVEN_AXES = "undriven axes"
"""Step of a log whose file has torques of some axes only."""


def axes_with_torque(
    count: int, axes: int, part: ChannelMap, numbers: Sequence[int | None], first: int
) -> list[int]:
    """Axes, from 1, of the torques of a file that has fewer of them than positions.

    Args:
        count: torques of the file.
        axes: axes of the positions.
        part: the mapping of the torques; its ``axes`` say whose they are.
        numbers: numbers in the names of the columns, where they have some.
        first: number of the first axis in names.
    """
    if part.axes and (len(part.axes) != count or not all(axis <= axes for axis in part.axes)):
        raise ShapeError(
            f"axes of torque is {list(part.axes)} for {count} columns of a log with {axes} axes; give one "
            f"number from 1 to {axes} per column."
        )
    counted = [number - first + 1 for number in numbers if number is not None]
    by_name = len(set(counted)) == count and all(1 <= axis <= axes for axis in counted)
    return list(part.axes) or (counted if by_name else list(range(1, count + 1)))


def with_undriven_axes(torque: Samples, axes: int, given: list[int], said: bool) -> tuple[Samples, Step]:
    """Torques of all axes, zero for those without a column, and the step that says so.

    Args:
        torque: what the file has, (samples, columns).
        axes: axes of the positions.
        given: axes of its columns, from 1.
        said: whether a mapping says so.
    """
    missing = [axis for axis in range(1, axes + 1) if axis not in given]
    note = (
        f"The file has torques of {len(given)} of {axes} axes ({_axis_list(given)}); those of "
        f"{_axis_list(missing)} are taken to be zero."
    )
    step = Step(UNDRIVEN_AXES, {"given": given, "said": said}, note)
    return _at_axes(torque, axes, [axis - 1 for axis in given]), step


def with_passive_torques(log: Log, robot: Robot) -> Log:
    """The log with its torques on the driven joints, and zeros for passive ones without any value.

    Args:
        log: as many axes as the robot has coordinates.
        robot: says which joints are driven.

    Raises:
        ShapeError: when the file has torques of fewer joints than the robot has driven ones.
    """
    if "torque" not in log.channels:
        return log
    step = next((s for s in reversed(log.history) if s.name == UNDRIVEN_AXES), None)
    driven = [axis for axis, has_motor in enumerate(robot.driven) if has_motor]
    if step is not None and not step.options["said"]:
        given = [axis - 1 for axis in step.options["given"]]
        if len(given) != len(driven):
            raise _torques_missing(log, robot, given)
        if given != driven:
            torque = _at_axes(axes_in_order(log.channels["torque"], given), log.axes, driven)
            note = f"Torques were put on the driven joints of robot {robot.name}."
            log = log.with_step(Step("driven joints", {}, note), channels={**log.channels, "torque": torque})
    empty = [axis for axis in set(range(log.axes)) - set(driven) if _is_empty(log.column("torque", axis))]
    if not empty:
        return log
    kept = [axis for axis in range(log.axes) if axis not in empty]
    torque = _at_axes(axes_in_order(log.channels["torque"], kept), log.axes, kept)
    note = (
        f"Axes {_axis_list([axis + 1 for axis in empty])} have no motor and no torque in the log: it is zero."
    )
    return log.with_step(Step("passive torques", {}, note), channels={**log.channels, "torque": torque})


def undriven_by_mapping(log: Log) -> set[int]:
    """Axes, from 0, whose torque a mapping says to be zero."""
    said = [
        step.options["given"] for step in log.history if step.name == UNDRIVEN_AXES and step.options["said"]
    ]
    return set(range(log.axes)) - {axis - 1 for axis in said[-1]} if said else set()


def _torques_missing(log: Log, robot: Robot, given: Sequence[int]) -> ShapeError:
    """The refusal of a log that lacks torques of driven joints, with the line that leads on."""
    joints = [robot.joints[j].name for j in robot.coordinates]
    lacking = [joint for k, joint in enumerate(joints) if robot.driven[k] and k not in given]
    file, numbers = log.sources[0].path if log.sources else "LOG", [axis + 1 for axis in given]
    return ShapeError(
        f"Log {log.name!r} has torques of {len(given)} of its {log.axes} axes ({_axis_list(numbers)}), but "
        f"robot {robot.name!r} has {sum(robot.driven)} driven joints. If {', '.join(lacking)} had no motor, "
        f"or one that was off, write axes = {numbers} under [torque] of a mapping: dynid map {file} --out "
        "map.toml does, and --map map.toml (dynid.read_log(…, 'map.toml') in Python) uses it; in a TOML "
        "robot file actuated = false says so of a joint. Else give the columns of all torques."
    )


def _at_axes(values: Samples, axes: int, places: Sequence[int]) -> Samples:
    """Columns put at the places of their axes, zeros elsewhere; on disk when they were."""
    made = writer_of(len(values), axes, on_disk=isinstance(values, Spool))
    for axis in range(axes):
        made.put(axis, values[:, places.index(axis)] if axis in places else np.zeros(len(values)))
    return made.finish()


def axes_in_order(values: Samples, order: Sequence[int]) -> Samples:
    """Some columns in another order, in memory or on disk."""
    return values.view(axes=tuple(order)) if isinstance(values, Spool) else values[:, list(order)]


def _is_empty(x: FloatArray) -> bool:
    return not np.isfinite(x).any()


def _axis_list(axes: Sequence[int]) -> str:
    return ", ".join(str(axis) for axis in axes)
