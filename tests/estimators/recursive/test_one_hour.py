"""An hour at 1 kHz: the covariance stays definite, the values stay those of the batch, memory stays flat."""

from __future__ import annotations

import resource

import numpy as np
import pytest

from dynid.base.find import find_base
from dynid.compile.kernels import kernels
from dynid.estimators.recursive import Exponential, LeastSquaresRecursion, Recursion, RecursionOptions
from dynid.model.load import load_robot
from dynid.problem.factor import Factor

UPDATES, CYCLE = 3_600_000, 9_000


def motion(seconds: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three sines per joint at 1 kHz: q, q̇, q̈ (samples, 7)."""
    rng = np.random.default_rng(0)
    t = np.arange(int(1000 * seconds))[:, None, None] / 1000.0
    w = 2 * np.pi * rng.integers(1, 9, (7, 3)) / seconds * 3
    a, phase = rng.uniform(0.1, 0.5, (7, 3)), rng.uniform(0, 2 * np.pi, (7, 3))
    q, qd, qdd = (np.sum(f, axis=2) for f in (
        a * np.sin(w * t + phase), a * w * np.cos(w * t + phase), -a * w**2 * np.sin(w * t + phase)
    ))  # fmt: skip
    return q, qd, qdd


def memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def run_hour(recursion: Recursion, updates: int) -> tuple[Factor, float]:
    """Updates with fresh noise on a motion that repeats; the batch's factor, and the memory grown [MB]."""
    robot = load_robot("iiwa14")
    base = find_base(robot)
    W = np.ascontiguousarray(kernels(robot, base.columns).regressor(*motion(CYCLE / 1000)))
    truth = base.regroup(robot.parameters) + 0.01
    clean = W @ truth
    rng, batch, grown, start = np.random.default_rng(1), Factor.empty(range(len(base))), 0.0, 0.0
    for cycle in range(updates // CYCLE):
        y = clean + recursion.joint_sigma * rng.normal(size=clean.shape)
        for k in range(CYCLE):
            recursion.update(W[k], y[k])
        weighted = (W * recursion.weights[:, None]).reshape(-1, len(base))
        batch = batch.fold(np.asfortranarray(weighted).T, (y * recursion.weights).ravel())
        if cycle == 10:
            start = memory_mb()
        grown = memory_mb() - start
    return batch, grown


@pytest.mark.slow
def test_an_hour_at_one_kilohertz() -> None:
    robot = load_robot("iiwa14")
    base = find_base(robot)
    sigma = np.array([0.3, 0.3, 0.2, 0.2, 0.1, 0.05, 0.05])
    found = LeastSquaresRecursion(base.names, sigma)
    batch, grown = run_hour(found, UPDATES)
    R, z = batch.R[:-1, :-1], batch.R[:-1, -1]
    values = np.linalg.solve(R, z)
    P = found.covariance()
    own = np.sqrt(np.diag(P))
    assert found.updates == UPDATES
    assert np.max(np.abs(found.values - values) / own) < 1e-6
    assert np.array_equal(P, P.T)
    assert np.linalg.eigvalsh(P / np.outer(own, own)).min() > 0
    assert np.allclose(np.sqrt(np.diag(np.linalg.inv(R.T @ R))) / own, 1.0, rtol=1e-6)
    assert found.noise_scale == pytest.approx(1.0, abs=1e-3)
    assert grown < 20.0
    off = np.max(np.abs(found.values - values) / own)
    print(f"\nvalues off by {off:.2g} sigma, memory grown by {grown:.2f} MB")


@pytest.mark.slow
def test_forgetting_for_long_neither_blows_up_nor_falls_asleep() -> None:
    robot = load_robot("iiwa14")
    base = find_base(robot)
    sigma = np.full(7, 0.1)
    options = RecursionOptions(forgetting=Exponential(factor=0.9995))
    found = LeastSquaresRecursion(base.names, sigma, None, options)
    run_hour(found, 50 * CYCLE)
    truth = base.regroup(robot.parameters) + 0.01
    own = np.sqrt(np.diag(found.covariance()))
    assert np.max(np.abs(found.values - truth) / own) < 5.0
    fresh = LeastSquaresRecursion(base.names, sigma, None, options)
    run_hour(fresh, 2 * CYCLE)
    assert np.allclose(own, np.sqrt(np.diag(fresh.covariance())), rtol=0.05)
