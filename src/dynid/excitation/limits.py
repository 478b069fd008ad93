"""Limits of a designed motion: those of the robot, tightened or replaced by the user's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import radians
from pathlib import Path
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.core.files import naming_file, read_toml
from dynid.core.finding import Finding, Level, Name
from dynid.core.keys import OtherKey, key
from dynid.core.kinds import require_kinds
from dynid.core.tables import check_fields, table_from
from dynid.dynamics.loop_guess import closed_ranges
from dynid.excitation.workcell import Workcell
from dynid.model.robot import Robot

QUANTITIES = ("position", "velocity", "acceleration", "jerk")
"""What is limited, by order of the derivative."""
ASSUMED_ACCELERATION = 2.0
"""Acceleration assumed where none is known, in speed limits per second: full speed in half a second."""


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """Bounds of q and its derivatives for all limited joints, and of the torques of the coordinates.

    Args:
        joints: names of the limited joints.
        low: least values of q, q̇, q̈ and the jerk, (4, joints); −∞ where there is none.
        high: largest values, likewise.
        effort: largest torque or force, (coordinates,); ∞ where there is none.
        matrix: joint positions from coordinates, q_joints = G q + g0, (joints, coordinates).
        offset: g0, (joints,).
        own: which of the joints each coordinate is, (coordinates,).
        findings: what was assumed.
    """

    joints: tuple[str, ...]
    low: FloatArray
    high: FloatArray
    effort: FloatArray
    matrix: FloatArray
    offset: FloatArray
    own: tuple[int, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def middle(self) -> FloatArray:
        """Coordinates in the middle of their ranges; 0 where they may turn without end, (coordinates,)."""
        with np.errstate(invalid="ignore"):
            middles = (self.low[0] + self.high[0]) / 2
        middles = np.where(np.isfinite(middles), middles, np.clip(0.0, self.low[0], self.high[0]))
        return np.asarray(np.linalg.lstsq(self.matrix, middles - self.offset, rcond=None)[0], dtype=float)

    @property
    def speeds(self) -> FloatArray:
        """Speed limits of the coordinates themselves, (coordinates,)."""
        return np.asarray(self.high[1][list(self.own)], dtype=float)

    def applied_to(self, robot: Robot) -> Robot:
        """The robot with these position limits, by which its reach is known."""
        joints = list(robot.joints)
        for j, low, high in zip(limited_joints(robot), self.low[0], self.high[0], strict=True):
            bounds = replace(joints[j].limits, lower=float(low), upper=float(high))
            joints[j] = replace(joints[j], limits=bounds)
        return replace(robot, joints=tuple(joints))

    def joint_values(self, values: FloatArray, order: int) -> FloatArray:
        """Values of all limited joints from those of the coordinates, (samples, joints)."""
        turned = values @ self.matrix.T
        return turned + self.offset if order == 0 else turned


def _own(what: str, unit: str, degrees: str = "", **bounds: Any) -> Any:
    """A key with one number for all movable joints, or one per joint."""
    other = None if not degrees else OtherKey(f"{what}_deg", degrees, radians)
    words = f"{_WORDS[what]}, in place of the robot's"
    return key(words, None, unit=unit, per_axis=True, other=other, absent="the robot's", **bounds)


_WORDS = {
    "lower": "least positions",
    "upper": "largest positions",
    "velocity": "largest speeds",
    "acceleration": "largest accelerations",
    "jerk": "largest jerks",
    "effort": "largest torques or forces",
}


@dataclass(frozen=True)
class LimitChoice:
    """What a user asks of the limits; one number stands for all movable joints."""

    lower: tuple[float, ...] | None = _own("lower", "rad or m", "deg")
    upper: tuple[float, ...] | None = _own("upper", "rad or m", "deg")
    velocity: tuple[float, ...] | None = _own("velocity", "rad/s or m/s", "deg/s")
    acceleration: tuple[float, ...] | None = _own("acceleration", "rad/s² or m/s²", "deg/s²")
    jerk: tuple[float, ...] | None = _own("jerk", "rad/s³ or m/s³", "deg/s³")
    effort: tuple[float, ...] | None = _own("effort", "N m or N")
    share: float = key(
        "share of all limits that may be used; of the position limits, about the middle of the range",
        1.0,
        above=0,
        most=1,
    )

    def __post_init__(self) -> None:
        """Take arrays and single numbers too."""
        for name in _WORDS:
            given = getattr(self, name)
            if isinstance(given, np.ndarray | int | float):
                object.__setattr__(self, name, tuple(np.atleast_1d(given).tolist()))
        check_fields(self, "Limits")


@dataclass(frozen=True)
class LimitFile:
    """A file of limits: ``[limits]`` and ``[workcell]``."""

    limits: LimitChoice = key("limits in place of the robot's", factory=LimitChoice, absent="the robot's")
    workcell: Workcell | None = key("floor, walls and room to keep", None, absent="none")


def load_limits(path: str | Path, robot: Robot) -> LimitFile:
    """Read limits from a TOML file; docs/excitation.md lists its keys.

    Args:
        path: the file.
        robot: whose movable joints they are for.
    """
    require_kinds(load_limits, locals())
    file = Path(path)
    content = read_toml(file, "file of limits")
    with naming_file(file, "File of limits"):
        return table_from(content, LimitFile, axes=len(limited_joints(robot)))


def limited_joints(robot: Robot) -> tuple[int, ...]:
    """Joints whose limits a design holds: all that move, or the coordinates of a robot with loops.

    Joints that follow a loop are no linear function of the coordinates; ``limit_use`` looks at them.
    """
    return robot.coordinates if robot.coupling is None else robot.movable


def motion_limits(robot: Robot, choice: LimitChoice | None = None) -> MotionLimits:
    """The limits of a robot, as a design uses them.

    Raises:
        DynidError: when a speed limit is missing, a limit leaves no room, or the choice does not fit.
    """
    chosen = choice or LimitChoice()
    limited = limited_joints(robot)
    joints = [robot.joints[j] for j in limited]
    names = tuple(joint.name for joint in joints)
    own = {name: np.array([getattr(joint.limits, name) for joint in joints]) for name in _WORDS}
    given = {name: _per_joint(getattr(chosen, name), names, name) for name in _WORDS}
    used = {name: own[name] if values is None else values for name, values in given.items()}
    _check(robot, names, used)
    used = _with_closed_ranges(robot, used)
    used, findings = _with_assumed_acceleration(names, used)
    with np.errstate(invalid="ignore"):  # −∞ + ∞, where there are no limits
        middle = (used["lower"] + used["upper"]) / 2
    bounded = np.isfinite(middle)
    half = np.where(bounded, (used["upper"] - used["lower"]) / 2, 0.0) * chosen.share
    low, high = (
        np.where(bounded, middle - half, used["lower"]),
        np.where(bounded, middle + half, used["upper"]),
    )
    sizes = [chosen.share * used[name] for name in ("velocity", "acceleration", "jerk")]
    own_joints = tuple(limited.index(j) for j in robot.coordinates)
    coupling = robot.coupling
    n = len(joints)
    return MotionLimits(
        names,
        np.vstack([low, *(-size for size in sizes)]),
        np.vstack([high, *sizes]),
        chosen.share * used["effort"][list(own_joints)],
        np.eye(n) if coupling is None else np.array(coupling.matrix, dtype=float),
        np.zeros(n) if coupling is None else np.array(coupling.offset, dtype=float),
        own_joints,
        findings,
    )


def _with_closed_ranges(robot: Robot, used: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Position limits of coordinates no wider than the ranges within which the loops close."""
    lower, upper = used["lower"].copy(), used["upper"].copy()
    for j, (low, high) in closed_ranges(robot).items():
        k = robot.coordinates.index(j)
        lower[k], upper[k] = max(lower[k], low), min(upper[k], high)
    return {**used, "lower": lower, "upper": upper}


