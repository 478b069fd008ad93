"""Whether the simulated loop is the real one: a lag between measured and simulated torques tells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.estimators.law_checks import MISMATCH, Finding, averaged, check_motion, running_mean
from dynid.outcome import Outcome
from dynid.problem.closed_loop import LoopProblem
from dynid.problem.replay import Replayed

EXPLAINED = 0.25
"""Share of the torque error that a mere shift in time explains, from which on the law is in doubt."""
LARGE = 0.08
"""Relative torque error below which a loop is right enough."""
HOPELESS = 0.6
"""Relative torque error from which on nothing of the loop is explained."""


def check_loop(problem: LoopProblem, final: Replayed) -> Finding:
    """Compare measured and simulated torques, as a whole and for a shift in time, and positions if any.

    The error of a loop with the wrong bandwidth or delay is τ(t) − τ_s(t) ≈ δ τ̇_s: it is regressed on the
    simulated torque's rate.
    """
    joints = [_compare(problem, final, j) for j in range(problem.robot.n_coordinates)]
    moved = check_motion(problem, final, np.array([joint.error for joint in joints]))
    facts = moved.facts | {
        "torque_lag_s": [joint.lag for joint in joints],
        "torque_lag_share": [joint.share for joint in joints],
        "loop_error": [joint.error for joint in joints],
    }
    late = [j for j, joint in enumerate(joints) if joint.share > EXPLAINED and joint.error > LARGE]
    lost = [j for j, joint in enumerate(joints) if joint.error > HOPELESS]
    names = [problem.robot.joints[j].name for j in problem.robot.coordinates]
    outcome = None
    if late:
        worst = max(late, key=lambda j: joints[j].error)
        outcome = Outcome(
            MISMATCH,
            False,
            f"The simulated torques of {', '.join(names[j] for j in late)} run beside the measured ones in "
            f"time (by {1000 * joints[worst].lag:+.0f} ms at the worst, {100 * joints[worst].error:.0f} % of "
            "the torque): the simulated loop has not the bandwidth or delay of the real one.",
            "Check natural frequency, gains, velocity estimate and delay of the controller.",
        )
    elif lost:
        worst = max(lost, key=lambda j: joints[j].error)
        outcome = Outcome(
            "torque not explained",
            False,
            f"The simulated torques of {', '.join(names[j] for j in lost)} miss the measured ones by "
            f"{100 * joints[worst].error:.0f} % of the torque: the simulated loop is not that of the log.",
            "Check the reference, the control law, signs and units of the torques, and the robot.",
        )
    return Finding(facts, outcome or moved.outcome)


@dataclass(frozen=True)
class _Joint:
    """One joint's simulated torque beside the measured one: lag [s], its share of the error, error."""

    lag: float
    share: float
    error: float


def _compare(problem: LoopProblem, final: Replayed, j: int) -> _Joint:
    top = bottom = whole = size = 0.0
    for motion, simulated in zip(final.motions, final.torques, strict=True):
        width = averaged(problem, motion.rate_hz)
        measured, model = running_mean(motion.tau[:, j], width), running_mean(simulated[:, j], width)
        rate = np.gradient(model, 1.0 / motion.rate_hz)
        off = measured - model
        top += float(off @ rate)
        bottom += float(rate @ rate)
        whole += float(off @ off)
        size += float(measured @ measured)
    lag = top / bottom if bottom > 0 else 0.0
    share = lag * top / whole if whole > 0 else 0.0
    return _Joint(-lag, share, float(np.sqrt(whole / size)) if size > 0 else 0.0)
