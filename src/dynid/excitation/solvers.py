"""Ways to solve a design: our own barrier method by default, IPOPT and SciPy beside it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from dynid.core.arrays import FloatArray
from dynid.excitation.barrier import Descent, descend
from dynid.excitation.problem import DesignProblem

Watch = Callable[[FloatArray], None]
"""Told every motion on the way that keeps all limits; it may raise to end the search."""


class Solver(ABC):
    """A way from a start inside the limits to a better motion."""

    name: ClassVar[str]

    @abstractmethod
    def solve(self, problem: DesignProblem, x: FloatArray, watch: Watch) -> Descent:
        """Minimise the criterion from x, a start that keeps all limits."""


@dataclass(frozen=True)
class Barrier(Solver):
    """L-BFGS on J − μ Σ log slack, with μ and the smoothness of J falling together.

    Args:
        weights: μ, one per stage.
        iterations: at most, per stage.
        tolerance: decrease of J over five iterations below which a stage ends.
    """

    weights: tuple[float, ...] = (0.06, 0.01, 0.001)
    iterations: int = 400
    tolerance: float = 1e-3
    name: ClassVar[str] = "barrier"

    def solve(self, problem: DesignProblem, x: FloatArray, watch: Watch) -> Descent:
        """Stage after stage, each from where the last one ended."""
        evaluations, found = 0, None
        for stage, weight in enumerate(self.weights):
            criterion = problem.criterion.softer(len(self.weights) - 1 - stage)
            found = descend(
                partial(problem.barrier, weight=weight, criterion=criterion),
                x,
                iterations=self.iterations,
                tolerance=self.tolerance,
                watch=lambda z, _: watch(z),
            )
            x, evaluations = found.x, evaluations + found.evaluations
        assert found is not None
        return Descent(x, problem.value(x), evaluations, found.converged)


SOLVERS: dict[str, Solver] = {"barrier": Barrier()}
"""Solvers by the names of the command line."""
