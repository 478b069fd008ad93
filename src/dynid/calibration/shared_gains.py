"""Gains with one arm for all motors: which are found, how, and what speaks against them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.calibration.bilinear import bilinear_fit, prior_of
from dynid.calibration.judgement import is_negative, is_positive, judge_gains, negative_gain, unbounded
from dynid.calibration.knowledge import PayloadKnowledge
from dynid.calibration.motor_payload import MotorPayload
from dynid.calibration.sequence import LARGEST_SHARE, MotorTrial, SequenceFound
from dynid.calibration.shared_arm import SharedArm, fit_shared_arm
from dynid.core.arrays import FloatArray
from dynid.core.finding import FINE, Finding, Level, Name, Where
from dynid.problem.problem import Problem

_MENTIONED = 2.0
"""Excess of squares from which on the page speaks of it; σ is widened in any case."""
_OF_THE_LOGS = (Name.LOGS_SWAPPED, Name.NEGATIVE_GAIN, Name.GAIN_CHANGED, Name.MOTORS_CONTRADICT)
"""Outcomes of P2's motors that hold whatever the method, gravest first."""


@dataclass(frozen=True, eq=False)
class SharedGains:
    """Gains of the motors with one arm.

    Args:
        fit: the solution.
        covariance: of θ and χ_L, widened by what one arm leaves beyond arms of their own.
        calibrated: motors whose gains are found, from 0.
        sentences: how each was found, or why not.
        outcome: how it ended.
        findings: what else is to be said.
    """

    fit: SharedArm
    covariance: FloatArray
    calibrated: tuple[int, ...]
    sentences: tuple[str, ...]
    outcome: Finding
    findings: tuple[Finding, ...]


def gains_with_one_arm(
    problem: Problem, rows: Sequence[MotorPayload], found: SequenceFound, knowledge: PayloadKnowledge
) -> SharedGains:
    """Fit all motors with one arm and judge what came out.

    Args:
        problem: free and loaded motions, in rows of motors.
        rows: what each motor says of the payload by itself.
        found: P2's sequence, for a start and for what it says of the logs.
        knowledge: what is known of the payload.
    """
    trials = found.trials
    # A motor tried in vain may still be sure of its sign; all others start where most motors are.
    usual = float(np.median(found.theta)) if len(found.theta) else 1.0
    theta = np.array([t.theta if is_negative(t) else usual for t in trials])
    theta[list(found.order)] = found.theta
    unsure = [k for k, t in enumerate(trials) if k not in found.order and not is_negative(t)]
    fit = fit_shared_arm(problem, knowledge, rows[0].names, theta, unsure)
    known = fit.known_covariance + knowledge.scale_covariance(fit.theta, fit.payload)
    covariance = max(1.0, fit.excess) * fit.covariance + known
    sigma = np.where(fit.open[: len(rows)], np.inf, np.sqrt(np.diag(covariance)[: len(rows)]))
    fitted = [MotorTrial(1, float(t), float(s)) for t, s in zip(fit.theta, sigma, strict=True)]
    calibrated = tuple(k for k, trial in enumerate(fitted) if trial.is_calibrated)
    outcome, findings = _judge(rows, found, fitted, knowledge)
    if fit.excess > _MENTIONED:
        findings = (*findings, _excess(fit))
    sentences = tuple(_how(row, trial, knowledge) for row, trial in zip(rows, fitted, strict=True))
    return SharedGains(fit, covariance, calibrated, sentences, outcome, findings)


