"""Whether the log's own positions bear out the control law and the simulated motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.finding import Finding, Level, Name
from dynid.model.robot import Robot
from dynid.problem.closed_loop import LoopExperiment, LoopProblem, Memory
from dynid.problem.law_torques import LawTorques, law_torques, why_not_told
from dynid.problem.replay import Replayed
from dynid.simulation.laws import ComputedTorque
from dynid.simulation.user_law import UserLaw

FloatArray = NDArray[np.float64]
LAW = 0.1
"""Share of the torque by which the law may miss it; right laws stay below 2 %, the noise apart."""

SYSTEMATIC, DOUBTFUL = 0.08, 0.025
"""Shares of the torque that a law may miss in step with the motion: beyond, it is refused, or doubted."""

CHECKED = 40000
"""Samples of an experiment that the law is run on, from where it begins to move."""

NOISES = 3.0
"""Deviations of what noise leaves of the low-passed torque that an error must exceed."""

MOTION = 0.08
"""Share of the tracking error by which the simulated motion may miss the measured one."""

_BEYOND = 1.2
"""Disturbances move the robot by about their share of the torque; a wrong law by more."""

ENCODER = 5.0
"""Deviations of the encoder's noise that a missed position must exceed."""

_REMEDY = (
    "Check gains, inertia, damping, velocity estimate, delay and feed-forward of the controller, scale and "
    "stamps of the reference, and signs and units of the torques."
)


@dataclass(frozen=True)
class LawCheck:
    """What the log says of the loop: figures, an outcome where the law is not the robot's, and findings.

    Args:
        facts: figures by name.
        outcome: why nothing can be trusted, or None.
        findings: what deserves attention where the law is not refused.
        memories: what the law remembers at the first sample of each experiment, where the log tells it.
    """

    facts: dict[str, Any] = field(default_factory=dict)
    outcome: Finding | None = None
    findings: tuple[Finding, ...] = ()
    memories: tuple[Memory | None, ...] = ()


def _checked(experiment: LoopExperiment) -> LoopExperiment:
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


def check_law(problem: LoopProblem, tolerance: float = SYSTEMATIC) -> LawCheck:
    """Compare the logged torques with those of the law on the logged positions, low-passed.

    e_j = ‖L(τ − law(q_r, q))‖ / ‖L τ‖ with a running mean L needs no model of the robot. The law is refused
    where e_j exceeds a tenth and three times what white noise leaves after L, or where more than the
    tolerance goes with the motion; from 2.5 % on it is doubted (see ``law_errors``).

    Args:
        problem: a finding names logs without positions at every sample of the controller.
        tolerance: share of the torque that the law may miss in step with the motion.
    """
    told = [law_torques(problem.robot, problem.controller, _checked(e)) for e in problem.experiments]
    parts = [(_checked(e), t) for e, t in zip(problem.experiments, told, strict=True) if t is not None]
    memories = tuple(None if t is None else t.memory for t in told)
    unchecked = _unchecked(problem)
    if not parts:
        return LawCheck(findings=unchecked, memories=memories)
    found = law_errors(problem, parts)
    facts = {"law_error": found.error.tolist(), "law_error_systematic": found.systematic.tolist()}
    wrong = (found.error > np.hypot(LAW, NOISES * found.noise)) | (found.systematic > tolerance)
    if np.any(wrong):
        return LawCheck(facts, _refused(problem, found, np.flatnonzero(wrong)), memories=memories)
    return LawCheck(facts, None, (*unchecked, *_doubted(problem, found)), memories)


def _refused(problem: LoopProblem, found: LawErrors, bad: NDArray[np.int64]) -> Finding:
    missed = float(np.max(np.maximum(found.error, found.systematic)[bad]))
    return Finding(
        Name.CONTROL_LAW_MISMATCH,
        Level.FAIL,
        f"The control law, fed with the logged positions and reference, misses the logged torques of "
        f"{_names(problem.robot, bad)} by {100 * missed:.3g} % at the worst: the robot did not "
        "run under this law, this reference or these torque units.",
        _REMEDY,
    )


def _doubted(problem: LoopProblem, found: LawErrors) -> tuple[Finding, ...]:
    """Care where a law is off by little: it is a bias, and no σ shows it."""
    off = np.flatnonzero(found.systematic > DOUBTFUL)
    if not len(off):
        return ()
    each = ", ".join(f"{100 * found.systematic[j]:.2g} %" for j in off)
    return (
        Finding(
            Name.LAW_IN_DOUBT,
            Level.CARE,
            f"The control law, fed with the logged positions, misses {each} of the torque of "
            f"{_names(problem.robot, off)} in step with the motion, which noise does not; a law or torque "
            "that is off by so much biases inertias by about as much.",
            _REMEDY,
        ),
    )


