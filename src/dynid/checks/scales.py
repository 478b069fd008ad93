"""Units and scales that do not fit: degrees for radians, currents for torques, speeds against positions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.checks.finding import Checked, defect
from dynid.checks.light import Light
from dynid.checks.limits import clean
from dynid.core.finding import Finding
from dynid.logs.log import Log
from dynid.model.joint import JointKind
from dynid.model.robot import Robot

FloatArray = NDArray[np.float64]
_TURNS = 4 * np.pi
"""A joint beyond two turns [rad] is rare; more than two turns of 6.28 is common in degrees."""
_DEGREE = np.pi / 180
_SCALES = {
    "the positions are in degrees and the speeds in rad/s": _DEGREE,
    "the speeds are in degrees per second and the positions in rad": 1 / _DEGREE,
    "the stamps are in milliseconds, not seconds": 1000.0,
    "the stamps are in seconds, not milliseconds": 1e-3,
}
_FAR_BEYOND = 2.0
_OVERSPEED, _FAR_OVERSPEED = 1.2, 3.0
"""Speeds over the limit, as a share of it, that are worth a warning and an error."""


def check_scales(log: Log, light: Light | None, robot: Robot | None) -> Checked:
    """Units and scales of positions, speeds and torques.

    Args:
        log: on the joint side where a robot is known.
        light: the lightly filtered signals; None when there are too few.
        robot: its limits tell what is plausible.
    """
    findings = [*_signal(log), *_degrees(log, robot), *_torque(log, robot)]
    facts = {}
    if light is not None and robot is not None:
        findings += _overspeed(log, light, robot)
    if light is not None and light.velocity is not None:
        found, slopes = _speeds(light)
        findings += found
        facts["speed_over_derivative"] = slopes
    return Checked(tuple(findings), facts)


def _signal(log: Log) -> list[Finding]:
    """A drive signal that nobody turned into a torque."""
    steps = [step for step in log.history if step.name == "drive signal"]
    if not steps or log.side == "motor" or any(step.name == "to joint side" for step in log.history):
        return []
    sentence = f"The torque channel holds {steps[-1].options['unit']}, not N m."
    remedy = "Give its gain in the mapping, or say the log is on the motor side of a robot with drive gains."
    return [defect("drive signal", "warning", sentence, remedy, "torque")]


def _degrees(log: Log, robot: Robot | None) -> list[Finding]:
    if log.side != "joint" or "position" not in log.channels:
        return []
    found, beyond = [], []
    for axis in range(log.axes):
        x = clean(log.channels["position"][:, axis])
        joint = None if robot is None else robot.joints[robot.coordinates[axis]]
        if len(x) == 0 or (joint is not None and joint.kind is JointKind.PRISMATIC):
            continue
        lower, upper = (-np.inf, np.inf) if joint is None else (joint.limits.lower, joint.limits.upper)
        margin = 0.05 * (upper - lower) if np.isfinite(upper - lower) else 0.0
        outside = x.min() < lower - margin or x.max() > upper + margin
        if np.max(np.abs(x)) > _TURNS and (outside or not np.isfinite(upper - lower)):
            beyond.append(axis + 1)
        elif outside:
            sentence = (
                f"position of axis {axis + 1} reaches {x.min():.3g} … {x.max():.3g} rad, outside its limits "
                f"{lower:.3g} … {upper:.3g} rad."
            )
            remedy = "Check offset, sign and order of the axes."
            found.append(defect("limits", "warning", sentence, remedy, "position", axis + 1))
    if beyond:
        shown = ", ".join(str(axis) for axis in beyond)
        most = np.max(np.abs(clean(log.channels["position"][:, beyond[0] - 1])))
        axes = "axes" if len(beyond) > 1 else "axis"
        sentence = (
            f"position of {axes} {shown} goes beyond two turns ({most:.4g} rad): degrees, or motor side?"
        )
        remedy = 'Say unit = "deg" or side = "motor" in the mapping.'
        found.append(defect("position unit", "error", sentence, remedy, "position", beyond[0]))
    return found


def _overspeed(log: Log, light: Light, robot: Robot) -> list[Finding]:
    """Speeds beyond what the joints can do: the unit of the stamps or of the positions is another."""
    if log.side != "joint":
        return []
    found = []
    for axis in range(log.axes):
        joint = robot.joints[robot.coordinates[axis]]
        speed = float(np.quantile(np.abs(light.qd[light.rows, axis]), 0.99)) if len(light.rows) else 0.0
        if joint.limits.velocity <= 0 or speed <= _OVERSPEED * joint.limits.velocity:
            continue
        unit = "m/s" if joint.kind is JointKind.PRISMATIC else "rad/s"
        ratio = speed / joint.limits.velocity
        sentence = (
            f"axis {axis + 1} moves at up to {speed:.3g} {unit}, {ratio:.2g} times its limit of "
            f"{joint.limits.velocity:.3g} {unit}."
        )
        remedy = "Check the unit of the stamps or the rate, and the unit of the positions."
        severity = "error" if ratio > _FAR_OVERSPEED else "warning"
        found.append(defect("overspeed", severity, sentence, remedy, "position", axis + 1))
    return found


def _torque(log: Log, robot: Robot | None) -> list[Finding]:
    """Torques far beyond, or far below, what the drives can give."""
    if robot is None or log.side != "joint" or "torque" not in log.channels:
        return []
    shares = []
    for axis in range(log.axes):
        x, limit = clean(log.channels["torque"][:, axis]), robot.joints[robot.coordinates[axis]].limits.effort
        if len(x) and np.isfinite(limit) and limit > 0:
            shares.append(float(np.quantile(np.abs(x), 0.999)) / limit)
    if not shares:
        return []
    middle, most = float(np.median(shares)), float(np.max(shares))
    if middle > 20:
        words, severity = "they may be in mN m, or on another side of the gears", "error"
    elif most < 1e-3:
        words, severity = "they may be in kN m, or motor torques", "error"
    elif most > _FAR_BEYOND:
        words, severity = "check unit, gain and gear ratio", "warning"
    else:
        return []
    sentence = f"The torques reach {100 * most:.3g} % of the robot's effort limits: {words}."
    return [defect("torque unit", severity, sentence, "Check unit, gain and side in the mapping.", "torque")]


def _speeds(light: Light) -> tuple[list[Finding], list[float | None]]:
    """Logged speeds against differences of the positions: slope 1 when both are what they say."""
    assert light.velocity is not None
    found: list[Finding] = []
    slopes: list[float | None] = []
    for axis in range(light.q.shape[1]):
        own, logged = light.qd[:, axis], light.velocity[:, axis]
        power = float(own @ own)
        if power == 0 or float(logged @ logged) == 0:
            slopes.append(None)
            continue
        slope = float(own @ logged) / power
        match = abs(float(own @ logged)) / np.sqrt(power * float(logged @ logged))
        slopes.append(slope)
        sentence = _speed_sentence(axis, slope, match)
        if sentence:
            remedy = "Correct unit, sign or columns in the mapping."
            severity = "error" if match > 0.9 else "warning"
            found.append(defect("speed and position", severity, sentence, remedy, "velocity", axis + 1))
    return found, slopes


def _speed_sentence(axis: int, slope: float, match: float) -> str:
    if match < 0.7:
        return f"velocity of axis {axis + 1} does not follow its position (correlation {match:.2f})."
    if slope < 0:
        return f"velocity of axis {axis + 1} has the opposite sign of its position's derivative."
    if 0.67 < slope < 1.5:
        return ""
    for words, scale in _SCALES.items():
        if 0.8 < slope / scale < 1.25:
            return f"velocity of axis {axis + 1} is {slope:.3g} times its position's derivative: {words}?"
    return f"velocity of axis {axis + 1} is {slope:.3g} times its position's derivative."
