"""Recursions as strategies: ``identify(problem, RLS())`` runs over the rows in the order of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, unknown_name
from dynid.estimators.closed_loop.instruments import TwoStage, check_weighting
from dynid.estimators.closed_loop.iv import IV, Rows
from dynid.estimators.fit import Fit
from dynid.estimators.linear.least_squares import (
    WLS,
    fit_with_own_weights,
    kept_mask,
    leverages,
    own_sigma,
    residual_sigma,
    root_over_base,
)
from dynid.estimators.recursive.instants import instants_of
from dynid.estimators.recursive.prior import ParameterPrior
from dynid.estimators.recursive.recursion import Recursion, RecursionOptions
from dynid.estimators.recursive.riv import InstrumentRecursion
from dynid.estimators.recursive.rls import LeastSquaresRecursion
from dynid.estimators.strategy import Strategy
from dynid.problem.factor import spectrum
from dynid.problem.problem import Problem

_BATCH = RecursionOptions(blocks=0)
"""σ is made from the problem's own rows."""


@dataclass(frozen=True, kw_only=True)
class RLS(Strategy):
    """Recursive least squares (P4 eq 9), run over the rows of a problem in the order of time.

    Without a prior it ends at the batch fit of ``step``. What forgets, watches and takes live samples is
    ``LeastSquaresRecursion``.

    Args:
        step: WLS() divides joint j's rows by σ̂_j, OLS() takes all rows alike, as P4 prints eq 9.
        prior: values to start from, by base name; zero where absent.
        prior_variance: P₀ of every parameter, in its squared SI unit (P4: 100); None knows nothing, and is
            then the batch exactly.
    """

    step: Strategy = field(default_factory=WLS)
    prior: Mapping[str, float] | None = None
    prior_variance: float | None = None

    def __post_init__(self) -> None:
        """Refuse a variance that is none, and values without one."""
        super().__post_init__()
        check_weighting(self.step)
        if self.prior_variance is not None and not 0 < self.prior_variance < np.inf:
            raise DynidError(
                f"The prior variance is {self.prior_variance:g}; give a positive number, or None for "
                "no prior."
            )
        if self.prior is not None and self.prior_variance is None:
            raise DynidError("A prior was given without its variance; give prior_variance, such as 0.01.")

    def fit(self, problem: Problem, kept: NDArray[np.bool_] | None = None) -> Fit:
        """Run over all rows, with weights as the batch has them."""
        chosen = kept_mask(problem, kept)
        if isinstance(self.step, WLS):
            return fit_with_own_weights(
                lambda weights, sigma: self._run(problem, chosen, weights, sigma),
                own_sigma(problem),
                self.step.iterations,
                problem.undriven,
            )
        return self._run(problem, chosen, np.ones(len(problem.regression.joints)), None)

    def starting_point(self, names: Sequence[str]) -> ParameterPrior:
        """What is known before the first row, of some parameters."""
        if self.prior_variance is None:
            return ParameterPrior.unknown(len(names))
        given = self.prior or {}
        values = np.array([given.get(name, 0.0) for name in names])
        return ParameterPrior(values, np.full(len(names), self.prior_variance**0.5))

    def _run(
        self, problem: Problem, kept: NDArray[np.bool_], weights: FloatArray, sigma: FloatArray | None
    ) -> Fit:
        for name in self.prior or {}:
            if name not in problem.names:
                raise unknown_name("base parameter of the prior", name, problem.names)
        recursion = run_over(problem, kept, weights, self.starting_point(kept_names(problem, kept)))
        solved = spectrum(recursion.state()["factor"])
        values = np.zeros(len(kept))
        values[kept] = recursion.values
        degrees = int(problem.row_counts.sum()) - solved.rank
        if sigma is None:
            spent = leverages(problem, root_over_base(solved.root, kept), weights)
            sigma = residual_sigma(problem, problem.residual_norms(values), problem.row_counts - spent)
        squares = float(np.sum((weights * problem.residual_norms(values)) ** 2))
        facts = {"updates": recursion.updates, "prior_variance": self.prior_variance}
        return Fit.weighted(values, kept, solved, weights, sigma, squares, degrees, facts=facts)


def kept_names(problem: Problem, kept: NDArray[np.bool_]) -> list[str]:
    """Names of the kept base parameters."""
    return [name for name, own in zip(problem.names, kept, strict=True) if own]


def run_over(
    problem: Problem, kept: NDArray[np.bool_], weights: FloatArray, prior: ParameterPrior | None = None
) -> Recursion:
    """Recursive least squares after all rows of a problem.

    Args:
        problem: with its rows.
        kept: which base parameters, (base,) of bool.
        weights: 1/σ_j of each joint, (joints,).
        prior: where it starts; nothing is known when None.
    """
    recursion = LeastSquaresRecursion(kept_names(problem, kept), 1.0 / weights, prior, _BATCH)
    for instant in instants_of(problem, kept):
        recursion.update(instant.W, instant.y, rows=int(instant.used.sum()))
    return recursion


@dataclass(frozen=True, kw_only=True, eq=False)
class RecursiveTwoStage(TwoStage):
    """Given instruments, folded instant by instant; weights and tests of the instruments are the batch's."""

    def fit(self, problem: Problem, kept: NDArray[np.bool_] | None = None) -> Fit:
        """Run over all rows."""
        if len(self.sets) != 1:
            raise DynidError("Recursive instrumental variables take one set of instruments.")
        chosen = kept_mask(problem, kept)
        batch = super().fit(problem, kept)
        recursion = InstrumentRecursion(kept_names(problem, chosen), 1.0 / batch.weights, None, _BATCH)
        for instant in instants_of(problem, chosen, self.sets[0]):
            recursion.update(instant.W, instant.y, instant.Z, rows=int(instant.used.sum()))
        values = np.zeros(len(chosen))
        values[chosen] = recursion.values
        return replace(batch, values=values, facts={**batch.facts, "updates": recursion.updates})


@dataclass(frozen=True, kw_only=True)
class RIV(IV):
    """Recursive instrumental variables with instruments of the commanded position (P4 eq 10, §5.4).

    Nothing is simulated and nothing filtered. It ends at ``IV(instruments="reference")``.
    """

    instruments: str = "reference"

    def __post_init__(self) -> None:
        """Refuse instruments that a running robot does not have."""
        super().__post_init__()
        if self.instruments != "reference":
            raise DynidError(
                f"RIV takes its instruments from the reference, not from {self.instruments!r}; use IV for "
                "others."
            )

    def _two_stage(self, *sets: Rows) -> TwoStage:
        return RecursiveTwoStage(step=self.step, sets=sets, uncertainty=self.uncertainty)
