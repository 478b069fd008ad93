"""What rules around another strategy share: they solve what it solves, as it does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dynid.core.kinds import require_field_kinds
from dynid.estimators.linear.least_squares import WLS
from dynid.estimators.strategy import Strategy
from dynid.estimators.uncertainty import Uncertainty
from dynid.problem.problem import Problem

if TYPE_CHECKING:
    from dynid.problem.closed_loop import LoopProblem


@dataclass(frozen=True)
class Wrapper(Strategy):
    """A rule around another strategy, whose uncertainty it takes over.

    Args:
        strategy: the one inside.
    """

    strategy: Strategy = field(default_factory=WLS)
    uncertainty: str | Uncertainty = field(init=False)

    def __post_init__(self) -> None:
        """Take over the uncertainty of the strategy inside; refuse fields of other kinds."""
        require_field_kinds(self)
        object.__setattr__(self, "uncertainty", self.strategy.uncertainty)

    @property
    def wraps(self) -> bool:
        """Always: it holds another strategy."""
        return True

    @property
    def simulates(self) -> bool:
        """Whether the strategy inside does."""
        return self.strategy.simulates

    @property
    def predicts_measured(self) -> bool:
        """Whether the strategy inside does."""
        return self.strategy.predicts_measured

    @property
    def streams(self) -> bool:
        """Whether the strategy inside can."""
        return self.strategy.streams

    @property
    def takes_terms(self) -> bool:
        """Whether the strategy inside does."""
        return self.strategy.takes_terms

    @property
    def has_terms(self) -> bool:
        """Whether the strategy inside does."""
        return self.strategy.has_terms

    def require_problem(self, problem: Problem | LoopProblem) -> None:
        """What the strategy inside accepts."""
        self.strategy.require_problem(problem)
