"""Logs of few samples per period: parameters within their σ, or a sentence that says why not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.base import find_base
from dynid.checks.accelerations import acceleration_findings
from dynid.core.finding import Finding, Level
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.linear.least_squares import WLS
from dynid.logs.log import Log
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.preparation.spectrum import spectrum_of_log
from dynid.preparation.suggestion import suggest
from dynid.problem import build_problem
from support.motions import base_truth, fourier_motion, simulated

ROBOT = load_robot("scara")
BASE = find_base(ROBOT)
TRUTH = base_truth(BASE, np.random.default_rng(0))


def log_of(rate_hz: float, seed: int, noise: float, top_hz: float = 0.5) -> Log:
    """A minute of motion up to ``top_hz``, positions to 10 µrad, torques with white noise."""
    rng = np.random.default_rng(seed)
    motion = fourier_motion(ROBOT, rng, seconds=60.0, rate_hz=rate_hz, harmonics=round(60 * top_hz))
    motion = simulated(BASE, TRUTH, motion, rng, noise)
    return Log("slow", motion.time, {"position": np.round(motion.q, 5), "torque": motion.tau})


def fitted(log: Log, plan: Preparation) -> Estimate:
    return identify(build_problem(ROBOT, [prepare(log, plan)], plan, BASE), WLS())


def told_of(log: Log, estimate: Estimate) -> tuple[Finding, ...]:
    return acceleration_findings(estimate, spectrum_of_log(log, estimate.problem.plan))


def deviations(estimate: Estimate) -> np.ndarray:
    return np.abs(estimate.values - TRUTH) / estimate.sigma


@pytest.mark.parametrize("rate_hz", [20.0, 50.0, 100.0])
def test_parameters_lie_within_their_sigma(rate_hz: float) -> None:
    logs = [log_of(rate_hz, seed, 0.02) for seed in range(12)]
    plans = [suggest(log).plan for log in logs]
    found = [fitted(log, plan) for log, plan in zip(logs, plans, strict=True)]
    assert np.mean([deviations(estimate) < 2 for estimate in found]) >= 0.9
    told = [told_of(log, estimate) for log, estimate in zip(logs, found, strict=True)]
    assert told == [()] * len(logs)


def test_short_differences_of_a_fast_motion_are_told() -> None:
    """At 20 Hz differences over 3 points take 13 % off accelerations of 2 Hz, and 6 % off all up to there."""
    log = log_of(20.0, 0, 0.02, top_hz=2.0)
    plan = suggest(log).plan
    assert plan.difference_points == 9
    assert told_of(log, fitted(log, plan)) == ()
    short = replace(plan, difference_points=3)
    estimate = fitted(log, short)
    assert np.mean(deviations(estimate) < 2) < 0.7
    (concern,) = told_of(log, estimate)
    assert concern.level is Level.CARE
    assert concern.figures["taken_off_percent"] == pytest.approx(6.5, abs=0.5)
    assert estimate.values[0] / TRUTH[0] == pytest.approx(1.065, abs=0.02)
    assert concern.sentence.startswith("For motion up to ")
    assert concern.sentence.endswith("take differences over more points (difference_points, now 3).")


def test_a_low_cut_off_is_told_with_its_share() -> None:
    log = log_of(100.0, 0, 1e-4)
    plan = replace(suggest(log).plan, cutoff_hz=0.65)
    estimate = fitted(log, plan)
    assert estimate.values[0] > 1.001 * TRUTH[0]
    (concern,) = told_of(log, estimate)
    assert concern.level is Level.CARE
    assert "off the accelerations" in concern.sentence
    assert "raise the cut-off (0.65 Hz)" in concern.sentence
    assert told_of(log.part(slice(100)), estimate) == ()