def _per_joint(values: tuple[float, ...] | None, names: Sequence[str], what: str) -> FloatArray | None:
    """One value per joint; None where nothing is asked."""
    if values is None:
        return None
    array = np.array(values * len(names) if len(values) == 1 else values)
    if array.shape != (len(names),):
        raise DynidError(
            f"The limit {what!r} is {list(values)}; give one number, or {len(names)}, one for "
            f"each of {', '.join(names)}."
        )
    return array


def _check(robot: Robot, names: Sequence[str], used: Mapping[str, FloatArray]) -> None:
    """Every joint has a speed limit and room to move."""
    missing = [name for name, speed in zip(names, used["velocity"], strict=True) if not np.isfinite(speed)]
    if missing:
        raise DynidError(
            f"Robot {robot.name!r} has no speed limit for {', '.join(missing)}; a design needs one for every "
            "joint: add limits = { velocity = … } to the robot file or a file with --limits."
        )
    for i, name in enumerate(names):
        if not used["lower"][i] < used["upper"][i]:
            raise DynidError(
                f"The position limits of {name} contradict each other: lower {used['lower'][i]:g} is not "
                f"below upper {used['upper'][i]:g}; a joint that may not move cannot be excited."
            )
        for what in ("velocity", "acceleration", "jerk", "effort"):
            if not used[what][i] > 0:
                raise DynidError(
                    f"The {what} limit of {name} is {used[what][i]:g}; it must be positive, or nothing moves."
                )


def _with_assumed_acceleration(
    names: Sequence[str], used: Mapping[str, FloatArray]
) -> tuple[dict[str, FloatArray], tuple[Finding, ...]]:
    """Accelerations where none are known, from the speeds; said, because a drive may not follow."""
    lacking = ~np.isfinite(used["acceleration"])
    if not np.any(lacking):
        return dict(used), ()
    assumed = np.where(lacking, ASSUMED_ACCELERATION * used["velocity"], used["acceleration"])
    listed = ", ".join(name for name, lacks in zip(names, lacking, strict=True) if lacks)
    finding = Finding(
        Name.ASSUMED_LIMIT,
        Level.NOTE,
        f"No acceleration limit is known for {listed}; {ASSUMED_ACCELERATION:g} times the speed limit per "
        "second was assumed.",
        remedy="Give the drive's own with --limits or in the robot file.",
    )
    return {**used, "acceleration": assumed}, (finding,)
