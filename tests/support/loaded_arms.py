"""Free and loaded motions of an RX-90 with drive gains of known truth."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from dynid.compile.kernels import kernels
from dynid.model.inertia import LinkInertia
from dynid.model.load import load_robot
from dynid.model.payload import free_and_loaded
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation

Array = NDArray[np.float64]
PLAN = Preparation(decimation=1)
MASS, MZ = 7.025, 1.003
GAINS = np.array([0.9401, 0.9619, 1.1148, 0.9146, 1.05, 0.97])
"""Table 3 of P2; assumed for motors 5 and 6."""
SPEEDS = np.array([4.1, 3.5, 5.0, 7.0, 5.6, 10.0])
"""Largest speeds of the arm's joints [rad/s]."""
MIDDLE = np.array([0.0, -1.2, 1.2, 0.0, 0.6, 0.0])


@cache
def arm() -> Robot:
    """The RX-90 with a payload of unknown values in its loaded condition."""
    return free_and_loaded(load_robot("rx90"))


def payload(mass: float = MASS, mz: float = MZ, mx: float = 0.0) -> LinkInertia:
    """P2's payload: mass and MZ as printed, inertia about the centre assumed."""
    return LinkInertia.from_com(mass, [mx / mass, 0.0, mz / mass], np.diag([0.02, 0.02, 0.025]))


def random_states(rng: np.random.Generator, samples: int = 1200) -> tuple[Array, Array, Array, Array]:
    """Time, positions, speeds and accelerations of a Fourier series of 12 s with 15 harmonics."""
    t = np.arange(samples) * 12.0 / samples
    w = 2 * np.pi / 12.0 * np.arange(1, 16)
    a, b = rng.normal(size=(2, len(SPEEDS), len(w)))
    sine, cosine = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    size = 0.9 * SPEEDS / np.abs(cosine @ a.T + sine @ b.T).max(axis=0)
    a, b = a * size[:, None], b * size[:, None]
    q = (sine / w) @ a.T - (cosine / w) @ b.T + MIDDLE
    return t, q, cosine @ a.T + sine @ b.T, (cosine * w) @ b.T - (sine * w) @ a.T


def measured(
    condition: str,
    states: tuple[Array, Array, Array, Array],
    rng: np.random.Generator,
    *,
    noise: float = 0.03,
    gains: Array = GAINS,
    load: LinkInertia | None = None,
    carries: bool | None = None,
) -> Motion:
    """A motion whose torques are those of a-priori gains 1, with noise as a share of each motor's RMS.

    ``carries`` says whether the load is on; as the condition says when None.
    """
    t, q, qd, qdd = states
    robot = arm()
    body = payload() if load is None else load
    loaded = condition == "loaded" if carries is None else carries
    values = {**robot.parameters, **(body.by_name("L") if loaded else {})}
    tau = kernels(robot).inverse(robot.table.vector(values), q, qd, qdd)
    R = arm().drives.matrix  # type: ignore[union-attr]
    signal = np.linalg.solve(R.T, tau.T).T / gains
    signal = signal + noise * np.sqrt(np.mean(signal**2, axis=0)) * rng.normal(size=signal.shape)
    return Motion(condition, t, q, qd, qdd, signal @ R, len(t) / 12.0, condition=condition)


def both(seed: int, **options: object) -> list[Motion]:
    """A free and a loaded motion of 1200 samples each."""
    rng = np.random.default_rng(seed)
    states = random_states(rng), random_states(rng)
    return [
        measured(name, own, rng, **options)  # type: ignore[arg-type]
        for name, own in zip(("free", "loaded"), states, strict=True)
    ]
