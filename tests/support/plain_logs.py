"""Logs of robots of the catalog with torques that follow their parameters, and what may be added to them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dynid.compile.kernels import kernels
from dynid.logs.log import Log
from dynid.model.robot import Robot
from support.motions import Array

Change = Callable[[Array, Array, Array], Array]
"""(q, q̇, τ) ↦ τ as it is recorded."""


def plain_log(
    robot: Robot,
    name: str = "a",
    *,
    seed: int = 0,
    seconds: float = 20.0,
    size: float = 0.8,
    still: tuple[int, ...] = (),
    change: Change | None = None,
) -> Log:
    """A log of sines at 200 Hz with torque noise of 2 %.

    Args:
        robot: with known parameters.
        name: of the log.
        seed: of the motion and of the noise.
        seconds: how long it is.
        size: of the motion [rad or m].
        still: joints that stand.
        change: of the torques.
    """
    rng, n, t = np.random.default_rng(seed), robot.n_coordinates, np.arange(0.0, seconds, 0.005)
    q, qd, qdd = np.zeros((3, len(t), n))
    for k in range(5):
        w, a, p = 2 * np.pi * rng.uniform(0.1, 0.8, n), rng.uniform(0.3, 1, n) * size / (1 + k), rng.random(n)
        angle = np.outer(t, w) + 6 * p
        q, qd, qdd = q + a * np.sin(angle), qd + a * w * np.cos(angle), qdd - a * w**2 * np.sin(angle)
    for j in still:
        q[:, j], qd[:, j], qdd[:, j] = 0.3, 0.0, 0.0
    tau = kernels(robot).inverse(robot.table.vector(dict(robot.parameters)), q, qd, qdd)
    tau = tau + 0.02 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    return Log(name, t, {"position": q, "torque": tau if change is None else change(q, qd, tau)})
