"""The judge that the package has: data checks, concerns and verdict of ``dynid.fit`` with default options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import dynid
from dynid.core.errors import DynidError
from dynid.core.finding import Name, gravest_first
from dynid.logs.log import Log
from dynid.model.robot import Robot
from population.defects import DEFECTS
from population.judge import Cause, Ruling
from population.remedies import act_of, point_gravity, turn_torque

DELAYS = ("delay of a joint", "delay of all")
SIGNS = ("reversed torque", "reversed position")
_ONE_LOG = ("one log with payload", "one log with friction", "one log with torque zero", "one log with gain")
_WEAK = ("weak motion",)
MEANT: Mapping[str, tuple[str, ...]] = {
    Name.REVERSED_SIGN: SIGNS,
    Name.GRAVITY_DIRECTION: ("gravity direction",),
    Name.SWAPPED_AXES: ("swapped columns",),
    Name.POSITION_UNIT: ("degrees",),
    Name.OVERSPEED: ("degrees",),
    Name.SATURATION: ("torque saturation",),
    Name.SPEED_AND_POSITION: ("clock rate", "position scale", "degrees"),
    Name.RATE_AGAINST_STAMPS: ("clock rate",),
    Name.POSITION_JUMP: ("lost samples",),
    Name.SHORT_GAPS: ("lost samples",),
    Name.LOST_SAMPLES: ("lost samples",),
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
_IN_TIME = ("step", "drift", "warming")
"""Courses of a change within logs: what has changed is the cause, its exact course is not asked for."""
_ACROSS = ("log", "step", "drift")
"""Courses that one log of several may take: between two logs all are the same."""
SUSPECTS: Mapping[str, tuple[str, ...]] = {
    "delay": DELAYS,
    "zero": ("zero of a joint",),
    "clock": ("clock rate",),
    "stribeck": ("Stribeck",),
    "load": ("load friction",),
    "fast ripple": ("ripple",),
    "inertia": ("motor inertia",),
    "inertia coupling": ("coupling",),
    "viscous coupling": ("coupling",),
    **dict.fromkeys(("length b", "length d", "length r"), ("link length",)),
}
"""Defects of the population that a suspect means, by its key without the joint, where names differ."""
CHANGES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "torque zero": (("torque zero step", "torque zero drift"), ("one log with torque zero",)),
    "friction": (
        ("viscous step", "viscous drift", "Coulomb step", "Coulomb drift"),
        ("one log with friction",),
    ),
    "torque gain": ((), ("one log with gain",)),
    "payload": (("payload midway",), ("one log with payload",)),
    "zero": ((), ()),
}
"""The same for what changes: within logs, and between them."""


def meant_by(suspect: str) -> tuple[str, ...]:
    """Defects that a suspect means, by its key without the joint; none where it is not known here."""
    if suspect in SUSPECTS:
        return SUSPECTS[suspect]
    if suspect in DEFECTS:
        return (suspect,)
    what, _, course = suspect.rpartition(" ")
    within, between = CHANGES.get(what, ((), ()))
    return (within if course in _IN_TIME else ()) + (between if course in _ACROSS else ())


class Today:
    """``dynid.fit`` with its default options."""

    def rule(self, robot: Robot, logs: Sequence[Log]) -> Ruling:
        """Level of the report's headline, and the findings that name a cause, the gravest first."""
        try:
            result = dynid.fit(robot, logs)
        except DynidError:
            checks = [dynid.check(log, robot) for log in logs]
            findings = gravest_first(finding for one in checks for finding in one.findings)
            causes = _causes([f.to_dict() for f in findings], robot)
            return Ruling("fail", causes, None)
        told = result.document["verdict"]["findings"]
        counted = [finding for finding in told if finding["name"] != Name.NO_UNSEEN_MOTION]
        return Ruling(_level(counted), _causes(counted, robot), result.estimate)


def _level(findings: Sequence[Mapping[str, Any]]) -> str:
    levels = {finding["level"] for finding in findings}
    return next((level for level in ("fail", "care") if level in levels), "good")


def _causes(findings: Sequence[Mapping[str, Any]], robot: Robot) -> tuple[Cause, ...]:
    """What asks for care and names a cause, in the order of the report."""
    grave = [f for f in findings if f["level"] in ("care", "fail")]
    return tuple(_cause(f, robot) for f in grave if f["name"] in MEANT or "suspect" in f["figures"])


def _gross_cause(finding: Mapping[str, Any], robot: Robot) -> Cause:
    """A cause without a size of first order: signs, swaps, units, another gravity."""
    figures, name = finding["figures"], finding["name"]
    axis = finding["where"].get("axis") or next(iter(figures.get("joints", ())), None)
    joint, size, act = None if axis is None else axis - 1, None, None
    if name == Name.REVERSED_SIGN and joint is not None and "torque" in figures.get("candidate", ""):
        act = turn_torque(joint)
    if (found := figures.get("gravity")) is not None:
        given, norm = np.array(robot.gravity), np.linalg.norm
        size = float(np.arccos(np.clip(given @ found / max(norm(given) * norm(found), 1e-300), -1, 1)))
        act = point_gravity(found)
    return Cause(frozenset(MEANT[name]), joint, size, name, finding["level"], act)


def _cause(finding: Mapping[str, Any], robot: Robot) -> Cause:
    axis, figures, level = finding["where"].get("axis"), finding["figures"], finding["level"]
    joint, axes = None if axis is None else axis - 1, robot.n_coordinates
    if "suspect" not in figures:
        return _gross_cause(finding, robot)
    key, size = figures["suspect"], figures["size"]
    names = SIGNS if finding["name"] == Name.REVERSED_SIGN else _names_of(key, axes)
    told = _size(key.split("@")[0], size, figures["amount"])
    alike = tuple(_partner(other, size, axes) for other, size in figures["alike"].items())
    act = None if alike else act_of(key, joint, size)  # where two look the same, the user is told to look
    return Cause(frozenset(names), joint, told, key, level, act, alike)


def _names_of(key: str, axes: int) -> tuple[str, ...]:
    """Defects that a suspect means, by its key."""
    name, _, joint = key.partition("@")
    if name == "delay" and axes > 1:
        return DELAYS[:1] if joint else DELAYS[1:]
    return meant_by(name)


def _partner(key: str, size: float | Sequence[float], axes: int) -> Cause:
    """A cause that is named beside another one."""
    name, _, joint = key.partition("@")
    amount = size if isinstance(size, float) else float(np.linalg.norm(size))
    number = int(joint.split("-")[0]) - 1 if joint else None
    return Cause(frozenset(_names_of(key, axes)), number, _size(name, size, amount), key)


def _size(name: str, size: float | Sequence[float], amount: float) -> float | Mapping[str, float]:
    """A suspect's size, which mends a log, as the size of the defect that made it."""
    if name == "position scale" and isinstance(size, float):
        return 1 / (1 + size) - 1
    if name == "gravity direction" and not isinstance(size, float):
        return float(np.arctan2(np.linalg.norm(size), 9.81))
    if name.startswith("friction ") and not isinstance(size, float) and len(size) == 2:
        parts = zip(("viscous", "Coulomb"), size, strict=True)
        return {f"{what} {course}": x for what, x in parts for course in ("step", "drift")}
    return amount
