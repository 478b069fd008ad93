"""IDIM-IV: measured motion, with the simulated robot's as instruments (Janot, Vandanjon and Gautier 2014)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import option_words, unknown_name
from dynid.core.finding import Finding, Level
from dynid.estimators.closed_loop.instruments import STRONG, TwoStage, check_weighting, instrument_rows
from dynid.estimators.closed_loop.simulable import simulable_values
from dynid.estimators.closed_loop.strategy import (
    AT_REST_SIGMAS,
    PRIOR,
    REGULAR,
    Gains,
    LoopStrategy,
    movement,
    require_simulated,
    still_moving,
)
from dynid.estimators.fit import Fit, Origin, Solved
from dynid.problem.closed_loop import LoopProblem, at_motions, reference_motions
from dynid.problem.problem import Problem
from dynid.problem.replay import LoopModel, Replayed, regular_start, replay, supported_model

Rows = tuple[FloatArray, ...]
INSTRUMENTS = ("model", "reference", "both")
LEAST_SQUARES = "least squares"


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
    needs_law = False
    """Instruments need only be like the motion: a law that is known roughly costs precision, no bias."""
    without_law = (
        f" The reference makes instruments without any law: {option_words('--instruments', 'reference')}."
    )
    instruments: str = "model"
    start: str | Mapping[str, float] = LEAST_SQUARES
    max_iterations: int = 10
    starts = (LEAST_SQUARES, REGULAR, PRIOR)
    follow_inertia: str | None = None

    def __post_init__(self) -> None:
        """Refuse options that cannot work."""
        super().__post_init__()
        check_weighting(self.step)
        if self.instruments not in INSTRUMENTS:
            raise unknown_name("kind of instruments", self.instruments, INSTRUMENTS)

    @property
    def simulates_law(self) -> bool:
        """The reference alone makes instruments without a law; gains may follow the inertia."""
        return self.instruments != "reference" and self.follow_inertia != "always"

    @property
    def predicts_measured(self) -> bool:
        """W is that of the measured motion."""
        return True

    def excused_law(self, mismatch: Finding, fit: Fit) -> Finding:
        """The mismatch, and how strong the instruments are all the same."""
        strength = fit.facts["instruments"]
        if strength["first_stage_f"] < STRONG:
            return replace(mismatch, level=Level.CARE)
        excuse = (
            "IV needs a law only to make instruments that move with the measured motion, and they do "
            f"(smallest canonical correlation {strength['smallest_correlation']:.2g}, first-stage F "
            f"{strength['first_stage_f']:.3g}; {STRONG:.0f} is wanted), so roughly known gains cost "
            "precision only; torques in other units would be in the values."
        )
        return replace(mismatch, level=Level.CARE, sentence=f"{mismatch.sentence} {excuse}")

    def first_pass(self, problem: LoopProblem) -> Solved:
        """One pass with the first simulation's instruments."""
        return replace(self, max_iterations=1).solve(problem)

    def solve(
        self,
        problem: LoopProblem,
        kept: NDArray[np.bool_] | None = None,
        start: FloatArray | None = None,
    ) -> Solved:
        """One pass with the reference, or passes until the simulated instruments settle."""
        measured = at_motions(problem, "IV")
        linear = measured.linear([e.motion for e in measured.experiments if e.motion is not None])
        fixed: tuple[Rows, ...] = ()
        if self.instruments != "model":
            fixed = (instrument_rows(linear, measured.linear(reference_motions(measured), masked=False)),)
        if self.instruments == "reference":
            return self._result(linear, self._two_stage(*fixed), kept)
        return self._iterate(measured, linear, fixed, kept, start)

    def _two_stage(self, *sets: Rows) -> TwoStage:
        return TwoStage(step=self.step, sets=sets, uncertainty=self.uncertainty)

    def _iterate(
        self,
        problem: LoopProblem,
        linear: Problem,
        fixed: tuple[Rows, ...],
        kept: NDArray[np.bool_] | None,
        start: FloatArray | None,
    ) -> Solved:
        loop = Gains(problem.controller, self.follow_inertia)
        if start is not None:
            first = LoopModel.of(problem, start)
        elif self.start == LEAST_SQUARES:
            plain = self.step.fit(linear, kept)
            first = LoopModel.of(problem, simulable_values(problem, linear, plain, plain.values))
        else:
            first = self.starting_model(problem, loop)
        run, begun = self._first_simulation(problem, loop, first)
        history: list[dict[str, Any]] = []
        strategy, before, fit = self._two_stage(), np.zeros(len(problem.base)), None
        settled, stopped = False, None
        for k in range(self.max_iterations):
            if k:
                assert fit is not None
                run = _simulate(problem, loop, simulable_values(problem, linear, fit, fit.values))
                if not run.outcome.trustworthy:
                    stopped = run.outcome
                    break
            simulated = instrument_rows(linear, problem.linear(run.motions, masked=False))
            strategy = self._two_stage(simulated, *fixed)
            now = strategy.fit(linear, kept)
            before, fit = (np.zeros_like(now.values) if fit is None else fit.values), now
            history.append({"solved": now.values.tolist(), "substeps": run.substeps})
            settled = k > 0 and bool(np.all(movement(before, now, self.value_tolerance, AT_REST_SIGMAS) <= 1))
            if settled:
                break
        assert fit is not None
        facts = {"history": history, "start": begun}
        outcome = stopped or fit.problem_outcome
        if outcome is None and not settled:
            outcome = still_moving(problem, before, fit, len(history))
        return self._result(linear, strategy, kept, fit, facts, settled, outcome, len(history))

    def _first_simulation(self, problem: LoopProblem, loop: Gains, model: LoopModel) -> tuple[Replayed, str]:
        """The first simulation; least squares is often too far off, and the regular start steps in."""
        run = replay(problem, model, loop.controller(model))
        begun = self.start if isinstance(self.start, str) else "given"
        if not run.outcome.trustworthy and self.start == LEAST_SQUARES:
            regular = regular_start(problem, loop.regular_inertias)
            run, begun = replay(problem, regular, loop.controller(regular)), REGULAR
        require_simulated(run.outcome)
        return run, begun

    def _result(
        self,
        linear: Problem,
        strategy: TwoStage,
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


def _simulate(problem: LoopProblem, loop: Gains, values: FloatArray) -> Replayed:
    """A simulation; instruments may come from a model with a little more inertia where M(q) needs it."""
    ready, _ = supported_model(problem, LoopModel.of(problem, values))
    return replay(problem, ready, loop.controller(ready))
