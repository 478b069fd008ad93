"""Consistent parameters: those of a robot that can exist, nearest to what a strategy has found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dynid.consistency.knowledge import Knowledge
from dynid.consistency.possible_robot import PossibleRobots
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.estimators.data_rows import data_rows_of
from dynid.estimators.fit import Fit, FurtherColumns
from dynid.estimators.linear.terms import friction_beside_terms
from dynid.estimators.strategy import Strategy
from dynid.estimators.wrapper import Wrapper
from dynid.problem.problem import Problem

if TYPE_CHECKING:
    from dynid.estimators.linear.terms import NonlinearTerm

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

    @property
    def knowledge_held(self) -> Knowledge | None:
        """What is known beside the log."""
        return self.knowledge

    def held_to(self, knowledge: Knowledge) -> Strategy:
        """The strategy inside, held to what is known."""
        return Consistent(self.strategy, knowledge)

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
        rows = data_rows_of(problem.base, plain)
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
    """Second moment of drawn estimates, each at its nearest possible robot, about that of the values.

    The draws come in pairs of opposite sign and have the covariance of the fit beside it exactly, so that
    values which nothing holds keep it exactly. What the user knows beforehand is drawn with its doubt, too.

    Args:
        fit: of possible values, with its projection.
        covariance: of the fit beside it: base parameters, then those of added terms, which keep theirs.
    """
    assert fit.project is not None
    project, count, width = fit.project, len(fit.values), len(covariance)
    rng = np.random.default_rng(0)
    pairs = max(FEWEST_DRAWS // 2, width)
    white = np.linalg.qr(rng.standard_normal((pairs, width)))[0] * np.sqrt(pairs)
    surprises = rng.standard_normal((pairs, project.surprises))
    scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    sizes, vectors = np.linalg.eigh(covariance * np.outer(inverse, inverse))
    drawn = white @ (scale[:, None] * vectors * np.sqrt(np.maximum(sizes, 0.0))).T
    centre, steps = project(fit.values), list[FloatArray]()
    for step, surprise in zip(drawn, surprises, strict=True):
        try:
            ends = [project(fit.values + s * step[:count], s * surprise) for s in (1.0, -1.0)]
        except NotTrustworthyError:
            continue  # the solver fails on a few extreme draws
        steps += [np.append(e - centre, s * step[count:]) for e, s in zip(ends, (1.0, -1.0), strict=True)]
    if len(steps) < pairs:
        raise NotTrustworthyError(
            f"Of {2 * pairs} drawn estimates only {len(steps)} could be brought to a possible robot, so that "
            "their σ is not known; loosen the bounds or the prior."
        )
    moved = np.array(steps)
    return np.asarray(moved.T @ moved / len(moved), dtype=float)
