"""The data check: is a log fit to be fitted, and if not, why, and what to do; and its repair."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid.checks.counter_zero import check_counter_zero, with_ranges_by_torques
from dynid.checks.data_check import Checked, DataCheck, data_check
from dynid.checks.excitation import check_excitation
from dynid.checks.explained import TorqueColumns, check_explained, plain_columns, robot_columns
from dynid.checks.light_motion import LightMotion, light_motion
from dynid.checks.loops import check_loops
from dynid.checks.lost_samples import check_lost_samples
from dynid.checks.saturation import check_saturation
from dynid.checks.scales import check_scales, check_turns
from dynid.checks.stamps import LIMITS, check_gaps, check_stamps
from dynid.checks.states import check_motion, check_positions_held, check_torques_held
from dynid.checks.steps import check_smoothness, check_steps, check_wraps
from dynid.checks.values import check_numbers, check_reading, check_rows, check_stale, check_values
from dynid.core.errors import NotTrustworthyError, ShapeError, unknown_name
from dynid.core.finding import Finding, Level, Name
from dynid.core.kinds import require_kinds
from dynid.core.lazy import later
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log, Step
from dynid.logs.passive import with_passive_torques
from dynid.model.robot import Robot
from dynid.preparation.bad_rows import Columns, log_columns
from dynid.preparation.clock import clock_of
from dynid.preparation.column import SAMPLED, stride
from dynid.preparation.repair import REPAIRS, unwrap_positions


@dataclass(frozen=True)
class LookedAt:
    """What of a long log is held against a model. More costs time and memory: filters take several copies.

    Args:
        samples: at most so many, from the middle of the longest stretch without a long gap.
        told_from: samples of a log from which that is told.
        slower_hz: bands in which torques are looked at again that no parameters explain at 20 Hz …
        spare: … where half periods of the band are at least so many times the columns of a joint.
    """

    samples: int = 300_000
    told_from: int = 350_000
    slower_hz: tuple[float, ...] = (6.0, 2.0)
    spare: float = 4.0


LOOKED_AT = LookedAt()
_PASSES = 3
"""Passes of a repair at most; the second one changes something where defects hide each other."""
_FATAL = (Name.TOO_SHORT, Name.CLOCK, Name.CLOCK_SET_BACK, Name.MISSING_CHANNEL, Name.NO_MOTION)
"""Findings after which nothing else can be said, where they fail the log; the first three stop the stages."""
_STAGES: tuple[tuple[Callable[[Log, Columns, Robot | None], Checked], tuple[Name, ...]], ...] = (
    (check_reading, (Name.DAMAGED_LINES,)),
    (check_numbers, (Name.UNSIGNED_NUMBERS,)),
    (check_rows, (Name.GARBAGE_ROWS, Name.REPEATED_ROWS, Name.FROZEN_ROWS)),
    (
        check_stamps,
        (
            Name.COARSE_CLOCK,
            Name.CLOCK_SET_BACK,
            Name.CLOCK_SET_FORWARD,
            Name.LOST_STAMPS,
            Name.BACKWARD_STAMPS,
            Name.REPEATED_STAMPS,
        ),
    ),
    (check_wraps, (Name.WRAPPED_POSITION,)),
    (check_values, (Name.GARBAGE_VALUES, Name.MISSING_VALUES)),
    (check_stale, (Name.STALE_SAMPLES, Name.HELD_SAMPLES)),
    (check_steps, (Name.SPIKES,)),
    (check_gaps, ()),
    (check_lost_samples, ()),
)
"""What is looked at, and what is repaired before the next: wraps need time in order, holes are bridged in
what does not wrap, leaps need values.
Gaps are closed when all else is mended, and only for a fit."""
_ACCEPTED = "accepted findings"
_suspect_names = later("dynid.suspects.all_suspects", "suspect_names")
"""Step of a log with names of findings that its user knows better about."""


def check_log(
    log: Log,
    robot: Robot | None = None,
    base: Sequence[int] | None = None,
    *,
    accept: Iterable[str] = (),
) -> DataCheck:
    """Judge a log by itself: stamps, values, levels, units, states of the joints; with a robot excitation.

    Every sample is looked at, in memory or on disk; a long log is held against a model in part. The log is
    not changed; what is repairable is named, and ``repair_log`` mends it on request.

    Args:
        log: raw, motor or joint side.
        robot: what was moved; its drives bring a motor-side log to the joints.
        base: its base parameters (indices of standard ones), where they are known; found when None.
        accept: names of findings that you know better about: they are shown as notes.

    Raises:
        ShapeError: when the log's axes are not the robot's.
        ModelError: when the log is on the motor side and the robot has no drives.
    """
    require_kinds(check_log, locals(), "check")
    log = accept_findings(log, accept)
    if robot is not None and base is not None and not set(base) <= set(range(len(robot.table.names))):
        raise ShapeError(
            f"base is {list(base)}; give indices of the {len(robot.table.names)} standard parameters "
            f"of robot {robot.name!r}, from 0, or None to find it."
        )
    if robot is not None and log.axes == robot.n_coordinates:
        log = with_passive_torques(log, robot)
    stages, accepted = _run_stages(log, robot), accepted_names(log)
    log, columns = stages.log, stages.columns
    parts = [*stages.parts, check_counter_zero(log, robot)]
    parts += [check_saturation(log, columns), check_motion(columns)]
    if _fails(parts, _FATAL):
        return data_check(log.name, parts, accepted)
    parts += [check_smoothness(columns), check_positions_held(log, columns)]
    stretch = _on_joint_side(_looked_at(log), robot)
    motion = light_motion(stretch, LOOKED_AT.samples)
    rows = stretch if log.samples <= LOOKED_AT.samples else _on_joint_side(_spread_rows(log, columns), robot)
    parts += [check_scales(rows, motion, robot), check_loops(rows, robot)]
    if motion is not None and not _fails(parts, (Name.LOOP_NOT_CLOSED,)):
        parts += [_long_log(log, motion), *_against_model(stretch, rows, motion, robot, base)]
    return data_check(log.name, parts, accepted)


@dataclass(frozen=True, eq=False)
class _Stages:
    """A log as the repairs before the gaps leave it, what is usual in it, and what the stages found."""

    log: Log
    columns: Columns
    parts: tuple[Checked, ...]


def _run_stages(log: Log, robot: Robot | None = None, wanted: Container[str] | None = None) -> _Stages:
    """Look at a log stage by stage, each time as the repairs of the stages before would leave it.

    A row of garbage is no jump of a position: what is said of a log is said of what a repair leaves of it.

    Args:
        log: the log.
        robot: says which axes turn.
        wanted: names of defects to repair; all repairable ones when None.
    """
    columns, parts = log_columns(log), list[Checked]()
    for look, names in _STAGES:
        found = look(log, columns, robot)
        parts.append(found)
        if _fails([found], _FATAL[:3]):
            break
        mendable = {finding.name for finding in found.findings if finding.repairable}
        before = log
        for name in names:
            if name in mendable and (wanted is None or name in wanted):
                log = _unwrap(log, robot) if name is Name.WRAPPED_POSITION else REPAIRS[name](log)
        columns = columns if log is before else log_columns(log)
    return _Stages(log, columns, tuple(parts))


def _unwrap(log: Log, robot: Robot | None) -> Log:
    return with_ranges_by_torques(unwrap_positions(log, robot), robot)


def _fails(parts: Sequence[Checked], names: Container[Name]) -> bool:
    """Whether a finding of one of these names fails the log."""
    return any(f.name in names and f.level is Level.FAIL for part in parts for f in part.findings)


def _on_joint_side(log: Log, robot: Robot | None) -> Log:
    return log if robot is None else to_joint_side(log, robot)


def _looked_at(log: Log) -> Log:
    """The part of a log that is held against a model."""
    if log.samples <= LOOKED_AT.samples:
        return log
    stretch, _ = clock_of(log).longest_stretch()
    first = max((stretch.start + stretch.stop - LOOKED_AT.samples) // 2, stretch.start)
    return log.part(slice(first, min(first + LOOKED_AT.samples, stretch.stop)))


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
    return replace(log, time=time, channels=channels, made_up=None)


def _against_model(
    log: Log, rows: Log, motion: LightMotion, robot: Robot | None, base: Sequence[int] | None
) -> list[Checked]:
    """Checks that ask whether the motion explains the torques."""
    if robot is None:
        columns = plain_columns(motion)
        return [
            check_turns(rows, motion, columns, robot),
            check_explained(log, motion, columns, robot),
            check_torques_held(log, motion, columns),
        ]
    columns, W = robot_columns(robot, motion)
    return [
        check_turns(rows, motion, columns, robot),
        _explained_in_some_band(log, motion, columns, robot),
        check_torques_held(log, motion, columns, robot, W),
        check_excitation(motion, robot, W, base),
    ]


def _explained_in_some_band(
    log: Log, motion: LightMotion, columns: Sequence[TorqueColumns], robot: Robot
) -> Checked:
    """What no parameters explain, in slower and slower bands: coarse encoders hide slow accelerations."""
    found = check_explained(log, motion, columns, robot)
    seconds, width = float(motion.time[-1] - motion.time[0]), max(part.basis.shape[1] for part in columns)
    for cutoff_hz in LOOKED_AT.slower_hz:
        enough = 2.0 * cutoff_hz * seconds >= LOOKED_AT.spare * width
        slow = light_motion(log, LOOKED_AT.samples, cutoff_hz) if found.findings and enough else None
        if slow is not None:
            found = check_explained(log, slow, robot_columns(robot, slow)[0], robot)
    return found


def _long_log(log: Log, motion: LightMotion) -> Checked:
    """A long log is held against a model in part; that is said."""
    if log.samples <= LOOKED_AT.told_from:
        return Checked()
    sentence = (
        f"The log is long: excitation and held torques were looked at in {len(motion.q)} of its "
        f"{log.samples} samples, from the middle."
    )
    remedy = "Check other parts of it as logs of their own."
    return Checked((Finding(Name.LONG_LOG, Level.NOTE, sentence, remedy),))


def may_be_accepted(name: Name) -> bool:
    """Whether a fit can do without what a finding of a log is about."""
    every = list(Name)
    return every.index(name) < every.index(Name.LOG_CHECKED) and name not in (*_FATAL, Name.LOOP_NOT_CLOSED)


def accept_findings(log: Log, names: Iterable[str]) -> Log:
    """The log with findings that its user knows better about; a step of its history says which.

    ``check_log`` shows them as notes, so that they neither refuse the log nor lower a verdict.

    Args:
        log: the log.
        names: of findings, such as "stuck channel"; "stuck-channel" is the same. One may stand alone. The
            name of a suspect, such as "delay@2", means that one alone.

    Raises:
        UnknownNameError: for a name that no finding of a log has.
    """
    known = [name.value for name in Name if may_be_accepted(name)]
    given = (names,) if isinstance(names, str) else names
    # The joints of a suspect's name keep their dash: "inertia coupling@1-2".
    split = (name.partition("@") if name not in known else (name, "", "") for name in given)
    wanted = [(head if head in known else head.replace("-", " ")) + at + joint for head, at, joint in split]
    for name in wanted:
        if name not in known and name.partition("@")[0] not in _suspect_names():
            raise unknown_name("finding to accept", name, (*known, *_suspect_names()))
    if not wanted:
        return log
    note = f"Accepted by the user, whatever the data check finds: {', '.join(wanted)}."
    return log.with_step(Step(_ACCEPTED, {"findings": wanted}, note))


def accepted_names(log: Log) -> set[str]:
    """Names of findings that the log's user has accepted."""
    return {name for step in log.history if step.name == _ACCEPTED for name in step.options["findings"]}


