"""Closed-loop methods on logs whose stamps are not the controller's: equal to the even log's within 2 σ."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from dynid.casestudies import emps_loop
from dynid.estimators import DIDIM, IV, Estimate, OutputError
from dynid.estimators.closed_loop.strategy import LoopStrategy
from dynid.logs.log import Log
from dynid.model.load import load_robot
from dynid.simulation import Accuracy, load_controller, load_reference, simulate
from dynid.workflow.fitting import fit
from support.datasets import dataset

METHODS = [DIDIM(), IV(), OutputError()]
STAMPS = ["jitter", "steps"]


def resampled(log: Log, kind: str, seed: int) -> Log:
    """The log at random moments: around the controller's samples, or after random steps."""
    rng, t = np.random.default_rng(seed), log.time
    T = float(np.median(np.diff(t)))
    drawn = {
        "jitter": lambda: t + T * rng.uniform(-0.45, 0.45, len(t)),
        "steps": lambda: np.cumsum(np.r_[t[0], T * rng.uniform(0.5, 1.5, len(t))]),
    }[kind]()
    stamps = drawn[(drawn >= t[0]) & (drawn <= t[-1])]
    return replace(
        log, time=stamps, channels={name: CubicSpline(t, log.array(name))(stamps) for name in log.channels}
    )


@cache
def quiet_scara(samples: int) -> Log:
    robot = load_robot("scara")
    law = load_controller("scara", robot)
    reference = load_reference("scara", robot, law.sample_time)
    return simulate(robot, None, law, reference).log.part(slice(0, samples))


def with_noise(log: Log, seed: int) -> Log:
    rng, (q, tau) = np.random.default_rng(seed), (log.array(name) for name in ("position", "torque"))
    noisy = {
        "position": q + 4e-5 * rng.standard_normal(q.shape),
        "torque": tau + 0.02 * tau.std(axis=0) * rng.standard_normal(tau.shape),
    }
    return replace(log, channels={**log.channels, **noisy})


def fit_scara(log: Log, method: LoopStrategy) -> Estimate:
    robot = load_robot("scara")
    return fit(robot, [log], method, controller=load_controller("scara", robot)).estimate


def gaps(one: Estimate, other: Estimate) -> np.ndarray:
    """Differences in combined σ."""
    return np.asarray((one.values - other.values) / np.hypot(one.sigma, other.sigma))


def differing_share(method: LoopStrategy, samples: int, seeds: int) -> float:
    """Share of parameters that differ by more than 2 combined σ from those of the even log."""
    log, found = quiet_scara(samples), []
    for seed in range(seeds):
        even = fit_scara(with_noise(log, seed), method)
        for kind in STAMPS:
            shaken = fit_scara(with_noise(resampled(log, kind, seed), 100 + seed), method)
            assert shaken.outcome.trustworthy, shaken.outcome.sentence
            assert "resample" in [step.name for step in shaken.problem.experiments[0].history]
            found.append(gaps(even, shaken))
    return float(np.mean(np.abs(found) > 2))


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_a_simulated_arm_with_random_stamps_gives_what_the_even_log_gives(method: LoopStrategy) -> None:
    assert differing_share(method, 4000, 1) <= 0.1


def test_resampling_is_said() -> None:
    robot, log = load_robot("scara"), resampled(quiet_scara(4000), "steps", 1)
    found = fit(
        robot, [log], DIDIM(), controller=load_controller("scara", robot), overrides={"decimation": 20}
    )
    assert found.suggestion is not None
    said = found.suggestion.reasons
    assert any(reason.startswith("Resample: ") and "(200 Hz) by cubic splines" in reason for reason in said)
    assert "resample" in [step.name for step in found.motions[0].history]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_as_many_parameters_differ_as_should(method: LoopStrategy) -> None:
    assert differing_share(method, 8000, 10) <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("kind", STAMPS)
@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_emps_resampled_at_random_gives_what_the_even_log_gives(method: LoopStrategy, kind: str) -> None:
    robot = load_robot("emps")
    log = emps_loop.read_record(dataset("emps", "DATA_EMPS.mat").parent, "DATA_EMPS.mat").log
    given = {"controller": emps_loop.controller(), "accuracy": Accuracy(width=emps_loop.WIDTH)}
    even, shaken = (fit(robot, [one], method, **given).estimate for one in (log, resampled(log, kind, 1)))
    assert shaken.outcome.trustworthy
    assert np.max(np.abs(gaps(even, shaken))) < 2
