"""What strategies share that simulate the closed loop: starts, gains, and the check of the law."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, NotTrustworthyError, unknown_name
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.closed_loop.loop_checks import SYSTEMATIC, check_law
from dynid.estimators.essential import Essential
from dynid.estimators.fit import Fit, Solved
from dynid.estimators.linear.least_squares import WLS
from dynid.estimators.strategy import Strategy
from dynid.problem.closed_loop import LoopExperiment, LoopProblem, Memory
from dynid.problem.problem import Problem
from dynid.problem.replay import LoopModel, inertias_of, regular_start
from dynid.simulation.controller import Controller

if TYPE_CHECKING:
    from dynid.consistency.knowledge import Knowledge

FOLLOW = ("start", "always", "never")
REGULAR, PRIOR = "regular", "prior"
REMEDY = "Allow more iterations, start from other values, or keep only essential parameters."
"""What helps an iteration that did not come to rest."""
AT_REST_SIGMAS = 0.1
"""Steps below this share of σ are at rest: the data could not tell the difference."""
_FITTED = 11
"""Samples of the parabola that gives q and q̇ at the first of them."""
_AWAY = 0.1
"""Share of the rms tracking error above which the first sample is off the reference."""
_MENDED = (Name.INERTIA_NOT_POSITIVE, Name.WEAK_INSTRUMENTS)
"""Outcomes that fewer parameters may mend."""
_ROUNDS = 4
"""Prunings at most: a smaller model moves the simulation, and the simulation may prune again."""


class Gains:
    """The simulated controller: its gains keep the poles while the simulated inertia changes (P0 eq 59).

    Args:
        actual: the controller the robot ran under.
        follow: "start" (only the regular start is simulated with gains of its own inertia), "always" (P0), or
            "never"; None for "start" where the law knows the inertia it was tuned for, else "never".
    """

    def __init__(self, actual: Controller, follow: str | None) -> None:
        """Find out what the law's own inertia is."""
        self.actual = actual
        self.tuned = actual.law.tuned_inertia
        self.follow = follow or ("never" if self.tuned is None else "start")
        if self.follow not in FOLLOW:
            raise unknown_name("way of the gains to follow the inertia", self.follow, FOLLOW)
        if self.follow != "never" and self.tuned is None:
            raise DynidError(
                f"The gains of the law {type(actual.law).__name__} cannot follow the inertia, because the "
                "inertia they were tuned for is not known; give it, or let follow_inertia be 'never'."
            )

    @property
    def regular_inertias(self) -> FloatArray | None:
        """Drive inertias of the regular start: one, or what fixed gains damp well."""
        return self.actual.law.damped_inertia() if self.follow == "never" else None

    def controller(self, model: LoopModel) -> Controller:
        """The controller to simulate a model with."""
        if self.tuned is None or not (self.follow == "always" or (self.follow == "start" and model.start)):
            return self.actual
        inertias = inertias_of(model, self.actual)
        if not np.all(inertias > 0):
            return self.actual  # M(q) is not positive definite: the simulation will say so
        return self.actual.scaled(inertias / np.array(self.tuned))


def transient(given: float | None, problem: LoopProblem) -> float:
    """Seconds to drop: 5/ω_n of the slowest axis (P0 §IV.B), unless the start is known."""
    if given is not None:
        if not 0 <= given < np.inf:
            raise DynidError(f"transient_s is {given}; it must be a time from 0 s on.")
        return given
    if all(e.start is not None for e in problem.experiments):
        return 0.0
    slowest = problem.controller.law.slowest_frequency()
    length = min(e.time[-1] - e.time[0] for e in problem.experiments)
    return 0.0 if slowest is None else min(5.0 / slowest, length / 2)


def with_measured_starts(problem: LoopProblem) -> LoopProblem:
    """The problem with q and q̇ at the start from the first positions, where the robot is off its reference.

    A log cut out of a longer run starts with the tracking error of that run, which a simulation that starts
    on the reference would first have to build up. q(0) and q̇(0) are those of a parabola through 11 samples.
    """
    return replace(problem, experiments=tuple(_with_start(e) for e in problem.experiments))


