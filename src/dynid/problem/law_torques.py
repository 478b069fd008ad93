"""What the control law would have done with the positions of the log: it tells the law without a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dynid.compile.kernels import kernels
from dynid.dynamics.algebra import Scalar
from dynid.dynamics.operations import symbolic
from dynid.model.robot import Robot
from dynid.problem.closed_loop import LoopExperiment
from dynid.simulation.controller import Controller
from dynid.simulation.programs import Measured, control

FloatArray = NDArray[np.float64]
_LEAST = 10
"""Samples below which nothing can be told."""


def law_torques(robot: Robot, controller: Controller, experiment: LoopExperiment) -> FloatArray | None:
    """Torques the controller sets when it sees the logged positions: τ_k = law(q_r,k, q_k, q_{k−1}, …).

    A law that knows speeds exactly is given central differences, so only slow parts of its torques count.
    What the law remembers (integrals) starts at zero at the first sample of the log.

    Args:
        robot: the robot, for the law's feed-forward.
        controller: the law the robot is said to have run under.
        experiment: with positions at the controller's own rate.

    Returns:
        (samples, coordinates) [N m or N]; None when the log does not have a position at every sample.
    """
    q, samples, T = experiment.position, experiment.samples, controller.sample_time
    if q is None or T is None or len(samples) < _LEAST or np.any(np.diff(samples) != 1):
        return None
    if not np.all(np.isfinite(q)):
        return None
    r, n = experiment.reference, robot.n_coordinates
    assert r.qd is not None
    assert r.qdd is not None
    qr, qdr, qddr = r.q[samples], r.qd[samples], r.qdd[samples]
    outside = np.zeros_like(q)
    if controller.feedforward is not None:
        outside = kernels(robot).inverse(dict(controller.feedforward), qr, qdr, qddr)
    seen = np.hstack([qr, qdr, qddr, q, np.gradient(q, T, axis=0), outside])
    memory = np.zeros(controller.memory)
    own = controller.velocity.start(q[0], (q[_LEAST - 1] - q[0]) / ((_LEAST - 1) * T), T)
    memory[: len(own)] = own
    return _program(controller, n, len(seen))(memory, seen)


@lru_cache(maxsize=8)
def _program(
    controller: Controller, axes: int, samples: int
) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """The controller's step, sample after sample."""
    import casadi as ca

    n = axes
    memory = ca.SX.sym("z", controller.memory)
    u = ca.SX.sym("u", 6 * n)
    r, rd, rdd, q, qd, outside = (ca.vertsplit(u)[k * n : (k + 1) * n] for k in range(6))
    p: dict[str, Sequence[Scalar]] = {
        "gains": list(controller.law.gains),
        "saturation": list(controller.saturation),
    }
    state = ca.vertsplit(memory) if controller.memory else []
    torques, following = control(controller, Measured(r, rd, rdd, q, qd, outside), state, p, symbolic())
    step = ca.Function("law", [memory, u], [ca.vertcat(*following), ca.vertcat(*torques)])
    whole = step.mapaccum(samples) if controller.memory else step.map(samples)

    def run(start: FloatArray, seen: FloatArray) -> FloatArray:
        return np.asarray(whole(start, seen.T)[1], dtype=float).T

    return run