def _unchecked(problem: LoopProblem) -> tuple[Finding, ...]:
    """Which logs the law could not be compared with, and why."""
    reasons = [(e.name, why_not_told(problem.controller, e)) for e in problem.experiments]
    said = dict.fromkeys(f"log {name!r} could not bear it out: {why}" for name, why in reasons if why)
    if not said:
        return ()
    return (
        Finding(
            Name.LAW_UNCHECKED,
            Level.NOTE,
            f"The control law could not be checked, because {'; '.join(said)}. A wrong gain, sample time or "
            "velocity estimate would then not show.",
        ),
    )


def check_motion(problem: LoopProblem, final: Replayed, torque_errors: FloatArray) -> LawCheck:
    """Compare simulated with measured positions, ‖q − q_s‖ / ‖q − q_r‖ of each joint.

    Only a law whose tracking error is the torque over its stiffness is judged: with feed-forward, integrals
    or a model inside the law, disturbances alone may make up the tracking error.

    Args:
        problem: positions are looked at where there are some.
        final: the simulation with the identified parameters.
        torque_errors: ‖τ − τ_s‖ / ‖τ‖ of each joint, low-passed.
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
        return LawCheck()
    share = np.sqrt(off / np.maximum(lag, 1e-300))
    facts = {"motion_error": share.tolist()}
    law = problem.controller.law
    judged = problem.controller.feedforward is None and not law.memory
    bad = np.flatnonzero((share > np.maximum(MOTION, _BEYOND * torque_errors)) & (off > ENCODER**2 * noise))
    if not judged or isinstance(law, ComputedTorque | UserLaw) or not len(bad):
        return LawCheck(facts)
    worst = int(bad[np.argmax(share[bad])])
    return LawCheck(
        facts,
        Finding(
            Name.CONTROL_LAW_MISMATCH,
            Level.FAIL,
            f"The simulated motion of {_names(problem.robot, bad)} misses the measured one by "
            f"{100 * share[worst]:.3g} % of the tracking error at the worst: the simulated loop is not that "
            "of the log.",
            "Check the control law, the reference, the start, and signs and units of the torques.",
        ),
    )


def _names(robot: Robot, joints: NDArray[np.int64]) -> str:
    names = [robot.joints[j].name for j in robot.coordinates]
    return ", ".join(names[int(j)] for j in joints)


_SETTLING = 0.02
"""Share of a log left out at its start, where the speeds the law remembers are not known."""

_MOVING = 0.02
"""Share of its largest speed from which on a joint moves."""

_BLOCKS = 8
"""Stretches of a log: each is foretold by the others."""


@dataclass(frozen=True, eq=False)
class LawErrors:
    """What a law misses of the low-passed torques L τ while the robot moves, per joint.

    Args:
        error: ‖L(τ − law)‖ / ‖L τ‖.
        noise: what white noise leaves of it.
        systematic: the part that goes with the motion: foretold, from positions, speeds, accelerations and
            torques, by the rest of the log. Noise and quantisation cannot be foretold.
    """

    error: FloatArray
    noise: FloatArray
    systematic: FloatArray


def law_errors(problem: LoopProblem, told: Sequence[tuple[LoopExperiment, LawTorques]]) -> LawErrors:
    """Compare logged torques with those of the law.

    Args:
        problem: robot and plan; where every joint has an offset among its parameters, means count for
            nothing, because the offset takes them up.
        told: experiments and what the law makes of their positions.
    """
    widths = [averaged(problem, 1.0 / float(np.median(np.diff(e.time)))) for e, _ in told]
    series = [_Series.of(e, t.tau, width, alone=True) for (e, t), width in zip(told, widths, strict=True)]
    # Noise cannot be foretold, so what goes with the motion need not be smoothed as much.
    fine = [_Series.of(e, t.tau, averaged(None, 1.0 / float(np.median(np.diff(e.time))))) for e, t in told]
    n = problem.robot.n_coordinates
    error, noise, systematic = np.zeros((3, n))
    for j in range(n):
        offset = has_offset(problem, j)
        off, size = _joined(series, "off", j, offset), _joined(series, "tau", j, offset)
        whole, swift = float(size @ size), float(np.sum(_joined(fine, "tau", j, offset) ** 2))
        if whole <= 0 or swift <= 0:
            continue
        error[j] = np.sqrt(float(off @ off) / whole)
        noise[j] = np.sqrt(sum(float(s.white[j]) * len(s.off) for s in series) / whole)
        columns = np.vstack([s.columns(j) for s in fine])
        systematic[j] = np.sqrt(max(_foretold(_joined(fine, "off", j, offset), columns), 0.0) / swift)
    return LawErrors(error, noise, systematic)


def has_offset(problem: LoopProblem, j: int) -> bool:
    """Whether a constant torque of coordinate j is among the base parameters."""
    label = problem.robot.joints[problem.robot.coordinates[j]].label
    return f"off{label}" in problem.base.names


def _joined(series: Sequence[_Series], name: str, j: int, centred: bool) -> FloatArray:
    whole = np.concatenate([getattr(s, name)[:, j] for s in series])
    return np.asarray(whole - whole.mean() if centred and len(whole) else whole, dtype=float)


def _foretold(off: FloatArray, columns: FloatArray) -> float:
    """Squares of ``off`` that a linear law of the columns, fitted elsewhere, explains: Σ 2 r r̂ − r̂².

    Without anything to explain it is negative: a fit of noise foretells nothing of other noise.
    """
    stretches = np.array_split(np.arange(len(off)), _BLOCKS)
    if len(stretches[-1]) <= columns.shape[1]:
        return 0.0
    scale = np.linalg.norm(columns, axis=0)
    X = columns[:, scale > 0] / scale[scale > 0]
    # R of [X off] of each stretch is all that the others need of it.
    whole = np.column_stack([X, off])
    factors = [np.asarray(np.linalg.qr(whole[own], mode="r")) for own in stretches]
    won = 0.0
    for k, own in enumerate(stretches):
        rest = np.vstack(factors[:k] + factors[k + 1 :])
        law = np.linalg.lstsq(rest[:, :-1], rest[:, -1], rcond=1e-6)[0]
        guess = X[own] @ law
        won += float(2 * off[own] @ guess - guess @ guess)
    return won


@dataclass(frozen=True, eq=False)
class _Series:
    """One experiment's low-passed signals while it moves, (samples, coordinates) each.

    Args:
        off: logged less told torques.
        tau: logged torques.
        beside: tracking error, speeds, acceleration, told torque and its rate, a little before and after each
            sample, (signals, samples, coordinates): wrong gains, inertias and delays show in them, and their
            noise is not that of ``off``, because the running means do not overlap.
        white: variance that white noise leaves in ``off``.
    """

    off: FloatArray
    tau: FloatArray
    beside: FloatArray
    white: FloatArray

    @classmethod
    def of(cls, experiment: LoopExperiment, told: FloatArray, width: int, *, alone: bool = False) -> _Series:
        """Low-pass the signals; ``alone`` without those beside each sample."""
        first = min(max(int(_SETTLING * len(told)), 5), len(told) // 2)
        r, q = experiment.reference, experiment.position
        assert q is not None
        assert r.qd is not None
        step = float(np.median(np.diff(experiment.time)))
        own, q, tau = experiment.samples[first:], q[first:], experiment.tau[first:]
        off, speed = tau - told[first:], np.gradient(q, step, axis=0)
        parts = (off, tau, r.q[own] - q, r.qd[own], speed, told[first:])
        smooth = [_running_means(part, width) for part in parts]
        signals = [] if alone else [*smooth[2:], *(np.gradient(smooth[k], step, axis=0) for k in (4, 5))]
        beside = min(width + 6, (len(smooth[0]) - 1) // 2)
        inner = slice(beside, len(smooth[0]) - beside)
        moves = _moving(smooth[3][inner], smooth[4][inner])
        # Neighbours of a running mean say the same: some of them will do.
        moves &= np.arange(len(moves)) % max(1, width // 2) == 0
        aside = [part[at : at + len(moves)] for part in signals for at in (0, 2 * beside)]
        white = np.mean(np.diff(off, axis=0) ** 2, axis=0) / (2 * width)
        stacked = np.stack([a[moves] for a in aside]) if aside else np.zeros((0, 0, 0))
        return cls(smooth[0][inner][moves], smooth[1][inner][moves], stacked, white)

    def columns(self, j: int) -> FloatArray:
        """What a wrong law's error may be made of, and a constant, (samples, columns)."""
        return np.column_stack([*self.beside[:, :, j], np.ones(len(self.off))])


def _moving(reference_speed: FloatArray, speed: FloatArray) -> NDArray[np.bool_]:
    """Samples at which some joint moves; all of them where none ever does."""
    moves = np.zeros(len(speed), dtype=bool)
    for part in (reference_speed, speed):
        moves |= np.any(np.abs(part) > _MOVING * np.maximum(np.abs(part).max(axis=0), 1e-12), axis=1)
    return moves if moves.any() else ~moves


def averaged(problem: LoopProblem | None, rate_hz: float) -> int:
    """Samples that are averaged: at least a fiftieth of a second, so that noise hides nothing.

    Args:
        problem: as many as its plan decimates by, at least.
        rate_hz: of the log.
    """
    return max(1 if problem is None else problem.plan.decimation, int(rate_hz / 50), 1)


def _running_means(values: FloatArray, width: int) -> FloatArray:
    return np.column_stack([running_mean(column, width) for column in values.T])


def running_mean(values: FloatArray, width: int) -> FloatArray:
    """Running mean over ``width`` samples."""
    if width == 1 or len(values) < 2 * width:
        return values
    sums = np.concatenate([[0.0], np.cumsum(values - values.mean())])
    return np.asarray((sums[width:] - sums[:-width]) / width + values.mean(), dtype=float)
