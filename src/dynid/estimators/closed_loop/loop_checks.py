"""Whether the simulated loop is the real one: a lag between measured and simulated torques tells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.core.finding import Finding, Level, Name
from dynid.estimators.closed_loop.law_checks import LawCheck, averaged, check_motion, running_mean
from dynid.problem.closed_loop import LoopProblem
from dynid.problem.replay import Replayed

EXPLAINED = 0.25
"""Share of the torque error that a mere shift in time explains, from which on the law is in doubt."""
LARGE = 0.08
"""Relative torque error below which a loop is right enough."""
LAGS = 3.0
"""Deviations by which a lag must exceed half a sample of the controller."""
HOPELESS = 0.6
"""Relative torque error from which on nothing of the loop is explained."""


def check_loop(problem: LoopProblem, final: Replayed) -> LawCheck:
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
        outcome = Finding(
            Name.CONTROL_LAW_MISMATCH,
            Level.FAIL,
            f"The simulated torques of {', '.join(names[j] for j in late)} run beside the measured ones in "
            f"time (by {1000 * joints[worst].lag:+.0f} ms at the worst, {100 * joints[worst].error:.0f} % of "
            "the torque): the simulated loop has not the bandwidth or delay of the real one.",
            "Check natural frequency, gains, velocity estimate and delay of the controller.",
        )
    elif lost:
        worst = max(lost, key=lambda j: joints[j].error)
        outcome = Finding(
            Name.TORQUE_NOT_EXPLAINED,
            Level.FAIL,
            f"The simulated torques of {', '.join(names[j] for j in lost)} miss the measured ones by "
            f"{100 * joints[worst].error:.0f} % of the torque: the simulated loop is not that of the log.",
            "Check the reference, the control law, signs and units of the torques, and the robot.",
        )
    return LawCheck(facts, outcome or moved.outcome, _beside(problem, joints, names))


def _beside(problem: LoopProblem, joints: list[_Joint], names: list[str]) -> tuple[Finding, ...]:
    """Care where torques run beside each other by more than a held torque may: half a sample."""
    T = problem.controller.sample_time
    assert T is not None
    late = [j for j, x in enumerate(joints) if abs(x.lag) > T / 2 + LAGS * x.doubt]
    if not late:
        return ()
    each = ", ".join(f"{names[j]} by {1000 * joints[j].lag:+.2g} ms" for j in late)
    return (
        Finding(
            Name.TORQUE_LAG,
            Level.CARE,
            f"The simulated torques run beside the measured ones in time ({each}; half a sample of the "
            f"controller is {500 * T:.2g} ms): sample time, delay or velocity estimate of the controller may "
            "be wrong, or the log's torques late; viscous friction and small inertias suffer first.",
        ),
    )


@dataclass(frozen=True)
class _Joint:
    """A joint's simulated torque beside the measured one: lag [s], its share of the error, error, lag's σ."""

    lag: float
    share: float
    error: float
    doubt: float = 0.0


def _compare(problem: LoopProblem, final: Replayed, j: int) -> _Joint:
    top = bottom = whole = size = rows = 0.0
    for motion, simulated in zip(final.motions, final.torques, strict=True):
        width = averaged(problem, motion.rate_hz)
        measured, model = running_mean(motion.tau[:, j], width), running_mean(simulated[:, j], width)
        rate = np.gradient(model, 1.0 / motion.rate_hz)
        off = measured - model
        top += float(off @ rate)
        bottom += float(rate @ rate)
        whole += float(off @ off)
        size += float(measured @ measured)
        rows += len(off) / width
    lag = top / bottom if bottom > 0 else 0.0
    share = lag * top / whole if whole > 0 else 0.0
    # Running means leave one independent error per width.
    doubt = np.sqrt(max(whole - lag * top, 0.0) / max(bottom * rows, 1e-300)) if rows else 0.0
    return _Joint(-lag, share, float(np.sqrt(whole / size)) if size > 0 else 0.0, float(doubt))
