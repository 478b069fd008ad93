"""What the control law would have done with the positions of the log: it tells the law without a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dynid.compile.kernels import kernels
from dynid.core.arrays import FloatArray
from dynid.dynamics.algebra import Scalar
from dynid.dynamics.operations import NUMERIC, symbolic
from dynid.model.robot import Robot
from dynid.problem.closed_loop import LoopExperiment, Memory
from dynid.simulation.controller import Controller
from dynid.simulation.programs import Measured, control
from dynid.simulation.user_law import UserLaw

_LEAST = 10
"""Fewest samples on which a law is run."""
_AT_ONCE = 1000
"""Samples the law is run on at once."""
_BLOCKS = 20
"""Stretches of a log whose mean errors show how slowly errors vary."""
_PASSES = 3
"""Newton steps for what the law remembers where torques are limited; without limits one is exact."""


@dataclass(frozen=True, eq=False)
class LawTorques:
    """Torques of the law on the positions of a log.

    Args:
        tau: τ_k = law(q_r,k, q_k, q_{k−1}, …) (samples, coordinates) [N m or N].
        memory: what the law remembers at the first sample of the log, as the logged torques show it.
    """

    tau: FloatArray
    memory: Memory


def why_not_told(controller: Controller, experiment: LoopExperiment) -> str | None:
    """Why the law cannot be run on the positions of a log, in words; None where it can."""
    q, samples, T = experiment.position, experiment.samples, controller.sample_time
    if q is None:
        return "it has no positions"
    if T is None:
        return "the law has no sample time"
    if len(samples) < _LEAST:
        return f"it has only {len(samples)} samples"
    steps = np.diff(samples)
    if np.any(steps != 1):
        return (
            f"it has a position at one of {float(np.median(steps)):.3g} samples of the controller only "
            f"({1 / float(np.median(np.diff(experiment.time))):.4g} Hz against {1 / T:.4g} Hz)"
        )
    return None if np.all(np.isfinite(q)) else "some of its positions are not finite"


def law_torques(robot: Robot, controller: Controller, experiment: LoopExperiment) -> LawTorques | None:
    """Torques the controller sets when it sees the logged positions: τ_k = law(q_r,k, q_k, q_{k−1}, …).

    A law that knows speeds exactly is given central differences, so only slow parts of its torques count.
    What the law remembers (integrals) at the first sample is that whose torques are nearest to the logged
    ones: m₀ = argmin ‖τ − law(q_r, q; m₀)‖.

    Args:
        robot: the robot, for the law's feed-forward.
        controller: the law the robot is said to have run under.
        experiment: with positions at the controller's own rate.

    Returns:
        The torques; None when the log does not have a position at every sample.
    """
    if why_not_told(controller, experiment) is not None:
        return None
    q, T = experiment.position, controller.sample_time
    assert q is not None
    assert T is not None
    seen = _seen(robot, controller, experiment, q, T)
    memory = np.zeros(controller.memory)
    own = controller.velocity.start(q[0], (q[_LEAST - 1] - q[0]) / ((_LEAST - 1) * T), T)
    memory[: len(own)] = own
    make = _program if _needs_tracing(controller) else _at_once
    run = make(controller, robot.driven)
    places = np.arange(len(own), len(own) + controller.law.memory)
    tau = run(memory, seen)
    covariance = np.zeros((len(places), len(places)))
    passes = 0 if not len(places) else _PASSES if controller.saturation else 1
    for _ in range(passes):
        found = _correction(run, memory, places, seen, tau, experiment.tau)
        memory[places] += found.values
        covariance = found.covariance
        tau = run(memory, seen)
    return LawTorques(tau, Memory(memory[places], covariance))


def _seen(
    robot: Robot, controller: Controller, experiment: LoopExperiment, q: FloatArray, T: float
) -> FloatArray:
    """What the controller sees at every sample, (samples, 6 coordinates)."""
    r, samples = experiment.reference, experiment.samples
    assert r.qd is not None
    assert r.qdd is not None
    qr, qdr, qddr = r.q[samples], r.qd[samples], r.qdd[samples]
    outside = np.zeros_like(q)
    if controller.feedforward is not None:
        outside = kernels(robot).inverse(dict(controller.feedforward), qr, qdr, qddr)
    return np.hstack([qr, qdr, qddr, q, np.gradient(q, T, axis=0), outside])


def _correction(
    run: Callable[[FloatArray, FloatArray], FloatArray],
    memory: FloatArray,
    places: NDArray[np.int64],
    seen: FloatArray,
    told: FloatArray,
    logged: FloatArray,
) -> Memory:
    """Change of the memory that brings the law's torques nearest to the logged ones, joints alike."""
    scale = 1.0 / np.maximum(logged.std(axis=0), 1e-12 * max(1.0, float(np.abs(logged).max())))
    columns = []
    for place in places:
        moved = memory.copy()
        moved[place] += 1.0
        columns.append(((run(moved, seen) - told) * scale).ravel())
    A, y = np.column_stack(columns), (logged - told) * scale
    found = np.linalg.lstsq(A, y.ravel(), rcond=1e-9)[0]
    left = y - (A @ found).reshape(y.shape)
    return Memory(found, np.linalg.pinv(A.T @ A, rcond=1e-12) * _long_run_variance(left))


