"""Drive gains from free and loaded logs, and what they make of the model: before and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from dynid.calibration.gains import GAIN_RANGE, SHARED, DriveGains, calibrate_gains
from dynid.calibration.knowledge import PayloadKnowledge, Range
from dynid.core.errors import DynidError
from dynid.core.kinds import require_kinds
from dynid.core.threads import with_one_blas_thread
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.linear.least_squares import WLS
from dynid.estimators.strategy import Strategy
from dynid.logs.log import Log
from dynid.logs.spool import by_rows
from dynid.model.drives import Drives
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem.build import build_problem
from dynid.workflow.calibration_logs import CalibrationLogs, prepare_calibration
from dynid.workflow.motion_source import Progress


@dataclass(frozen=True, eq=False)
class GainCalibration:
    """Calibrated gains with the logs they come from and what they change (P2 Tables 2 and 4, Figure 3).

    Args:
        logs: as they were used.
        gains: what was found.
        before: arm and payload, fitted with the a-priori gains.
        after: the same with the gains found; None where none were.
        motions: with the torques of the gains found, or the a-priori ones where none were.
    """

    logs: CalibrationLogs
    gains: DriveGains
    before: Estimate
    after: Estimate | None
    motions: tuple[Motion, ...]

    @property
    def trustworthy(self) -> bool:
        """Whether the gains can be used."""
        return self.gains.outcome.trustworthy and self.after is not None


@with_one_blas_thread
def calibrate(
    robot: Robot,
    free: Log | Sequence[Log],
    loaded: Log | Sequence[Log],
    known: PayloadKnowledge,
    *,
    method: str = SHARED,
    strategy: Strategy | None = None,
    gain_range: Range = GAIN_RANGE,
    carrier: str | None = None,
    plan: Preparation | None = None,
    overrides: Mapping[str, Any] = MappingProxyType({}),
    repair: bool = False,
    accept: Iterable[str] = (),
    progress: Progress | None = None,
) -> GainCalibration:
    """Find drive gains with a payload that is known in part, such as one weighed mass (P2).

    Args:
        robot: without the payload; its drives hold the a-priori gains.
        free: logs without the payload.
        loaded: logs with it.
        known: of the payload, such as ``PayloadKnowledge.of_mass(7.025, 0.05)``.
        method: "shared", "global", "sequential" or "constrained"; see ``calibrate_gains``.
        strategy: of the least squares on each motor's rows: OLS() when None, or TLS().
        gain_range: gains over the a-priori ones that the constrained method allows.
        carrier: name of the joint whose link carries the payload; the last joint when None.
        plan: preparation; suggested from the logs when None.
        overrides: keys of the suggested preparation to replace.
        repair: whether repairable defects are repaired.
        accept: names of findings of the data check that the user knows better about.
        progress: told what is being done.

    Raises:
        DynidError: when logs are missing or given twice.
        NotTrustworthyError: when a log is not usable.
    """
    require_kinds(calibrate, locals())
    tell = progress or (lambda text: None)
    if isinstance(free, Sequence) and not free:
        raise DynidError(
            "There is no log without the payload; give at least one (--free LOG): the gains follow from what "
            "the payload changes."
        )
    logs = prepare_calibration(
        robot,
        free,
        loaded,
        carrier=carrier,
        plan=plan,
        overrides=overrides,
        repair=repair,
        accept=accept,
        progress=progress,
    )
    tell("calibrating the gains")
    gains = calibrate_gains(
        logs.robot,
        logs.motions,
        logs.plan,
        known,
        method=method,
        strategy=strategy,
        gain_range=gain_range,
    )
    tell("fitting with these gains")
    before = identify(build_problem(logs.robot, logs.motions, logs.plan), WLS())
    if not any(gain.is_calibrated for gain in gains.gains):
        return GainCalibration(logs, gains, before, None, logs.motions)
    relative = np.array([gain.relative if gain.is_calibrated else 1.0 for gain in gains.gains])
    assert logs.robot.drives is not None
    motions = tuple(motion_at_gains(motion, logs.robot.drives, relative) for motion in logs.motions)
    after = identify(build_problem(logs.robot, motions, logs.plan), WLS())
    return GainCalibration(logs, gains, before, after, motions)


def motion_at_gains(motion: Motion, drives: Drives, relative: np.ndarray) -> Motion:
    """The motion with the torques of other gains: τ' = Rᵀ diag(g / g₀) R⁻ᵀ τ.

    Args:
        motion: with the torques of the a-priori gains g₀.
        drives: gears between motors and joints.
        relative: g / g₀ of each motor.
    """
    R = drives.matrix
    change = R.T @ np.diag(relative) @ np.linalg.inv(R).T
    return replace(motion, tau=by_rows(lambda tau: tau @ change.T, motion.tau))
