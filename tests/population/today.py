"""The judge that the package has: data checks, concerns and verdict of ``dynid.fit`` with default options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import dynid
from dynid.checks import DataCheck
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
MEANT: Mapping[str, tuple[str, ...]] = {
    Name.DELAY: DELAYS,
    Name.TORQUE_LAG: DELAYS,
    Name.REVERSED_SIGN: SIGNS,
    Name.DRIVEN_AXIS: ("swapped columns", *SIGNS),
    Name.POSITION_UNIT: ("degrees",),
    Name.OVERSPEED: ("degrees",),
    Name.GRAVITY_DIRECTION: ("gravity direction",),
    Name.SATURATION: ("torque saturation",),
    Name.JOINTS_DISAGREE: ("torque gain", "gear ratio"),
    Name.SPEED_AND_POSITION: ("clock rate", "position scale", "degrees"),
    Name.RATE_AGAINST_STAMPS: ("clock rate",),
    Name.POSITION_JUMP: ("lost samples",),
    Name.SHORT_GAPS: ("lost samples",),
    Name.MOTIONS_CONTRADICT: _ONE_LOG,
    Name.FRICTION_SHAPE: ("Stribeck", "flattening", "load friction", "asymmetry"),
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


class Today:
    """``dynid.fit`` with its default options."""

    def rule(self, robot: Robot, logs: Sequence[Log]) -> Ruling:
        """Level of the report's headline, and the findings that name a cause, the gravest first."""
        try:
            result = dynid.fit(robot, logs)
        except DynidError:
            checks = [dynid.check(log, robot) for log in logs]
            findings = gravest_first(finding for one in checks for finding in one.findings)
            return Ruling("fail", _causes([f.to_dict() for f in findings], checks), None)
        told = result.document["verdict"]["findings"]
        counted = [finding for finding in told if finding["name"] != Name.NO_UNSEEN_MOTION]
        return Ruling(_level(counted), _causes(counted, result.checks), result.estimate)

    def follow(self, robot: Robot, logs: Sequence[Log], ruling: Ruling) -> tuple[Robot, Sequence[Log]] | None:
        """Shift late torques and turn reversed ones; what else is advised is no act on logs."""
        cause = ruling.causes[0]
        sides = [to_joint_side(log, robot) for log in logs]
        if cause.size and cause.names <= set(DELAYS):
            return robot, [shifted_torques(log, cause.joint, cause.size) for log in sides]
        if cause.names == set(SIGNS) and cause.joint is not None:
            return robot, [turned_torque(log, cause.joint) for log in sides]
        return None


def _level(findings: Sequence[Mapping[str, Any]]) -> str:
    levels = {finding["level"] for finding in findings}
    return next((level for level in ("fail", "care") if level in levels), "good")


def _causes(findings: Sequence[Mapping[str, Any]], checks: Sequence[DataCheck]) -> tuple[Cause, ...]:
    grave = [f for f in findings if f["level"] in ("care", "fail") and f["name"] in MEANT]
    return tuple(_cause(finding, checks) for finding in grave)


def _cause(finding: Mapping[str, Any], checks: Sequence[DataCheck]) -> Cause:
    name, axis = finding["name"], finding["where"].get("axis")
    joint = None if axis is None else axis - 1
    size = finding["figures"].get("size")
    log = finding["where"].get("log")
    facts = next((check.facts for check in checks if check.log == log), checks[0].facts)
    if name == Name.DELAY:
        size = facts.get("delay_s") if joint is None else facts["delay_s_per_axis"][joint]
    if name == Name.GRAVITY_DIRECTION and facts.get("gravity_free") is not None:
        size = _angle(facts["gravity_free"], facts.get("gravity_given"))
    names = MEANT[name]
    if name == Name.DELAY:
        names = DELAYS[:1] if joint is not None else DELAYS[1:]
    return Cause(frozenset(names), joint, size, name, finding["level"])


def _angle(one: Sequence[float], other: Sequence[float] | None) -> float | None:
    if other is None:
        return None
    a, b = np.array(one), np.array(other)
    return float(np.arccos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1)))


def shifted_torques(log: Log, joint: int | None, seconds: float) -> Log:
    """Torques read so many seconds later, of one joint or of all; the ends that have none are left out."""
    tau = log.array("torque").copy()
    for j in range(log.axes) if joint is None else (joint,):
        tau[:, j] = np.interp(log.time + seconds, log.time, tau[:, j])
    cut = int(np.ceil(abs(seconds) * log.rate_hz)) + 1
    return replace(log, channels={**log.channels, "torque": tau}).part(slice(cut, -cut))


def turned_torque(log: Log, joint: int) -> Log:
    """The torque of a joint with its other sign."""
    tau = log.array("torque").copy()
    tau[:, joint] *= -1
    return replace(log, channels={**log.channels, "torque": tau})
