"""What strategies share that simulate the closed loop: they solve a ``LoopProblem``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dynid.errors import DynidError, NotTrustworthyError
from dynid.estimators.essential import Essential
from dynid.estimators.law_checks import check_law
from dynid.estimators.least_squares import WLS
from dynid.estimators.solved import Solved
from dynid.estimators.strategy import Strategy
from dynid.problem.closed_loop import LoopProblem
from dynid.problem.problem import Problem

FloatArray = NDArray[np.float64]
_MENDED = ("inertia not positive definite", "weak instruments")
"""Outcomes that fewer parameters may mend."""
_ROUNDS = 4
"""Prunings at most: a smaller model moves the simulation, and the simulation may prune again."""


@dataclass(frozen=True, kw_only=True)
class LoopStrategy(Strategy):
    """A way to estimate base parameters by simulating the robot under its controller.

    Args:
        step: how each linear problem is solved.
    """

    step: Strategy = field(default_factory=WLS)
    needs: ClassVar[str] = "the torques, the reference and the control law"
    """What it must be given, in words."""

    @abstractmethod
    def solve(
        self,
        problem: LoopProblem,
        kept: NDArray[np.bool_] | None = None,
        start: FloatArray | None = None,
    ) -> Solved:
        """Solve for the kept base parameters.

        Args:
            problem: from ``build_loop_problem``.
            kept: (base,) of bool; all when None.
            start: base parameters to begin with, in place of the strategy's own start.
        """

    @property
    def linear(self) -> Strategy:
        """The step: motions of a solved problem are simulated already."""
        return self.step

    def accepts(self, problem: Problem | LoopProblem) -> None:
        """Refuse a linear problem, which does not know the closed loop."""
        if isinstance(problem, Problem):
            raise DynidError(
                f"{type(self).__name__} needs {self.needs}; build the problem with build_loop_problem.",
                name="problem",
            )

    def solution(self, problem: Problem | LoopProblem) -> Solved:
        """Solve by simulating the closed loop."""
        self.accepts(problem)
        assert isinstance(problem, LoopProblem)
        return self._judged(problem, lambda: self.solve(problem))

    @property
    def simulates_law(self) -> bool:
        """Whether the estimate hangs on the problem's control law as it is."""
        return True

    def _judged(self, problem: LoopProblem, solve: Callable[[], Solved]) -> Solved:
        """A solution, with what the log's own positions say about the law: a wrong law explains the rest."""
        if not self.simulates_law:
            return solve()
        law = check_law(problem)
        try:
            solved = solve()
        except NotTrustworthyError as error:
            if law.outcome is None:
                raise
            text = f"{error} {law.outcome.cause} {law.outcome.remedy}"
            raise NotTrustworthyError(text, name=law.outcome.name) from error
        fit = replace(
            solved.fit,
            problem_outcome=law.outcome or solved.fit.problem_outcome,
            facts={**solved.fit.facts, **law.facts},
        )
        return replace(solved, fit=fit)

    def pruned(self, problem: LoopProblem, essential: Essential) -> Solved:
        """Prune the linear problem at the fixed point, find the fixed point of the rest, and so on."""
        return self._judged(problem, lambda: self._pruned(problem, essential))

    def _pruned(self, problem: LoopProblem, essential: Essential) -> Solved:
        solved = self.solve(problem)
        if _hopeless(solved):
            return solved
        kept = np.ones(len(problem.base), dtype=bool)
        facts: dict[str, object] = {}
        removed: list[str] = []
        removals: list[object] = []
        for _ in range(_ROUNDS):
            pruned = _pruner(essential, solved).fit(solved.scored, kept)
            removed += list(pruned.facts.get("removed", ()))
            removals += list(pruned.facts.get("removals", ()))
            facts = {**pruned.facts, "removed": list(removed), "removals": list(removals)}
            if np.array_equal(pruned.kept, kept):
                break
            kept = pruned.kept
            solved = self.solve(problem, kept, pruned.values)
            if _hopeless(solved):
                break
        return replace(solved, fit=replace(solved.fit, facts={**facts, **solved.fit.facts}))


def _pruner(essential: Essential, solved: Solved) -> Essential:
    """The same rule around what solves the linear problem, so that %σ is the strategy's own."""
    if solved.origin is None:
        return essential
    return Essential(solved.origin.strategy, essential.rule, essential.threshold)


def _hopeless(solved: Solved) -> bool:
    """Whether fewer parameters would not help: an M(q) spoilt by parameters that are not seen, they mend."""
    outcome = solved.fit.problem_outcome
    return outcome is not None and outcome.name not in _MENDED
