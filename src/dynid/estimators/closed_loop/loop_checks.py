"""Whether the simulated loop is that of the log: what positions and torques of the log say of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.closed_loop.law_errors import (
    LawErrors,
    has_offset,
    law_errors,
    running_mean,
    smoothing_width,
)
from dynid.problem.closed_loop import LoopExperiment, LoopProblem, Memory
from dynid.problem.law_torques import law_torques, why_not_told
from dynid.problem.replay import Replayed
from dynid.simulation.laws import ComputedTorque
from dynid.simulation.user_law import UserLaw

CHECKED = 40000
"""Samples of an experiment that the law is run on, from where it begins to move; more tell nothing new."""
SYSTEMATIC = 0.08
"""Share of the torque that a law may miss in step with the motion; right laws stay below 2 %."""
_REMEDY = (
    "Check gains, inertia, damping, velocity estimate, delay and feed-forward of the controller, scale and "
    "stamps of the reference, and signs and units of the torques."
)


@dataclass(frozen=True)
class _Limits:
    """Where a loop is refused or doubted. Shares are of each joint's torque, low-passed.

    Args:
        law_error: share that the law may miss of the torques; right laws stay below 2 %, the noise apart.
        law_noise: standard deviations of what noise leaves that such an error must exceed.
        law_doubt: share missed in step with the motion from which on the law is doubted.
        motion_error: share of the tracking error by which the simulated motion may miss the measured one.
        motion_excess: the same over the torque error: disturbances move the robot by about their share of the
            torque, a wrong law by more.
        encoder_noise: standard deviations of the encoder's noise that a missed position must exceed.
        lag_share: share of the torque error that a shift in time explains where bandwidth or delay are wrong.
        lag_error: torque error below which such a shift does not matter.
        lag_sigma: standard deviations by which a lag must exceed half a sample of the controller.
        hopeless_error: torque error from which on nothing of the loop is explained.
    """

    law_error: float = 0.1
    law_noise: float = 3.0
    law_doubt: float = 0.025
    motion_error: float = 0.08
    motion_excess: float = 1.2
    encoder_noise: float = 5.0
    lag_share: float = 0.25
    lag_error: float = 0.08
    lag_sigma: float = 3.0
    hopeless_error: float = 0.6


_LIMITS = _Limits()


@dataclass(frozen=True)
class LoopCheck:
    """What the log says of the loop.

    Args:
        facts: figures by name.
        outcome: why nothing can be trusted, or None.
        findings: what deserves attention where the loop is not refused.
        memories: what the law remembers at the first sample of each experiment, where the log tells it.
    """

    facts: dict[str, Any] = field(default_factory=dict)
    outcome: Finding | None = None
    findings: tuple[Finding, ...] = ()
    memories: tuple[Memory | None, ...] = ()


def check_law(problem: LoopProblem, tolerance: float = SYSTEMATIC) -> LoopCheck:
    """Compare the logged torques with those of the law on the logged positions, low-passed.

    e_j = ‖L(τ − law(q_r, q))‖ / ‖L τ‖ with a running mean L needs no model of the robot. The law is refused
    where e_j exceeds a tenth and three times what white noise leaves after L, or where more than the
    tolerance goes with the motion; from 2.5 % on it is doubted (see ``law_errors``).

    Args:
        problem: a finding names logs without positions at every sample of the controller.
        tolerance: share of the torque that the law may miss in step with the motion.
    """
    parts = [_checked_part(e) for e in problem.experiments]
    torques = [law_torques(problem.robot, problem.controller, part) for part in parts]
    checked = [(part, t) for part, t in zip(parts, torques, strict=True) if t is not None]
    memories = tuple(None if t is None else t.memory for t in torques)
    unchecked = _unchecked_logs(problem)
    if not checked:
        return LoopCheck(findings=unchecked, memories=memories)
    found = law_errors(problem, checked)
    facts = {"law_error": found.error.tolist(), "law_error_systematic": found.systematic.tolist()}
    allowed = np.hypot(_LIMITS.law_error, _LIMITS.law_noise * found.noise)
    wrong = np.flatnonzero((found.error > allowed) | (found.systematic > tolerance))
    if len(wrong):
        return LoopCheck(facts, _wrong_law(problem, found, wrong), memories=memories)
    return LoopCheck(facts, None, (*unchecked, *_doubtful_law(problem, found)), memories)


def _checked_part(experiment: LoopExperiment) -> LoopExperiment:
    """The samples of an experiment that are looked at: long logs should not wait for a wrong law."""
    q = experiment.position
    if q is None or len(experiment.samples) <= CHECKED:
        return experiment
    moved = np.flatnonzero(np.any(np.abs(q - q[0]) > 0.01 * np.ptp(q, axis=0), axis=1))
    last = CHECKED + (int(moved[0]) if len(moved) else 0)
    return replace(
        experiment,
        time=experiment.time[:last],
        tau=experiment.tau[:last],
        samples=experiment.samples[:last],
        position=q[:last],
    )


def _unchecked_logs(problem: LoopProblem) -> tuple[Finding, ...]:
    """Which logs the law could not be compared with, and why."""
    reasons = [(e.name, why_not_told(problem.controller, e)) for e in problem.experiments]
    said = dict.fromkeys(f"log {name!r} could not bear it out: {why}" for name, why in reasons if why)
    if not said:
        return ()
    sentence = (
        f"The control law could not be checked, because {'; '.join(said)}. A wrong gain, sample time or "
        "velocity estimate would then show in what is left of the torques at best."
    )
    return (Finding(Name.LAW_UNCHECKED, Level.NOTE, sentence),)


def _wrong_law(problem: LoopProblem, found: LawErrors, joints: NDArray[np.int64]) -> Finding:
    missed = float(np.max(np.maximum(found.error, found.systematic)[joints]))
    return Finding(
        Name.CONTROL_LAW_MISMATCH,
        Level.FAIL,
        f"The control law, fed with the logged positions and reference, misses the logged torques of "
        f"{_names(problem, joints)} by {100 * missed:.3g} % at the worst: the robot did not run under this "
        "law, this reference or these torque units.",
        _REMEDY,
    )


def _doubtful_law(problem: LoopProblem, found: LawErrors) -> tuple[Finding, ...]:
    """Care where a law is off by little: it is a bias, and no σ shows it."""
    off = np.flatnonzero(found.systematic > _LIMITS.law_doubt)
    if not len(off):
        return ()
    each = ", ".join(f"{100 * found.systematic[j]:.2g} %" for j in off)
    sentence = (
        f"The control law, fed with the logged positions, misses {each} of the torque of "
        f"{_names(problem, off)} in step with the motion, which noise does not; a law or torque that is off "
        "by so much biases inertias by about as much."
    )
    return (Finding(Name.LAW_IN_DOUBT, Level.CARE, sentence, _REMEDY),)


def check_loop(problem: LoopProblem, final: Replayed) -> LoopCheck:
    """Compare measured and simulated torques, as a whole and for a shift in time, and positions if any.

    The error of a loop with the wrong bandwidth or delay is τ(t) − τ_s(t) ≈ δ τ̇_s: it is regressed on the
    simulated torque's rate.

    Args:
        problem: torques, and positions where there are some.
        final: the simulation with the identified parameters.
    """
    lags = [_torque_lag(problem, final, j) for j in range(problem.robot.n_coordinates)]
    errors = np.array([lag.error for lag in lags])
    facts: dict[str, Any] = {
        "torque_lag_s": [lag.seconds for lag in lags],
        "torque_lag_share": [lag.share for lag in lags],
        "loop_error": errors.tolist(),
    }
    motion_error, wrong_motion = _check_motion(problem, final, errors)
    if motion_error is not None:
        facts["motion_error"] = motion_error.tolist()
    outcome = _wrong_bandwidth(problem, lags) or _unexplained_torque(problem, errors) or wrong_motion
    return LoopCheck(facts, outcome, _late_torques(problem, lags))


@dataclass(frozen=True)
class _TorqueLag:
    """A joint's simulated torque beside the measured one.

    Args:
        seconds: by which the measured torque is later.
        share: of the squared error that the lag explains.
        error: ‖τ − τ_s‖ / ‖τ‖, low-passed.
        sigma: standard deviation of the lag [s].
    """

    seconds: float
    share: float
    error: float
    sigma: float = 0.0


def _torque_lag(problem: LoopProblem, final: Replayed, j: int) -> _TorqueLag:
    top = bottom = whole = size = rows = 0.0
    for motion, simulated in zip(final.motions, final.torques, strict=True):
        width = smoothing_width(motion.rate_hz, problem.plan.decimation)
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
    sigma = np.sqrt(max(whole - lag * top, 0.0) / max(bottom * rows, 1e-300)) if rows else 0.0
    return _TorqueLag(-lag, share, float(np.sqrt(whole / size)) if size > 0 else 0.0, float(sigma))


def _wrong_bandwidth(problem: LoopProblem, lags: list[_TorqueLag]) -> Finding | None:
    late = [
        j for j, lag in enumerate(lags) if lag.share > _LIMITS.lag_share and lag.error > _LIMITS.lag_error
    ]
    if not late:
        return None
    worst = max((lags[j] for j in late), key=lambda lag: lag.error)
    return Finding(
        Name.CONTROL_LAW_MISMATCH,
        Level.FAIL,
        f"The simulated torques of {_names(problem, late)} run beside the measured ones in time (by "
        f"{1000 * worst.seconds:+.0f} ms at the worst, {100 * worst.error:.0f} % of the torque): the "
        "simulated loop has not the bandwidth or delay of the real one.",
        "Check natural frequency, gains, velocity estimate and delay of the controller.",
    )


def _unexplained_torque(problem: LoopProblem, errors: FloatArray) -> Finding | None:
    lost = np.flatnonzero(errors > _LIMITS.hopeless_error)
    if not len(lost):
        return None
    return Finding(
        Name.TORQUE_NOT_EXPLAINED,
        Level.FAIL,
        f"The simulated torques of {_names(problem, lost)} miss the measured ones by "
        f"{100 * errors[lost].max():.0f} % of the torque: the simulated loop is not that of the log.",
        "Check the reference, the control law, signs and units of the torques, and the robot.",
    )


def _late_torques(problem: LoopProblem, lags: list[_TorqueLag]) -> tuple[Finding, ...]:
    """Care where torques run beside each other by more than a held torque may: half a sample."""
    T = problem.controller.sample_time
    assert T is not None
    late = [j for j, lag in enumerate(lags) if abs(lag.seconds) > T / 2 + _LIMITS.lag_sigma * lag.sigma]
    if not late:
        return ()
    each = ", ".join(f"{_names(problem, [j])} by {1000 * lags[j].seconds:+.2g} ms" for j in late)
    sentence = (
        f"The simulated torques run beside the measured ones in time ({each}; half a sample of the "
        f"controller is {500 * T:.2g} ms): sample time, delay or velocity estimate of the controller may be "
        "wrong, or the log's torques late; viscous friction and small inertias suffer first."
    )
    return (Finding(Name.TORQUE_LAG, Level.CARE, sentence),)


def _check_motion(
    problem: LoopProblem, final: Replayed, torque_errors: FloatArray
) -> tuple[FloatArray | None, Finding | None]:
    """Simulated against measured positions, ‖q − q_s‖ / ‖q − q_r‖ of each joint; None without positions.

    Only a law whose tracking error is the torque over its stiffness is judged: with feed-forward, integrals
    or a model inside the law, disturbances alone may make up the tracking error.
    """
    n = problem.robot.n_coordinates
    off, lag, noise = np.zeros((3, n))
    offsets = np.array([has_offset(problem, j) for j in range(n)])
    rows = 0
    for experiment, motion in zip(problem.experiments, final.motions, strict=True):
        if experiment.position is None or not np.all(np.isfinite(experiment.position)):
            continue
        keep = experiment.time >= motion.time[0]
        q = experiment.position[keep]
        # An offset of the torque sensor goes into the model's offsets and shifts the simulated positions.
        shift = np.where(offsets, (q - motion.q).mean(axis=0), 0.0)
        off += np.sum((q - motion.q - shift) ** 2, axis=0)
        lag += np.sum((q - experiment.reference.q[experiment.samples[keep]]) ** 2, axis=0)
        noise += np.sum(np.diff(q, 3, axis=0) ** 2, axis=0) / 20
        rows += len(q)
    if not rows:
        return None, None
    share = np.sqrt(off / np.maximum(lag, 1e-300))
    law = problem.controller.law
    if problem.controller.feedforward is not None or law.memory or isinstance(law, ComputedTorque | UserLaw):
        return share, None
    allowed = np.maximum(_LIMITS.motion_error, _LIMITS.motion_excess * torque_errors)
    bad = np.flatnonzero((share > allowed) & (off > _LIMITS.encoder_noise**2 * noise))
    if not len(bad):
        return share, None
    return share, Finding(
        Name.CONTROL_LAW_MISMATCH,
        Level.FAIL,
        f"The simulated motion of {_names(problem, bad)} misses the measured one by "
        f"{100 * share[bad].max():.3g} % of the tracking error at the worst: the simulated loop is not that "
        "of the log.",
        "Check the control law, the reference, the start, and signs and units of the torques.",
    )


def _names(problem: LoopProblem, joints: Iterable[int]) -> str:
    names = [problem.robot.joints[j].name for j in problem.robot.coordinates]
    return ", ".join(names[int(j)] for j in joints)
