"""Gains with one arm for all motors: which are found, how, and what speaks against them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.calibration.bilinear import bilinear_fit, prior_of
from dynid.calibration.judgement import judge_gains
from dynid.calibration.knowledge import PayloadKnowledge
from dynid.calibration.motor_payload import MotorPayload
from dynid.calibration.sequence import LARGEST_SHARE, SequenceFound
from dynid.calibration.shared_arm import SharedArm, fit_shared_arm
from dynid.core.arrays import FloatArray
from dynid.core.finding import FINE, Finding, Level, Name, Where
from dynid.problem.problem import Problem

_MENTIONED = 2.0
"""Excess of squares from which on the page speaks of it; σ is widened in any case."""
_OF_THE_LOGS = (Name.LOGS_SWAPPED, Name.GAIN_CHANGED, Name.NEGATIVE_GAIN, Name.MOTORS_CONTRADICT)
"""Outcomes of P2's motors that hold whatever the method."""


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
    # A motor tried in vain still tells the sign of its gain.
    theta = np.array([t.theta if np.isfinite(t.theta) and t.theta != 0 else 1.0 for t in found.trials])
    theta[list(found.order)] = found.theta
    used, prior = [rows[i] for i in found.order], prior_of(knowledge, rows[0].names)
    fit = fit_shared_arm(problem, knowledge, rows[0].names, theta)
    covariance = max(1.0, fit.excess) * fit.covariance + fit.known_covariance
    sigma = np.sqrt(np.diag(covariance)[: len(rows)])
    good = (fit.theta > 0) & (sigma <= LARGEST_SHARE * np.abs(fit.theta)) & ~fit.open[: len(rows)]
    calibrated = tuple(int(k) for k in np.flatnonzero(good))
    shares = np.where(fit.open[: len(rows)], np.inf, sigma / np.abs(fit.theta))
    apart = bilinear_fit(used, prior, found.theta, found.payload) if used else None
    first, _ = judge_gains(rows, found, apart, knowledge)  # arms of their own see contradictions best
    outcome = first if first.name in _OF_THE_LOGS or not calibrated else FINE
    beside = [_uncertain(k, shares[k]) for k in range(len(rows)) if not good[k]]
    if fit.excess > _MENTIONED:
        beside.append(_excess(fit))
    sentences = tuple(_how(row, row.motor in calibrated, knowledge) for row in rows)
    return SharedGains(fit, covariance, calibrated, sentences, outcome, tuple(beside))


def _how(row: MotorPayload, calibrated: bool, knowledge: PayloadKnowledge) -> str:
    known, motor = ", ".join(knowledge.values), f"motor {row.motor + 1}"
    if not calibrated:
        return f"Neither {known} nor what {motor} shares with the other motors shows its gain well enough."
    if any(name in row.felt for name in knowledge.values):
        return f"From {known}, which {motor} feels, and the arm's inertias, which all motors share."
    return (
        f"M{motor[1:]} cannot be calibrated from {known}, which it does not feel: its gain follows from the "
        "inertias of arm and payload, which it shares with the others."
    )


def _uncertain(motor: int, share: float) -> Finding:
    known = f"would be known to {100 * share:.0f} %" if np.isfinite(share) else "is not determined"
    return Finding(
        Name.UNCERTAIN_GAIN,
        Level.CARE,
        f"Motor {motor + 1} is not calibrated: its gain {known}, and at most {100 * LARGEST_SHARE:.0f} % are "
        "taken.",
        "Move this joint faster and against gravity, free and loaded, and for longer.",
        Where(axis=motor + 1),
        {"relative_sigma": float(share) if np.isfinite(share) else None},
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
