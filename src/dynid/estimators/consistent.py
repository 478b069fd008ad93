"""Consistent parameters: those of a robot that can exist, nearest to what a strategy has found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dynid.consistency.knowledge import Knowledge
from dynid.consistency.possible_robot import PossibleRobots
from dynid.consistency.system import DataRows
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.estimators.estimate import Estimate
from dynid.estimators.fit import Fit, FurtherColumns, Solved
from dynid.estimators.linear.terms import friction_beside_terms
from dynid.estimators.strategy import Strategy
from dynid.estimators.wrapper import Wrapper
from dynid.problem.problem import Problem

if TYPE_CHECKING:
    from dynid.estimators.linear.terms import NonlinearTerm
    from dynid.problem.closed_loop import LoopProblem

FEWEST_DRAWS = 100
"""Drawn estimates from which the covariance is made, at least, and two per parameter."""


@dataclass(frozen=True)
class Consistent(Wrapper):
    """min ‖A (K χ − χ̂)‖² over standard parameters χ of possible robots, χ̂ and A from the strategy inside.

    The pseudo-inertia of every link is positive definite with a margin, drive inertia and friction are not
    negative, and what is known beside the log holds (Traversaro 2016, Wensing 2018, Lee 2020). It
    works on the triangular factor, so its cost does not depend on the length of the log. Where the data say
    nothing, the bodies nearest to those of the robot file or of the robot's geometry are taken.

    σ is a constrained bootstrap on the factor: estimates drawn from the covariance of the strategy inside,
    each brought to the nearest possible robot.

    Args:
        strategy: how χ̂ is found; any that is linear.
        knowledge: bounds of links and values known beforehand.
    """

    knowledge: Knowledge = field(default_factory=Knowledge)

    def __post_init__(self) -> None:
        """Take over the uncertainty of the strategy inside; refuse one that it cannot hold."""
        super().__post_init__()
        if self.strategy.wraps or self.strategy.simulates:
            raise DynidError(
                f"Consistent wraps a strategy that is linear and estimates all parameters, not "
                f"{type(self.strategy).__name__}; give WLS(), and give Consistent(…) as the step of a "
                "strategy that simulates the closed loop."
            )

    @property
    def unheld(self) -> Strategy:
        """The strategy inside."""
        return self.strategy

    def with_terms(self, terms: tuple[NonlinearTerm, ...]) -> Strategy:
        """The same around the strategy inside with terms."""
        return Consistent(self.strategy.with_terms(terms), self.knowledge)

    def solution(self, problem: Problem | LoopProblem) -> Solved:
        """Solve a linear problem."""
        self.require_problem(problem)
        assert isinstance(problem, Problem)
        return Solved(problem, self.fit(problem))

    def fit(self, problem: Problem, kept: NDArray[np.bool_] | None = None) -> Fit:
        """Solve by the strategy inside, and go to the nearest possible robot."""
        if kept is not None and not kept.all():
            raise DynidError(
                "A possible robot has all its parameters, so that none can be removed as not essential; use "
                "Consistent or Essential, not both."
            )
        plain = self.strategy.fit(problem, kept)
        if plain.degrees <= 0:
            return plain  # nothing tells how far the data are to be believed; the outcome will say so
        rows = DataRows.of(problem, plain.weights, plain.values, plain.sigma)
        terms = () if plain.further is None else plain.further.parameters.terms
        robots = PossibleRobots.of(
            problem.robot, rows, self.knowledge, friction_beside_terms(problem.robot, terms)
        )
        found = robots.nearest(rows)
        return replace(
            plain,
            values=found.values,
            further=_moved_residual(problem, plain, found.values),
            beside=plain,
            project=robots.projection(rows),
            facts={**plain.facts, "consistency": found.to_dict()},
        )


def data_rows_of(estimate: Estimate) -> DataRows:
    """What the log of an estimate says: about its own values, or of least squares where some were removed."""
    facts = estimate.facts
    values = estimate.values if estimate.kept.all() else None
    return DataRows.of(estimate.problem, facts["weights"], values, float(facts["sigma_weighted"]))


def _moved_residual(problem: Problem, plain: Fit, values: FloatArray) -> FurtherColumns | None:
    """Columns of added terms, which stay as they are, with the residual of other base parameters."""
    if plain.further is None:
        return None
    residual = []
    for j, own in enumerate(plain.further.residual):
        rows = problem.rows(j)
        residual.append(own + rows.W @ (plain.values - values)[list(rows.columns)])
    return replace(plain.further, residual=tuple(residual))


def projected_covariance(fit: Fit, covariance: FloatArray) -> FloatArray:
    """Second moment of drawn estimates, each at its nearest possible robot, about the values themselves.

    The draws come in pairs of opposite sign and have the covariance of the fit beside it exactly, so that
    values which nothing holds keep it exactly.

    Args:
        fit: of possible values, with its projection.
        covariance: of the fit beside it: base parameters, then those of added terms, which keep theirs.
    """
    assert fit.project is not None
    count, width = len(fit.values), len(covariance)
    pairs = max(FEWEST_DRAWS // 2, width)
    white = np.linalg.qr(np.random.default_rng(0).standard_normal((pairs, width)))[0] * np.sqrt(pairs)
    scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    sizes, vectors = np.linalg.eigh(covariance * np.outer(inverse, inverse))
    half = white @ (scale[:, None] * vectors * np.sqrt(np.maximum(sizes, 0.0))).T
    drawn = np.concatenate([half, -half])
    moved = np.array([fit.project(fit.values + step[:count]) for step in drawn]) - fit.project(fit.values)
    steps = np.column_stack([moved, drawn[:, count:]])
    return np.asarray(steps.T @ steps / len(steps), dtype=float)