def repair_log(log: Log, defects: Iterable[str] | None = None, robot: Robot | None = None) -> Log:
    """Repair defects of a log; each repair becomes a step of its history.

    Args:
        log: the log.
        defects: names of the defects to repair, of ``REPAIRS``; all repairable ones that it has when None.
        robot: what was moved: says which axes turn, and by its torques in which range a counter stands.

    Raises:
        UnknownNameError: for a defect that no repair is for.
        NotTrustworthyError: when a defect asked for is too bad to be repaired.
    """
    require_kinds(repair_log, locals(), "repair")
    wanted = None if defects is None else (defects,) if isinstance(defects, str) else tuple(defects)
    for name in wanted or ():
        if name not in REPAIRS:
            raise unknown_name("repair", name, [known.value for known in REPAIRS])
    for _ in range(_PASSES):  # what is left out may show other defects
        mended = _repaired_once(log, wanted, robot)
        if mended is log:
            break
        log = mended
    return log


def split_log(log: Log, robot: Robot | None = None) -> tuple[Log, ...]:
    """Every stretch of a log between long gaps as a log of its own, repaired.

    Args:
        log: the log.
        robot: as in ``repair_log``.
    """
    require_kinds(split_log, locals())
    log = _run_stages(log, robot).log
    clock, parts = clock_of(log), list[Log]()
    runs = [run for run in clock.stretches() if run.stop - run.start >= LIMITS.fewest]
    for number, run in enumerate(runs, start=1):
        first, last = clock.stamp_before(run.start), clock.stamp_before(run.stop - 1)
        note = f"Rows {first + 1} to {last + 1}, a stretch without a long gap."
        part = log.part(slice(first, last + 1)).with_step(Step("part", {"rows": [first, last]}, note))
        parts.append(repair_log(replace(part, name=f"{log.name}-{number}"), robot=robot))
    return tuple(parts)


def _repaired_once(log: Log, wanted: Sequence[str] | None, robot: Robot | None) -> Log:
    """One pass over all stages and the gaps; the same log when there is nothing to repair."""
    stages = _run_stages(log, robot, wanted)
    found = [finding for part in stages.parts for finding in part.findings]
    for name in wanted or ():
        here = [finding for finding in found if finding.name == name]
        if here and not any(finding.repairable for finding in here):
            raise NotTrustworthyError(f"Log {log.name!r} cannot be repaired: {here[0].text}")
    log = stages.log
    for name in (Name.LONG_GAPS, Name.SHORT_GAPS, Name.JITTER):
        again = {f.name for f in check_gaps(log, stages.columns).findings if f.repairable}
        if name in again and (wanted is None or name in wanted):
            log = REPAIRS[name](log)
    return log
