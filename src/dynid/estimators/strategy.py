"""What every strategy is: options as data, and one method that solves a problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError
from dynid.core.kinds import require_field_kinds
from dynid.core.lazy import later
from dynid.estimators.fit import Fit, Solved
from dynid.estimators.uncertainty import DEFAULT_KIND, Uncertainty, uncertainty_of
from dynid.problem.problem import Problem

if TYPE_CHECKING:
    from dynid.consistency.knowledge import Knowledge
    from dynid.estimators.essential import Essential
    from dynid.estimators.linear.terms import NonlinearTerm
    from dynid.problem.closed_loop import LoopProblem

_consistent: Callable[..., Strategy] = later("dynid.estimators.consistent", "Consistent")


@dataclass(frozen=True, kw_only=True)
class Strategy(ABC):
    """A way to estimate base parameters.

    Args:
        uncertainty: how the covariance is found: "honest" (chosen from the residuals: classical, or the
            spread between long blocks of time), "classical" (white errors), "hac" (autocorrelated errors,
            Newey–West) or "bootstrap" (moving blocks of time), or an object with options.
    """

    uncertainty: str | Uncertainty = DEFAULT_KIND

    def __post_init__(self) -> None:
        """Refuse options of other kinds, and an uncertainty that is not known."""
        require_field_kinds(self)
        uncertainty_of(self.uncertainty)

    @abstractmethod
    def fit(self, problem: Problem, kept: NDArray[np.bool_] | None = None) -> Fit:
        """Solve for the kept base parameters, (base,) of bool; all when None."""

    @property
    def linear(self) -> Strategy:
        """How it solves linear problems: itself, unless it simulates the closed loop."""
        return self

    @property
    def unheld(self) -> Strategy:
        """The strategy without what holds its values to possible robots: itself, unless something does."""
        return self

    @property
    def knowledge_held(self) -> Knowledge | None:
        """What its values are held to beside the log; None where they are not held to possible robots."""
        return None

    def held_to(self, knowledge: Knowledge) -> Strategy:
        """The strategy with its values held to possible robots.

        Args:
            knowledge: what is known beside the log.

        Raises:
            DynidError: for a strategy that cannot be held.
        """
        return _consistent(self, knowledge)

    @property
    def simulates(self) -> bool:
        """Whether it simulates the closed loop, and so needs the control law."""
        return False

    @property
    def predicts_measured(self) -> bool:
        """Whether its torques are those along the measured motion, which is then what to judge it by."""
        return True

    @property
    def streams(self) -> bool:
        """Whether it can solve a problem whose motions are not held in memory."""
        return True

    @property
    def takes_terms(self) -> bool:
        """Whether terms beside the robot's own can be added to it."""
        return False

    @property
    def has_terms(self) -> bool:
        """Whether it has terms of its own."""
        return False

    @property
    def is_least_squares(self) -> bool:
        """Whether it is least squares with weights of the joints, which parts of the logs can be tried by."""
        return False

    @property
    def wraps(self) -> bool:
        """Whether it is a rule around another strategy."""
        return False

    def with_terms(self, terms: tuple[NonlinearTerm, ...]) -> Strategy:
        """The strategy with terms beside the robot's own.

        Raises:
            DynidError: for a strategy that takes none.
        """
        raise DynidError(
            f"Terms can be added to fits by OLS and WLS, and the estimator is {type(self).__name__}; leave "
            "out the terms to add, or choose --method wls."
        )

    def require_problem(self, problem: Problem | LoopProblem) -> None:
        """Refuse a problem the strategy cannot solve.

        Raises:
            DynidError: when it is a closed-loop problem and the strategy works on measured motions.
        """
        if not isinstance(problem, Problem):
            raise self._needs_motions()

    def solution(self, problem: Problem | LoopProblem) -> Solved:
        """Solve a problem of the kind the strategy is for."""
        self.require_problem(problem)
        assert isinstance(problem, Problem)
        return Solved(problem, self.fit(problem))

    def essential_solution(self, problem: LoopProblem, essential: Essential) -> Solved:
        """Solve a closed-loop problem for its essential parameters; only strategies that simulate can."""
        raise self._needs_motions()

    def _needs_motions(self) -> DynidError:
        return DynidError(
            f"{type(self).__name__} works on measured motions; build the problem with build_problem, or use "
            "a strategy that simulates the closed loop, such as DIDIM."
        )

    def to_dict(self) -> dict[str, Any]:
        """Name and options, ready for JSON."""
        return dict(as_data(self))


def as_data(thing: Any) -> Any:
    """A dataclass of options as a mapping with its name; arrays as lists."""
    if is_dataclass(thing) and not isinstance(thing, type):
        options = {f.name: as_data(getattr(thing, f.name)) for f in fields(thing)}
        return {"name": type(thing).__name__, **options}
    if isinstance(thing, np.ndarray):
        return thing.tolist()
    if isinstance(thing, Mapping):
        return {str(key): as_data(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [as_data(value) for value in thing]
    return thing
