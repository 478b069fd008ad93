"""How good must the sensors be? Check, prepare and identify logs, then identify them again, coarser."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from dynid import __version__
from dynid.checks.data_check import DataCheck
from dynid.core.answer_store import AnswerStore
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, NotTrustworthyError, unknown_name
from dynid.core.executor import ONE_BY_ONE, Executor, Progress, no_progress
from dynid.core.finding import Finding, Level, Name
from dynid.core.kinds import require_kinds
from dynid.core.threads import with_one_blas_thread
from dynid.estimators.closed_loop.didim import DIDIM
from dynid.estimators.closed_loop.iv import IV
from dynid.estimators.closed_loop.strategy import LoopStrategy
from dynid.estimators.essential import THRESHOLDS, Essential
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.linear.least_squares import WLS
from dynid.estimators.recursive.strategies import RIV
from dynid.estimators.strategy import Strategy
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import DIFFERENTIATED, MEASURED, Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.preparation.suggestion import Suggestion, swing_in_samples
from dynid.problem.build import build_problem
from dynid.problem.loop_clock import without_trims
from dynid.resolution.chain import (
    CHANNELS,
    ENCODER,
    TORQUE,
    Chain,
    RecursiveChain,
    Sensing,
    SensorSetting,
)
from dynid.resolution.digits import significant_digits
from dynid.resolution.law import BiasLaw, bias_law
from dynid.resolution.loop_chain import LoopChain
from dynid.resolution.outcome import BIASED_PERCENT, SOUND_PERCENT, ReferenceEstimate
from dynid.resolution.request import SWEEP, SensorRequest, motion_size, own_steps, require_smaller_than_motion
from dynid.resolution.resolution_study import ResolutionStudy
from dynid.resolution.rounding import mode_of
from dynid.resolution.study import LS, Bench, Estimating, find_threshold
from dynid.simulation.controller import Controller
from dynid.simulation.controller_file import controller_to_toml
from dynid.simulation.setup import Accuracy
from dynid.trajectories.reference import Reference
from dynid.workflow.fitting import preparation_of
from dynid.workflow.motion_source import MeasuredMotion
from dynid.workflow.proof import data_checks
from dynid.workflow.simulated_motion import clocked_pair
from dynid.workflow.usable_log import UsableLog, as_logs, identity_of, logs_to_fit, one_reference_each

_UNDETERMINED = (Name.TOO_FEW_ROWS, Name.RANK_DEFICIENT, Name.SCALE_UNKNOWN, Name.TORQUE_NOT_EXPLAINED)
"""Outcomes of an estimate that no study can rest on."""
_NEARLY = 0.9
"""Share of the samples in which a filter swings in that a plan must drop at least."""
NO_RULE = "none"
RLS_METHOD = "RLS"
LOOP_STRATEGIES: Mapping[str, type[LoopStrategy]] = {"IV": IV, "DIDIM": DIDIM, "RIV": RIV}
"""Methods that know the control law, or the reference at least."""
METHODS = (LS, RLS_METHOD, *LOOP_STRATEGIES)


@dataclass(frozen=True, eq=False)
class StudiedLogs:
    """What a study rests on.

    Args:
        logs: as they were used.
        checks: what the data check says of them.
        plan: preparation of every run.
        suggestion: where the plan comes from; None when it was given.
        motions: prepared from the logs as they are.
        estimate: from these.
        remarks: what was noticed on the way.
    """

    logs: tuple[UsableLog, ...]
    checks: tuple[DataCheck, ...]
    plan: Preparation
    suggestion: Suggestion | None
    motions: tuple[Motion, ...]
    estimate: Estimate
    remarks: tuple[Finding, ...] = ()


@with_one_blas_thread
def study_resolution(
    robot: Robot,
    logs: Log | Sequence[Log],
    request: SensorRequest | None = None,
    *,
    rule: str = "sigma",
    strategy: Strategy | None = None,
    plan: Preparation | None = None,
    overrides: Mapping[str, Any] = MappingProxyType({}),
    repair: bool = False,
    accept: Iterable[str] = (),
    methods: Sequence[str] = (LS,),
    controller: Controller | None = None,
    references: Sequence[Reference] | None = None,
    accuracy: Accuracy | None = None,
    executor: Executor = ONE_BY_ONE,
    kept_in: Path | None = None,
    fresh: bool = False,
    digits: bool = False,
    progress: Progress = no_progress,
) -> tuple[ResolutionStudy, StudiedLogs]:
    """Find the coarsest encoder and torque sensor with which identification still holds (P1 §3–4).

    Args:
        robot: the robot.
        logs: one or more experiments, motor or joint side.
        request: which sensors are tried; P1's binary rounding on the joint side when None.
        rule: which parameters are estimated: "sigma", "residual", "f-test" (as ``Essential``) or "none": all.
        strategy: OLS() or WLS(); WLS with the papers' classical σ when None.
        plan: preparation; suggested when None. Speeds are differentiated in any case.
        overrides: keys of the suggested preparation to replace.
        repair: whether repairable defects are repaired.
        accept: names of findings of the data check that you know better about.
        methods: "LS", and "RLS", or "IV", "RIV" or "DIDIM", which need the controller.
        controller: the law the robot ran under.
        references: what it followed; the logs' own reference channels when None.
        accuracy: friction model and integration of simulations.
        executor: where runs are computed.
        kept_in: file that keeps finished runs, so that an interrupted study goes on; none when None.
        fresh: whether runs in that file are thrown away.
        digits: whether significant digits are found by stochastic arithmetic.
        progress: told what is being done.

    Raises:
        DynidError: for steps larger than the motion, and methods that lack something.
        NotTrustworthyError: when a log is not usable, or its parameters are not determined.
    """
    require_kinds(study_resolution, {**locals(), "references": None, "accuracy": None, "controller": None})
    wanted = request or SensorRequest()
    sensing = wanted.sensors_of(robot)
    _require_methods(methods, controller)
    given = as_logs(logs, accept)
    followed = one_reference_each(references, len(given), f"{len(given)} logs")
    progress("checking the data")
    used = logs_to_fit(robot, given, followed, repair=repair)
    base_strategy = strategy or WLS(uncertainty="classical")
    studied = _studied_logs(robot, used, _with_rule(base_strategy, rule), plan, overrides, progress)
    chain = _chain(robot, studied, sensing, wanted.seed)
    law = bias_law(chain, studied.motions)
    chains: dict[str, Estimating] = {LS: chain}
    known = {LS: _reference(studied.estimate, law)}
    for name in methods:
        if name != LS:
            own = _beside_least_squares(name, chain, studied, controller, accuracy)
            progress(f"identifying by {name}")
            chains[name], known[name] = own, _loop_reference(own, known[LS])
    require_smaller_than_motion(chain, wanted.steps)
    with _store(kept_in, chains, chain, fresh) as store, executor.kept_open() as workers:
        bench = Bench(chains, known, law, wanted.runs, workers, store, progress)
        return _study(bench, chain, wanted, studied, digits), studied


def _store(
    path: Path | None, chains: Mapping[str, Estimating], chain: Chain, fresh: bool
) -> AbstractContextManager[AnswerStore | None]:
    """Where finished runs are kept."""
    if path is None:
        return nullcontext()
    width = len(chain.base)
    return AnswerStore(
        path,
        _digest(chains, chain),
        key=lambda task: task.key,
        fresh=fresh,
        worth=lambda values: np.shape(values) == (width,) and bool(np.all(np.isfinite(values))),
    )


def _study(
    bench: Bench, chain: Chain, wanted: SensorRequest, studied: StudiedLogs, digits: bool
) -> ResolutionStudy:
    law, judged = bench.law, bench.reference[LS].main_parameters
    first, largest = wanted.modes[0], motion_size(chain)
    start = law.coarsest_step(BIASED_PERCENT, judged, mode_of(first).variance, 1e-4 * largest, largest)
    start = min(max(start, 1e-9 * largest), 0.5 * largest)
    steps = wanted.steps or tuple(start * ratio for ratio in SWEEP if start * ratio < largest)
    settings = [
        SensorSetting(ENCODER, mode, step, method)
        for method in bench.chains
        for mode in wanted.modes
        for step in steps
    ]
    settings += [SensorSetting(TORQUE, first, step) for step in wanted.torque_steps]
    outcomes = bench.outcomes(list(dict.fromkeys(settings)))
    limits = (SOUND_PERCENT, BIASED_PERCENT) if wanted.thresholds else ()
    found = [
        find_threshold(bench, SensorSetting(ENCODER, first, start, method), percent, largest)
        for method in bench.chains
        for percent in limits
    ]
    rng = np.random.default_rng(wanted.seed)
    return ResolutionStudy(
        dict(bench.reference),
        outcomes,
        tuple(t for t in found if t is not None),
        law,
        own_steps(chain),
        significant_digits(law.factor, rng) if digits else None,
        studied.remarks,
        wanted.thresholds,
    )


def _require_methods(methods: Sequence[str], controller: Controller | None) -> None:
    for name in methods:
        if name not in METHODS:
            raise unknown_name("method", name, METHODS)
    needing = [name for name in methods if name in LOOP_STRATEGIES]
    if controller is None and needing:
        raise DynidError(
            f"{', '.join(needing)} need the control law, RIV for its sample time; give the controller "
            "(--controller), or leave them out."
        )


def _with_rule(strategy: Strategy, rule: str) -> Strategy:
    if rule == NO_RULE:
        return strategy
    if rule not in THRESHOLDS:
        raise unknown_name("rule for essential parameters", rule, (*THRESHOLDS, NO_RULE))
    return Essential(strategy, rule=rule)


def _studied_logs(
    robot: Robot,
    used: tuple[UsableLog, ...],
    strategy: Strategy,
    plan: Preparation | None,
    overrides: Mapping[str, Any],
    progress: Progress,
) -> StudiedLogs:
    """The logs prepared and identified as they are."""
    if MEASURED in (overrides.get("velocity"), plan and plan.velocity):
        raise DynidError(
            "Measured speeds were asked for, but a study of encoders differentiates the positions that it "
            "makes coarser; leave --velocity measured away."
        )
    progress("choosing the preparation")
    chosen, suggestion = preparation_of(robot, MeasuredMotion(), used, strategy, plan, overrides)
    chosen = replace(chosen, velocity=DIFFERENTIATED, acceleration=DIFFERENTIATED)
    chosen, remarks = _with_ends_dropped(chosen, used)
    progress("identifying from the logs as they are")
    motions = tuple(prepare(one.log, chosen) for one in used)
    estimate = identify(build_problem(robot, motions, chosen), strategy)
    outcome = estimate.outcome
    if outcome.name in _UNDETERMINED or estimate.undetermined[estimate.kept].any():
        raise NotTrustworthyError(
            "The logs as they are do not determine the parameters, so that no sensor can be judged by them: "
            f"{outcome.text}"
        )
    if outcome.level >= Level.CARE:
        remarks = (*remarks, replace(outcome, level=Level.CARE))
    return StudiedLogs(used, data_checks(used), chosen, suggestion, motions, estimate, remarks)


def _with_ends_dropped(
    plan: Preparation, used: Sequence[UsableLog]
) -> tuple[Preparation, tuple[Finding, ...]]:
    """The plan with the samples dropped in which the filter swings in.

    An error of the very first sample is mirrored by the filter's continuation and shows there as an
    acceleration some twenty times as large as elsewhere: two rows that would outweigh all others.
    """
    if plan.cutoff_hz is None:
        return plan, ()
    shortest = min((one.log for one in used), key=lambda log: log.samples)
    needed = swing_in_samples(shortest.samples, plan.cutoff_hz, shortest.rate_hz)
    if min(plan.ends) >= _NEARLY * needed:
        return plan, ()
    words = (
        f"{needed} samples are dropped at both ends, where the low-pass turns errors of the first and last "
    )
    words += "sample into accelerations far larger than elsewhere."
    longer = replace(plan, drop_samples=max(plan.ends[0], needed), drop_end=max(plan.ends[1], needed))
    return longer, (Finding(Name.ENDS_DROPPED, Level.NOTE, words),)


def _chain(robot: Robot, studied: StudiedLogs, sensing: Sensing, seed: int) -> Chain:
    estimate = studied.estimate
    weights = np.array(estimate.facts["weights"])
    base = estimate.problem.base.subset(estimate.kept)
    logs = [one.log for one in studied.logs]
    slim = [replace(log, channels={name: log.channels[name] for name in CHANNELS.values()}) for log in logs]
    return Chain(robot, base, tuple(slim), studied.plan, weights, sensing, seed)


def _reference(estimate: Estimate, law: BiasLaw) -> ReferenceEstimate:
    """Least squares with the kept parameters; σ is the estimate's."""
    base = law.chain.base
    return ReferenceEstimate(base.names, base.units, law.reference, estimate.sigma[estimate.kept], law.factor)


