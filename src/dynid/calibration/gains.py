"""Drive gains from free and loaded motions with a payload that is known in part (P2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.calibration.bilinear import BilinearFit, bilinear_fit, prior_of
from dynid.calibration.constrained import constrained_fit
from dynid.calibration.judgement import judge_gains, sentences_of_calibrated
from dynid.calibration.knowledge import PayloadKnowledge, Range
from dynid.calibration.motor_payload import MotorPayload, motor_payloads
from dynid.calibration.sequence import SequenceFound, calibrate_in_sequence
from dynid.calibration.shared_gains import gains_with_one_arm
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, unknown_name
from dynid.core.files import toml_text
from dynid.core.finding import Finding
from dynid.core.kinds import require_kinds
from dynid.core.plain import plain
from dynid.core.tables import to_table
from dynid.estimators.linear.least_squares import OLS, TLS
from dynid.estimators.strategy import Strategy
from dynid.model.drives import Drives
from dynid.model.loaders.mdh import DrivesRow
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem.build import build_problem
from dynid.problem.problem import Problem

SHARED, SEQUENTIAL, GLOBAL, CONSTRAINED = METHODS = ("shared", "sequential", "global", "constrained")
GAIN_RANGE = (0.1, 10.0)
"""Gains relative to the a-priori ones that the constrained method allows: a slip of a unit is beyond."""


@dataclass(frozen=True)
class DriveGain:
    """The gain of one motor.

    Args:
        motor: number, from 1.
        relative: gain over the a-priori one; not a number where it is not calibrated.
        sigma: σ of ``relative``; infinite where it is not calibrated.
        prior: the a-priori gain [N m per unit of the signal].
        stage: 1 where it follows from what is known of the payload, 2 and more where from what earlier
            motors show of it; 0 where it is not calibrated.
        how: in a sentence, how it was found or why not.
    """

    motor: int
    relative: float
    sigma: float
    prior: float
    stage: int
    how: str

    @property
    def is_calibrated(self) -> bool:
        """Whether it was found."""
        return self.stage > 0

    def left_out(self, why: str) -> DriveGain:
        """The motor without a gain, with the reason in a sentence."""
        return replace(self, relative=np.nan, sigma=np.inf, stage=0, how=why)

    @property
    def absolute(self) -> float:
        """Torque per unit of the signal; the a-priori one where it is not calibrated [N m/unit]."""
        return self.prior * self.relative if self.is_calibrated else self.prior

    @property
    def absolute_sigma(self) -> float:
        """σ of ``absolute`` [N m/unit]."""
        return abs(self.prior) * self.sigma


@dataclass(frozen=True, eq=False, repr=False)
class DriveGains:
    """Gains of all motors, and the payload that was found with them.

    Args:
        robot: the robot with its payload.
        method: "shared", "sequential", "global" or "constrained".
        gains: one per motor.
        covariance: of the relative gains, (motors, motors); zero for motors that are not calibrated.
        payload_names: parameters of the payload.
        payload: their values; not numbers where no motor is calibrated, (payload,).
        payload_covariance: (payload, payload).
        open_payload: parameters that the calibrated motors do not show.
        knowledge: what was known.
        rows: what each motor says of the payload.
        squares: of the fit of all calibrated motors together, in σ²; with one arm ("shared") those beyond
            arms of their own; zero where no motor is calibrated.
        degrees: its degrees of freedom.
        outcome: how it ended.
        findings: what else is to be said, motor by motor.
    """

    robot: Robot
    method: str
    gains: tuple[DriveGain, ...]
    covariance: FloatArray
    payload_names: tuple[str, ...]
    payload: FloatArray
    payload_covariance: FloatArray
    open_payload: tuple[str, ...]
    knowledge: PayloadKnowledge
    rows: tuple[MotorPayload, ...]
    squares: float
    degrees: int
    outcome: Finding
    findings: tuple[Finding, ...]

    def __repr__(self) -> str:
        """Gains, one per line."""
        lines = [f"DriveGains of {self.robot.name!r} ({self.method}), {self.outcome.name}"]
        for gain in self.gains:
            found = f"{gain.relative:.4f} ± {gain.sigma:.4f}" if gain.is_calibrated else "not calibrated"
            lines.append(f"  motor {gain.motor}: {found}")
        return "\n".join(lines)

    @property
    def relative(self) -> FloatArray:
        """Gains over the a-priori ones, (motors,); not numbers where not calibrated."""
        return np.array([gain.relative for gain in self.gains])

    @property
    def sigma(self) -> FloatArray:
        """Their σ, (motors,); infinite where not calibrated."""
        return np.array([gain.sigma for gain in self.gains])

    @property
    def correlation(self) -> FloatArray:
        """Correlation of the gains, (motors, motors): a mass weighed wrongly moves all of them alike."""
        deviations = np.sqrt(np.diag(self.covariance))
        inverse = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)
        return np.asarray(self.covariance * np.outer(inverse, inverse), dtype=float)

    @property
    def payload_sigma(self) -> FloatArray:
        """σ of the payload's parameters, (payload,); infinite where not shown."""
        known = np.sqrt(np.maximum(np.diag(self.payload_covariance), 0.0))
        return np.where(np.isin(self.payload_names, self.open_payload), np.inf, known)

    @property
    def drives(self) -> Drives:
        """The robot's drives with these gains; motors that are not calibrated keep theirs."""
        own = self.robot.drives or Drives.unit(len(self.gains))
        return replace(own, gain=tuple(gain.absolute for gain in self.gains))

    def to_toml(self) -> str:
        """The table ``[drives]`` that --drives takes; comments say what each gain rests on."""
        known = ", ".join(f"{name} = {value:g}" for name, value in self.knowledge.values.items())
        lines = [f"# Drive gains of {self.robot.name}, {self.method} method, from a payload of {known}."]
        for gain in self.gains:
            found = f"{gain.absolute:.6g} ± {gain.absolute_sigma:.2g}"
            kept = f"{gain.prior:.6g}, the a-priori gain, is kept"
            lines.append(f"# Motor {gain.motor}: {found if gain.is_calibrated else kept}. {gain.how}")
        return "\n".join([*lines, toml_text({"drives": to_table(DrivesRow.of(self.drives))})])

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; what is not a finite number is None."""
        return {
            "robot": self.robot.name,
            "method": self.method,
            "uncertainty": [row.uncertainty for row in self.rows],
            "gains": [
                plain({**vars(gain), "absolute": gain.absolute, "absolute_sigma": gain.absolute_sigma})
                for gain in self.gains
            ],
            "correlation": plain(self.correlation),
            "payload": {
                name: plain({"value": value, "sigma": sigma})
                for name, value, sigma in zip(
                    self.payload_names, self.payload, self.payload_sigma, strict=True
                )
            },
            "known": {
                name: {"value": value, "sigma": self.knowledge.sigma_of(name)}
                for name, value in self.knowledge.values.items()
            },
            "outcome": plain(self.outcome.to_dict()),
            "findings": [plain(finding.to_dict()) for finding in self.findings],
        }


def calibrate_gains(
    robot: Robot,
    motions: Iterable[Motion],
    plan: Preparation,
    knowledge: PayloadKnowledge,
    *,
    method: str = SHARED,
    strategy: Strategy | None = None,
    gain_range: Range = GAIN_RANGE,
) -> DriveGains:
    """Find drive gains from free and loaded motions and a payload that is known in part (P2 eq 23–27).

    Each motor's rows say K_m χ_L / g_m; what is known of χ_L sets the scale. On a coupled wrist a joint's
    torque has two gains, a motor's row has one.

    Args:
        robot: with a payload that lives in loaded logs only, see ``free_and_loaded``.
        motions: of both conditions, with torques from the a-priori gains.
        plan: decimation and speed thresholds.
        knowledge: of the payload, such as ``PayloadKnowledge.of_mass(7.025, 0.05)``.
        method: "shared" (one arm for all motors, which ties their gains together), "sequential" (P2: the
            mass, then the payload, then further motors), "global" (all motors at once, each with an arm of
            its own) or "constrained" (the same with gains in a range and a payload that can exist).
        strategy: of the least squares on each motor's rows, OLS() when None, or TLS(); with one arm only the
            judgement of the logs rests on it, so that TLS() is refused there.
        gain_range: gains relative to the a-priori ones that the constrained method allows.
    """
    require_kinds(calibrate_gains, locals())
    require_effect(method, strategy, knowledge)
    problem = build_problem(robot, motions, plan, motor_rows=robot.drives is not None)
    rows = motor_payloads(problem, strategy or OLS())
    if method == SHARED:
        return _gains_with_one_arm(problem, rows, knowledge)
    return gains_of_rows(robot, rows, knowledge, method=method, gain_range=gain_range)


def require_effect(method: str, strategy: Strategy | None, knowledge: PayloadKnowledge) -> None:
    """Refuse what the method would not use.

    Args:
        method: as in ``calibrate_gains``.
        strategy: likewise.
        knowledge: likewise.
    """
    if method not in METHODS:
        raise unknown_name("method of calibrating gains", method, METHODS)
    if method == SHARED and isinstance(strategy, TLS):
        raise DynidError(
            f"Total least squares is for the methods {SEQUENTIAL}, {GLOBAL} and {CONSTRAINED}, which solve "
            f"each motor's rows by themselves, and the method is {method}; choose one of these, or OLS."
        )
    if method != CONSTRAINED and knowledge.bounds:
        raise DynidError(
            f"Bounds of {', '.join(knowledge.bounds)} are given, which only the method {CONSTRAINED} holds, "
            f"and the method is {method}; choose {CONSTRAINED}, or leave the bounds out."
        )


@dataclass(frozen=True, eq=False)
class _Solution:
    """What a method found.

    Args:
        order: motors that are calibrated, from 0, in the order of ``theta``.
        theta: their 1/g, (calibrated,).
        payload: χ, (payload,).
        covariance: of θ followed by χ.
        open: which of χ are not determined, (payload,).
        squares: see ``DriveGains``.
        degrees: likewise.
    """

    order: tuple[int, ...]
    theta: FloatArray
    payload: FloatArray
    covariance: FloatArray
    open: NDArray[np.bool_]
    squares: float = 0.0
    degrees: int = 0

    @classmethod
    def none(cls, size: int) -> _Solution:
        """No motor is calibrated, of a payload with so many parameters."""
        unknown = np.full(size, np.nan)
        return cls((), np.zeros(0), unknown, np.zeros((size, size)), np.ones(size, dtype=bool))


def _gains_with_one_arm(
    problem: Problem, rows: Sequence[MotorPayload], knowledge: PayloadKnowledge
) -> DriveGains:
    """Gains of all motors with one arm; see ``calibrate_gains``."""
    names, n = rows[0].names, len(rows)
    knowledge.mask(names)
    shared = gains_with_one_arm(problem, rows, calibrate_in_sequence(rows, knowledge), knowledge)
    solution, fit = _Solution.none(len(names)), shared.fit
    if shared.calibrated:
        order = shared.calibrated
        kept = [*order, *range(n, n + len(names))]
        covariance = shared.covariance[np.ix_(kept, kept)]
        squares = fit.excess * fit.degrees
        solution = _Solution(
            order, fit.theta[list(order)], fit.payload, covariance, fit.open[n:], squares, fit.degrees
        )
    judged = shared.outcome, shared.findings
    return _drive_gains(problem.robot, SHARED, rows, knowledge, solution, [1] * n, shared.sentences, judged)


def gains_of_rows(
    robot: Robot,
    rows: Sequence[MotorPayload],
    knowledge: PayloadKnowledge,
    *,
    method: str = GLOBAL,
    gain_range: Range = GAIN_RANGE,
) -> DriveGains:
    """Gains from what each motor says of the payload; see ``calibrate_gains``."""
    names = rows[0].names
    knowledge.mask(names)
    found = calibrate_in_sequence(rows, knowledge)
    used = [rows[i] for i in found.order]
    prior = prior_of(knowledge, names)
    together = bilinear_fit(used, prior, found.theta, found.payload) if used else None
    judged = judge_gains(rows, found, together, knowledge)
    solution = _Solution.none(len(names))
    if together is not None:
        solved = together
        if method == CONSTRAINED:
            solved = constrained_fit(used, prior, knowledge, gain_range, together)
        solution = _chosen_solution(found, together, solved, method, knowledge)
    sentences = tuple(sentences_of_calibrated(rows, found.trials, knowledge))
    stages = [trial.stage for trial in found.trials]
    return _drive_gains(robot, method, rows, knowledge, solution, stages, sentences, judged)


def _chosen_solution(
    found: SequenceFound,
    together: BilinearFit,
    solved: BilinearFit,
    method: str,
    knowledge: PayloadKnowledge,
) -> _Solution:
    """What the method found; constraints only narrow σ, and that of the fit without them is told."""
    values = solved.theta, solved.payload
    covariance = together.covariance + knowledge.scale_covariance(together.theta, together.payload)
    if method == SEQUENTIAL:
        values, covariance = (found.theta, found.payload), found.covariance
    lost = together.open[len(together.theta) :]
    return _Solution(found.order, *values, covariance, lost, together.squares, together.degrees)


def _drive_gains(
    robot: Robot,
    method: str,
    rows: Sequence[MotorPayload],
    knowledge: PayloadKnowledge,
    solution: _Solution,
    stages: Sequence[int],
    sentences: Sequence[str],
    judged: tuple[Finding, tuple[Finding, ...]],
) -> DriveGains:
    """Gains g = 1/θ and their covariance, motor by motor.

    Args:
        robot: with its payload.
        method: how they were found.
        rows: what each motor says of the payload.
        knowledge: of it.
        solution: θ and χ.
        stages: of each motor, if it is calibrated.
        sentences: how each gain was found, or why not.
        judged: outcome and findings.
    """
    own, n = list(solution.order), len(solution.order)
    slope = np.zeros((len(rows), n))  # of g = 1/θ
    slope[own, np.arange(n)] = -1.0 / solution.theta**2
    covariance = slope @ solution.covariance[:n, :n] @ slope.T
    relative, sigma = np.full(len(rows), np.nan), np.full(len(rows), np.inf)
    relative[own], sigma[own] = 1.0 / solution.theta, np.sqrt(np.diag(covariance)[own])
    prior = (robot.drives or Drives.unit(len(rows))).gain
    gains = tuple(
        DriveGain(
            k + 1, float(relative[k]), float(sigma[k]), prior[k], stages[k] if k in own else 0, sentences[k]
        )
        for k in range(len(rows))
    )
    names = rows[0].names
    return DriveGains(
        robot,
        method,
        gains,
        covariance,
        names,
        solution.payload,
        solution.covariance[n:, n:],
        tuple(name for name, lost in zip(names, solution.open, strict=True) if lost),
        knowledge,
        tuple(rows),
        solution.squares,
        solution.degrees,
        *judged,
    )
