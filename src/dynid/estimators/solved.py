"""A solved problem: the linear rows at the solution, and the fit that was made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dynid.estimators.fit import Fit
from dynid.estimators.uncertainty import Uncertainty
from dynid.problem.problem import Problem

if TYPE_CHECKING:
    from dynid.estimators.strategy import Strategy


@dataclass(frozen=True, eq=False)
class Solved:
    """A problem, solved.

    Args:
        problem: the linear problem at the solution, for residuals, conditions and reports.
        fit: values and what any uncertainty is made from.
        origin: what the fit was made from, where that is not the strategy's own fit of ``problem``.
        uncertainty: that suits the errors, in place of the strategy's.
    """

    problem: Problem
    fit: Fit
    origin: Origin | None = None
    uncertainty: Uncertainty | None = None

    @property
    def scored(self) -> Problem:
        """The problem whose rows and residuals the uncertainty is made from."""
        return self.problem if self.origin is None else self.origin.problem


@dataclass(frozen=True, eq=False)
class Origin:
    """The linear problem a fit solved, and how: for its uncertainty and for essential parameters.

    Args:
        problem: rows linearised at the solution; positions for output error.
        strategy: solves it for fewer parameters.
    """

    problem: Problem
    strategy: Strategy