def _beside_least_squares(
    name: str, chain: Chain, studied: StudiedLogs, controller: Controller | None, accuracy: Accuracy | None
) -> LoopChain | RecursiveChain:
    """The chain of another method."""
    if name == RLS_METHOD:
        return RecursiveChain(chain)
    assert controller is not None
    return _loop_chain(name, chain, studied, controller, accuracy)


def _loop_chain(
    name: str, chain: Chain, studied: StudiedLogs, controller: Controller, accuracy: Accuracy | None
) -> LoopChain:
    """Logs on the controller's clock, and the method that simulates it."""
    pairs = [clocked_pair(one, controller, studied.plan) for one in studied.logs]
    return LoopChain(
        replace(chain, logs=tuple(log for log, _ in pairs)),
        LOOP_STRATEGIES[name](uncertainty="classical"),
        controller,
        tuple(reference for _, reference in pairs),
        without_trims(studied.plan),
        studied.estimate.kept,
        accuracy or Accuracy(),
    )


def _loop_reference(own: LoopChain | RecursiveChain, ls: ReferenceEstimate) -> ReferenceEstimate:
    """The estimate of the method from the logs as they are; thresholds rest on the parameters of LS."""
    if isinstance(own, RecursiveChain):
        return replace(ls, values=own.estimate_of(own.chain.logs))
    estimate = identify(own.problem(own.chain.logs), own.strategy)
    if not estimate.outcome.trustworthy:
        raise NotTrustworthyError(
            f"{type(own.strategy).__name__} does not hold on the logs as they are: {estimate.outcome.text}"
        )
    values, sigma = estimate.values[own.kept], estimate.sigma[own.kept]
    return ReferenceEstimate(ls.names, ls.units, values, sigma, ls.factor, ls.main_parameters)


