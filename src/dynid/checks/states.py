"""In which state is a joint: driven, held or undriven? And is a channel stuck or frozen that should live?

A joint may rest, be held by control or a brake, or have no motor that works: that is sound. A channel is
broken when it repeats a value and something else contradicts it: a position that stops or leaps as no body
does, a logged speed that goes on, a torque that the model of the rest of the log does not give.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dynid.checks.data_check import Checked
from dynid.checks.explained import COLUMNS, TorqueColumns, unexplained_squares, visible_sizes
from dynid.checks.light_motion import LightMotion
from dynid.core.arrays import BoolArray, FloatArray
from dynid.core.errors import option_words
from dynid.core.finding import Finding, Level, Name, Where
from dynid.logs.log import Log
from dynid.logs.passive import undriven_by_mapping
from dynid.model.robot import Robot
from dynid.preparation.bad_rows import ROWS, Columns
from dynid.preparation.column import ColumnStatistics, run_ends


@dataclass(frozen=True)
class StateRules:
    """When a held value is broken. Set on some logs of ``tests/support/state_logs.py``.

    The table of docs/data-check.md shows false alarms and detections on others.

    Args:
        samples: shortest hold that is looked at …
        share: … and as a share of the log.
        abrupt: speed with which a position enters or leaves a hold, over the change of its speed between
            samples that one in a hundred exceeds: bodies stop gradually, …
        speed: … and over the speed that one sample in ten exceeds: a reference may begin with a small one.
        path: what a logged speed adds up to during a hold, as a share of the travel, that contradicts it.
        moved: share of its travel that an axis must go through while its torque is held …
        rows: … with so many rows of the light motion.
        usual: share of the log in other stretches from which on held torques are usual; then …
        longer: … length of a freeze over the median of theirs.
        contradiction: residual of the model inside such a stretch over that outside, fitted outside …
        visible: … and as a share of the torque's spread.
        free: what a torque that is constant throughout leaves unexplained, over the torque of the axis' own
            inertia, with parameters that the other axes fix: below, the joint moves by itself.
        explained: share of their torques that the others may leave for that; beyond, they do not tell.
        light: weight of the axis in question over that of the others in that fit.
    """

    samples: int = 20
    share: float = 0.01
    abrupt: float = 3.5
    speed: float = 0.3
    path: float = 0.05
    moved: float = 0.02
    rows: int = 5
    usual: float = 0.25
    longer: float = 8.0
    contradiction: float = 4.0
    visible: float = 0.15
    free: float = 0.55
    explained: float = 0.15
    light: float = 1e-4


STATES = StateRules()


def check_motion(columns: Columns) -> Checked:
    """Whether anything moves at all."""
    axes = columns.get("position", ())
    if not axes or any(usual.span > 0 for usual in axes):
        return Checked()
    sentence, remedy = "No axis moves in the whole log.", "Record a motion of the robot."
    return Checked((Finding(Name.NO_MOTION, Level.FAIL, sentence, remedy, Where(channel="position")),))


def check_positions_held(log: Log, columns: Columns) -> Checked:
    """Positions that do not change, in the whole log or for a while, and whether that is a rest or a fault.

    Args:
        log: raw.
        columns: what is usual in its columns.
    """
    findings: list[Finding] = []
    for axis, usual in enumerate(columns.get("position", ())):
        if usual.span == 0:
            findings.append(_held_throughout(log, axis, columns))
        else:
            findings += _frozen_position(log, axis, usual, columns)
    return Checked(tuple(findings))


def _held_throughout(log: Log, axis: int, columns: Columns) -> Finding:
    place = Where(channel="position", axis=axis + 1, moment="whole log")
    widest = max(usual.travel for usual in columns["position"])
    path = _logged_path(log, axis, slice(None), columns)
    if path > STATES.path * widest:
        sentence = (
            f"position of axis {axis + 1} does not change in the whole log, while its logged speed adds up "
            f"to {path:.3g}: the channel is stuck."
        )
        return Finding(Name.STUCK_CHANNEL, Level.FAIL, sentence, "Check the column of the position.", place)
    sentence = f"axis {axis + 1} is held in its place in the whole log."
    remedy = "Its own friction cannot be seen; move it in another log, or leave its parameters out."
    return Finding(Name.HELD_AXIS, Level.NOTE, sentence, remedy, place)


def _logged_path(log: Log, axis: int, rows: slice, columns: Columns) -> float:
    """Width of what the logged speed adds up to over some rows; 0 without a speed."""
    if "velocity" not in log.channels:
        return 0.0
    usual, v = columns["velocity"][axis], log.channels["velocity"][rows, axis]
    step = np.diff(log.time[rows], prepend=log.time[rows][:1])
    sane = np.isfinite(step) & (step >= 0) & (np.abs(v) <= max(abs(usual.low), abs(usual.high)))
    return float(np.ptp(np.cumsum(np.where(sane, v, 0.0) * np.where(sane, step, 0.0)))) if len(v) else 0.0


def _held_stretches(x: FloatArray) -> Iterator[tuple[int, int]]:
    """First sample and end of every stretch of one value that is long enough to be looked at."""
    starts, stops = run_ends(x[1:] == x[:-1])
    fewest = max(STATES.samples, STATES.share * len(x))
    for k in np.flatnonzero(stops - starts + 1 >= fewest):
        yield int(starts[k]), int(stops[k]) + 1


def _frozen_position(log: Log, axis: int, usual: ColumnStatistics, columns: Columns) -> list[Finding]:
    """The first hold that the position enters or leaves as no body does, or that a speed contradicts."""
    x = log.column("position", axis)
    first, second, third = usual.threes.T
    gradual = float(np.quantile(np.abs(third - 2 * second + first), 0.99)) if len(first) else 0.0
    travel = max(usual.travel, STATES.path * max(other.travel for other in columns["position"]))
    for start, stop in _held_stretches(x):
        others = log.channels["position"][start:stop]
        if log.axes > 1 and not np.any(others[1:] != others[:-1]):
            continue  # all axes stand still together: the robot, or the log, pauses; a leap behind is a jump
        slow = max(STATES.abrupt * gradual, STATES.speed * usual.usual_change, 1e-9 * usual.span)
        abrupt = _speed_at_ends(x, start, stop) > slow
        path = _logged_path(log, axis, slice(start, stop), columns)
        if not abrupt and path <= STATES.path * travel:
            continue
        why = "which it enters or leaves as no body can" if abrupt else "while its logged speed goes on"
        sentence = (
            f"position of axis {axis + 1} stays at {x[start]:.4g} for {stop - start} samples, {why}: the "
            "channel froze."
        )
        return [_freeze(log, sentence, "position", axis, start)]
    return []


def _speed_at_ends(x: FloatArray, start: int, stop: int) -> float:
    """The larger change per sample just before and just after a stretch, over three samples."""
    before = abs(x[start] - x[start - 3]) / 3 if start >= 3 else 0.0
    after = abs(x[stop + 2] - x[stop - 1]) / 3 if stop + 2 < len(x) else 0.0
    return float(max(before, after))


def _freeze(
    log: Log, sentence: str, channel: str, axis: int, start: int, level: Level = Level.FAIL
) -> Finding:
    remedy = "Cut the stretch out of the log and give the pieces as experiments of their own."
    place = Where(channel=channel, axis=axis + 1, moment=f"t = {log.time[start]:.4f} s")
    return Finding(Name.FROZEN_CHANNEL, level, sentence, remedy, place)


def check_torques_held(
    log: Log,
    motion: LightMotion,
    parts: Sequence[TorqueColumns],
    robot: Robot | None = None,
    W: FloatArray | None = None,
) -> Checked:
    """Torques that do not change, in the whole log or for a while, held against the motion.

    Args:
        log: what the motion was made of.
        motion: the signals.
        parts: what may explain each axis.
        robot: which joints are driven; all when None.
        W: its regressor at ``motion.rows``.
    """
    axes = range(log.axes)
    driven = (True,) * log.axes if robot is None else robot.driven
    constant = [bool(np.ptp(log.column("torque", axis)) < ROWS.tiny) for axis in axes]
    alive = [axis for axis in axes if not constant[axis]]
    findings: list[Finding] = []
    for axis in axes:
        if not driven[axis]:
            torque = "its torque is zero" if constant[axis] else "its torque is taken as logged"
            findings.append(_undriven(f"axis {axis + 1} has no motor in the robot file: {torque}.", axis))
        elif not constant[axis]:
            findings += _frozen_torque(
                log, motion, parts[axis], axis, Level.CARE if W is None else Level.FAIL
            )
        elif axis not in motion.still_axes:
            share = None if W is None else _left_when_free(motion, parts, axis, alive, W)
            value = float(log.column("torque", axis)[0]) + 0.0
            findings.append(_constant_torque(value, axis, share, axis in undriven_by_mapping(log)))
    if not alive:
        findings.append(_NO_TORQUE)
    return Checked(tuple(findings))


_NO_TORQUE = Finding(
    Name.STUCK_CHANNEL,
    Level.FAIL,
    "No torque changes in the whole log: motion without a torque gives ratios of parameters only.",
    "Check the columns of the torques, or add a log in which a motor works.",
    Where(channel="torque"),
)


def _undriven(sentence: str, axis: int) -> Finding:
    return Finding(Name.UNDRIVEN_AXIS, Level.NOTE, sentence, "", Where(channel="torque", axis=axis + 1))


def _constant_torque(value: float, axis: int, share: float | None, said: bool) -> Finding:
    """What a torque that never changes means.

    Args:
        value: the torque.
        axis: from 0.
        share: what the axis then misses, over the torque of its own inertia; None when nothing can be said.
        said: whether a mapping says that no motor drives the axis.
    """
    seen, place = f"torque of axis {axis + 1} is {value:.4g} in every sample", Where("", "torque", axis + 1)
    if share is None and said:
        return _undriven(f"{seen}, as the mapping says: no motor drives it.", axis)
    if share is None:
        sentence = f"{seen}: its motor was off, or the channel is stuck."
        remedy = "Give the robot to tell which; where that does not tell, make sure that the motor was off."
        return Finding(Name.STUCK_CHANNEL, Level.CARE, sentence, remedy, place)
    left = f"{100 * share:.0f} % of the torque of its own inertia are left"
    if share < STATES.free:
        sentence = f"{seen}, and the axis moves as it would by itself ({left}): its motor is taken to be off."
        return _undriven(sentence, axis)
    if said:
        sentence = f"{seen}, as the mapping says, but the axis does not move as it would by itself ({left})."
        remedy = (
            "Check axes under [torque] of the mapping, gravity in the robot file, and the zeros of the axes."
        )
        return Finding(Name.UNDRIVEN_AXIS, Level.CARE, sentence, remedy, place)
    sentence = f"{seen}, but the axis does not move as it would by itself ({left}): the channel is stuck."
    remedy = (
        "Check the column, or the drive's reading; if its motor was off, say actuated = false for the joint "
        f"in the robot file, or {option_words('--accept', 'stuck channel')}."
    )
    return Finding(Name.STUCK_CHANNEL, Level.FAIL, sentence, remedy, place)


def _left_when_free(
    motion: LightMotion, parts: Sequence[TorqueColumns], axis: int, others: Sequence[int], W: FloatArray
) -> float | None:
    """What an axis misses without a torque, over the torque of its own inertia; None when others do not tell.

    The other axes fix the parameters that they share with it; what they leave open is chosen to suit it.

    Args:
        motion: the signals.
        parts: columns of the axes; those behind the robot's are friction that its file does not name.
        axis: from 0.
        others: axes whose torques live.
        W: the robot's regressor at ``motion.rows``.
    """
    left_of = np.sqrt(unexplained_squares(motion, parts, np.zeros(1, dtype=np.intp))[0])
    if not others or np.median(left_of[others]) > STATES.explained:
        return None
    tau, part = motion.tau[motion.rows], parts[axis]
    friction = part.values[:, W.shape[2] :]
    spread = np.std(tau[:, others], axis=0)
    weights = [*(1.0 / spread), STATES.light / float(np.max(spread))]
    rows = [
        w * np.hstack([W[k], friction * (k == axis)]) for w, k in zip(weights, (*others, axis), strict=True)
    ]
    y = np.concatenate([w * tau[:, k] for w, k in zip(weights, (*others, axis), strict=True)])
    stack = np.concatenate(rows)
    sizes = visible_sizes(stack)
    seen = sizes > 0
    x = np.zeros(len(sizes))
    x[seen] = np.linalg.lstsq(stack[:, seen] / sizes[seen], y, rcond=COLUMNS.rank / 10)[0] / sizes[seen]
    left = part.values @ x - tau[:, axis]
    inertia = abs(float(part.inertia @ x)) * float(np.linalg.norm(motion.qdd[motion.rows, axis]))
    return float(np.linalg.norm(left)) / inertia if inertia > 0 else np.inf


def _frozen_torque(
    log: Log, motion: LightMotion, part: TorqueColumns, axis: int, level: Level
) -> list[Finding]:
    """The first stretch of one torque in which the axis moves as the rest of the log says it would not."""
    tau, x = log.column("torque", axis), motion.q[motion.rows, axis]
    moments, stretches = motion.time[motion.rows], list(_held_stretches(tau))
    lengths = np.array([stop - start for start, stop in stretches])
    for k, (start, stop) in enumerate(stretches):
        others = np.delete(lengths, k)
        if others.sum() > STATES.usual * len(tau) and lengths[k] < STATES.longer * np.median(others):
            continue  # the torque is coarse, or commanded in steps
        if tau[start] != 0 and tau[start] in (tau.min(), tau.max()):
            continue  # saturation says more
        inside = (moments >= log.time[start]) & (moments <= log.time[stop - 1])
        if inside.sum() < STATES.rows or np.ptp(x[inside]) < STATES.moved * np.ptp(x):
            continue
        ratio, share = _contradiction(motion, part, axis, inside)
        if ratio > STATES.contradiction and share > STATES.visible:
            sentence = (
                f"torque of axis {axis + 1} stays at {tau[start]:.4g} for {stop - start} samples while the "
                f"axis moves on, and misses what the rest of the log says by {ratio:.0f} times the usual: "
                "the channel froze."
            )
            return [_freeze(log, sentence, "torque", axis, start, level)]
    return []


def _contradiction(
    motion: LightMotion, part: TorqueColumns, axis: int, inside: BoolArray
) -> tuple[float, float]:
    """Residual inside a stretch over that outside, where the columns are fitted; and over the spread."""
    y = motion.tau[motion.rows, axis]
    if np.count_nonzero(~inside) < 3 * np.count_nonzero(part.sizes):
        return 0.0, 0.0
    seen = part.sizes > 0
    A = part.values[:, seen] / part.sizes[seen]
    x = np.linalg.lstsq(A[~inside], y[~inside], rcond=1e-4)[0]
    left = y - A @ x
    outside = float(np.sqrt(np.mean(left[~inside] ** 2)))
    within = float(np.sqrt(np.mean(left[inside] ** 2)))
    spread = float(np.std(y)) or 1.0
    return within / max(outside, 1e-6 * spread), within / spread
