"""Ways to solve a design: our own barrier method by default, IPOPT and SciPy beside it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.excitation.barrier import Descent, descend
from dynid.excitation.ipopt import ipopt
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
    """Newton steps on J − μ Σ log slack, with μ and the smoothness of the problem falling together.

    Args:
        weights: μ, one per stage.
        iterations: at most, per stage.
        tolerance: decrease of J over five iterations below which a stage ends.
    """

    weights: tuple[float, ...] = (0.03, 0.003, 0.0003)
    iterations: int = 300
    tolerance: float = 1e-3
    name: ClassVar[str] = "barrier"

    def solve(self, problem: DesignProblem, x: FloatArray, watch: Watch) -> Descent:
        """Stage after stage, each from where the last one ended."""
        evaluations, found = 0, Descent(x, np.inf, 0, False)
        for stage, weight in enumerate(self.weights):
            smooth = problem.softer(len(self.weights) - 1 - stage)
            found = descend(
                partial(smooth.barrier, weight=weight),
                partial(smooth.limit_barrier, weight=weight),
                smooth.reach,
                found.x,
                iterations=self.iterations,
                tolerance=self.tolerance,
                watch=watch,
            )
            evaluations += found.evaluations
        return Descent(found.x, problem.value(found.x), evaluations, found.converged)


@dataclass(frozen=True)
class Ipopt(Solver):
    """IPOPT from CasADi's wheel: interior points (Wächter, Biegler 2006) with a limited-memory Hessian.

    Args:
        iterations: at most.
        tolerance: relative change of J that, ten iterations long, ends the search.
    """

    iterations: int = 500
    tolerance: float = 1e-4
    name: ClassVar[str] = "ipopt"

    def solve(self, problem: DesignProblem, x: FloatArray, watch: Watch) -> Descent:
        """From the start itself; the best iterate within all limits."""
        path = Path(problem, x, watch)
        options = {
            "max_iter": self.iterations,
            "acceptable_obj_change_tol": self.tolerance,
            "acceptable_iter": 10,
            # The change of J decides, and complementarity; the gradient of a quasi-Newton method stays rough.
            "acceptable_tol": 1e10,
            "acceptable_dual_inf_tol": 1e10,
            "acceptable_constr_viol_tol": 1e-6,
            # A start inside the limits is taken as it is, and limits are not widened.
            "bound_push": 1e-6,
            "bound_relax_factor": 0.0,
        }
        return path.end(ipopt(path, options))


@dataclass(frozen=True)
class Slsqp(Solver):
    """SciPy's sequential quadratic programming (Kraft 1988), what most tools of the field use.

    Args:
        iterations: at most.
        tolerance: change of J that ends the search.
    """

    iterations: int = 500
    tolerance: float = 1e-5
    name: ClassVar[str] = "slsqp"

    def solve(self, problem: DesignProblem, x: FloatArray, watch: Watch) -> Descent:
        """From the start itself; the best iterate within all limits."""
        from scipy.optimize import minimize

        path = Path(problem, x, watch)
        rows = {"type": "ineq", "fun": lambda z: path.at(z).rows, "jac": lambda z: path.at(z).jacobian}
        found = minimize(
            lambda z: path.at(z).value,
            x.ravel(),
            jac=lambda z: path.at(z).gradient,
            constraints=[rows],
            callback=path.tell,
            method="SLSQP",
            options={"maxiter": self.iterations, "ftol": self.tolerance},
        )
        return path.end(bool(found.success))


@dataclass(frozen=True, eq=False)
class Point:
    """What a general solver asks at some variables: criterion, rows that must not be negative, slopes."""

    value: float
    gradient: FloatArray
    rows: FloatArray
    jacobian: FloatArray


class Path:
    """The way of a general solver: every point is computed once, and the best one within all limits is kept.

    Args:
        problem: what is solved.
        x: the start, within all limits.
        watch: told the best motion so far at every iterate.
    """

    def __init__(self, problem: DesignProblem, x: FloatArray, watch: Watch) -> None:
        """Begin at the start."""
        self.problem, self.watch = problem, watch
        self.start, self.evaluations = x, 0
        self._latest: tuple[bytes, Point] | None = None
        self._best, self._value = x, problem.value(x)

    def at(self, z: FloatArray) -> Point:
        """Value, rows and derivatives at variables (all of them in a row)."""
        key = z.tobytes()
        if self._latest is None or self._latest[0] != key:
            x = np.reshape(z, self.start.shape)
            value, gradient = self.problem.objective(x)
            self._latest = key, Point(value, gradient.ravel(), *self.problem.constraints(x))
            self.evaluations += 1
        return self._latest[1]

    def tell(self, z: FloatArray) -> None:
        """Keep an iterate if it is the best so far, a little nearer to the start where it passes limits."""
        point, x = self.at(z), np.reshape(z, self.start.shape).copy()
        least, value = float(np.min(point.rows)), point.value
        if least < 0 and value < self._value:
            x = self.start + (1.0 + 2.0 * least / self._room) * (x - self.start)
            least, value = float(np.min(self.problem.constraints(x)[0])), self.problem.value(x)
        if least >= 0 and value < self._value:
            self._best, self._value = x, value
        self.watch(self._best)

    @cached_property
    def _room(self) -> float:
        """What the start leaves to the nearest limit: half as much per step towards it would be linear."""
        return float(np.min(self.problem.constraints(self.start)[0]))

    def end(self, converged: bool) -> Descent:
        """The best iterate within all limits."""
        return Descent(self._best, self._value, self.evaluations, converged)


SOLVERS: dict[str, Solver] = {"barrier": Barrier(), "ipopt": Ipopt(), "slsqp": Slsqp()}
"""Solvers by the names of the command line."""