def _digest(chains: Mapping[str, Estimating], chain: Chain) -> str:
    """Everything that the answers depend on beside their own settings, as one word."""
    drives = chain.robot.drives
    content = {
        "version": __version__,
        "robot": chain.robot.digest,
        "values": dict(chain.robot.parameters),
        "drives": None if drives is None else drives.matrix.tolist(),
        "parameters": [*chain.base.names],
        "logs": [[identity_of(log).to_dict(), log.condition, _hash(log.time)] for log in chain.logs],
        "plan": chain.plan.to_dict(),
        "weights": chain.weights.tolist(),
        "side": chain.sensing.side,
        "ratios": chain.sensing.ratios.tolist(),
        "seed": chain.seed,
        "simulated": {name: _loop_facts(own) for name, own in chains.items() if isinstance(own, LoopChain)},
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _loop_facts(own: LoopChain) -> dict[str, Any]:
    """What a chain that simulates depends on beside logs and sensors."""
    return {
        "controller": controller_to_toml(own.controller),
        "accuracy": asdict(own.accuracy),
        "references": [
            [one.sample_time, one.start, *(_hash(part) for part in (one.q, one.qd, one.qdd))]
            for one in own.references
        ],
    }


def _hash(values: FloatArray | None) -> str:
    return hashlib.sha256(b"" if values is None else np.ascontiguousarray(values).data).hexdigest()
