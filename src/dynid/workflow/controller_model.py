"""The model inside a controller, from what it commands: the start of a recursion (P4 §5.1, §5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.base.find import base_of
from dynid.compile.kernels import kernels
from dynid.core.arrays import BoolArray, FloatArray
from dynid.core.errors import DynidError
from dynid.core.finding import Finding, Level, Name
from dynid.core.kinds import require_kinds
from dynid.estimators.essential import Essential
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.linear.least_squares import WLS
from dynid.estimators.recursive.prior import ParameterPrior, degrees_of_knowledge
from dynid.estimators.strategy import Strategy
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.preparation import Preparation
from dynid.problem.build import build_problem
from dynid.problem.problem import Problem
from dynid.workflow.commanded import FEEDBACK, AxisLaw, CommandedMotion, commanded_motion

ALL_ROWS = Preparation()
"""Neither decimation nor masks: commanded samples are picked already."""
P4_PLAN = Preparation(difference_points=3, drop_samples=10)
"""Commands as P4 §4.2 has them: not filtered, picked, then differentiated over three samples."""
PLAN = Preparation(cutoff_hz=10.0, order=2, difference_points=5, drop_samples=200)
"""Commands of a controller that feeds errors back: what its differences of encoders make is filtered away."""


@dataclass(frozen=True)
class ControllerRules:
    """When a controller has a model, set on the half "setting" of ``tests/population/controllers.py``.

    Args:
        own_axis: share of the torque (rms over axes, about the mean) that a law of each axis alone must
            leave. Below it no model is needed to explain the torque. Higher misses models of arms that hardly
            couple, lower takes noise for a model. The half has at most 5.0 % without a model and at least
            5.3 % with one, noise of log and law included.
        explained: share of that rest which may be left beside a model; above it neither law nor model
            explains the torque, and nothing is said.
        rate_hz: samples per second that are looked at (P4 §4.2) [Hz].
        postures: positions of the commanded motion at which M(q) is looked at.
    """

    own_axis: float = 0.05
    explained: float = 0.5
    rate_hz: float = 50.0
    postures: int = 500


RULES = ControllerRules()


@dataclass(frozen=True, eq=False, repr=False)
class ControllerModel:
    """What was found inside a controller.

    Args:
        estimate: essential parameters of the model, by the 20 % rule, without what feeds errors back.
        verdict: whether the controller has a model (P4 §5.1): level GOOD when it has, FAIL when it has none,
            CARE when its M(q) is not positive definite or nothing can be said. Its figures:
            ``own_axis_percent`` and ``beside_model_percent``, what laws of single axes leave of the torque,
            alone and with a model; ``reconstruction_percent`` and ``tracking_percent`` per axis;
            ``smallest_inertia``, the least eigenvalue of M(q) along the commanded motion.
        reconstruction_percent: 100 ‖Y − W χ̂‖/‖Y‖ of each joint, of the torque without feedback (P4 Table 3).
        tracking_percent: largest tracking error over the range of the reference, (axes,).
    """

    estimate: Estimate
    verdict: Finding
    reconstruction_percent: FloatArray
    tracking_percent: FloatArray

    def __repr__(self) -> str:
        """The verdict and the size of the model."""
        count = f"{int(self.kept.sum())} of {len(self.values)} parameters"
        return f"ControllerModel of {self.estimate.problem.robot.name!r}: {count}; {self.verdict.sentence}"

    @property
    def has_model(self) -> bool:
        """Whether the controller was shown to have a model that a recursion can start from."""
        return self.verdict.level is Level.GOOD

    @property
    def base(self) -> BaseMap:
        """Base parameters of the robot."""
        return self.estimate.problem.base

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters."""
        return self.estimate.names

    @property
    def values(self) -> FloatArray:
        """Base parameters; zero where not essential, (base,)."""
        return self.estimate.values

    @property
    def sigma(self) -> FloatArray:
        """Their standard deviations, zero where not essential, (base,)."""
        return self.estimate.sigma

    @property
    def kept(self) -> BoolArray:
        """Which are essential, (base,)."""
        return self.estimate.kept

    def reconstruct(self, log: Log, plan: Preparation | None = None) -> FloatArray:
        """100 ‖Y − W χ̂‖/‖Y‖ of each joint on another trajectory (P4 Table 3), (joints,) [%].

        Args:
            log: with commanded positions as reference and commanded torques.
            plan: filter and differences of the commands; ``P4_PLAN`` when None.
        """
        motion = commanded_motion(log, P4_PLAN if plan is None else plan, RULES.rate_hz).motion
        problem = build_problem(self.estimate.problem.robot, [motion], ALL_ROWS, self.base)
        return _percent(problem, self.values)

    def prior(self, variances: tuple[float, float, float] = (0.01, 1.0, 100.0)) -> ParameterPrior:
        """The start of a recursion by degree of knowledge (P4 §5.3).

        P4's variances are in the units of the parameters of an arm of the iiwa's size; those of robots of
        another size are in ``torque_prior``.

        Args:
            variances: P₀ of essential, other inertial, and friction parameters, in their squared SI units.
        """
        self._require_model()
        robot = self.estimate.problem.robot
        return degrees_of_knowledge(robot, self.base, self.values, self.kept, variances)

    def torque_prior(self, shares: tuple[float, float, float] = (0.1, 0.3, 1.0)) -> ParameterPrior:
        """The same for a robot of any size: a deviation is what a parameter does to the torques.

        σ_i is the value with which the parameter alone makes a share of the torque of the joint that feels it
        most along the commanded motion: σ_i = share / max_j ‖W_ij‖/‖y_j‖.

        Args:
            shares: of essential, other inertial, and friction parameters.
        """
        essential, inertial, friction = shares
        unit = self.prior((essential**2, inertial**2, friction**2)).sigma
        felt = np.zeros(len(unit))
        for factor in self.estimate.problem.regression.joints:
            own = list(factor.columns)
            lengths = np.linalg.norm(factor.R[:, :-1], axis=0)
            felt[own] = np.maximum(felt[own], lengths / max(factor.torque_norm, np.finfo(float).tiny))
        sigma = np.divide(unit, felt, out=np.full_like(felt, np.inf), where=felt > 0)
        return ParameterPrior(self.values, sigma)

    def _require_model(self) -> None:
        if self.verdict.level is Level.FAIL:
            raise DynidError(
                f"No recursion can start from this controller: {self.verdict.sentence} Start from "
                "ParameterPrior.unknown, or from values of another fit."
            )


