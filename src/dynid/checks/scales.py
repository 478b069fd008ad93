"""Do units and scales fit? Degrees for radians, currents for torques, speeds against positions, limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid.checks.data_check import Checked
from dynid.checks.explained import TorqueColumns, plain_columns, robot_columns, unexplained_squares
from dynid.checks.light_motion import LightMotion
from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, Where
from dynid.logs.convert import TO_JOINT_SIDE
from dynid.logs.log import Log
from dynid.model.joint import Joint, JointKind
from dynid.model.robot import Robot
from dynid.preparation.column import column_statistics


@dataclass(frozen=True)
class ScaleLimits:
    """What units leave plausible. Chosen by hand, wide enough for limits in robot files that are not sharp.

    Args:
        turns_rad: angle beyond which a joint turns on and on, or is not in radians: two turns.
        better: residual with one reading of the unit over that with another, from which it is the right one;
        far_better: … without a robot, since plain columns explain much by chance; …
        hardly: … share of the torques left from which neither is, …
        well: … and below which the torques do not tell.
        margin: share of the range by which a joint may leave its limits.
        overspeed: speed over the limit, worth a word …
        far_overspeed: … and beyond which a unit may be another; degrees give 57.
        effort: largest torque over the effort limit, of any axis, worth a word.
        effort_too_large: the same as a median over the axes: mN m, or the other side of the gears.
        effort_too_small: largest of any axis: kN m, or motor torques; or limits that are placeholders, …
        effort_placeholder: … surely below this, or where all limits are alike.
        slope: logged speed over the derivative of the position, least and most.
        slope_of_unit: the same over a known ratio of units.
        follows: correlation of both, below which they have nothing to do with each other …
        clear: … and beyond which a wrong slope fails the log.
    """

    turns_rad: float = 4 * np.pi
    better: float = 0.8
    far_better: float = 0.3
    hardly: float = 0.5
    well: float = 0.1
    margin: float = 0.05
    overspeed: float = 1.2
    far_overspeed: float = 20.0
    effort: float = 2.0
    effort_too_large: float = 20.0
    effort_too_small: float = 1e-3
    effort_placeholder: float = 1e-5
    slope: tuple[float, float] = (0.67, 1.5)
    slope_of_unit: tuple[float, float] = (0.8, 1.25)
    follows: float = 0.7
    clear: float = 0.9


LIMITS = ScaleLimits()
_DEGREE = np.pi / 180
_RATIOS = {
    "the positions are in degrees and the speeds in rad/s": _DEGREE,
    "the speeds are in degrees per second and the positions in rad": 1 / _DEGREE,
    "the stamps are in milliseconds, not seconds": 1000.0,
    "the stamps are in seconds, not milliseconds": 1e-3,
}
"""Ratios of a logged speed to the derivative of its position that wrong units give."""


def check_scales(log: Log, motion: LightMotion | None, robot: Robot | None) -> Checked:
    """Units and scales of positions, speeds and torques.

    Args:
        log: some rows of the log, with its extremes, on the joint side where a robot is known.
        motion: the lightly filtered signals; None when there are too few.
        robot: its limits say what is plausible.
    """
    findings = [*_drive_signal(log), *_positions(log, robot), *_torques(log, robot)]
    if motion is None:
        return Checked(tuple(findings))
    if robot is not None:
        findings += _overspeed(log, motion, robot)
    if motion.velocity is None:
        return Checked(tuple(findings))
    found, slopes = _speeds(motion.qd, motion.velocity, motion.still_axes)
    return Checked((*findings, *found), {"speed_over_derivative": slopes})


def _joints(log: Log, robot: Robot | None) -> Iterator[tuple[int, Joint | None]]:
    """Axes from 0 with their joints, where these are known."""
    for axis in range(log.axes):
        yield axis, None if robot is None else robot.joints[robot.coordinates[axis]]


def _drive_signal(log: Log) -> list[Finding]:
    """A drive signal that nobody turned into a torque."""
    steps = [step for step in log.history if step.name == Name.DRIVE_SIGNAL]
    if not steps or log.side == "motor" or any(step.name == TO_JOINT_SIDE for step in log.history):
        return []
    sentence = f"The torque channel holds {steps[-1].options['unit']}, not N m."
    remedy = "Give its gain in the mapping, or say the log is on the motor side of a robot with drive gains."
    return [Finding(Name.DRIVE_SIGNAL, Level.CARE, sentence, remedy, Where(channel="torque"))]


def _positions(log: Log, robot: Robot | None) -> list[Finding]:
    """Positions outside the joints' limits; those of a robot file are often not those of the robot."""
    if robot is None or log.side != "joint" or "position" not in log.channels:
        return []
    beyond = {}
    for axis, joint in _joints(log, robot):
        usual = column_statistics(log.column("position", axis))
        lower, upper = (-np.inf, np.inf) if joint is None else (joint.limits.lower, joint.limits.upper)
        margin = LIMITS.margin * (upper - lower)
        if usual.least > usual.most or not np.isfinite(margin):
            continue
        if usual.least < lower - margin or usual.most > upper + margin:
            unit = "m" if joint is not None and joint.kind is JointKind.PRISMATIC else "rad"
            beyond[axis] = (
                f"position of axis {axis + 1} reaches {usual.least:.3g} … {usual.most:.3g} {unit}, outside "
                f"its limits {lower:.3g} … {upper:.3g} {unit}"
            )
    if not beyond:
        return []
    sentence = f"{'; '.join(beyond.values())} in the robot file."
    remedy = "Check offset, sign, unit and order of the axes; else the robot file's limits are not right."
    place = Where(channel="position", axis=next(iter(beyond)) + 1 if len(beyond) == 1 else None)
    return [Finding(Name.LIMITS, Level.NOTE, sentence, remedy, place)]


