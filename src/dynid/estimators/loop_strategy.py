"""What strategies share that simulate the closed loop: they solve a ``LoopProblem``."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dynid.estimators.fit import Fit
from dynid.estimators.least_squares import WLS
from dynid.estimators.strategy import Strategy
from dynid.problem.closed_loop import LoopProblem
from dynid.problem.problem import Problem

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Solved:
    """A closed-loop problem, solved.

    Args:
        problem: the linear problem at the solution, for residuals, conditions and reports.
        fit: values and what any uncertainty is made from.
        origin: what the fit was made from, where that is not the strategy's own fit of ``problem``.
    """

    problem: Problem
    fit: Fit
    origin: Origin | None = None

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
