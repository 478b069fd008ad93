"""Where an iteration begins, and how it says that it did not come to rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError, NotTrustworthyError, unknown_name
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.fit import Fit
from dynid.problem.closed_loop import LoopExperiment, LoopProblem, Memory

FloatArray = NDArray[np.float64]
PRIOR = "prior"
_FITTED = 11
"""Samples a parabola is laid through for the state at the first of them."""
_AWAY = 0.1
"""Share of the tracking error from which on a robot does not start on its reference."""


def given_start(problem: LoopProblem, start: str | Mapping[str, float]) -> FloatArray:
    """Base values of the robot's a-priori parameters, or of a mapping by name (zero where not named).

    Args:
        problem: the problem.
        start: "prior", or base values by name.
    """
    base = problem.base
    if isinstance(start, str):
        if not problem.robot.parameters:
            raise DynidError(
                f"Robot {problem.robot.name!r} has no a-priori parameters to start from; use another start."
            )
        return base.regroup(problem.robot.parameters)
    unknown = [name for name in start if name not in base.names]
    if unknown:
        raise unknown_name("base parameter", unknown[0], base.names)
    return np.array([float(start.get(name, 0.0)) for name in base.names])


def measured_starts(problem: LoopProblem) -> LoopProblem:
    """The problem with q and q̇ at the start from the first positions, where the robot is off its reference.

    A log cut out of a longer run starts with the tracking error of that run, which a simulation that starts
    on the reference would first have to build up. q(0) and q̇(0) are those of a parabola through 11 samples.
    """
    return replace(problem, experiments=tuple(_with_start(e) for e in problem.experiments))


def remembering(problem: LoopProblem, memories: Sequence[Memory | None]) -> LoopProblem:
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


def check_options(
    owner: str,
    start: str | Mapping[str, float],
    starts: tuple[str, ...],
    max_iterations: int,
    value_tolerance: float,
) -> None:
    """Refuse options that cannot work."""
    if isinstance(start, str) and start not in starts:
        raise unknown_name(f"start of {owner}", start, starts)
    if max_iterations < 1:
        raise DynidError(f"{owner} was asked for {max_iterations} iterations; give at least 1.")
    if not value_tolerance > 0:
        raise DynidError(f"value_tolerance is {value_tolerance}; it must be positive.")


def check_simulated(outcome: Finding) -> None:
    """Refuse to go on from a simulation that came to nothing.

    Raises:
        NotTrustworthyError: with cause and remedy.
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


def unsettled(problem: LoopProblem, before: FloatArray, fit: Fit, iterations: int, remedy: str) -> Finding:
    """Which parameter still moves most, beside its deviation."""
    worst = np.flatnonzero(fit.kept)[int(np.argmax(movement(before, fit, 1e-2, 1.0)))]
    place = int(np.sum(fit.kept[:worst]))
    sigma = float(np.sqrt(max(fit.covariance[place, place], 0.0)))
    passes = "pass" if iterations == 1 else "passes"
    return Finding(
        Name.NOT_CONVERGED,
        Level.FAIL,
        f"After {iterations} {passes} {problem.names[worst]} still moved most, from {before[worst]:.4g} to "
        f"{fit.values[worst]:.4g} (its standard deviation is {sigma:.2g}).",
        remedy,
    )
