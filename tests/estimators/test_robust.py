"""Outliers: robust estimates shrug, others say so; and the other named outcomes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.estimators import IRLS, OLS, TLS, WLS, identify
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem import Problem, build_problem
from support.estimation import CASES, scara, scara_motions, scara_problem
from support.motions import exact_torques, fourier_motion

PLAIN = CASES["ols"]


def collided(share: float = 0.03) -> Problem:
    """A log in which some torques are far off, all to one side."""
    rng = np.random.default_rng(9)
    motions = []
    for motion in scara_motions(PLAIN, noise=0.02):
        tau = motion.tau.copy()
        hit = rng.random(tau.shape) < share
        tau[hit] += 3 * np.std(tau)
        motions.append(replace(motion, tau=tau))
    return build_problem(scara()[0].robot, motions, Preparation(), scara()[0])


def test_outliers_are_named_and_robust_estimates_do_not_mind() -> None:
    problem, truth = collided(), scara()[1]
    clean = identify(scara_problem(PLAIN, noise=0.02), WLS())
    plain = identify(problem, WLS())
    assert plain.outcome.name == "outliers dominate"
    assert not plain.outcome.trustworthy
    assert "times its robust size" in plain.outcome.sentence
    assert "IRLS" in plain.outcome.remedy
    error = {"wls": np.abs(plain.values - truth) / clean.sigma}
    for loss in ("huber", "bisquare"):
        robust = identify(problem, IRLS(loss=loss))
        error[loss] = np.abs(robust.values - truth) / clean.sigma
        assert robust.outcome.name == "fine"
        assert any("rows count less than half" in f.text for f in robust.findings)
        assert any("look for their cause" in f.text for f in robust.findings)
        np.testing.assert_allclose(robust.joint_sigma, clean.joint_sigma, rtol=0.25)
    assert error["bisquare"].max() < 4
    assert error["huber"].max() < 8
    assert error["wls"].max() > 3 * error["bisquare"].max()


def test_a_descent_cut_short_is_named() -> None:
    estimate = identify(collided(), IRLS(loss="bisquare", iterations=1))
    assert estimate.outcome.name == "not converged"
    assert not estimate.outcome.trustworthy
    assert "more iterations" in estimate.outcome.remedy


def slow_motion(turn: float) -> Problem:
    """Joint 2 nearly still: its inertia and the first joint's can hardly be told apart."""
    base, truth = scara()
    rng = np.random.default_rng(1)
    motion = fourier_motion(base.robot, rng, seconds=6)
    shape = np.array([1.0, turn])
    slow = Motion(
        "slow", motion.time, motion.q * shape, motion.qd * shape, motion.qdd * shape, motion.tau, 100.0
    )
    tau = exact_torques(base, truth, slow)
    tau += 0.02 * np.std(tau, axis=0) * rng.normal(size=tau.shape)
    return build_problem(base.robot, [replace(slow, tau=tau)], Preparation(), base)


@pytest.mark.parametrize(("turn", "name", "noted"), [(1.0, "fine", False), (1e-6, "under-excited", True)])
def test_poor_excitation_is_named(turn: float, name: str, noted: bool) -> None:
    estimate = identify(slow_motion(turn), OLS())
    assert estimate.outcome.name == name
    assert estimate.outcome.trustworthy is (not noted)
    if noted:
        assert estimate.facts["condition_scaled"] > 1e4
        assert "MX2" in estimate.outcome.sentence
        assert "more exciting" in estimate.outcome.remedy


def test_middling_excitation_is_a_note() -> None:
    estimate = identify(slow_motion(1e-2), OLS())
    assert 100 < estimate.facts["condition_scaled"] < 1e4
    assert estimate.outcome.trustworthy
    assert any("column-scaled condition number" in f.text for f in estimate.findings)


def test_total_least_squares_says_when_it_has_no_solution() -> None:
    """Plain TLS takes the tiny columns of a slow joint for noise."""
    estimate = identify(slow_motion(1e-3), TLS(scaled=False))
    assert estimate.outcome.name == "not generic"
    assert not estimate.outcome.trustworthy
    assert "WLS" in estimate.outcome.remedy