def with_memories(problem: LoopProblem, memories: Sequence[Memory | None]) -> LoopProblem:
    """The problem with what the law remembers (integrals) at the start, as the first torques show it.

    A log cut out of a longer run starts with integrals of that run, which a simulation from zero would first
    have to build up.

    Args:
        problem: the problem; memories that were given stay.
        memories: at the first sample of each log, None where it is not known.
    """
    if not any(m is not None and len(m.values) for m in memories):
        return problem
    known = [
        replace(e, memory=m) if m is not None and e.memory is None and e.samples[0] == 0 else e
        for e, m in zip(problem.experiments, memories, strict=True)
    ]
    return replace(problem, experiments=tuple(known))


def _with_start(experiment: LoopExperiment) -> LoopExperiment:
    q, samples = experiment.position, experiment.samples
    if experiment.start is not None or q is None or samples[0] != 0 or len(q) < _FITTED:
        return experiment
    off = q - experiment.reference.q[samples]
    if not np.all(np.isfinite(off)) or np.all(np.abs(off[0]) <= _AWAY * np.sqrt(np.mean(off**2, axis=0))):
        return experiment
    time = experiment.time[:_FITTED] - experiment.time[0]
    fitted = np.polynomial.polynomial.polyfit(time, q[:_FITTED], 2)
    return replace(experiment, start=(fitted[0], fitted[1]))


def require_simulated(outcome: Finding) -> None:
    """Refuse to go on from a simulation that came to nothing.

    Raises:
        NotTrustworthyError: with the finding's sentence and remedy.
    """
    if not outcome.trustworthy:
        raise NotTrustworthyError(outcome.text)


def movement(before: FloatArray, fit: Fit, tolerance: float, share: float) -> FloatArray:
    """|Δχ_i| over what is allowed, max(tolerance |χ_i|, share σ_i), of the kept parameters."""
    sigma = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0))[: int(fit.kept.sum())]
    now = fit.values[fit.kept]
    allowed = np.maximum(tolerance * np.abs(now), share * sigma)
    moved = np.abs(now - before[fit.kept])
    return np.asarray(np.where(moved > 0, moved / np.maximum(allowed, 1e-300), 0.0), dtype=float)


def still_moving(problem: LoopProblem, before: FloatArray, fit: Fit, iterations: int) -> Finding:
    """The finding which parameter still moves most, beside its deviation."""
    worst = np.flatnonzero(fit.kept)[int(np.argmax(movement(before, fit, 1e-2, 1.0)))]
    place = int(np.sum(fit.kept[:worst]))
    sigma = float(np.sqrt(max(fit.covariance[place, place], 0.0)))
    passes = "pass" if iterations == 1 else "passes"
    return Finding(
        Name.NOT_CONVERGED,
        Level.FAIL,
        f"After {iterations} {passes} {problem.names[worst]} still moved most, from {before[worst]:.4g} to "
        f"{fit.values[worst]:.4g} (its standard deviation is {sigma:.2g}).",
        REMEDY,
    )


