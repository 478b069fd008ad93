"""Where is the zero of a counter that wraps? Known up to whole ranges only; the torques may say more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dynid.checks.data_check import Checked
from dynid.checks.explained import COLUMNS, robot_regressor, visible_sizes
from dynid.checks.light_motion import LightMotion, light_motion
from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, Where
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log, Step, mend_axes
from dynid.model.robot import Robot
from dynid.preparation.repair import counter_ranges


@dataclass(frozen=True)
class RangeRules:
    """When the torques say in which range a counter stands. Set on half of a population (docs/data-check.md).

    Args:
        fewest: ranges to each side that are tried at least; half a turn of the joint where that is more …
        most: … but at most so many.
        samples: of the log, at most, from its middle.
        rows: at which the robot's columns are evaluated.
        clear: what the second best range leaves of the torques, over what the best one leaves.
        same: change of the columns, over their size, below which the zero of an axis does not matter.
        rounds: over all such axes.
    """

    fewest: int = 3
    most: int = 12
    samples: int = 100_000
    rows: int = 300
    clear: float = 1.05
    same: float = 1e-9
    rounds: int = 2


RANGES = RangeRules()
_CHOSEN = "range of a counter"
"""Step of a log whose counters the torques have put into their ranges."""


def with_ranges_by_torques(log: Log, robot: Robot | None) -> Log:
    """The log with counters in those ranges in which the robot explains the torques best; a step says which.

    Args:
        log: unwrapped.
        robot: what was moved; nothing is chosen without.
    """
    ranges = counter_ranges(log)
    if robot is None or not ranges or log.axes != robot.n_coordinates or "torque" not in log.channels:
        return log
    middle = slice(max((log.samples - RANGES.samples) // 2, 0), (log.samples + RANGES.samples) // 2)
    motion = light_motion(to_joint_side(log.part(middle), robot), RANGES.samples)
    if motion is None:
        return log
    turns, known = dict.fromkeys(ranges, 0), dict.fromkeys(ranges, False)
    for _ in range(RANGES.rounds):
        for axis, modulus in ranges.items():
            others = _joint_shift(log, robot, {a: turns[a] * ranges[a] for a in ranges if a != axis})
            one = _joint_shift(log, robot, {axis: modulus})
            turns[axis], known[axis] = _best_range(motion, robot, others, one)
    return _in_ranges(log, ranges, turns, known)


def _joint_shift(log: Log, robot: Robot, shifts: Mapping[int, float]) -> FloatArray:
    """By how much joints move when raw positions are shifted, (coordinates,)."""
    rows = np.zeros((2, log.axes))
    for axis, shift in shifts.items():
        rows[1, axis] = shift
    raw = replace(log, time=np.arange(2.0), channels={"position": rows}, made_up=None)
    q = to_joint_side(raw, robot).array("position")
    return np.asarray(q[1] - q[0])


def _best_range(motion: LightMotion, robot: Robot, others: FloatArray, one: FloatArray) -> tuple[int, bool]:
    """The number of ranges at which least of the torques is left, and whether that is clear.

    It is also clear where no other range is another place for the torques.
    """
    most = int(np.clip(np.ceil(np.pi / np.abs(one).max()), RANGES.fewest, RANGES.most))
    counts = sorted(range(-most, most + 1), key=abs)
    some = motion.rows[:: max(1, len(motion.rows) // RANGES.rows)]
    qd, qdd, tau = motion.qd[some], motion.qdd[some], motion.tau[some]
    spread = np.std(tau, axis=0)
    seen = np.flatnonzero(spread > COLUMNS.stuck * np.max(np.abs(tau), initial=0.0))
    made = [robot_regressor(robot, motion.q[some] + others + k * one, qd, qdd) for k in counts]
    left = [_left(W[seen], tau[:, seen], qd[:, seen], spread[seen]) for W in made]
    best = int(np.argmin(left))
    apart = [np.max(np.abs(W - made[best])) > RANGES.same * np.max(np.abs(W)) for W in made]
    second = min((share for share, other in zip(left, apart, strict=True) if other), default=np.inf)
    inside = abs(counts[best]) < most or not any(apart)
    clear = inside and second > RANGES.clear * left[best]
    return (counts[best] if clear else 0), clear


def _left(W: FloatArray, tau: FloatArray, qd: FloatArray, spread: FloatArray) -> float:
    """What one set of parameters, and friction of each axis, leave of the torques over their spread."""
    axes, count, columns = W.shape
    A = np.zeros((axes, count, columns + 3 * axes))
    A[:, :, :columns] = W
    for j in range(axes):
        A[j, :, columns + 3 * j : columns + 3 * (j + 1)] = np.stack(
            [qd[:, j], np.sign(qd[:, j]), np.ones(count)], axis=1
        )
    rows = (A / spread[:, None, None]).reshape(axes * count, -1)
    sizes, y = visible_sizes(rows), (tau / spread).T.reshape(-1)
    unit = rows[:, sizes > 0] / sizes[sizes > 0]
    x = np.linalg.lstsq(unit, y, rcond=COLUMNS.rank)[0]
    return float(np.linalg.norm(y - unit @ x))


def _in_ranges(
    log: Log, ranges: Mapping[int, float], turns: Mapping[int, int], known: Mapping[int, bool]
) -> Log:
    def shift(channel: str, axis: int, x: FloatArray) -> tuple[FloatArray, int]:
        return x + turns.get(axis, 0) * ranges.get(axis, 0.0), abs(turns.get(axis, 0))

    channels, counts = mend_axes(log, ("position",), shift)
    settled = [axis + 1 for axis in ranges if known[axis]]
    moved = ", ".join(f"{count} of {name}" for name, count in counts.items())
    note = f"Whole ranges were added where the torques say so ({moved})." if moved else ""
    step = Step(_CHOSEN, {"ranges": counts, "known": settled}, note)
    return replace(log, channels=channels if counts else log.channels, history=(*log.history, step))


def check_counter_zero(log: Log, robot: Robot | None) -> Checked:
    """Axes of a counter that was unwrapped, whose zero neither its range nor the torques say.

    Args:
        log: unwrapped, its history says by what.
        robot: what was moved, if known.
    """
    known = {axis for step in log.history if step.name == _CHOSEN for axis in step.options["known"]}
    findings = []
    for axis, modulus in counter_ranges(log).items():
        if axis + 1 in known:
            continue
        sentence = (
            f"position of axis {axis + 1} was unwrapped from a counter: its zero is known up to whole ranges "
            f"of {modulus:.6g} only, and the range nearest zero is taken."
        )
        remedy = (
            "Give the robot to the repair (--robot, robot=): its torques may tell the range."
            if robot is None
            else "Make sure of it: the torques do not tell, and the parameters of its link turn with it."
        )
        place = Where(channel="position", axis=axis + 1)
        level = Level.NOTE if robot is None else Level.CARE
        findings.append(Finding(Name.COUNTER_ZERO, level, sentence, remedy, place, {"range": modulus}))
    return Checked(tuple(findings))
