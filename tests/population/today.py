"""The judge that the package has: data checks, concerns and verdict of ``dynid.fit`` with default options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import dynid
from dynid.core.errors import DynidError
from dynid.core.finding import Name, gravest_first
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.model.robot import Robot
from population.judge import Cause, Ruling

DELAYS = ("delay of a joint", "delay of all")
SIGNS = ("reversed torque", "reversed position")
_ONE_LOG = ("one log with payload", "one log with friction", "one log with torque zero", "one log with gain")
_WEAK = ("weak motion",)
_FRICTION_CHANGES = ("viscous step", "viscous drift", "Coulomb step", "Coulomb drift")
MEANT: Mapping[str, tuple[str, ...]] = {
    Name.REVERSED_SIGN: SIGNS,
    Name.GRAVITY_DIRECTION: ("gravity direction",),
    Name.DRIVEN_AXIS: ("swapped columns", *SIGNS),
    Name.POSITION_UNIT: ("degrees",),
    Name.OVERSPEED: ("degrees",),
    Name.SATURATION: ("torque saturation",),
    Name.SPEED_AND_POSITION: ("clock rate", "position scale", "degrees"),
    Name.RATE_AGAINST_STAMPS: ("clock rate",),
    Name.POSITION_JUMP: ("lost samples",),
    Name.SHORT_GAPS: ("lost samples",),
    Name.MOTIONS_CONTRADICT: _ONE_LOG,
    Name.EXCITATION: _WEAK,
    Name.NOT_EXCITED: _WEAK,
    Name.UNDER_EXCITED: _WEAK,
    Name.RANK_DEFICIENT: _WEAK,
    Name.POOR_CONDITION: _WEAK,
    Name.FEW_ROWS: _WEAK,
    Name.TOO_FEW_ROWS: _WEAK,
    Name.NO_MOTION: _WEAK,
}
"""Defects of the population that a finding may mean; other findings are symptoms."""
SUSPECTS: Mapping[str, tuple[str, ...]] = {
    "delay": DELAYS,
    "zero": ("zero of a joint",),
    "position scale": ("position scale",),
    "torque gain": ("torque gain", "reversed torque"),
    "gear ratio": ("gear ratio",),
    "clock": ("clock rate",),
    "gravity direction": ("gravity direction",),
    "stribeck": ("Stribeck",),
    "flattening": ("flattening",),
    "load": ("load friction",),
    "asymmetry": ("asymmetry",),
    "inertia": ("motor inertia",),
    "payload log": ("one log with payload",),
    "friction log": ("one log with friction",),
    "torque zero log": ("one log with torque zero",),
    "torque gain log": ("one log with gain",),
}
"""Defects of the population that a suspect means, where they have other names."""
CHANGES: Mapping[str, tuple[str, ...]] = {
    "torque zero": ("torque zero step", "torque zero drift", "one log with torque zero"),
    "friction": (*_FRICTION_CHANGES, "one log with friction"),
    "payload": ("payload midway", "one log with payload"),
    "torque gain": ("one log with gain",),
}
"""Defects that a change over time means, whatever its course: the last of several logs is a step too."""


def _meant(name: str) -> tuple[str, ...]:
    what, _, course = name.rpartition(" ")
    if name not in SUSPECTS and course in ("step", "drift", "warming") and what in CHANGES:
        return CHANGES[what]
    return SUSPECTS.get(name, (name,))


class Today:
    """``dynid.fit`` with its default options."""

    def rule(self, robot: Robot, logs: Sequence[Log]) -> Ruling:
        """Level of the report's headline, and the findings that name a cause, the gravest first."""
        try:
            result = dynid.fit(robot, logs)
        except DynidError:
            checks = [dynid.check(log, robot) for log in logs]
            findings = gravest_first(finding for one in checks for finding in one.findings)
            return Ruling("fail", _causes([f.to_dict() for f in findings]), None)
        told = result.document["verdict"]["findings"]
        counted = [finding for finding in told if finding["name"] != Name.NO_UNSEEN_MOTION]
        return Ruling(_level(counted), _causes(counted), result.estimate)

    def follow(self, robot: Robot, logs: Sequence[Log], ruling: Ruling) -> tuple[Robot, Sequence[Log]] | None:
        """Do to the logs what the remedy of the first cause says; None where that is no act on logs."""
        words, joint, size = ruling.causes[0].words, ruling.causes[0].joint, ruling.causes[0].size
        name, sides = words.split("@")[0], [to_joint_side(log, robot) for log in logs]
        if size is None or not (name == "delay" or name in ACTS):
            return None
        if name == "delay":
            return robot, [shifted_torques(log, joint, size) for log in sides]
        return robot, [ACTS[name](log, joint, size) for log in sides]