@dataclass(frozen=True, kw_only=True)
class LoopStrategy(Strategy):
    """A way to estimate base parameters by simulating the robot under its controller.

    Args:
        step: how each linear problem is solved.
        start: one of ``starts``, or base values by name.
        value_tolerance: it stops when no parameter moves by more than this share of itself, or a share of σ.
        max_iterations: passes at most.
    """

    step: Strategy = field(default_factory=WLS)
    start: str | Mapping[str, float] = REGULAR
    value_tolerance: float = 0.005
    max_iterations: int = 15
    starts: ClassVar[tuple[str, ...]] = (REGULAR, PRIOR)
    needs: ClassVar[str] = "the torques, the reference and the control law"
    """What it must be given, in words."""
    law_tolerance: ClassVar[float] = SYSTEMATIC
    """Share of the torque that the law may miss in step with the motion before it is refused."""
    needs_law: ClassVar[bool] = True
    """Whether the values are as wrong as the law."""
    without_law: ClassVar[str] = ""
    """What leads on where no simulation under the law succeeds, as a sentence after a space."""

    def __post_init__(self) -> None:
        """Refuse options that cannot work."""
        super().__post_init__()
        own = type(self).__name__
        if isinstance(self.start, str) and self.start not in self.starts:
            raise unknown_name(f"start of {own}", self.start, self.starts)
        if self.max_iterations < 1:
            raise DynidError(f"{own} was asked for {self.max_iterations} iterations; give at least 1.")
        if not self.value_tolerance > 0:
            raise DynidError(f"value_tolerance is {self.value_tolerance}; it must be positive.")

    def fit(self, problem: Problem, kept: NDArray[np.bool_] | None = None) -> Fit:
        """One linear step on rows that are given: nothing is simulated."""
        return self.step.fit(problem, kept)

    def starting_model(self, problem: LoopProblem, loop: Gains) -> LoopModel:
        """The robot to begin with: regular (M = 1), of its a-priori parameters, or of values by name.

        Args:
            problem: the problem.
            loop: the simulated controller.
        """
        if self.start == REGULAR:
            return regular_start(problem, loop.regular_inertias)
        base = problem.base
        if self.start == PRIOR:
            if not problem.robot.parameters:
                raise DynidError(
                    f"Robot {problem.robot.name!r} has no a-priori parameters to start from; use another "
                    "start."
                )
            return LoopModel.of(problem, base.regroup(problem.robot.parameters))
        assert not isinstance(self.start, str)
        unknown = [name for name in self.start if name not in base.names]
        if unknown:
            raise unknown_name("base parameter", unknown[0], base.names)
        return LoopModel.of(problem, np.array([float(self.start.get(name, 0.0)) for name in base.names]))

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
    def simulates(self) -> bool:
        """It does."""
        return True

    @property
    def linear(self) -> Strategy:
        """The step: motions of a solved problem are simulated already."""
        return self.step

    @property
    def unheld(self) -> Strategy:
        """The same with steps that nothing holds."""
        return replace(self, step=self.step.unheld)

    @property
    def knowledge_held(self) -> Knowledge | None:
        """That of the step."""
        return self.step.knowledge_held

    def held_to(self, knowledge: Knowledge) -> Strategy:
        """The same with every step held to possible robots, so that all of them can be simulated."""
        try:
            return replace(self, step=self.step.held_to(knowledge))
        except DynidError:
            name = type(self).__name__
            raise DynidError(
                f"{name} cannot be held to possible robots in every step; use DIDIM, or leave out "
                "--consistent always and --known (consistent, known): the possible robot nearest to "
                f"{name}'s values is found in any case, and is what exports take."
            ) from None

    def require_problem(self, problem: Problem | LoopProblem) -> None:
        """Refuse a linear problem, which does not know the closed loop."""
        if isinstance(problem, Problem):
            raise DynidError(
                f"{type(self).__name__} needs {self.needs}; build the problem with build_loop_problem."
            )

    def solution(self, problem: Problem | LoopProblem) -> Solved:
        """Solve by simulating the closed loop."""
        self.require_problem(problem)
        assert isinstance(problem, LoopProblem)
        return self._solve_checked(problem, self.solve)

    @property
    def simulates_law(self) -> bool:
        """Whether the estimate hangs on the problem's control law as it is."""
        return True

    @property
    def predicts_measured(self) -> bool:
        """Its torques are those along the simulated motion."""
        return False

    def excused_law(self, mismatch: Finding, fit: Fit) -> Finding:
        """What a law that misses the torques means to a method that does not need it."""
        return replace(mismatch, level=Level.CARE)

    @abstractmethod
    def first_pass(self, problem: LoopProblem) -> Solved:
        """One linear step from the start, for laws that are not worth more."""

    def _solve_checked(self, problem: LoopProblem, solve: Callable[[LoopProblem], Solved]) -> Solved:
        """A solution, after what the log's own positions say about the law: a wrong law explains the rest.

        The check needs no model and takes no time beside the iteration, so a law that fails it ends in one
        pass, and what the law remembers at the start of each log comes from it.
        """
        if not self.simulates_law:
            return solve(problem)
        law = check_law(problem, self.law_tolerance)
        known = with_memories(problem, law.memories)
        refused = law.outcome if self.needs_law else None
        try:
            solved = solve(known) if refused is None else self.first_pass(known)
        except NotTrustworthyError as error:
            if law.outcome is not None:
                text = f"{law.outcome.text} (The simulation with it ended so: {error}){self.without_law}"
                raise NotTrustworthyError(text) from error
            raise NotTrustworthyError(" ".join([str(error), *(f.text for f in law.findings)])) from error
        excused = () if law.outcome is None or refused else (self.excused_law(law.outcome, solved.fit),)
        fit = replace(
            solved.fit,
            problem_outcome=refused or solved.fit.problem_outcome,
            findings=(*excused, *law.findings, *_unknown_memories(known), *solved.fit.findings),
            facts={**law.facts, **_memory_facts(known), **solved.fit.facts},
        )
        return replace(solved, fit=fit)

    def essential_solution(self, problem: LoopProblem, essential: Essential) -> Solved:
        """Prune the linear problem at the fixed point, find the fixed point of the rest, and so on."""
        return self._solve_checked(problem, lambda known: self._essential(known, essential))

    def _essential(self, problem: LoopProblem, essential: Essential) -> Solved:
        solved = self.solve(problem)
        if _is_hopeless(solved):
            return solved
        kept = np.ones(len(problem.base), dtype=bool)
        facts: dict[str, object] = {}
        removed: list[str] = []
        removals: list[object] = []
        for _ in range(_ROUNDS):
            pruned = _pruner(essential, solved).fit(solved.scored_problem, kept)
            removed += list(pruned.facts.get("removed", ()))
            removals += list(pruned.facts.get("removals", ()))
            facts = {**pruned.facts, "removed": list(removed), "removals": list(removals)}
            if np.array_equal(pruned.kept, kept):
                break
            kept = pruned.kept
            solved = self.solve(problem, kept, pruned.values)
            if _is_hopeless(solved):
                break
        return replace(solved, fit=replace(solved.fit, facts={**facts, **solved.fit.facts}))


