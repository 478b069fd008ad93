"""DIDIM: identification from torques alone, with the motion of a simulated closed loop (P0 §IV)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.closed_loop.law_suspects import check_suspects, decimated_torques
from dynid.estimators.closed_loop.loop_checks import check_loop
from dynid.estimators.closed_loop.simulable import simulable_fit
from dynid.estimators.closed_loop.strategy import Gains, LoopStrategy, require_simulated, transient
from dynid.estimators.fit import Fit, Solved
from dynid.preparation.preparation import Preparation
from dynid.problem.closed_loop import LoopProblem
from dynid.problem.law_torques import why_not_told
from dynid.problem.problem import Problem
from dynid.problem.replay import LoopModel, Replayed, inertias_of, replay, supported_model
from dynid.simulation.controller import Controller

_UNCHECKED = 2
"""First passes whose integration steps are not checked: they only lead to the later ones."""
_FLOOR = 1e-4
"""Residuals below this share of a joint's torque (rms) are as small as the simulation can tell."""
_ROUNDING = 2e-3
"""Share of the torque that integration, smooth signs and held torques leave; its shape says nothing."""
_MOST_ADDED = 100.0
"""Drive inertia added to a model at most, as a share of its own inertias."""


@dataclass(frozen=True, kw_only=True)
class DIDIM(LoopStrategy):
    """Direct and inverse dynamic identification models: regress τ on W(q, q̇, q̈) of the simulated robot.

    χ⁰ is regular; then, until nothing moves, simulate the loop with χᵏ and the gains that keep its poles
    (eq 59), and solve Y(τ) = W_δ(χᵏ) χᵏ⁺¹ + ρ (eq 44–48). It stops when |Δ‖ρ_j‖| ≤ tol₁ ‖ρ_j‖ for every joint
    and |Δχ_i| ≤ max(tol₂ |χ_i|, σ_i): relative steps alone never settle on a parameter that is not seen.

    Args:
        step: how each linear problem is solved.
        start: "regular" (M = 1, eq 61), "prior" (the robot's own a-priori values), or base values by name.
        residual_tolerance: tol₁.
        value_tolerance: tol₂.
        max_iterations: passes at most.
        transient_s: seconds dropped at the beginning because q(0) is not known; 5/ω_n when None.
        follow_inertia: when the simulated gains follow the simulated inertia (eq 59): "start" (for the
            regular start only; then they are the robot's own), "always" (P0: needed where the inertia the
            real gains were tuned for is known roughly only), "never", or None for what the law can do.
    """

    needs = "the torques, the reference and the control law, not the positions"
    residual_tolerance: float = 0.01
    transient_s: float | None = None
    follow_inertia: str | None = None

    def __post_init__(self) -> None:
        """Refuse options that cannot work."""
        super().__post_init__()
        if not self.residual_tolerance > 0:
            raise DynidError(f"residual_tolerance is {self.residual_tolerance}; it must be positive.")

    @property
    def simulates_law(self) -> bool:
        """Gains that follow the simulated inertia need not be the robot's."""
        return self.follow_inertia != "always"

    def solve(
        self,
        problem: LoopProblem,
        kept: NDArray[np.bool_] | None = None,
        start: FloatArray | None = None,
    ) -> Solved:
        """Iterate to the fixed point."""
        loop = Gains(problem.controller, self.follow_inertia)
        trim = transient(self.transient_s, problem)
        model = self.starting_model(problem, loop) if start is None else LoopModel.of(problem, start)
        history: list[dict[str, Any]] = []
        solved: Solved | None = None
        settled, checked, steps = False, False, None
        for k in range(self.max_iterations):
            # The first passes only lead to the later ones: that their integration is exact is not asked.
            checked = k >= _UNCHECKED
            run = self._simulate(problem, loop, model, trim, steps, checked=checked)
            if not run.replayed.outcome.trustworthy:
                return _stopped_result(solved, run.replayed.outcome, k, history)
            linear = problem.linear(run.replayed.motions)
            fit = simulable_fit(problem, linear, self.step, self.step.fit(linear, kept))
            history.append(_history_entry(problem, run, linear, fit))
            settled = solved is not None and self._is_settled(solved.fit, fit, linear)
            solved = Solved(linear, fit)
            model = LoopModel.of(problem, fit.values)
            steps = run.replayed.substeps if k else None  # the start is another robot, what follows is not
            if settled:
                break
        assert solved is not None
        if not settled or not checked:
            run = self._simulate(problem, loop, model, trim, steps)
        return self._result(problem, solved, run, settled, history, trim)

    def first_pass(self, problem: LoopProblem) -> Solved:
        """Simulate the start and solve once."""
        loop = Gains(problem.controller, self.follow_inertia)
        trim = transient(self.transient_s, problem)
        run = self._simulate(problem, loop, self.starting_model(problem, loop), trim)
        require_simulated(run.replayed.outcome)
        linear = problem.linear(run.replayed.motions)
        fit = self.step.fit(linear)
        facts = {"history": [_history_entry(problem, run, linear, fit)], "transient_s": trim}
        return Solved(linear, replace(fit, converged=False, facts={**fit.facts, **facts}))

    def _simulate(
        self,
        problem: LoopProblem,
        loop: Gains,
        model: LoopModel,
        trim: float,
        steps: int | None = None,
        *,
        checked: bool = True,
    ) -> SimulatedPass:
        """Simulate; a model that cannot be simulated gets more drive inertia until it can."""
        ready, share = supported_model(problem, model)
        replayed = replay(problem, ready, loop.controller(ready), trim, steps, checked=checked)
        while not replayed.outcome.trustworthy and share < _MOST_ADDED:
            share = max(4 * share, 0.05)
            ready = model.with_drive_inertia(share * np.abs(inertias_of(ready, problem.controller)))
            replayed = replay(problem, ready, loop.controller(ready), trim)
        return SimulatedPass(ready, loop.controller(ready), replayed, share)

    def _is_settled(self, before: Fit, now: Fit, linear: Problem) -> bool:
        # Weights differ from pass to pass, so residuals are compared joint by joint in their own units.
        then, here = before.joint_sigma, now.joint_sigma
        torque = linear.torque_norms() / np.sqrt(np.maximum(linear.row_counts, 1))
        calm = (np.abs(then - here) <= self.residual_tolerance * then) | (here <= _FLOOR * torque)
        size = float(np.linalg.norm(now.weights * linear.torque_norms()))
        sigma = np.sqrt(np.maximum(np.diag(now.covariance), 0.0))[: int(now.kept.sum())]
        moved = np.abs(now.values - before.values)[now.kept]
        # A parameter that is zero or hardly seen may move as long as no torque shows it.
        reach = np.linalg.norm(linear.spectrum(now.weights, now.kept).W, axis=0)
        silent = _FLOOR * size / np.maximum(reach, 1e-300)
        allowed = np.maximum(self.value_tolerance * np.abs(now.values[now.kept]), sigma)
        return bool(np.all(calm) and np.all(moved <= np.maximum(allowed, silent)))

    def _result(
        self,
        problem: LoopProblem,
        solved: Solved,
        run: SimulatedPass,
        settled: bool,
        history: list[dict[str, Any]],
        trim: float,
    ) -> Solved:
        # At rest, the last simulation is that of the solution: the values have not moved since.
        final = run.replayed
        outcome = final.outcome if not final.outcome.trustworthy else run.outcome
        facts: dict[str, Any] = {"history": history, "transient_s": trim}
        # What deserves attention without spoiling the values: a tolerance not reached, limits left.
        findings: tuple[Finding, ...] = ()
        if final.outcome.trustworthy and final.outcome.sentence:
            findings = (replace(final.outcome, level=Level.NOTE),)
        if outcome is None:
            found = check_loop(problem, final)
            facts |= found.facts
            outcome, findings = found.outcome, (*findings, *found.findings)
        if outcome is None and settled and _must_ask_torques(problem, solved):
            law = check_suspects(problem, run.controller, solved.problem, solved.fit, trim, final.substeps)
            facts |= law.facts
            outcome = law.outcome
        return Solved(
            solved.problem,
            replace(
                solved.fit,
                iterations=len(history),
                converged=settled,
                exact=_ROUNDING,
                problem_outcome=outcome,
                findings=(*solved.fit.findings, *findings),
                facts={**solved.fit.facts, **facts},
            ),
        )


