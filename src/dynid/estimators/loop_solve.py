"""Solve closed-loop problems by strategies that can, and tell the others what they need."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid.errors import DynidError
from dynid.estimators.essential import Essential
from dynid.estimators.loop_strategy import LoopStrategy, Solved
from dynid.estimators.strategy import Strategy
from dynid.problem.closed_loop import LoopProblem
from dynid.problem.problem import Problem

_MENDED = ("inertia not positive definite", "weak instruments")
"""Outcomes that fewer parameters may mend."""
_ROUNDS = 4
"""Prunings at most: a smaller model moves the simulation, and the simulation may prune again."""


def check_needs(problem: Problem, strategy: Strategy) -> Problem:
    """The problem, when the strategy can solve it.

    Raises:
        DynidError: when the strategy simulates the closed loop, which a linear problem does not know.
    """
    inner = strategy.strategy if isinstance(strategy, Essential) else strategy
    if isinstance(inner, LoopStrategy):
        raise DynidError(
            f"{type(inner).__name__} needs {inner.needs}; build the problem with build_loop_problem.",
            name="problem",
        )
    return problem


def linear_part(strategy: Strategy) -> Strategy:
    """How a strategy solves linear problems: itself, or the step of one that simulates the closed loop."""
    if isinstance(strategy, LoopStrategy):
        return strategy.step
    if isinstance(strategy, Essential) and isinstance(strategy.strategy, LoopStrategy):
        return Essential(strategy.strategy.step, rule=strategy.rule, threshold=strategy.threshold)
    return strategy


def solve_loop(problem: LoopProblem, strategy: Strategy) -> Solved:
    """Solve a closed-loop problem.

    Raises:
        DynidError: when the strategy works on measured motions.
    """
    if isinstance(strategy, LoopStrategy):
        return strategy.solve(problem)
    if isinstance(strategy, Essential) and isinstance(strategy.strategy, LoopStrategy):
        return _essential(problem, strategy, strategy.strategy)
    raise DynidError(
        f"{type(strategy).__name__} works on measured motions; build the problem with build_problem, or use "
        "a strategy that simulates the closed loop, such as DIDIM.",
        name="strategy",
    )


def _essential(problem: LoopProblem, essential: Essential, inner: LoopStrategy) -> Solved:
    """Prune the linear problem at the fixed point, find the fixed point of the rest, and so on."""
    solved = inner.solve(problem)
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
        solved = inner.solve(problem, kept, pruned.values)
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