def identify_controller_model(
    robot: Robot,
    logs: Log | Sequence[Log],
    *,
    plan: Preparation = PLAN,
    strategy: Strategy | None = None,
    feedback: bool = True,
    rules: ControllerRules = RULES,
    base: BaseMap | None = None,
) -> ControllerModel:
    """Find the model that a controller computes its torques with, and say whether it has one (P4 §5.1, §5.2).

    Args:
        robot: its geometry; no values are needed.
        logs: commanded positions as reference, commanded torques as torque, and measured positions, which
            the verdict and the part that feeds errors back need.
        plan: filter and differences of the commands; ``P4_PLAN`` is as printed.
        strategy: of the fit; the 20 % rule on weighted least squares with the classical σ when None:
            errors of commands are small, and parameters that are lacking do more harm to a start than
            doubtful ones.
        feedback: whether e, ė and ∫e of each axis are fitted beside the model and taken out of the torque;
            not needed where the log has the model's output alone, as P4's. Without it, a controller that
            feeds errors back shows what it and its feedback make together: nearly the real robot.
        rules: thresholds.
        base: base parameters of the robot; found when None.
    """
    require_kinds(identify_controller_model, locals())
    given = [logs] if isinstance(logs, Log) else list(logs)
    if not given:
        raise DynidError("There is no log of commands; give at least one.")
    found = base_of(robot) if base is None else base
    parts = [commanded_motion(log, plan, rules.rate_hz) for log in given]
    problem = _problem(robot, parts, found)
    known = all("position" in log.channels for log in given)
    whole = np.concatenate([part.columns for part in parts], axis=1)
    law = AxisLaw.of(problem, whole)
    if feedback and known:
        beside = AxisLaw.of(problem, whole[:, :, :FEEDBACK])
        problem = _problem(robot, [_without_feedback(part, beside.gains) for part in parts], found)
    estimate = identify(problem, strategy or Essential(WLS(uncertainty="classical")))
    percent = _percent(problem, estimate.values)
    tracking = np.max([part.percent for part in parts], axis=0)
    smallest = _smallest_inertia(estimate, parts, rules)
    figures = {
        "own_axis_percent": 100 * float(np.sqrt(np.mean(law.alone**2))),
        "beside_model_percent": 100 * float(np.sqrt(np.mean(law.beside**2))),
        "reconstruction_percent": percent.tolist(),
        "tracking_percent": tracking.tolist(),
        "smallest_inertia": smallest,
    }
    return ControllerModel(estimate, _verdict(figures, estimate, known, rules), percent, tracking)