def check_turns(
    log: Log, motion: LightMotion, columns: Sequence[TorqueColumns], robot: Robot | None
) -> Checked:
    """Positions beyond two turns: joints that turn on and on, degrees, or the motor side?

    The torques decide: gravity and inertia turn with the angles, so only the right unit explains them.

    Args:
        log: some rows of the log, with its extremes, on the joint side where a robot is known.
        motion: the signals.
        columns: what may explain them.
        robot: whose columns they are; None for plain ones.
    """
    revolute = [joint is None or joint.kind is not JointKind.PRISMATIC for _, joint in _joints(log, robot)]
    farthest = {axis + 1: _farthest(log, axis) for axis in range(log.axes) if revolute[axis]}
    beyond = {axis: far for axis, far in farthest.items() if far > LIMITS.turns_rad}
    if not beyond or log.side != "joint":
        return Checked()
    scale = np.where(revolute, _DEGREE, 1.0)
    read = replace(motion, q=motion.q * scale, qd=motion.qd * scale, qdd=motion.qdd * scale)
    in_degrees = plain_columns(read) if robot is None else robot_columns(robot, read)[0]
    left, left_in_degrees = (_median_left(motion, parts) for parts in (columns, in_degrees))
    first, axes = min(beyond), "axes" if len(beyond) > 1 else "axis"
    shown = ", ".join(str(axis) for axis in beyond)
    seen = f"position of {axes} {shown} goes beyond two turns ({beyond[first]:.4g} rad)"
    told = f"{100 * left:.2g} % of the torques are left so, {100 * left_in_degrees:.2g} % if they are degrees"
    remedy = 'Say unit = "deg" or side = "motor" in the mapping.'
    level = Level.CARE
    better = LIMITS.better if robot is not None else LIMITS.far_better
    if left_in_degrees < better * left and left > LIMITS.well:
        sentence, level = f"{seen}: they are in degrees ({told}).", Level.FAIL
    elif left > LIMITS.hardly:
        sentence = f"{seen}: degrees, or motor side ({told})?"
        level = Level.FAIL if 2 * len(beyond) > len(farthest) and robot is not None else Level.CARE
    elif left < LIMITS.better * left_in_degrees:
        sentence, level, remedy = f"{seen} and turns on and on ({told}).", Level.NOTE, ""
    else:
        sentence = f"{seen}: does it turn on and on, or are these degrees, or motor side ({told})?"
    place = Where(channel="position", axis=first)
    return Checked((Finding(Name.POSITION_UNIT, level, sentence, remedy, place),))


def _farthest(log: Log, axis: int) -> float:
    usual = column_statistics(log.column("position", axis))
    return max(-usual.least, usual.most)


def _median_left(motion: LightMotion, columns: Sequence[TorqueColumns]) -> float:
    """Share of the torques that the columns leave, as a median over the axes that say something."""
    squares = unexplained_squares(motion, columns, np.zeros(1, dtype=np.intp))[0]
    known = squares[np.isfinite(squares)]
    return float(np.sqrt(np.median(known))) if len(known) else 1.0


