"""The data check: is a log fit to be fitted, and if not, why, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dynid.checks.columns import plain_columns, robot_columns
from dynid.checks.delay import EXPLAINED, EXPLAINED_PLAINLY, check_delay, unexplained
from dynid.checks.excitation import check_excitation
from dynid.checks.finding import Checked, DataCheck, defect, judged
from dynid.checks.gravity import check_gravity
from dynid.checks.light import MOST_SAMPLES, Light, light_motion
from dynid.checks.mend import sound
from dynid.checks.piece import piece_of
from dynid.checks.scales import check_scales
from dynid.checks.scan import Scan
from dynid.checks.signs import check_signs
from dynid.checks.smoothness import ROUGH, roughness
from dynid.checks.survey import Survey, survey_log
from dynid.checks.surveyor import Surveyor
from dynid.core.errors import DynidError
from dynid.core.finding import Finding
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.model.robot import Robot

__all__ = ["CheckedChunks", "DataCheck", "Finding", "check_chunks", "check_log"]

_LONG = 350_000
"""Samples beyond which a part of the log stands for all of it against a model."""
_PIECE = 250_000
"""Samples of a log in memory that are looked at together."""
_HARDLY, _NOT_AT_ALL = 0.5, 0.9
"""Share of the torques left by a plain fit, as a median over the axes: worth a warning, and an error."""


@dataclass(frozen=True, eq=False)
class CheckedChunks:
    """The judgement of a log that was read in chunks.

    Args:
        check: the judgement.
        rows: rows spread over the log, with its name, side, sources and full history.
        samples: length of the whole log.
    """

    check: DataCheck
    rows: Log
    samples: int


def check_log(log: Log, robot: Robot | None = None, base: Sequence[int] | None = None) -> DataCheck:
    """Judge a log: stamps, values, levels, units, signs, delay, and with a robot gravity and excitation.

    The log is not changed; what is repairable is named, and ``repair_log`` mends it on request.

    Args:
        log: raw, motor or joint side.
        robot: what was moved; its drives bring a motor-side log to the joints.
        base: its base parameters (indices of standard ones), where they are known; found when None.

    Raises:
        ShapeError: when the log's axes are not the robot's.
        ModelError: when the log is on the motor side and the robot has no drives.
    """
    if log.on_disk:
        parts = [slice(at, at + _PIECE) for at in range(0, log.samples, _PIECE)]
        return check_chunks(lambda: (log.part(rows) for rows in parts), robot, base).check
    survey = survey_log(log)
    scan = Scan(survey, robot)
    for first in range(0, max(log.samples, 1), _PIECE):
        scan.take(piece_of(log.part(slice(first, first + _PIECE)), survey, first))
    raw, more = scan.finish()
    if not more:
        return judged(log.name, tuple(raw))
    joint = _sound(log, raw, robot)
    light = light_motion(joint)
    return judged(log.name, (*raw, *_of_motion(joint, joint, light, log.samples, robot, base)))


def check_chunks(
    chunks: Callable[[], Iterable[Log]],
    robot: Robot | None = None,
    base: Sequence[int] | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> CheckedChunks:
    """Judge a log that is read in chunks, with memory that does not depend on its length.

    It is read twice: what is usual is found first, then every sample is looked at. Findings are those of
    ``check_log``, wherever the chunks are cut. A stretch from the middle is held against a model, and units
    and limits are looked at in rows spread over the log.

    Args:
        chunks: opens the log anew and gives its chunks in order of time.
        robot: as in ``check_log``.
        base: as in ``check_log``.
        progress: told after each chunk how many samples were read, both times together.

    Raises:
        DynidError: when the log has no samples.
    """
    surveyor, read = Surveyor(), 0
    for log in chunks():
        surveyor.take(log)
        read += log.samples
        progress(read)
    if read == 0:
        raise DynidError("The log holds no samples.")
    survey = surveyor.finish()
    scan, middle = Scan(survey, robot), list[Log]()
    for first, log in _numbered(chunks()):
        scan.take(piece_of(log, survey, first))
        middle += _from_middle(log, first, survey)
        progress(read + first + log.samples)
    raw, more = scan.finish()
    found = (*raw, *(_of_middle(middle, survey, raw, robot, base) if more else ()))
    return CheckedChunks(judged(survey.rows.name, found), survey.rows, survey.samples)


def _of_middle(
    middle: Sequence[Log],
    survey: Survey,
    raw: Sequence[Checked],
    robot: Robot | None,
    base: Sequence[int] | None,
) -> list[Checked]:
    """Checks of the motion, in a stretch of a long log and in rows spread over it."""
    part = _sound(_joined(middle, survey), raw, robot)
    # Rows spread over the log cannot be mended; where that is needed, the stretch stands for all.
    mended = any(f.name in ("spikes", "wrapped position") for c in raw for f in c.findings)
    spread = part if mended else _sound(survey.rows, (), robot)
    return _of_motion(spread, part, light_motion(part), survey.samples, robot, base)


def _numbered(logs: Iterable[Log]) -> Iterator[tuple[int, Log]]:
    first = 0
    for log in logs:
        yield first, log
        first += log.samples


def _from_middle(log: Log, first: int, survey: Survey) -> list[Log]:
    """What of a chunk lies in the stretch that is held against a model."""
    start = max((survey.samples - MOST_SAMPLES) // 2, 0)
    low, high = max(start - first, 0), min(start + MOST_SAMPLES - first, log.samples)
    return [log.part(slice(low, high))] if low < high else []


def _joined(parts: Sequence[Log], survey: Survey) -> Log:
    names = parts[0].channels
    return replace(
        survey.rows,
        time=np.concatenate([part.time for part in parts]),
        channels={name: np.concatenate([part.channels[name] for part in parts]) for name in names},
    )


def _sound(log: Log, raw: Sequence[Checked], robot: Robot | None) -> Log:
    """The log with its defects taken back, on the joint side where the robot is known."""
    mended = sound(log, tuple(f for c in raw for f in c.findings), robot)
    return mended if robot is None else to_joint_side(mended, robot)


def _of_motion(
    spread: Log,
    part: Log,
    light: Light | None,
    samples: int,
    robot: Robot | None,
    base: Sequence[int] | None,
) -> list[Checked]:
    """Checks of the motion as a whole: units and limits, and what a model says."""
    scales = check_scales(spread, light, robot)
    if light is None:
        return [scales]
    return [scales, _looked_at(samples, light), *_against_model(part, light, robot, base)]


def _against_model(log: Log, light: Light, robot: Robot | None, base: Sequence[int] | None) -> list[Checked]:
    """Checks that ask whether the motion explains the torques."""
    columns, W = (plain_columns(light), None) if robot is None else robot_columns(robot, light)
    still = _still(light)
    shares = [float(share) for share in unexplained(light, columns)]
    facts: dict[str, Any] = {
        "unexplained_per_axis": shares,
        "still_axes": [axis + 1 for axis in still],
    }
    explained = EXPLAINED_PLAINLY if robot is None else EXPLAINED
    parts = [Checked((), facts), check_delay(light, columns, explained), check_signs(light, columns)]
    moving = [axis for axis in range(log.axes) if axis not in still and np.isfinite(shares[axis])]
    if robot is None or W is None:
        parts.append(_without_motion(log, shares, moving))
    else:
        parts.append(_hardly_explained(shares, moving, robot))
        parts += [check_gravity(light, robot, W), check_excitation(light, robot, still, W, base)]
    return parts


def _looked_at(samples: int, light: Light) -> Checked:
    """A long log is held against a model in part; that is said."""
    if samples <= _LONG:
        return Checked()
    sentence = (
        f"The log is long: delay, sign, gravity and excitation were looked at in {len(light.q)} of its "
        f"{samples} samples, from the middle."
    )
    return Checked((defect("long log", "note", sentence, "Check other parts of it as logs of their own."),))


def _hardly_explained(shares: list[float], moving: list[int], robot: Robot) -> Checked:
    """Torques that no parameters of this robot would give; axes at rest have hardly any to explain."""
    middle = float(np.median([shares[axis] for axis in moving])) if moving else 0.0
    if middle < _HARDLY:
        return Checked()
    shown = ", ".join(f"{100 * share:.0f}" for share in shares)
    sentence = f"No parameters of robot {robot.name!r} explain the torques: {shown} % per axis are left."
    remedy = "Check the robot, the order and zeros of the axes, and whether all axes were driven."
    severity = "error" if middle > _NOT_AT_ALL else "warning"
    return Checked((defect("hardly explained", severity, sentence, remedy, "torque"),))


def _without_motion(log: Log, shares: list[float], moving: list[int]) -> Checked:
    """Torques that are noise, as far as can be told without the robot: rough, and not told by the motion."""
    if not moving or min(shares[axis] for axis in moving) < _NOT_AT_ALL:
        return Checked()
    rough = [axis for axis in moving if roughness(log.channels["torque"][:, axis]) > ROUGH]
    shown = ", ".join(f"{100 * share:.0f}" for share in shares)
    sentence = f"The torques have nothing to do with the motion: {shown} % per axis are left by a plain fit."
    remedy = "Check the columns of the torques and the order of the rows; give the robot for a sharper look."
    severity = "error" if len(rough) == len(moving) else "warning"
    return Checked((defect("hardly explained", severity, sentence, remedy, "torque"),))


def _still(light: Light) -> tuple[int, ...]:
    """Axes (from 0) whose travel is nothing beside the others', or nothing at all."""
    travel = np.ptp(light.q, axis=0)
    return tuple(int(axis) for axis in np.flatnonzero(travel < max(1e-4, 1e-4 * float(travel.max()))))
