"""Which other law the torques ask for, where a log has no positions on which the law could be run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.closed_loop.loop_checks import LoopCheck
from dynid.estimators.fit import Fit
from dynid.estimators.honest import Honest
from dynid.preparation.decimate import decimate_rows
from dynid.preparation.preparation import Preparation
from dynid.problem.closed_loop import LoopExperiment, LoopProblem
from dynid.problem.problem import Problem
from dynid.problem.replay import LoopModel, start_state
from dynid.simulation.batch import Batch
from dynid.simulation.controller import Controller
from dynid.simulation.laws import PID, Bandwidth, Cascade
from dynid.simulation.setup import loop_inputs, prepare_loop

WORDS = {
    "kp": "the position gain kp",
    "kd": "the damping kd",
    "kv": "the speed gain kv",
    "ki": "the integral ki",
    "reference_speed": "the share of the reference's speed",
    "acceleration": "the acceleration feed-forward",
    "delay": "the delay",
}
"""Numbers of a law, in words."""


@dataclass(frozen=True)
class SuspectRules:
    """When torques speak for another law. Set on 120 drawn loops, shown on others (docs/closed-loop.md).

    Args:
        errors: standard errors by which a change must differ from none …
        shift: … and standard deviations by which it must move some parameter, to be told.
        blocks: stretches of each log whose sums give the standard error.
        step: share of a gain by which it is changed for the derivative.
        faint: share of ki / (kp ω_n), and of an integral's own effect, that counts as no change at all.
    """

    errors: float = 4.5
    shift: float = 2.0
    blocks: int = 25
    step: float = 1e-2
    faint: float = 1e-9


RULES = SuspectRules()


@dataclass(frozen=True)
class LawSuspect:
    """A number of the law that may be another.

    Args:
        name: a key of ``WORDS``.
        joint: of the coordinate, None of all.
        value: what the controller has.
        change: what the torques ask for beside it.
        errors: that change in its standard errors.
        share: of the residual's squares that it explains.
        shift: largest change of a parameter that goes with it, in standard deviations.
        moved: number of that parameter.
    """

    name: str
    joint: int | None
    value: float
    change: float
    errors: float
    share: float
    shift: float
    moved: int


def check_suspects(
    problem: LoopProblem, controller: Controller, linear: Problem, fit: Fit, trim_s: float, substeps: int
) -> LoopCheck:
    """Ask the residual of the torques for each number of the law, and tell the one it asks for most.

    With s = ∂τ_s/∂g of a gain g, simulated with the estimate, and z = s − W W⁺ s, the change asked for is
    θ = zᵀρ/zᵀz, its standard error that of blocks in time, and W⁺ s θ what the parameters took up of it.

    Args:
        problem: the problem.
        controller: the law that was simulated.
        linear: the linear problem at the solution, with its rows.
        fit: its solution.
        trim_s: seconds left out at the beginning.
        substeps: integration steps per sample.
    """
    if not linear.has_rows or fit.degrees <= 0:
        return LoopCheck()
    found = list(_suspects(problem, controller, linear, fit, trim_s, substeps))
    facts = {
        "law_suspects": [[s.name, s.joint, s.value, s.change, s.errors, s.share, s.shift] for s in found]
    }
    told = [s for s in found if abs(s.errors) > RULES.errors and s.shift > RULES.shift]
    if not told:
        return LoopCheck(facts)
    return LoopCheck(facts, _finding(problem, max(told, key=lambda s: abs(s.errors))))


def _finding(problem: LoopProblem, suspect: LawSuspect) -> Finding:
    which = WORDS[suspect.name]
    if suspect.joint is not None:
        which += f" of {problem.robot.joints[problem.robot.coordinates[suspect.joint]].name}"
    return Finding(
        Name.CONTROL_LAW_MISMATCH,
        Level.FAIL,
        f"What is left of the torques goes with what a change of {which} would add (from {suspect.value:.3g} "
        f"to {suspect.value + suspect.change:.3g}, {abs(suspect.errors):.2g} standard errors from none, "
        f"{100 * suspect.share:.2g} % of the residual), which would move {problem.names[suspect.moved]} by "
        f"{suspect.shift:.2g} standard deviations: the robot ran under another law, or the model lacks what "
        "looks like it. The log has no positions that could tell.",
        "Check the controller's gains, integrals, feed-forward and delay; log positions as well, even coarse "
        "ones: then the law itself is checked, and IV needs it only roughly.",
        figures={"errors": suspect.errors, "shift": suspect.shift},
    )


def _suspects(
    problem: LoopProblem, controller: Controller, linear: Problem, fit: Fit, trim_s: float, substeps: int
) -> Iterator[LawSuspect]:
    rows = [linear.rows(j) for j in range(len(linear.regression.joints))]
    kept, weights = np.flatnonzero(fit.kept), fit.weights
    W = np.vstack([weights[j] * r.wide(len(fit.kept))[:, kept] for j, r in enumerate(rows)])
    rho = np.concatenate([weights[j] * r.residual(fit.values) for j, r in enumerate(rows)])
    blocks = np.concatenate(
        [_block_numbers(r.sample, r.experiment, linear) for r in rows],
    )
    doubt = Honest().doubt(linear, fit).covariance
    root, sigma = fit.root[: len(kept)], np.sqrt(np.diag(doubt))[: len(kept)]
    model = LoopModel.of(problem, fit.values)
    for variant, torques in _variant_torques(problem, controller, model, trim_s, substeps):
        parts = [decimated_torques(torque, problem.plan) for torque in torques]
        s = np.concatenate(
            [weights[j] * _values_at(parts, r.experiment, r.sample, j) for j, r in enumerate(rows)]
        )
        taken = root @ (root.T @ (W.T @ s))
        z = s - W @ taken
        size = float(z @ z)
        if not np.isfinite(size) or size <= RULES.faint * float(s @ s):
            continue
        change = float(z @ rho) / size
        sums = np.bincount(blocks, z * (rho - change * z))
        error = float(np.linalg.norm(sums)) / size
        share = 1.0 - float(np.sum((rho - change * z) ** 2) / (rho @ rho))
        moves = np.abs(change * taken) / np.maximum(sigma, 1e-300)
        worst = int(np.argmax(moves))
        yield replace(
            variant,
            change=change,
            errors=change / max(error, 1e-300),
            share=share,
            shift=float(moves[worst]),
            moved=int(kept[worst]),
        )


def _block_numbers(
    sample: NDArray[np.int64], experiment: NDArray[np.int64], linear: Problem
) -> NDArray[np.int64]:
    lengths = np.array([e.regression_samples for e in linear.experiments])
    return np.asarray(experiment * RULES.blocks + RULES.blocks * sample // lengths[experiment])


def _values_at(
    parts: Sequence[FloatArray], experiment: NDArray[np.int64], sample: NDArray[np.int64], joint: int
) -> FloatArray:
    first = np.cumsum([0, *(len(part) for part in parts)])
    return np.asarray(np.concatenate([part[:, joint] for part in parts])[first[experiment] + sample])


def decimated_torques(torque: FloatArray, plan: Preparation) -> FloatArray:
    """Torques (samples, coordinates) low-passed and decimated as the rows of a regression are."""
    if plan.decimation == 1:
        return torque
    return np.asarray(decimate_rows(torque.T, plan.decimation, plan.convention).T, dtype=float)


def _variant_torques(
    problem: LoopProblem, controller: Controller, model: LoopModel, trim_s: float, substeps: int
) -> Iterator[tuple[LawSuspect, list[FloatArray]]]:
    """Each number of the law with ∂τ_s of it, per experiment (samples, coordinates)."""
    law = controller.law
    if isinstance(law, Bandwidth):
        n = law.axes
        law = Cascade(law.gains[:n], law.gains[n:])
    if not isinstance(law, PID | Cascade):
        return
    # A faint integral makes room for integrals in the compiled loop, so that all variants share it.
    stiffness = np.atleast_1d(law.kp) if isinstance(law, PID) else np.ones(law.axes)
    whole = stiffness * law.slowest_frequency()
    own = replace(controller, law=replace(law, ki=tuple(np.atleast_1d(law.ki) + RULES.faint * whole)))
    scales = {
        "ki": RULES.step * whole,
        "reference_speed": np.full(law.axes, RULES.step),
        "acceleration": RULES.step * law.damped_inertia(),
    }
    numbers: list[LawSuspect] = []
    variants: list[Controller] = []
    steps: list[float] = []
    for f in fields(law):
        values = np.array(getattr(own.law, f.name), dtype=float)
        for j, step in enumerate(scales.get(f.name, RULES.step * np.abs(values))):
            if step > 0:
                moved = values + step * (np.arange(law.axes) == j)
                variants.append(replace(own, law=replace(own.law, **{f.name: tuple(moved)})))
                given = float(np.atleast_1d(getattr(law, f.name))[j])
                numbers.append(LawSuspect(f.name, j, given, 0.0, 0.0, 0.0, 0.0, 0))
                steps.append(float(step))
    runs = [_torques(problem, e, model, [own, *variants], trim_s, substeps) for e in problem.experiments]
    for k, number in enumerate(numbers):
        yield number, [(run[k + 1] - run[0]) / steps[k] for run in runs]
    late = replace(own, delay=own.delay + 1)
    delayed = [_torques(problem, e, model, [late], trim_s, substeps)[0] for e in problem.experiments]
    number = LawSuspect("delay", None, float(own.delay), 0.0, 0.0, 0.0, 0.0, 0)
    yield number, [after - run[0] for after, run in zip(delayed, runs, strict=True)]


def _torques(
    problem: LoopProblem,
    experiment: LoopExperiment,
    model: LoopModel,
    controllers: Sequence[Controller],
    trim_s: float,
    substeps: int,
) -> FloatArray:
    """Simulated torques under controllers of one kind, (controllers, samples, coordinates)."""
    setups = [
        prepare_loop(model.robot, model.standard, c, experiment.reference, problem.accuracy, model.base)
        for c in controllers
    ]
    states = np.array([start_state(setup, experiment) for setup in setups])
    inputs = loop_inputs(setups[0])
    runs = Batch(setups, states, [inputs] * len(setups)).whole_runs(
        range(len(setups)), substeps, pieces=False
    )
    rows = experiment.samples[experiment.time >= experiment.time[0] + trim_s]
    return np.array([run.paths.tau[0, rows] for run in runs])