def _overspeed(log: Log, motion: LightMotion, robot: Robot) -> list[Finding]:
    """Speeds beyond what the joints can do: the unit of the stamps or of the positions is another."""
    if log.side != "joint" or not len(motion.rows):
        return []
    found = []
    for axis, joint in _joints(log, robot):
        limit = 0.0 if joint is None else joint.limits.velocity
        speed = float(np.quantile(np.abs(motion.qd[motion.rows, axis]), 0.99))
        if joint is None or limit <= 0 or speed <= LIMITS.overspeed * limit:
            continue
        unit = "m/s" if joint.kind is JointKind.PRISMATIC else "rad/s"
        sentence = (
            f"axis {axis + 1} moves at up to {speed:.3g} {unit}, {speed / limit:.2g} times its limit of "
            f"{limit:.3g} {unit} in the robot file."
        )
        remedy = (
            "Check the unit of the stamps or the rate, and the unit of the positions; else the limit "
            "in the robot file is not right."
        )
        level = Level.CARE if speed / limit > LIMITS.far_overspeed else Level.NOTE
        place = Where(channel="position", axis=axis + 1)
        found.append(Finding(Name.OVERSPEED, level, sentence, remedy, place))
    return found


def _torques(log: Log, robot: Robot | None) -> list[Finding]:
    """Torques far beyond, or far below, what the drives can give."""
    if robot is None or log.side != "joint" or "torque" not in log.channels:
        return []
    shares, limits = list[float](), list[float]()
    for axis, joint in _joints(log, robot):
        limit = np.inf if joint is None else joint.limits.effort
        if not np.isfinite(limit) or limit <= 0:
            continue
        x = log.column("torque", axis)
        x = column_statistics(x).without_garbage(x)
        if len(x):
            shares.append(float(np.quantile(np.abs(x), 0.999)) / limit)
            limits.append(limit)
    if not shares:
        return []
    middle, most = float(np.median(shares)), float(np.max(shares))
    if middle > LIMITS.effort_too_large:
        words, level = "they may be in mN m, or on another side of the gears", Level.CARE
    elif most < LIMITS.effort_too_small:
        placeholders = len(set(limits)) == 1 or most < LIMITS.effort_placeholder
        words = "they may be in kN m, or motor torques; or the limits are placeholders"
        level = Level.NOTE if placeholders else Level.CARE
    elif most > LIMITS.effort:
        words, level = "check unit, gain and gear ratio", Level.NOTE
    else:
        return []
    sentence = f"The torques reach {100 * most:.3g} % of the robot's effort limits: {words}."
    remedy = "Check unit, gain and side in the mapping; else the robot file's limits are not right."
    place = Where(channel="torque")
    return [Finding(Name.TORQUE_UNIT, level, sentence, remedy, place)]


def _speeds(
    derivatives: FloatArray, logged: FloatArray, still: Sequence[int]
) -> tuple[list[Finding], list[float | None]]:
    """Logged speeds against differences of the positions: slope 1 when both are what they say."""
    found = list[Finding]()
    slopes = list[float | None]()
    for axis in range(derivatives.shape[1]):
        own, other = derivatives[:, axis], logged[:, axis]
        power, product, size = float(own @ own), float(own @ other), float(other @ other)
        if power == 0 or size == 0 or axis in still:
            slopes.append(None)
            continue
        slope, match = product / power, abs(product) / np.sqrt(power * size)
        slopes.append(slope)
        words = _wrong_slope(slope, match)
        if words:
            sentence = f"velocity of axis {axis + 1} {words}"
            remedy = "Correct unit, sign or columns in the mapping."
            level = Level.FAIL if match > LIMITS.clear else Level.CARE
            place = Where(channel="velocity", axis=axis + 1)
            found.append(Finding(Name.SPEED_AND_POSITION, level, sentence, remedy, place))
    return found, slopes


def _wrong_slope(slope: float, match: float) -> str:
    """What is wrong with a logged speed, in words; empty when nothing is."""
    if match < LIMITS.follows:
        return f"does not follow its position (correlation {match:.2f})."
    if slope < 0:
        return "has the opposite sign of its position's derivative."
    if LIMITS.slope[0] < slope < LIMITS.slope[1]:
        return ""
    seen = f"is {slope:.3g} times its position's derivative"
    for words, ratio in _RATIOS.items():
        if LIMITS.slope_of_unit[0] < slope / ratio < LIMITS.slope_of_unit[1]:
            return f"{seen}: {words}?"
    return f"{seen}."
