"""Motions with exact derivatives and torques from the regressor: data whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid.base import BaseMap
from dynid.compile.kernels import kernels
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion

Array = NDArray[np.float64]


def fourier_motion(
    robot: Robot,
    rng: np.random.Generator,
    *,
    seconds: float = 10.0,
    rate_hz: float = 100.0,
    harmonics: int = 5,
    speed: float = 2.0,
    name: str = "fourier",
) -> Motion:
    """A random Fourier series per coordinate, its derivatives exact, its torques zero.

    The base frequency is one turn per record; all harmonics have the same share of the speed.
    """
    n = robot.n_coordinates
    t = np.arange(round(seconds * rate_hz)) / rate_hz
    w = 2 * np.pi / seconds * np.arange(1, harmonics + 1)
    size = speed / harmonics * rng.uniform(0.5, 1.5, (harmonics, n))
    phase = rng.uniform(0, 2 * np.pi, (harmonics, n))
    angle = t[:, None, None] * w[:, None] + phase
    q = np.sum(size / w[:, None] * np.sin(angle), axis=1)
    qd = np.sum(size * np.cos(angle), axis=1)
    qdd = np.sum(-size * w[:, None] * np.sin(angle), axis=1)
    return Motion(name, t, q, qd, qdd, np.zeros_like(q), rate_hz)


def base_truth(base: BaseMap, rng: np.random.Generator) -> Array:
    """Made-up base values: the catalog's where it has them, others a tenth of one."""
    known = base.regroup(base.robot.parameters)
    return np.where(known != 0, known, rng.choice([-1.0, 1.0], len(base)) * rng.uniform(0.05, 0.3, len(base)))


def exact_torques(base: BaseMap, values: Array, motion: Motion) -> Array:
    """W χ over a motion, (samples, coordinates)."""
    W = kernels(base.robot, base.columns).regressor_blocks(motion.q, motion.qd, motion.qdd)
    return np.einsum("jcs,c->sj", W, values)


def simulated(
    base: BaseMap, values: Array, motion: Motion, rng: np.random.Generator | None = None, noise: float = 0.0
) -> Motion:
    """The motion with torques W χ + white noise of a share of each joint's RMS torque."""
    tau = exact_torques(base, values, motion)
    if rng is not None:
        tau = tau + noise * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    return replace(motion, tau=tau)


def coloured(
    rng: np.random.Generator, shape: tuple[int, int], sigma: Array | float, pole: float = 0.95
) -> Array:
    """First-order autoregressive disturbance of standard deviation sigma, (samples, coordinates)."""
    white = rng.normal(size=shape) * np.sqrt(1 - pole**2)
    x = np.empty(shape)
    x[0] = rng.normal(size=shape[1])
    for i in range(1, len(x)):
        x[i] = pole * x[i - 1] + white[i]
    return sigma * x