def _long_run_variance(left: FloatArray) -> float:
    """Variance that a mean of correlated errors has, times its samples; the largest of the joints."""
    blocks = np.array_split(left, max(min(_BLOCKS, len(left) // 2), 2))
    means = np.array([block.mean(axis=0) for block in blocks])
    slow = means.var(axis=0, ddof=1) * len(left) / len(blocks)
    return float(np.max(np.maximum(slow, left.var(axis=0))))


def _needs_tracing(controller: Controller) -> bool:
    """Laws that remember go sample after sample, and laws of the user's own may know scalars only."""
    return bool(controller.memory) or isinstance(controller.law, UserLaw)


def _at_once(
    controller: Controller, driven: tuple[bool, ...]
) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """A law without memory, all samples in one go."""

    def run(start: FloatArray, seen: FloatArray) -> FloatArray:
        n = controller.axes
        groups = (list(seen[:, k * n : (k + 1) * n].T) for k in range(6))
        torques, _ = control(controller, Measured(*groups), (), _numbers(controller), NUMERIC, driven)
        return np.column_stack([np.broadcast_to(torque, len(seen)) for torque in torques])

    return run


def _numbers(controller: Controller) -> dict[str, Sequence[Scalar]]:
    return {"gains": list(controller.law.gains), "saturation": list(controller.saturation)}


@lru_cache(maxsize=8)
def _program(
    controller: Controller, driven: tuple[bool, ...]
) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """The controller's step, sample after sample, some at once."""
    import casadi as ca

    n = len(driven)
    memory = ca.SX.sym("z", controller.memory)
    u = ca.SX.sym("u", 6 * n)
    r, rd, rdd, q, qd, outside = (ca.vertsplit(u)[k * n : (k + 1) * n] for k in range(6))
    p = _numbers(controller)
    state = ca.vertsplit(memory) if controller.memory else []
    seen = Measured(r, rd, rdd, q, qd, outside)
    torques, following = control(controller, seen, state, p, symbolic(), driven)
    step = ca.Function("law", [memory, u], [ca.vertcat(*following), ca.vertcat(*torques)])
    many = step.mapaccum(_AT_ONCE) if controller.memory else step.map(_AT_ONCE)

    def run(start: FloatArray, seen: FloatArray) -> FloatArray:
        state, parts = start, []
        for first in range(0, len(seen), _AT_ONCE):
            part = seen[first : first + _AT_ONCE]
            # The last group is filled up with its last sample, whose torques are not used.
            full = np.vstack([part, np.repeat(part[-1:], _AT_ONCE - len(part), axis=0)])
            states, found = many(state, full.T)
            if controller.memory:
                state = np.asarray(states, dtype=float)[:, -1]
            parts.append(np.asarray(found, dtype=float).T[: len(part)])
        return np.vstack(parts)

    return run