def _memory_facts(problem: LoopProblem) -> dict[str, object]:
    """What the law was taken to remember at the start, where it remembers anything."""
    if not problem.controller.law.memory:
        return {}
    memories = [None if e.memory is None else e.memory.values.tolist() for e in problem.experiments]
    return {"law_memory": memories}


def _unknown_memories(problem: LoopProblem) -> tuple[Finding, ...]:
    """Which logs may start with integrals that nobody knows."""
    names = [repr(e.name) for e in problem.experiments if e.memory is None]
    if not problem.controller.law.memory or not names:
        return ()
    sentence = (
        f"What the law remembers (integrals) at the start of log {', '.join(names)} could not be found from "
        "its torques and is taken as zero: if the log was cut out of a longer run, offsets are wrong."
    )
    return (Finding(Name.LAW_MEMORY_UNKNOWN, Level.NOTE, sentence),)


def _pruner(essential: Essential, solved: Solved) -> Essential:
    """The same rule around what solves the linear problem, so that %σ is the strategy's own."""
    if solved.origin is None:
        return essential
    return Essential(solved.origin.strategy, essential.rule, essential.threshold)


def _is_hopeless(solved: Solved) -> bool:
    """Whether fewer parameters would not help: an M(q) spoilt by parameters that are not seen, they mend."""
    outcome = solved.fit.problem_outcome
    return outcome is not None and outcome.name not in _MENDED
