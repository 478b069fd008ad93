"""Values that can be simulated: of a fit, or of the nearest possible robot where M(q) is not positive."""

from __future__ import annotations

from dataclasses import replace

from dynid.consistency.knowledge import Knowledge
from dynid.consistency.possible_robot import PossibleRobots
from dynid.core.arrays import FloatArray
from dynid.core.errors import NotTrustworthyError
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.data_rows import data_rows_of
from dynid.estimators.fit import Fit
from dynid.estimators.strategy import Strategy
from dynid.problem.closed_loop import LoopProblem
from dynid.problem.problem import Problem
from dynid.problem.replay import LoopModel, supported_model


def is_simulable(problem: LoopProblem, values: FloatArray) -> bool:
    """Whether M(q) of base parameters is well positive along the references."""
    _, share = supported_model(problem, LoopModel.of(problem, values))
    return share == 0.0


def simulable_fit(problem: LoopProblem, linear: Problem, step: Strategy, fit: Fit) -> Fit:
    """A fit whose values can be simulated: itself, or the same step held to possible robots.

    Args:
        problem: the closed loop.
        linear: what was solved.
        step: by which strategy.
        fit: its solution; one of fewer parameters stays as it is.
    """
    if step.wraps or not fit.kept.all() or is_simulable(problem, fit.values):
        return fit
    try:
        held = step.held_to(Knowledge()).fit(linear)
    except NotTrustworthyError:
        return fit  # more drive inertia will do
    note = Finding(
        Name.POSSIBLE_ROBOT,
        Level.NOTE,
        "Least squares alone gives an M(q) that is not positive definite; the values are those of the "
        "nearest robot that can exist.",
    )
    return replace(held, findings=(*held.findings, note))


def simulable_values(problem: LoopProblem, linear: Problem, fit: Fit, values: FloatArray) -> FloatArray:
    """Base parameters that can be simulated, nearest to some by the metric of a fit.

    Args:
        problem: the closed loop.
        linear: the linear problem of the fit.
        fit: its weights and σ̂ make the metric; with fewer parameters the values stay as they are.
        values: (base,).
    """
    if not fit.kept.all() or is_simulable(problem, values):
        return values
    rows = data_rows_of(linear.base, fit, values)
    try:
        return PossibleRobots.of(problem.robot, rows).nearest_values(rows)
    except NotTrustworthyError:
        return values
