"""Methods that must agree, and figures that must equal their formula."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.base import find_base
from dynid.core.errors import DynidError, UnknownNameError
from dynid.estimators import HAC, IRLS, OLS, TLS, WLS, Bootstrap, Ridge, identify
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.problem import Problem, build_problem
from support.estimation import CASES, scara, scara_problem
from support.motions import base_truth, exact_torques, fourier_motion, simulated

PLAIN = CASES["ols"]


@pytest.fixture(scope="module")
def noisy() -> Problem:
    return scara_problem(PLAIN, noise=0.03)


def dense(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """W and Y of all rows."""
    rows = [problem.rows(j) for j in range(problem.robot.n_coordinates)]
    return np.vstack([r.wide(len(problem.base)) for r in rows]), np.concatenate([r.y for r in rows])


def test_ols_is_the_textbook_formula(noisy: Problem) -> None:
    W, Y = dense(noisy)
    x, squares, *_ = np.linalg.lstsq(W, Y, rcond=None)
    r, b = W.shape
    C = squares[0] / (r - b) * np.linalg.inv(W.T @ W)
    found = identify(noisy, OLS(uncertainty="classical"))
    np.testing.assert_allclose(found.values, x, rtol=1e-10)
    np.testing.assert_allclose(found.covariance, C, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found.relative_sigma, 100 * np.sqrt(np.diag(C)) / np.abs(x), rtol=1e-9)
    facts = found.facts
    assert facts["condition"] == pytest.approx(np.linalg.cond(W))
    assert facts["condition_scaled"] == pytest.approx(np.linalg.cond(W / np.linalg.norm(W, axis=0)))
    assert facts["relative_residual"] == pytest.approx(
        100 * np.linalg.norm(Y - W @ x) / np.linalg.norm(Y), rel=1e-9
    )
    assert facts["sigma"] == pytest.approx(np.sqrt(squares[0] / (r - b)))
    assert facts["degrees_of_freedom"] == r - b


def test_wls_weights_come_from_each_joint_alone(noisy: Problem) -> None:
    found = identify(noisy, WLS())
    for j in range(2):
        rows = noisy.rows(j)
        _, squares, rank, _ = np.linalg.lstsq(rows.W, rows.y, rcond=None)
        assert found.joint_sigma[j] == pytest.approx(np.sqrt(squares[0] / (len(rows) - rank)))
    assert np.allclose(np.array(found.facts["weights"]) * found.joint_sigma, 1)
    W, Y = dense(noisy)
    scale = np.repeat(found.facts["weights"], noisy.row_counts)
    x = np.linalg.lstsq(W * scale[:, None], Y * scale, rcond=None)[0]
    np.testing.assert_allclose(found.values, x, rtol=1e-9)
    assert found.facts["sigma_weighted"] == pytest.approx(1.0, abs=0.02)


def test_wls_with_equal_errors_is_ols(noisy: Problem) -> None:
    ols = identify(noisy, OLS())
    np.testing.assert_allclose(noisy.spectrum([2.5, 2.5]).solution, ols.values, rtol=1e-10)
    base = find_base(load_robot("emps"))  # one joint: one weight
    rng = np.random.default_rng(5)
    motion = simulated(base, base_truth(base, rng), fourier_motion(base.robot, rng), rng, 0.05)
    single = build_problem(base.robot, [motion], Preparation(), base)
    ols, wls = identify(single, OLS()), identify(single, WLS())
    np.testing.assert_allclose(wls.values, ols.values, rtol=1e-10)
    np.testing.assert_allclose(wls.covariance, ols.covariance, rtol=1e-9)


def test_wls_is_better_than_ols_where_joints_differ() -> None:
    """Distal parameters gain most (METHODS: five times)."""
    base, truth = scara()
    rng = np.random.default_rng(2)
    errors = {"ols": [], "wls": []}
    for _ in range(15):
        motion = fourier_motion(base.robot, rng, seconds=6)
        tau = exact_torques(base, truth, motion)
        noise = np.sqrt(np.mean(tau**2, axis=0)) * [0.05, 0.01]
        problem = build_problem(
            base.robot, [replace(motion, tau=tau + noise * rng.normal(size=tau.shape))], Preparation(), base
        )
        for name, strategy in (("ols", OLS()), ("wls", WLS())):
            errors[name].append(identify(problem, strategy).values - truth)
    spread = {name: np.sqrt(np.mean(np.square(e), axis=0)) for name, e in errors.items()}
    distal = [base.names.index(n) for n in ("ZZ2", "Fv2", "Fc2")]
    assert np.all(spread["ols"][distal] > 3 * spread["wls"][distal])


def test_irls_without_outliers_is_nearly_wls(noisy: Problem) -> None:
    wls = identify(noisy, WLS())
    for loss in ("huber", "bisquare"):
        robust = identify(noisy, IRLS(loss=loss))
        assert np.all(np.abs(robust.values - wls.values) < wls.sigma)
        np.testing.assert_allclose(robust.sigma, wls.sigma, rtol=0.1)
        assert np.allclose(robust.joint_sigma, wls.joint_sigma, rtol=0.1)


def test_irls_with_an_endless_tuning_is_least_squares(noisy: Problem) -> None:
    """All rows count one, so only the weights between joints may differ: one joint leaves none."""
    base = find_base(load_robot("emps"))
    rng = np.random.default_rng(4)
    motion = simulated(base, base_truth(base, rng), fourier_motion(base.robot, rng), rng, 0.05)
    problem = build_problem(base.robot, [motion], Preparation(), base)
    np.testing.assert_allclose(
        identify(problem, IRLS(tuning=1e6)).values, identify(problem, OLS()).values, rtol=1e-9
    )


def test_a_prior_that_weighs_nothing_changes_nothing(noisy: Problem) -> None:
    wls = identify(noisy, WLS())
    for strength in (0.0, 1e-12):
        ridge = identify(noisy, Ridge(strength=strength))
        np.testing.assert_allclose(ridge.values, wls.values, rtol=1e-7)
        np.testing.assert_allclose(ridge.covariance, wls.covariance, rtol=1e-6, atol=1e-14)


def test_a_prior_that_weighs_everything_is_the_answer(noisy: Problem) -> None:
    prior = dict.fromkeys(noisy.names, 1.5)
    ridge = identify(noisy, Ridge(prior=prior, strength=1e16))
    np.testing.assert_allclose(ridge.values, 1.5, rtol=1e-4)
    assert ridge.facts["held_by_prior"] == list(noisy.names)
    assert "The prior says more than the log" in ridge.findings[0].text


def test_a_prior_helps_when_it_is_right_and_is_dropped_when_wrong() -> None:
    base, truth = scara()
    problem = scara_problem(PLAIN, noise=0.3)
    right = Ridge(prior=dict(zip(base.names, truth, strict=True)), relative_sigma=0.02, strength="auto")
    wrong = Ridge(prior=dict(zip(base.names, -5 * truth, strict=True)), relative_sigma=0.02, strength="auto")
    distance = {
        name: np.linalg.norm((identify(problem, strategy).values - truth) / truth)
        for name, strategy in (("wls", WLS()), ("right", right), ("wrong", wrong))
    }
    assert distance["right"] < 0.3 * distance["wls"]
    assert distance["wrong"] < 1.2 * distance["wls"]


def test_what_the_prior_does_not_know_is_not_pulled_to_zero() -> None:
    """A robot file with inertias but no friction: Ridge leaves the friction where a noisy log puts it."""
    problem = scara_problem(PLAIN, noise=0.3)
    table, values = problem.robot.table, problem.robot.parameters
    bodies = {
        entry.name: values[entry.name]
        for entry in table
        if entry.family == "inertial" and entry.name in values
    }
    bare = replace(problem, robot=replace(problem.robot, parameters=bodies))
    free, held = identify(problem, WLS(uncertainty="classical")), identify(bare, Ridge())
    friction = [free.names.index(name) for name in ("Fv1", "Fc1")]
    moved = np.abs(held.values - free.values)[friction] / free.sigma[friction]
    assert moved.max() < 0.05  # 0.18 with zero ± 5 % of the torque


def test_a_full_prior_covariance_is_used(noisy: Problem) -> None:
    """Bayes by hand: (WᵀΛW + P⁻¹)⁻¹ (WᵀΛY + P⁻¹ χ₀)."""
    base, truth = scara()
    rng = np.random.default_rng(8)
    A = rng.normal(size=(len(base), len(base)))
    P = 1e-4 * (A @ A.T + np.eye(len(base)))
    prior = dict(zip(base.names, truth * 1.01, strict=True))
    found = identify(noisy, Ridge(prior=prior, covariance=P, uncertainty="classical"))
    wls = identify(noisy, WLS(uncertainty="classical"))
    information = np.linalg.inv(wls.covariance)
    posterior = np.linalg.inv(information + np.linalg.inv(P))
    expected = posterior @ (information @ wls.values + np.linalg.solve(P, truth * 1.01))
    np.testing.assert_allclose(found.values, expected, rtol=1e-7)
    np.testing.assert_allclose(found.covariance, posterior, rtol=1e-6, atol=1e-14)


def test_tls_is_less_attenuated_when_the_regressor_is_noisy() -> None:
    """Noise on the acceleration shrinks inertia in least squares."""
    base = find_base(load_robot("emps"))
    truth = np.array([95.0, 200.0, 20.0, -3.0])
    rng = np.random.default_rng(6)
    shrunk = []
    for _ in range(10):
        motion = fourier_motion(base.robot, rng, seconds=20, speed=0.3)
        tau = exact_torques(base, truth, motion)
        level = 0.2
        noisy = motion.qdd + level * np.std(motion.qdd) * rng.normal(size=motion.qdd.shape)
        tau = tau + level * np.std(tau) * rng.normal(size=tau.shape)
        problem = build_problem(base.robot, [replace(motion, qdd=noisy, tau=tau)], Preparation(), base)
        shrunk.append([identify(problem, s).values[0] / truth[0] for s in (OLS(), TLS())])
    ols, tls = np.mean(shrunk, axis=0)
    assert ols < 0.975
    assert abs(tls - 1) < 0.5 * abs(ols - 1)


def test_options_that_mean_nothing_get_a_sentence() -> None:
    for make, sentence in (
        (lambda: WLS(iterations=0), "WLS was asked for 0 iterations"),
        (lambda: IRLS(tuning=-1), "tuning of IRLS is -1"),
        (lambda: Ridge(strength=-1), "strength of the prior is -1"),
        (lambda: Ridge(relative_sigma=0), "relative sigma of the prior is 0"),
        (lambda: Bootstrap(replicates=3), "replicates of the bootstrap is 3; give at least 20"),
        (lambda: HAC(lags=-1), "HAC was given -1 lags"),
    ):
        with pytest.raises(DynidError, match=sentence):
            make()
    with pytest.raises(UnknownNameError, match=r"Unknown uncertainty 'boot'. Did you mean 'bootstrap'"):
        WLS(uncertainty="boot")
    with pytest.raises(UnknownNameError, match=r"Unknown loss 'hubber'. Did you mean 'huber'"):
        IRLS(loss="hubber")
    with pytest.raises(UnknownNameError, match="Unknown base parameter of the prior 'ZZ9'"):
        identify(scara_problem(PLAIN), Ridge(prior={"ZZ9": 1.0}))
    with pytest.raises(DynidError, match="prior covariance is not positive definite"):
        identify(scara_problem(PLAIN), Ridge(covariance=np.zeros((8, 8))))
