"""The data check: is a log fit to be fitted, and if not, why, and what to do; and its repair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid.checks.data_check import Checked, DataCheck, data_check
from dynid.checks.delay import PLAINLY, WITH_ROBOT, check_delay
from dynid.checks.excitation import check_excitation
from dynid.checks.explained import check_explained, plain_columns, robot_columns
from dynid.checks.gravity import check_gravity
from dynid.checks.held import check_held
from dynid.checks.light_motion import LightMotion, light_motion
from dynid.checks.scales import check_scales
from dynid.checks.signs import check_signs
from dynid.checks.stamps import check_stamps
from dynid.checks.steps import check_smoothness, check_steps
from dynid.checks.values import Columns, check_values, log_columns
from dynid.core.errors import LOG_HINT, ROBOT_HINT, NotTrustworthyError, require_kind, unknown_name
from dynid.core.finding import Finding, Level, Name
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.clock import LogClock, clock_of
from dynid.preparation.column import SAMPLED, stride
from dynid.preparation.repair import (
    REPAIRS,
    fill_damaged_lines,
    interpolate_spikes,
    restamp_clock,
    unwrap_positions,
)


@dataclass(frozen=True)
class LookedAt:
    """What of a long log is held against a model. More costs time and memory: filters take several copies.

    Args:
        samples: at most so many, from the middle of the longest stretch without a long gap.
        told_from: samples of a log from which that is told.
    """

    samples: int = 300_000
    told_from: int = 350_000


LOOKED_AT = LookedAt()
_FATAL = (Name.TOO_SHORT, Name.CLOCK, Name.MISSING_CHANNEL, Name.NO_MOTION)
"""Findings after which nothing else can be said."""


def check_log(log: Log, robot: Robot | None = None, base: Sequence[int] | None = None) -> DataCheck:
    """Judge a log: stamps, values, levels, units, signs, delay, and with a robot gravity and excitation.

    Every sample is looked at, in memory or on disk; a long log is held against a model in part. The log is
    not changed; what is repairable is named, and ``repair_log`` mends it on request.

    Args:
        log: raw, motor or joint side.
        robot: what was moved; its drives bring a motor-side log to the joints.
        base: its base parameters (indices of standard ones), where they are known; found when None.

    Raises:
        ShapeError: when the log's axes are not the robot's.
        ModelError: when the log is on the motor side and the robot has no drives.
    """
    require_kind(log, Log, "check", LOG_HINT)
    if robot is not None:
        require_kind(robot, Robot, "check", ROBOT_HINT)
    columns, clock = log_columns(log), clock_of(log)
    parts = [check_stamps(log, clock), check_values(log, columns), check_held(log, columns)]
    if _names(parts) & set(_FATAL):
        return data_check(log.name, parts)
    parts += [check_smoothness(columns), check_steps(log, columns, robot)]
    stretch = _mended_stretch(log, clock, _names(parts), robot)
    motion = light_motion(stretch, LOOKED_AT.samples)
    is_mended = bool(_names(parts) & {Name.SPIKES, Name.WRAPPED_POSITION})
    # Rows spread over a log cannot be mended: where that is needed, the stretch stands for all.
    short = log.samples <= LOOKED_AT.samples
    rows = stretch if short or is_mended else _on_joint_side(_spread_rows(log, columns), robot)
    parts.append(check_scales(rows, motion, robot))
    if motion is not None:
        parts += [_long_log(log, motion), *_against_model(stretch, motion, robot, base)]
    return data_check(log.name, parts)


def _names(parts: Sequence[Checked]) -> set[Name]:
    return {finding.name for part in parts for finding in part.findings}


def _on_joint_side(log: Log, robot: Robot | None) -> Log:
    return log if robot is None else to_joint_side(log, robot)


def _mended_stretch(log: Log, clock: LogClock, defects: set[Name], robot: Robot | None) -> Log:
    """The part of the log that is held against a model, with its defects taken back, on the joint side."""
    if log.samples > LOOKED_AT.samples:
        stretch, _ = clock.longest_stretch()
        first = max((stretch.start + stretch.stop - LOOKED_AT.samples) // 2, stretch.start)
        log = log.part(slice(first, min(first + LOOKED_AT.samples, stretch.stop)))
    if Name.DAMAGED_LINES in defects:
        log = fill_damaged_lines(log)
    if Name.CLOCK_SET_BACK in defects:
        log = restamp_clock(log)
    if Name.SPIKES in defects:
        log = interpolate_spikes(log)
    if Name.WRAPPED_POSITION in defects:
        log = unwrap_positions(log, robot)
    return _on_joint_side(log, robot)


def _spread_rows(log: Log, columns: Columns) -> Log:
    """Rows spread over a log, and those where a column has its least or largest value."""
    extremes = {at for axes in columns.values() for usual in axes for at in (usual.least_at, usual.most_at)}
    rows = [
        slice(None, None, stride(log.samples, SAMPLED.values)),
        *(slice(at, at + 1) for at in sorted(extremes - {-1})),
    ]
    time = np.concatenate([log.time[part] for part in rows])
    channels = {
        name: np.concatenate([values[part] for part in rows]) for name, values in log.channels.items()
    }
    return replace(log, time=time, channels=channels)


def _against_model(
    log: Log, motion: LightMotion, robot: Robot | None, base: Sequence[int] | None
) -> list[Checked]:
    """Checks that ask whether the motion explains the torques."""
    if robot is None:
        columns = plain_columns(motion)
        explained = check_explained(log, motion, columns, robot)
        return [check_delay(motion, columns, PLAINLY), check_signs(motion, columns), explained]
    columns, W = robot_columns(robot, motion)
    return [
        check_delay(motion, columns, WITH_ROBOT),
        check_signs(motion, columns),
        check_explained(log, motion, columns, robot),
        check_gravity(motion, robot, W),
        check_excitation(motion, robot, W, base),
    ]


def _long_log(log: Log, motion: LightMotion) -> Checked:
    """A long log is held against a model in part; that is said."""
    if log.samples <= LOOKED_AT.told_from:
        return Checked()
    sentence = (
        f"The log is long: delay, sign, gravity and excitation were looked at in {len(motion.q)} of its "
        f"{log.samples} samples, from the middle."
    )
    remedy = "Check other parts of it as logs of their own."
    return Checked((Finding(Name.LONG_LOG, Level.NOTE, sentence, remedy),))


def repair_log(log: Log, defects: Iterable[str] | None = None) -> Log:
    """Repair defects of a log; each repair becomes a step of its history.

    Args:
        log: the log.
        defects: names of the defects to repair, of ``REPAIRS``; all repairable ones that it has when None.

    Raises:
        UnknownNameError: for a defect that no repair is for.
        NotTrustworthyError: when a defect asked for is too bad to be repaired.
    """
    wanted = None if defects is None else tuple(defects)
    for name in wanted or ():
        if name not in REPAIRS:
            raise unknown_name("repair", name, [known.value for known in REPAIRS])
    findings = _repairable_findings(log)
    for name, repair in REPAIRS.items():
        here = [finding for finding in findings if finding.name is name]
        if not here or (wanted is not None and name not in wanted):
            continue
        if any(finding.repairable for finding in here):
            log = repair(log)
            findings = _repairable_findings(log)  # one repair may mend or show another defect
        elif wanted is not None:
            raise NotTrustworthyError(f"Log {log.name!r} cannot be repaired: {here[0].text}")
    return log


def _repairable_findings(log: Log) -> tuple[Finding, ...]:
    columns = log_columns(log)
    parts = (check_stamps(log, clock_of(log)), check_values(log, columns), check_steps(log, columns))
    return tuple(finding for part in parts for finding in part.findings)
