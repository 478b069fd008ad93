"""IDIM-IV: measured motion, with the simulated robot's as instruments (Janot, Vandanjon and Gautier 2014)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import unknown_name
from dynid.core.finding import Finding
from dynid.estimators.closed_loop.instruments import Instrumented, check_weighting, instrument_rows
from dynid.estimators.closed_loop.strategy import (
    PRIOR,
    Gains,
    LoopStrategy,
    check_options,
    check_simulated,
    given_start,
    movement,
    unsettled,
)
from dynid.estimators.fit import Fit, Origin, Solved
from dynid.preparation.motion import Motion
from dynid.problem.build import build_problem
from dynid.problem.closed_loop import LoopProblem, at_motions, reference_motions
from dynid.problem.problem import Problem
from dynid.problem.replay import LoopModel, Replayed, regular_start, replay, supported

FloatArray = NDArray[np.float64]
Rows = tuple[FloatArray, ...]
INSTRUMENTS = ("model", "reference", "both")
LEAST_SQUARES, REGULAR = "least squares", "regular"
STARTS = (LEAST_SQUARES, REGULAR, PRIOR)
_SIGMAS = 0.1
"""Steps below this share of σ are at rest."""


@dataclass(frozen=True, kw_only=True)
class IV(LoopStrategy):
    """Instrumental variables: χ̂ = (ZᵀSW)⁻¹ ZᵀSY, free of the bias that noise in W causes.

    W is the regressor of the measured motion, Z that of a motion without its noise: of the robot simulated
    with χᵏ under the same law ("model", repeated until nothing moves), of the reference ("reference", one
    pass), or both together (2SLS, with a test whether they agree). Masks are those of the measured motion.

    Args:
        step: OLS() or WLS(): S = 1, or 1/σ̂_j² of each joint.
        instruments: "model", "reference" or "both".
        start: first model to simulate: "least squares" (IDIM-LS; the regular start when its M(q) is not
            positive definite), "regular", "prior" or base values by name.
        value_tolerance: it stops when every |Δχ_i| ≤ max(tolerance |χ_i|, σ_i/10).
        max_iterations: simulations at most.
        follow_inertia: as DIDIM's.
    """

    needs = "the measured motion, the torques, the reference and the control law"
    law_tolerance = float("inf")
    """Instruments need only be like the motion: a law that is off by a tenth costs no bias."""
    instruments: str = "model"
    start: str | Mapping[str, float] = LEAST_SQUARES
    value_tolerance: float = 0.005
    max_iterations: int = 10
    follow_inertia: str | None = None

    def __post_init__(self) -> None:
        """Refuse options that cannot work."""
        super().__post_init__()
        check_weighting(self.step)
        if self.instruments not in INSTRUMENTS:
            raise unknown_name("kind of instruments", self.instruments, INSTRUMENTS)
        check_options("IV", self.start, STARTS, self.max_iterations, self.value_tolerance)

    @property
    def simulates_law(self) -> bool:
        """The reference alone makes instruments without a law; gains may follow the inertia."""
        return self.instruments != "reference" and self.follow_inertia != "always"

    def first_pass(self, problem: LoopProblem) -> Solved:
        """One pass with the first simulation's instruments."""
        return replace(self, max_iterations=1).solve(problem)

    def fit(self, problem: Problem, kept: NDArray[np.bool_] | None = None) -> Fit:
        """Least squares, where nothing is known of instruments."""
        return self.step.fit(problem, kept)

    def solve(
        self,
        problem: LoopProblem,
        kept: NDArray[np.bool_] | None = None,
        start: FloatArray | None = None,
    ) -> Solved:
        """One pass with the reference, or passes until the simulated instruments settle."""
        measured = at_motions(problem, "IV")
        linear = _linear(measured, [e.motion for e in measured.experiments if e.motion is not None], True)
        fixed: tuple[Rows, ...] = ()
        if self.instruments != "model":
            fixed = (instrument_rows(linear, _linear(measured, list(reference_motions(measured)), False)),)
        if self.instruments == "reference":
            return self._finished(linear, self._instrumented(*fixed), kept)
        return self._iterated(measured, linear, fixed, kept, start)

    def _instrumented(self, *sets: Rows) -> Instrumented:
        return Instrumented(step=self.step, sets=sets, uncertainty=self.uncertainty)

    def _iterated(
        self,
        problem: LoopProblem,
        linear: Problem,
        fixed: tuple[Rows, ...],
        kept: NDArray[np.bool_] | None,
        start: FloatArray | None,
    ) -> Solved:
        loop = Gains(problem.controller, self.follow_inertia)
        first = self._first(problem, loop, linear, kept) if start is None else _model(problem, start)
        run, begun = self._begin(problem, loop, first)
        history: list[dict[str, Any]] = []
        strategy, before, fit = self._instrumented(), np.zeros(len(problem.base)), None
        settled, stopped = False, None
        for k in range(self.max_iterations):
            if k:
                assert fit is not None
                run = _simulated(problem, loop, _model(problem, fit.values))
                if not run.outcome.trustworthy:
                    stopped = run.outcome
                    break
            strategy = self._instrumented(
                instrument_rows(linear, _linear(problem, list(run.motions), False)), *fixed
            )
            now = strategy.fit(linear, kept)
            before, fit = (np.zeros_like(now.values) if fit is None else fit.values), now
            history.append({"solved": now.values.tolist(), "substeps": run.substeps})
            settled = k > 0 and bool(np.all(movement(before, now, self.value_tolerance, _SIGMAS) <= 1))
            if settled:
                break
        assert fit is not None
        facts = {"history": history, "start": begun}
        outcome = stopped or fit.problem_outcome
        if outcome is None and not settled:
            outcome = unsettled(problem, before, fit, len(history), _REMEDY)
        return self._finished(linear, strategy, kept, fit, facts, settled, outcome, len(history))

    def _first(
        self, problem: LoopProblem, loop: Gains, linear: Problem, kept: NDArray[np.bool_] | None
    ) -> LoopModel:
        if self.start == REGULAR:
            return regular_start(problem, loop.regular_inertias)
        if self.start == LEAST_SQUARES:
            return _model(problem, self.step.fit(linear, kept).values)
        return _model(problem, given_start(problem, self.start))

    def _begin(self, problem: LoopProblem, loop: Gains, model: LoopModel) -> tuple[Replayed, str]:
        """The first simulation; least squares is often too far off, and the regular start steps in."""
        run = replay(problem, model, loop.controller(model))
        begun = self.start if isinstance(self.start, str) else "given"
        if not run.outcome.trustworthy and self.start == LEAST_SQUARES:
            regular = regular_start(problem, loop.regular_inertias)
            run, begun = replay(problem, regular, loop.controller(regular)), REGULAR
        check_simulated(run.outcome)
        return run, begun

    def _finished(
        self,
        linear: Problem,
        strategy: Instrumented,
        kept: NDArray[np.bool_] | None,
        fit: Fit | None = None,
        facts: Mapping[str, Any] | None = None,
        settled: bool = True,
        outcome: Finding | None = None,
        iterations: int = 1,
    ) -> Solved:
        found = strategy.fit(linear, kept) if fit is None else fit
        full = replace(
            found,
            iterations=iterations,
            converged=settled,
            problem_outcome=outcome or found.problem_outcome,
            facts={**found.facts, **(facts or {})},
        )
        return Solved(linear, full, Origin(linear, strategy))


_REMEDY = "Allow more iterations, start from other values, or keep only essential parameters."


def _model(problem: LoopProblem, values: FloatArray) -> LoopModel:
    return LoopModel(problem.robot, problem.base, values)


def _simulated(problem: LoopProblem, loop: Gains, model: LoopModel) -> Replayed:
    """A simulation; instruments may come from a model with a little more inertia where M(q) needs it."""
    ready, _ = supported(problem, model)
    return replay(problem, ready, loop.controller(ready))


def _linear(problem: LoopProblem, motions: list[Motion], masked: bool) -> Problem:
    """Rows of motions; the sign of friction is as smooth as in the simulation."""
    plan = problem.plan if masked else replace(problem.plan, speed_thresholds=())
    return build_problem(problem.accuracy.robot(problem.robot), motions, plan, problem.base)
