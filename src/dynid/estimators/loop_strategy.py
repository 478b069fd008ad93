"""What strategies share that simulate the closed loop: they solve a ``LoopProblem``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.essential import Essential
from dynid.estimators.law_checks import SYSTEMATIC, check_law
from dynid.estimators.least_squares import WLS
from dynid.estimators.loop_start import remembering
from dynid.estimators.solved import Solved
from dynid.estimators.strategy import Strategy
from dynid.problem.closed_loop import LoopProblem
from dynid.problem.problem import Problem

FloatArray = NDArray[np.float64]
_MENDED = (Name.INERTIA_NOT_POSITIVE, Name.WEAK_INSTRUMENTS)
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
    law_tolerance: ClassVar[float] = SYSTEMATIC
    """Share of the torque that the law may miss in step with the motion before it is refused."""

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
                f"{type(self).__name__} needs {self.needs}; build the problem with build_loop_problem."
            )

    def solution(self, problem: Problem | LoopProblem) -> Solved:
        """Solve by simulating the closed loop."""
        self.accepts(problem)
        assert isinstance(problem, LoopProblem)
        return self._judged(problem, self.solve)

    @property
    def simulates_law(self) -> bool:
        """Whether the estimate hangs on the problem's control law as it is."""
        return True

    @abstractmethod
    def first_pass(self, problem: LoopProblem) -> Solved:
        """One linear step from the start, for laws that are not worth more."""

    def _judged(self, problem: LoopProblem, solve: Callable[[LoopProblem], Solved]) -> Solved:
        """A solution, after what the log's own positions say about the law: a wrong law explains the rest.

        The check needs no model and takes no time beside the iteration, so a law that fails it ends in one
        pass, and what the law remembers at the start of each log comes from it.
        """
        if not self.simulates_law:
            return solve(problem)
        law = check_law(problem, self.law_tolerance)
        known = remembering(problem, law.memories)
        try:
            solved = solve(known) if law.outcome is None else self.first_pass(known)
        except NotTrustworthyError as error:
            if law.outcome is None and not law.findings:
                raise
            if law.outcome is None:
                said = " ".join(finding.text for finding in law.findings)
                raise NotTrustworthyError(f"{error} {said}") from error
            text = f"{law.outcome.text} (The simulation with it ended so: {error})"
            raise NotTrustworthyError(text) from error
        fit = replace(
            solved.fit,
            problem_outcome=law.outcome or solved.fit.problem_outcome,
            findings=(*law.findings, *_forgotten(known), *solved.fit.findings),
            facts={**law.facts, **_remembered(known), **solved.fit.facts},
        )
        return replace(solved, fit=fit)

    def pruned(self, problem: LoopProblem, essential: Essential) -> Solved:
        """Prune the linear problem at the fixed point, find the fixed point of the rest, and so on."""
        return self._judged(problem, lambda known: self._pruned(known, essential))

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


def _remembered(problem: LoopProblem) -> dict[str, object]:
    """What the law was taken to remember at the start, where it remembers anything."""
    if not problem.controller.law.memory:
        return {}
    memories = [None if e.memory is None else e.memory.values.tolist() for e in problem.experiments]
    return {"law_memory": memories}


def _forgotten(problem: LoopProblem) -> tuple[Finding, ...]:
    """Which logs may start with integrals that nobody knows."""
    names = [repr(e.name) for e in problem.experiments if e.memory is None]
    if not problem.controller.law.memory or not names:
        return ()
    return (
        Finding(
            Name.LAW_MEMORY_UNKNOWN,
            Level.NOTE,
            f"What the law remembers (integrals) at the start of log {', '.join(names)} could not be found "
            "from its torques and is taken as zero: if the log was cut out of a longer run, offsets are "
            "wrong.",
        ),
    )


def _pruner(essential: Essential, solved: Solved) -> Essential:
    """The same rule around what solves the linear problem, so that %σ is the strategy's own."""
    if solved.origin is None:
        return essential
    return Essential(solved.origin.strategy, essential.rule, essential.threshold)


def _hopeless(solved: Solved) -> bool:
    """Whether fewer parameters would not help: an M(q) spoilt by parameters that are not seen, they mend."""
    outcome = solved.fit.problem_outcome
    return outcome is not None and outcome.name not in _MENDED
