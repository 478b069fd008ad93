"""Free and loaded logs for a calibration: checked, brought to one preparation, each in its condition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from dynid.core.errors import DynidError
from dynid.core.kinds import require_kinds
from dynid.core.threads import with_one_blas_thread
from dynid.estimators.linear.least_squares import WLS
from dynid.logs.convert import TO_JOINT_SIDE
from dynid.logs.log import Log
from dynid.model.drives import Drives
from dynid.model.payload import LOADED, UNLOADED, free_and_loaded
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.preparation.suggestion import Suggestion
from dynid.report.checks import UsedLog, used_logs
from dynid.workflow.fitting import preparation_of
from dynid.workflow.motion_source import MeasuredMotion, Progress
from dynid.workflow.proof import data_checks
from dynid.workflow.usable_log import UsableLog, as_logs, logs_to_fit


@dataclass(frozen=True, eq=False)
class CalibrationLogs:
    """Motions without and with a payload, ready for a calibration.

    Args:
        arm: without the payload.
        robot: with the payload as one more link, in the conditions "free" and "loaded".
        carrier: name of the joint whose link carries it; the last joint when None.
        motions: prepared alike, each with its condition.
        plan: how they were prepared.
        suggestion: where the plan comes from; None when it was given.
        logs: as they were used.
    """

    arm: Robot
    robot: Robot
    carrier: str | None
    motions: tuple[Motion, ...]
    plan: Preparation
    suggestion: Suggestion | None
    logs: tuple[UsableLog, ...]

    @property
    def on_joint_side(self) -> bool:
        """Whether the torques of the logs were given on the joint side, where no drive gain counts."""
        return all(step.name != TO_JOINT_SIDE for motion in self.motions for step in motion.history)

    @property
    def checks(self) -> tuple[UsedLog, ...]:
        """What the data check found."""
        return used_logs(data_checks(self.logs), [one.log for one in self.logs])


@with_one_blas_thread
def prepare_calibration(
    robot: Robot,
    free: Log | Sequence[Log],
    loaded: Log | Sequence[Log],
    *,
    carrier: str | None = None,
    plan: Preparation | None = None,
    overrides: Mapping[str, Any] = MappingProxyType({}),
    repair: bool = False,
    accept: Iterable[str] = (),
    progress: Progress | None = None,
) -> CalibrationLogs:
    """Check free and loaded logs and prepare them alike.

    Args:
        robot: without the payload; one without drives has logs on the joint side, gain 1.
        free: logs without the payload; may be none.
        loaded: logs with it.
        carrier: name of the joint whose link carries it; the last joint when None.
        plan: preparation; suggested from the logs when None.
        overrides: keys of the suggested preparation to replace.
        repair: whether repairable defects are repaired.
        accept: names of findings of the data check that the user knows better about.
        progress: told what is being done.

    Raises:
        DynidError: when no loaded log is given, or a log is given twice.
        NotTrustworthyError: when a log is not usable.
    """
    require_kinds(prepare_calibration, locals())
    tell = progress or (lambda text: None)
    given = [replace(log, condition=UNLOADED) for log in as_logs(free, accept)]
    own = [replace(log, condition=LOADED) for log in as_logs(loaded, accept)]
    if not own:
        raise DynidError("There is no log with the payload; give at least one (--loaded LOG).")
    tell("checking the data")
    logs = [*given, *own]
    both = free_and_loaded(_with_drives(robot, logs), carrier=carrier)
    used = logs_to_fit(both, logs, [None] * len(logs), repair=repair)
    tell("choosing the preparation")
    chosen, suggestion = preparation_of(both, MeasuredMotion(), used, WLS(), plan, overrides)
    motions = tuple(prepare(one.log, chosen) for one in used)
    return CalibrationLogs(robot, both, carrier, motions, chosen, suggestion, used)


def _with_drives(robot: Robot, logs: Sequence[Log]) -> Robot:
    """The robot with drives whose gains are those of the torques in the logs.

    Torques on the joint side did not go through the drives, so that their a-priori gains are 1.

    Raises:
        DynidError: when some logs are on the joint side and some on the motors'.
    """
    sides = {log.side: log.name for log in logs}
    if len(sides) > 1:
        raise DynidError(
            f"Log {sides['joint']!r} is on the joint side and log {sides['motor']!r} on the motors', so that "
            "their gains differ; give all on one side (side in the mapping)."
        )
    n, drives = robot.n_coordinates, robot.drives
    if drives is None:
        return robot.with_drives(Drives.unit(n))
    return robot if "motor" in sides else robot.with_drives(replace(drives, gain=(1.0,) * n))
