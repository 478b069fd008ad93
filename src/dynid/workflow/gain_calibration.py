"""Drive gains from free and loaded logs, and what they make of the model: before and after."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dynid.calibration.gain_doubts import held_by_bounds, unusual_gains
from dynid.calibration.gains import CONSTRAINED, GAIN_RANGE, SHARED, DriveGains, calibrate_gains
from dynid.calibration.knowledge import PayloadKnowledge, Range
from dynid.core.errors import DynidError
from dynid.core.finding import Name
from dynid.core.kinds import require_kinds
from dynid.core.threads import with_one_blas_thread
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.linear.least_squares import WLS
from dynid.estimators.strategy import Strategy
from dynid.logs.spool import by_rows
from dynid.model.drives import Drives
from dynid.model.payload import UNLOADED
from dynid.preparation.motion import Motion
from dynid.problem.build import build_problem
from dynid.workflow.calibration_logs import CalibrationLogs
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
    logs: CalibrationLogs,
    known: PayloadKnowledge,
    *,
    method: str = SHARED,
    strategy: Strategy | None = None,
    gain_range: Range = GAIN_RANGE,
    progress: Progress | None = None,
) -> GainCalibration:
    """Find drive gains with a payload that is known in part, such as one weighed mass (P2).

    Args:
        logs: free and loaded, from ``prepare_calibration``; the robot's drives hold the a-priori gains.
        known: of the payload, such as ``PayloadKnowledge.of_mass(7.025, 0.05)``.
        method: "shared", "global", "sequential" or "constrained"; see ``calibrate_gains``.
        strategy: of the least squares on each motor's rows: OLS() when None, or TLS().
        gain_range: gains over the a-priori ones that the constrained method allows.
        progress: told what is being done.

    Raises:
        DynidError: when there is no log without the payload.
    """
    require_kinds(calibrate, locals())
    tell = progress or (lambda text: None)
    if not any(motion.condition == UNLOADED for motion in logs.motions):
        raise DynidError(
            "There is no log without the payload; give at least one (--free LOG): the gains follow from what "
            "the payload changes."
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
    gains = _with_doubts(gains, logs, gain_range)
    tell("fitting with these gains")
    before = identify(build_problem(logs.robot, logs.motions, logs.plan), WLS())
    if not any(gain.is_calibrated for gain in gains.gains):
        return GainCalibration(logs, gains, before, None, logs.motions)
    relative = np.array([gain.relative if gain.is_calibrated else 1.0 for gain in gains.gains])
    assert logs.robot.drives is not None
    motions = tuple(motion_at_gains(motion, logs.robot.drives, relative) for motion in logs.motions)
    after = identify(build_problem(logs.robot, motions, logs.plan), WLS())
    return GainCalibration(logs, gains, before, after, motions)


def _with_doubts(gains: DriveGains, logs: CalibrationLogs, gain_range: Range) -> DriveGains:
    """The gains with what bounds, units and joints without motors say against them."""
    own = tuple(
        gain if driven else gain.left_out("No motor drives this joint.")
        for gain, driven in zip(gains.gains, logs.robot.driven, strict=True)
    )
    gains = replace(gains, gains=own)
    found = []
    if gains.method == CONSTRAINED:
        payload = dict(zip(gains.payload_names, gains.payload.tolist(), strict=True))
        found += held_by_bounds(gains.relative, gain_range, payload, gains.knowledge.bounds)
    if not _raw_signals(logs):
        found += unusual_gains([gain.relative for gain in gains.gains if gain.is_calibrated])
    return replace(gains, findings=(*gains.findings, *found))


def _raw_signals(logs: CalibrationLogs) -> bool:
    """Whether the logs hold amperes or volts that no a-priori gain turned into torques."""
    steps = {step.name for motion in logs.motions for step in motion.history}
    assert logs.robot.drives is not None
    return Name.DRIVE_SIGNAL in steps and all(gain == 1.0 for gain in logs.robot.drives.gain)


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