def _judge(
    rows: Sequence[MotorPayload],
    found: SequenceFound,
    fitted: Sequence[MotorTrial],
    knowledge: PayloadKnowledge,
) -> tuple[Finding, tuple[Finding, ...]]:
    """The outcome, and what else is to be said of logs and motors."""
    used, prior = [rows[i] for i in found.order], prior_of(knowledge, rows[0].names)
    # Arms of their own see contradictions best.
    apart = bilinear_fit(used, prior, found.theta, found.payload) if used else None
    first, others = judge_gains(rows, found, apart, knowledge)
    of_logs = [finding for finding in (first, *others) if finding.name in _OF_THE_LOGS]
    negative = {finding.where.axis for finding in of_logs if finding.name is Name.NEGATIVE_GAIN}
    if first.name is not Name.LOGS_SWAPPED:  # which turns the sign of all
        of_logs += [
            negative_gain(k, t) for k, t in enumerate(fitted) if is_negative(t) and k + 1 not in negative
        ]
    none = not any(trial.is_calibrated for trial in fitted)
    if none and first.name not in _OF_THE_LOGS:
        outcome = first if first.level is Level.FAIL else _none_calibrated(fitted)
    else:
        outcome = min(of_logs, key=lambda finding: _OF_THE_LOGS.index(finding.name), default=FINE)
    beside = [finding for finding in of_logs if finding is not outcome]
    left = [k for k, t in enumerate(fitted) if not (t.is_calibrated or is_negative(t))]
    return outcome, (*beside, *(_uncertain(k, fitted[k]) for k in left))


def _how(row: MotorPayload, trial: MotorTrial, knowledge: PayloadKnowledge) -> str:
    known, motor = ", ".join(knowledge.values), f"motor {row.motor + 1}"
    if is_negative(trial):
        return negative_gain(row.motor, trial).sentence
    if not trial.is_calibrated:
        return f"Neither {known} nor what {motor} shares with the other motors shows its gain well enough."
    if any(name in row.felt for name in knowledge.values):
        return f"From {known}, which {motor} feels, and the arm's inertias, which all motors share."
    return (
        f"M{motor[1:]} cannot be calibrated from {known}, which it does not feel: its gain follows from the "
        "inertias of arm and payload, which it shares with the others."
    )


def _uncertain(motor: int, trial: MotorTrial) -> Finding:
    """A motor, from 0, that is not calibrated although its gain is not negative."""
    known, seen = "is not determined", np.isfinite(trial.sigma)
    if seen:
        known = f"would be known to {100 * trial.share:.0f} %"
    said = f"its gain {known}, and at most {100 * LARGEST_SHARE:.0f} % are taken."
    bounded = is_positive(trial) or not seen
    return Finding(
        Name.UNCERTAIN_GAIN if bounded else Name.UNBOUNDED_GAIN,
        Level.CARE,
        f"Motor {motor + 1} is not calibrated: {said if bounded else unbounded(trial)}",
        "Move this joint faster and against gravity, free and loaded, and for longer.",
        Where(axis=motor + 1),
        {"relative_sigma": trial.share if seen else None},
    )


def _none_calibrated(fitted: Sequence[MotorTrial]) -> Finding:
    """Motors with arms of their own show the load, but one arm leaves every gain in doubt."""
    best = min((trial.share for trial in fitted if trial.theta > 0), default=np.inf)
    said = f"1/g of the best is known to {100 * best:.0f} %" if np.isfinite(best) else "no 1/g is above 0"
    return Finding(
        Name.NO_LOAD_SEEN,
        Level.FAIL,
        f"With one arm for all motors no motor shows the load well enough to calibrate it: {said} (at most "
        f"{100 * LARGEST_SHARE:.0f} % are taken).",
        "Check that free and loaded logs are of one robot with the same signals, move it against gravity and "
        "with large accelerations for longer, or compare --method global.",
        figures={"relative_sigma": float(best) if np.isfinite(best) else None},
    )


def _excess(fit: SharedArm) -> Finding:
    return Finding(
        Name.ONE_ARM_LEAVES_MORE,
        Level.NOTE,
        f"One arm for all motors leaves {fit.excess:.1f} times the squares that errors of torques explain "
        f"({fit.degrees} degrees of freedom): friction or flexibility that the model lacks. σ is "
        f"widened by {np.sqrt(fit.excess):.1f} for it.",
        "See what dynid fit says of the free logs, or compare --method global, where every motor has an arm "
        "of its own.",
        figures={"excess": fit.excess, "degrees": fit.degrees},
    )
