"""Output error: the parameters whose simulated positions are nearest to the measured ones (P0 §III)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.closed_loop.didim import DIDIM
from dynid.estimators.closed_loop.instruments import check_weighting
from dynid.estimators.closed_loop.loop_checks import check_loop
from dynid.estimators.closed_loop.positions import PositionErrors, Tangent, Trial
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
    transient,
    with_measured_starts,
)
from dynid.estimators.fit import Fit, Origin, Solved
from dynid.estimators.linear.least_squares import weights_of
from dynid.problem.closed_loop import LoopProblem
from dynid.problem.factor import spectrum
from dynid.problem.problem import Problem
from dynid.problem.replay import LoopModel, Replayed, replay

DIDIM_START = "didim"


_NOTHING = 1e-6
"""Relative decrease of the criterion below which a step is not worth a simulation."""
_DAMPINGS = (0.0, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 1e3)
"""Levenberg–Marquardt λ, in units of the squared lengths of the columns; the first that helps is taken."""
_CREEPING = 1.0
"""λ from which on a step is so short that it hardly moves anything."""


@dataclass(frozen=True, kw_only=True)
class OutputError(LoopStrategy):
    """χ̂ = argmin Σ ‖q − q_s(χ)‖² over simulated closed loops (P0 eq 27–34), joints by their position noise.

    Gauss–Newton with exact derivatives of the simulation; a step that does not lower the criterion is damped
    (Levenberg–Marquardt). The gains stay those of the robot's own controller, so nothing but the robot
    depends on χ.

    Args:
        step: OLS() or WLS(): all positions alike, or each joint by its own error.
        open_loop: simulate from the measured torques instead of the control law; small errors then grow with
            time, and the state at the start must be known.
        start: "didim" (its fixed point), "regular" (one linear step from the regular robot), "prior" (the
            robot's own values), or base values by name.
        value_tolerance: it stops when the next step has every |Δχ_i| ≤ max(tolerance |χ_i|, σ_i/10).
        max_iterations: Gauss–Newton steps at most.
        transient_s: seconds left out at the beginning because q(0) is not known; 5/ω_n when None.
    """

    needs = "the positions, the torques, the reference and the control law"
    open_loop: bool = False
    start: str | Mapping[str, float] = DIDIM_START
    value_tolerance: float = 1e-4
    max_iterations: int = 20
    transient_s: float | None = None
    starts = (DIDIM_START, REGULAR, PRIOR)

    def __post_init__(self) -> None:
        """Refuse options that cannot work."""
        super().__post_init__()
        check_weighting(self.step)

    @property
    def simulates_law(self) -> bool:
        """Measured torques need no law."""
        return not self.open_loop

    @property
    def predicts_measured(self) -> bool:
        """Without the law there is no motion to predict torques along but the measured one."""
        return self.open_loop

    def solve(
        self,
        problem: LoopProblem,
        kept: NDArray[np.bool_] | None = None,
        start: FloatArray | None = None,
    ) -> Solved:
        """Gauss–Newton from the start until nothing moves."""
        trim = transient(self.transient_s, problem)
        if not self.open_loop:
            problem = with_measured_starts(problem)
        chosen = np.ones(len(problem.base), dtype=bool) if kept is None else kept
        positions = PositionErrors.of(problem, chosen, trim, self.open_loop)
        first = self._starting_values(problem, chosen, trim) if start is None else start
        trial = positions.trial(np.where(chosen, first, 0.0))
        require_simulated(trial.outcome)
        return self._descend(problem, positions, trial)

    def first_pass(self, problem: LoopProblem) -> Solved:
        """DIDIM's: a law that is not the robot's is not worth derivatives."""
        return DIDIM(step=self.step, transient_s=self.transient_s).first_pass(problem)

    def _starting_values(self, problem: LoopProblem, kept: NDArray[np.bool_], trim: float) -> FloatArray:
        if self.start not in (DIDIM_START, REGULAR):
            return self.starting_model(problem, Gains(problem.controller, "never")).values
        passes = DIDIM(step=self.step, transient_s=trim)
        if self.start == REGULAR:
            passes = replace(passes, max_iterations=1)
        return passes.solve(problem, kept).fit.values

    def _descend(self, problem: LoopProblem, positions: PositionErrors, trial: Trial) -> Solved:
        history: list[dict[str, Any]] = []
        settled, weights = False, None
        while True:
            tangent = positions.tangent(trial, weights)
            linear = tangent.problem
            fit = self.step.fit(linear, positions.kept)
            values = _values_after(positions, trial, linear, fit, 0.0)
            fit, weights = replace(fit, values=simulable_values(problem, linear, fit, values)), fit.weights
            step = movement(trial.values, fit, self.value_tolerance, AT_REST_SIGMAS)
            settled = bool(np.all(step <= 1)) or positions.at_floor(trial)
            if settled or len(history) >= self.max_iterations:
                break
            better, damping = _damped_step(problem, positions, trial, tangent, fit)
            history.append(_history_entry(trial, better, damping))
            if (better is None or damping >= _CREEPING) and _promises_nothing(trial, tangent, fit):
                # The simulation cannot tell the step from its own errors: it is not taken.
                fit, settled = replace(fit, values=trial.values), True
                break
            if better is None:
                break
            trial = better
        return self._result(problem, positions, trial, tangent, fit, settled, history)

    def _result(
        self,
        problem: LoopProblem,
        positions: PositionErrors,
        trial: Trial,
        tangent: Tangent,
        fit: Fit,
        settled: bool,
        history: list[dict[str, Any]],
    ) -> Solved:
        linear = tangent.problem
        outcome = None if settled else _not_converged(problem, trial, fit, history, self.max_iterations)
        if not settled:  # the step that was found not to help is not taken
            fit = replace(fit, values=trial.values)
        final = None if self.open_loop else _closed_loop(problem, fit.values, positions.trim_s)
        torques = problem.linear(positions.motions(trial) if final is None else final.motions)
        norms, rows = torques.residual_norms(fit.values), np.maximum(torques.row_counts, 1)
        facts: dict[str, Any] = {
            "history": history,
            "transient_s": positions.trim_s,
            "open_loop": self.open_loop,
            "position_error": trial.rms.tolist(),
            "position_rows": int(linear.row_counts.sum()),
            "position_sigma": fit.joint_sigma.tolist(),
            "sigma": float(np.linalg.norm(norms) / np.sqrt(rows.sum())),
        }
        if final is not None:
            found = check_loop(problem, final)
            facts |= found.facts
            outcome = outcome or found.outcome
            fit = replace(fit, findings=(*fit.findings, *found.findings))
        full = replace(
            fit,
            iterations=max(1, len(history)),
            converged=settled,
            problem_outcome=outcome,
            joint_sigma=norms / np.sqrt(rows),
            weights=weights_of(norms / np.sqrt(rows)),
            exact=positions.exact(linear),
            exact_columns=True,
            facts={**fit.facts, **facts},
        )
        return Solved(torques, full, Origin(linear, replace(self.step, uncertainty=self.uncertainty)))


def _closed_loop(problem: LoopProblem, values: FloatArray, trim_s: float) -> Replayed:
    final = replay(problem, LoopModel.of(problem, values), problem.controller, trim_s)
    require_simulated(final.outcome)
    return final


def _damped_step(
    problem: LoopProblem, positions: PositionErrors, trial: Trial, tangent: Tangent, fit: Fit
) -> tuple[Trial | None, float]:
    """The first damping whose step lowers the criterion; None when none does."""
    before = tangent.criterion(trial, fit.weights)
    for damping in _DAMPINGS:
        values = _values_after(positions, trial, tangent.problem, fit, damping)
        found = positions.trial(simulable_values(problem, tangent.problem, fit, values))
        if found.outcome.trustworthy and tangent.criterion(found, fit.weights) < before:
            return found, damping
    return None, _DAMPINGS[-1]


def _values_after(
    positions: PositionErrors, trial: Trial, linear: Problem, fit: Fit, damping: float
) -> FloatArray:
    """χ + Δ with (JᵀSJ + λ D²) Δ = JᵀS (q − q_s); the shortest Δ where positions do not show everything."""
    R = linear.stacked_factor(fit.weights)[:, np.append(positions.kept, True)]
    short = R[:, -1] - R[:, :-1] @ trial.values[positions.kept]
    lengths = np.linalg.norm(R[:, :-1], axis=0)
    top = np.column_stack([R[:, :-1], short])
    below = np.column_stack([np.sqrt(damping) * np.diag(lengths), np.zeros(len(lengths))])
    values = trial.values.copy()
    values[positions.kept] += spectrum(np.vstack([top, below])).solution
    return values


def _promises_nothing(trial: Trial, tangent: Tangent, fit: Fit) -> bool:
    """Whether even the linear problem promises nothing more: a step within one standard deviation."""
    before = tangent.criterion(trial, fit.weights)
    return before - fit.spectrum.residual_norm**2 <= max(_NOTHING * before, fit.sigma**2)


def _history_entry(trial: Trial, better: Trial | None, damping: float) -> dict[str, Any]:
    """What one step did."""
    return {
        "values": trial.values.tolist(),
        "position_error": trial.rms.tolist(),
        "solved": None if better is None else better.values.tolist(),
        "damping": damping,
        "substeps": trial.substeps,
    }


def _not_converged(
    problem: LoopProblem, trial: Trial, fit: Fit, history: list[dict[str, Any]], allowed: int
) -> Finding:
    if len(history) < allowed or history[-1]["solved"] is None:
        return Finding(
            Name.NOT_CONVERGED,
            Level.FAIL,
            f"After {len(history)} steps no further one lowers the distance of the positions, although the "
            "criterion is not at rest: the simulation does not follow its derivatives so far.",
            "Start nearer (DIDIM's or least squares' values), check the control law and where the log "
            "starts (q and q̇ there), or keep only essential parameters.",
        )
    return still_moving(problem, trial.values, fit, len(history))