def _level(findings: Sequence[Mapping[str, Any]]) -> str:
    levels = {finding["level"] for finding in findings}
    return next((level for level in ("fail", "care") if level in levels), "good")


def _causes(findings: Sequence[Mapping[str, Any]]) -> tuple[Cause, ...]:
    grave = [f for f in findings if f["level"] in ("care", "fail")]
    named = [f for f in grave if f["name"] in MEANT or "suspect" in f["figures"]]
    # A suspect says what it explains; those that explain most come first, symptoms after them.
    return tuple(map(_cause, sorted(named, key=lambda f: -f["figures"].get("share", 0.0))))


def _cause(finding: Mapping[str, Any]) -> Cause:
    axis, figures = finding["where"].get("axis"), finding["figures"]
    joint = None if axis is None else axis - 1
    if "suspect" not in figures:
        return Cause(
            frozenset(MEANT[finding["name"]]), joint, figures.get("size"), finding["name"], finding["level"]
        )
    name = figures["suspect"].split("@")[0]
    names = SUSPECTS.get(name, ())
    if name == "delay":
        names = DELAYS[:1] if joint is not None else DELAYS[1:]
    return Cause(
        frozenset(names), joint, _size_in_the_log(name, figures["size"]), figures["suspect"], finding["level"]
    )


def _size_in_the_log(name: str, size: float | Sequence[float]) -> float | None:
    """A suspect's size, which mends a log, as the size of the defect that made it."""
    if name == "gravity direction" and not isinstance(size, float):
        return float(np.arctan2(np.linalg.norm(size), 9.81))
    if not isinstance(size, float):  # a payload's mass; the two parts of friction have no one size
        return float(size[0]) if name.startswith("payload") else None
    if name == "position scale":
        return 1 / (1 + size) - 1
    return size


def shifted_torques(log: Log, joint: int | None, seconds: float) -> Log:
    """Torques read so many seconds later, of one joint or of all; the ends that have none are left out."""
    tau = log.array("torque").copy()
    for j in range(log.axes) if joint is None else (joint,):
        tau[:, j] = np.interp(log.time + seconds, log.time, tau[:, j])
    cut = int(np.ceil(abs(seconds) * log.rate_hz)) + 1
    return replace(log, channels={**log.channels, "torque": tau}).part(slice(cut, -cut))


def _scaled(log: Log, channel: str, joint: int | None, by: float) -> Log:
    values = {}
    for name in log.channels:
        values[name] = log.array(name).copy()
        if name == channel or (channel == "position" and name in ("velocity", "acceleration")):
            values[name][:, slice(None) if joint is None else joint] *= by
    return replace(log, channels=values)


def _moved(log: Log, joint: int | None, by: float) -> Log:
    values = log.array("position").copy()
    values[:, slice(None) if joint is None else joint] += by
    return replace(log, channels={**log.channels, "position": values})


def _other_clock(log: Log, by: float) -> Log:
    kept = {name: log.array(name) for name in log.channels if name in ("position", "torque")}
    return replace(log, time=log.time * by, channels=kept)


ACTS: Mapping[str, Callable[[Log, int | None, float], Log]] = {
    "zero": _moved,
    "position scale": lambda log, joint, size: _scaled(log, "position", joint, 1 / (1 + size)),
    "torque gain": lambda log, joint, size: _scaled(log, "torque", joint, 1 / (1 + size)),
    "gear ratio": lambda log, joint, size: _scaled(
        _scaled(log, "position", joint, 1 + size), "torque", joint, 1 / (1 + size)
    ),
    "clock": lambda log, joint, size: _other_clock(log, 1 / (1 + size)),
}
"""What remedies of suspects say, done to a log; sizes are those of the defect."""