@dataclass(frozen=True, eq=False)
class SimulatedPass:
    """One simulation of all experiments.

    Args:
        model: what was simulated.
        controller: under which gains.
        replayed: the motions.
        share: drive inertia that had to be added, as a share of the joints' own.
    """

    model: LoopModel
    controller: Controller
    replayed: Replayed
    share: float

    @property
    def outcome(self) -> Finding | None:
        """What speaks against a model that needs support to be simulated."""
        if self.share == 0:
            return None
        return Finding(
            Name.INERTIA_NOT_POSITIVE,
            Level.FAIL,
            f"With the identified parameters M(q) is not positive definite, or nearly so; "
            f"{100 * self.share:.2g} % of each joint's inertia had to be added to simulate them.",
            "Keep only essential parameters (small ones that are hardly seen spoil the matrix), or record a "
            "more exciting motion.",
        )


def _must_ask_torques(problem: LoopProblem, solved: Solved) -> bool:
    """Whether no positions tell the law, and torques are left that the simulation does not leave itself."""
    left = solved.problem.residual_norms(solved.fit.values) > _ROUNDING * solved.problem.torque_norms()
    return bool(np.any(left)) and any(why_not_told(problem.controller, e) for e in problem.experiments)


def _history_entry(problem: LoopProblem, run: SimulatedPass, linear: Problem, fit: Fit) -> dict[str, Any]:
    """What one pass did, for Tables 3, 4 and 9 of P0."""
    error = _torque_shares(
        problem.plan, [np.asarray(m.tau) for m in run.replayed.motions], run.replayed.torques
    )
    return {
        "values": run.model.values.tolist() if run.model.base is problem.base else None,
        "solved": fit.values.tolist(),
        "torque_error": error.tolist(),
        "residual": _shares(linear.residual_norms(fit.values), linear.torque_norms()).tolist(),
        "substeps": run.replayed.substeps,
        "added_inertia": run.share,
    }


def _torque_shares(
    plan: Preparation, torques: list[FloatArray], simulations: tuple[FloatArray, ...]
) -> FloatArray:
    """‖τ − τ_s‖ / ‖τ‖ of each joint, low-passed as the regression is."""
    measured, simulated = ([decimated_torques(t, plan) for t in given] for given in (torques, simulations))
    off = sum(np.sum((a - b) ** 2, axis=0) for a, b in zip(measured, simulated, strict=True))
    size = sum(np.sum(a**2, axis=0) for a in measured)
    return _shares(np.sqrt(off), np.sqrt(size))


def _shares(parts: FloatArray, wholes: FloatArray) -> FloatArray:
    """Parts over wholes; 0 for a joint without any torque."""
    return np.divide(parts, wholes, out=np.zeros_like(parts), where=wholes > 0)


def _stopped_result(solved: Solved | None, outcome: Finding, k: int, history: list[dict[str, Any]]) -> Solved:
    """A simulation that cannot go on ends the iteration."""
    if solved is None:
        raise NotTrustworthyError(outcome.text)
    fit = replace(
        solved.fit,
        iterations=k,
        converged=False,
        problem_outcome=outcome,
        facts={**solved.fit.facts, "history": history},
    )
    return Solved(solved.problem, fit)