def _problem(robot: Robot, parts: Sequence[CommandedMotion], base: BaseMap) -> Problem:
    return build_problem(robot, [part.motion for part in parts], ALL_ROWS, base)


def _without_feedback(part: CommandedMotion, gains: FloatArray) -> CommandedMotion:
    """The torque less what the errors make of it."""
    fed = np.einsum("jkc,jc->kj", part.columns[:, :, :FEEDBACK], gains)
    return replace(part, motion=replace(part.motion, tau=np.asarray(part.motion.tau) - fed))


def _percent(problem: Problem, values: FloatArray) -> FloatArray:
    """100 ‖Y − W χ‖/‖Y‖ of each joint."""
    whole = problem.torque_norms()
    left = problem.residual_norms(values)
    return 100 * np.divide(left, whole, out=np.zeros_like(left), where=whole > 0)


def _smallest_inertia(estimate: Estimate, parts: Sequence[CommandedMotion], rules: ControllerRules) -> float:
    """Least eigenvalue of M(q) of the model along the commanded motion [kg m² or kg]."""
    q = np.concatenate([np.asarray(part.motion.q) for part in parts])
    robot, standard = estimate.problem.robot, estimate.problem.base.expand(estimate.values)
    M = kernels(robot).inertia_matrix(standard, q[:: max(1, len(q) // rules.postures)])
    return float(np.linalg.eigvalsh(M)[:, 0].min())


def _verdict(figures: dict[str, object], estimate: Estimate, known: bool, rules: ControllerRules) -> Finding:
    """Whether there is a model, from what laws of single axes leave of the torque."""
    alone, beside = figures["own_axis_percent"], figures["beside_model_percent"]
    smallest, kept = figures["smallest_inertia"], int(estimate.kept.sum())
    assert isinstance(alone, float)
    assert isinstance(beside, float)
    assert isinstance(smallest, float)
    level, name, remedy = Level.GOOD, Name.FINE, ""
    if not known:
        level, name = Level.CARE, Name.LAW_UNCHECKED
        said = (
            "The log has no measured positions, so that torques fed back from tracking errors cannot be told "
            "from those of a model."
        )
        remedy = "Map the measured positions."
    elif alone <= 100 * rules.own_axis:
        level, name = Level.FAIL, Name.NO_PRIOR
        said = (
            f"The controller shows no model: a law of each axis alone, of its own reference and tracking "
            f"error, leaves {alone:.2g} % of the commanded torque."
        )
    elif beside > rules.explained * alone:
        level, name = Level.CARE, Name.LAW_UNCHECKED
        said = (
            f"Neither laws of single axes nor a model explain the commanded torque: {alone:.2g} % is left by "
            f"those, {beside:.2g} % with a model beside them."
        )
        remedy = "Check units, signs, the order of the axes and what the torque channel holds."
    else:
        said = (
            f"The controller has a model: laws of single axes leave {alone:.2g} % of the commanded torque, "
            f"with a model beside them {beside:.2g} %; {kept} parameters are essential."
        )
        if smallest <= 0:
            level, name = Level.CARE, Name.INERTIA_NOT_POSITIVE
            said += " Its M(q) is not positive definite along the commanded motion."
            remedy = "Command a more exciting motion, or start with larger deviations (prior)."
    return Finding(name, level, said, remedy, figures=figures)
