"""Kalman filters on state and parameters: derivatives, equality with eq 9, truth within honest σ, guards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dynid.base import find_base
from dynid.core.errors import DynidError, ShapeError
from dynid.core.finding import Name
from dynid.estimators.recursive.joint_state import AugmentedModel
from dynid.estimators.recursive.kalman import EKF
from dynid.estimators.recursive.limits import CovarianceLimits
from dynid.estimators.recursive.prior import ParameterPrior
from dynid.estimators.recursive.state_filter import StateFilterOptions, StateNoise
from dynid.estimators.recursive.unscented import UKF, SigmaPoints
from dynid.model.load import load_robot
from support.robots import prismatic_robot, with_random_inertias
from support.state_runs import random_arm, state_run

METHODS = {"ekf": EKF(), "ukf": UKF()}
both = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def robots() -> dict[str, object]:
    rng = np.random.default_rng(3)
    return {
        "scara": load_robot("scara"),
        "arm": random_arm(3, 1),
        "mixed": with_random_inertias(prismatic_robot(), rng),
    }


@pytest.mark.parametrize("name", ["scara", "arm", "mixed"])
def test_derivatives_of_a_step_are_those_of_differences(name: str) -> None:
    model = AugmentedModel(find_base(robots()[name]))  # type: ignore[arg-type]
    n, rng = model.axes, np.random.default_rng(0)
    chi = model.base.regroup(model.base.robot.parameters)
    x, tau = rng.normal(size=2 * n), (rng.normal(size=n), rng.normal(size=n))
    found = model.ahead(x, chi, tau, 2e-3, 2)
    z, step = np.concatenate([x, chi]), 1e-6
    cloud = z[:, None] + step * np.hstack([np.eye(len(z)), -np.eye(len(z)), np.zeros((len(z), 1))])
    images, definite = model.ahead_many(cloud[: 2 * n], cloud[2 * n :], tau, 2e-3, 2)
    differences = (images[:, : len(z)] - images[:, len(z) : -1]) / (2 * step)
    assert definite
    assert found.before.definite
    assert np.allclose(found.x, images[:, -1], rtol=1e-12, atol=1e-14)
    assert np.allclose(found.by, differences, atol=1e-7 * np.abs(found.by).max())


def test_a_matrix_that_is_not_positive_is_seen() -> None:
    model = AugmentedModel(find_base(random_arm(3, 1)))
    chi, q = model.base.regroup(model.base.robot.parameters), np.zeros(3)
    assert model.inertia_positive(q, chi)
    assert not model.inertia_positive(q, -chi)
    assert not model.slopes(np.zeros(6), np.zeros(3), -chi).definite
    assert not model.ahead_many(np.zeros((6, 2)), np.column_stack([chi, -chi]), (q, q), 1e-3, 1)[1]


@both
@given(seed=st.integers(0, 10_000), joints=st.integers(1, 4), base=st.integers(1, 9))
@settings(max_examples=25, deadline=None)
def test_on_parameters_alone_they_are_recursive_least_squares(
    method: EKF | UKF, seed: int, joints: int, base: int
) -> None:
    """P4 eq 9, with I_n replaced by diag(σ_j²)."""
    rng = np.random.default_rng(seed)
    prior, sigma = (
        ParameterPrior(rng.normal(size=base), rng.uniform(0.1, 3, base)),
        rng.uniform(0.1, 2, joints),
    )
    run = method.start_parameters([f"p{i}" for i in range(base)], sigma, prior)
    chi, P = prior.values, np.diag(prior.sigma**2)
    for _ in range(40):
        W, y = rng.normal(size=(joints, base)), rng.normal(size=joints)
        S = W @ P @ W.T + np.diag(sigma**2)
        error = y - W @ chi
        squares = run.update(W, y)
        assert np.isclose(squares, error @ np.linalg.solve(S, error), rtol=1e-9)
        gain = np.linalg.solve(S, W @ P).T
        chi, P = chi + gain @ error, P - gain @ W @ P
    assert np.allclose(run.values, chi, rtol=1e-9, atol=1e-9)
    assert np.allclose(run.covariance(), P, rtol=1e-9, atol=1e-9)
    assert np.allclose(run.sigma(), run.estimate().sigma)


def test_sigma_points_are_those_of_the_textbook() -> None:
    """Mean and covariance by the scaled weights of Wan and van der Merwe (2000), which may be negative."""
    rng = np.random.default_rng(1)
    points, N = SigmaPoints(spread=0.8), 5
    centre, ahead, behind = rng.normal(size=3), rng.normal(size=(3, N)), rng.normal(size=(3, N))
    gamma, alpha = points.spread, points.spread / np.sqrt(N)
    images = np.column_stack([centre, ahead, behind])
    weights = np.full(2 * N + 1, 1 / (2 * gamma**2))
    weights[0] = 1 - N / gamma**2
    mean = images @ weights
    weights[0] += 1 - alpha**2 + points.beta
    away = images - mean[:, None]
    found, first, further = points.combine(centre, ahead, behind)
    assert weights[0] < 0
    assert np.allclose(found, mean)
    assert np.allclose(first @ first.T + further @ further.T, (away * weights) @ away.T)


@both
@pytest.mark.parametrize(("name", "axes"), [("emps", 0), ("scara", 0), ("5", 2)])
def test_truth_is_found_within_honest_sigma(method: EKF | UKF, name: str, axes: int) -> None:
    run = state_run(name, 1.0, 2e-3, axes)
    found = run.filtered(method, seed=7, off=0.3)
    pulls = (found.values - run.truth) / found.sigma()
    assert np.abs(pulls).max() < 4.0
    assert 0.5 < np.sqrt(np.mean(pulls**2)) < 1.7
    assert found.noise_scale == pytest.approx(1.0, abs=0.1)
    assert np.median(found.sigma() / found.prior.sigma) < 0.3  # something was learnt
    assert not [finding for finding in found.findings if not finding.trustworthy]


@both
def test_measured_speeds_and_a_straight_hold(method: EKF | UKF) -> None:
    run = state_run("scara", 1.0, 2e-3)
    rng, qd = np.random.default_rng(0), np.gradient(run.q, run.period, axis=0)
    prior = ParameterPrior(0.9 * run.truth, 0.2 * np.abs(run.truth))
    options = StateFilterOptions(hold="first")
    filters = [
        replace(method, options=options).start(
            run.model, StateNoise(1e-4, run.torque_size / 50, speed), prior
        )
        for speed in (None, 1e-3)
    ]
    for k in range(1, 400):
        speed = qd[k] + 1e-3 * rng.normal(size=2)
        position = run.q[k] + 1e-4 * rng.normal(size=2)
        for own in filters:
            own.update(k * run.period, position, run.tau[k], speed)
    without, with_speed = filters
    assert with_speed.rows == 2 * without.rows
    assert np.all(with_speed.sigma() < without.sigma())


@both
def test_a_kept_state_goes_on_as_if_nothing_had_been(method: EKF | UKF) -> None:
    run = state_run("scara", 1.0, 2e-3)
    first = run.filtered(method, 1, samples=60)
    kept = first.state()
    other = method.start(run.model, StateNoise(1e-5, 0.02 * run.torque_size), first.prior)
    other.restore(kept)
    for k in range(60, 90):
        for own in (first, other):
            own.update(k * run.period, run.q[k], run.tau[k])
    assert np.array_equal(first.values, other.values)
    assert np.array_equal(first.covariance(), other.covariance())
    assert (first.updates, first.rows, first.outcomes) == (other.updates, other.rows, other.outcomes)
    with pytest.raises(ShapeError, match="root"):
        other.restore(kept | {"root": np.eye(3)})


@both
def test_an_update_that_would_lose_the_inertia_is_shortened(method: EKF | UKF) -> None:
    """Twenty times the predicted acceleration asks for a negative inertia, along the derivative."""
    run = state_run("emps", 1.0, 2e-3)
    prior = ParameterPrior(run.truth, np.abs(run.truth) * [0.5, 1e-3, 1e-3, 1e-3])
    own = method.start(run.model, StateNoise(1e-6, 0.1, 1e-3), prior)
    for k in range(60):
        t = k * 2e-3
        own.update(t, [10 * t**2], [100.0], [20 * t])
        assert run.model.inertia_positive(own.position, own.values)
        assert np.all(np.isfinite(own.covariance()))
    assert Name.INERTIA_NOT_POSITIVE in {finding.name for finding in own.findings}


@both
def test_a_prior_without_inertia_is_said_and_does_not_diverge(method: EKF | UKF) -> None:
    run = state_run("scara", 1.0, 2e-3)
    own = method.start(run.model, StateNoise(1e-5, 0.1), ParameterPrior(-run.truth, 0.1 * np.abs(run.truth)))
    for k in range(20):
        own.update(k * run.period, run.q[k], run.tau[k])
    assert np.array_equal(own.values, -run.truth)
    assert [finding.name for finding in own.findings] == [Name.INERTIA_NOT_POSITIVE]
    assert not own.findings[0].trustworthy


@both
def test_a_gap_starts_the_state_anew_and_keeps_the_parameters(method: EKF | UKF) -> None:
    run = state_run("scara", 1.0, 2e-3)
    own = run.filtered(method, 1, samples=100)
    values, covariance = own.values.copy(), own.covariance()
    assert own.update(10.0, run.q[300], run.tau[300]) == 0.0
    assert np.array_equal(own.values, values)
    assert np.allclose(own.covariance(), covariance)
    assert np.array_equal(own.position, run.q[300])
    assert Name.LONG_GAPS in {finding.name for finding in own.findings}


def test_a_random_walk_keeps_parameters_free_within_limits() -> None:
    run = state_run("emps", 1.0, 2e-3)
    prior = ParameterPrior(run.truth, 0.2 * np.abs(run.truth))
    limits = CovarianceLimits(0.05 * prior.sigma, prior.sigma)
    still, walking, held = (
        EKF(options).start(run.model, StateNoise(1e-5, 0.5), prior)
        for options in (
            StateFilterOptions(),
            StateFilterOptions(walk=0.5),
            StateFilterOptions(limits=limits),
        )
    )
    for k in range(300):
        for own in (still, walking, held):
            own.update(k * run.period, run.q[k], run.tau[k])
    assert np.all(walking.sigma() > still.sigma())
    assert np.all((held.sigma() >= 0.05 * prior.sigma * (1 - 1e-9)) & (held.sigma() <= prior.sigma))
    before = still.sigma()
    still.set_free([still.names[0]], sigma=3.0)
    assert still.sigma()[0] == pytest.approx(np.hypot(before[0], 3.0))
    assert np.allclose(still.sigma()[1:], before[1:])


def test_wrong_input_is_refused_in_a_sentence() -> None:
    run = state_run("emps", 1.0, 2e-3)
    prior = ParameterPrior(run.truth, np.abs(run.truth))
    own = EKF().start(run.model, StateNoise(1e-5, 0.5), prior)
    own.update(0.0, run.q[0], run.tau[0])
    with pytest.raises(DynidError, match="does not follow"):
        own.update(0.0, run.q[0], run.tau[0])
    with pytest.raises(ShapeError, match="tau"):
        own.update(1e-3, run.q[0], [np.nan])
    with pytest.raises(ShapeError, match="expected 1"):
        own.update(1e-3, [0.0, 1.0], run.tau[0])
    with pytest.raises(DynidError, match="finite sigma"):
        EKF().start(run.model, StateNoise(1e-5, 0.5), ParameterPrior.unknown(4))
    with pytest.raises(ShapeError, match="base parameters"):
        EKF().start(run.model, StateNoise(1e-5, 0.5), ParameterPrior(np.ones(2), np.ones(2)))
    with pytest.raises(DynidError, match="noise of torque"):
        EKF().start(run.model, StateNoise(1e-5, 0.0), prior)
    with pytest.raises(DynidError, match="hold"):
        StateFilterOptions(hold="second")
    with pytest.raises(DynidError, match="kept_inertia"):
        StateFilterOptions(kept_inertia=1.0)
    with pytest.raises(DynidError, match="sign_width"):
        AugmentedModel(run.model.base, 0.0)
    with pytest.raises(DynidError, match="beta"):
        SigmaPoints(beta=0.5)
    with pytest.raises(DynidError, match="instruments"):
        EKF().start_parameters(["a"], np.ones(1), ParameterPrior([1.0], [1.0])).update(*[np.ones((1, 1))] * 3)
    with pytest.raises(DynidError, match="finite"):
        own.set_free([own.names[0]], np.inf)
    with pytest.raises(DynidError, match="base parameter"):
        own.set_free(["XX9"], 1.0)


@pytest.mark.slow
@both
@pytest.mark.parametrize("position", [1e-6, 1e-4])
def test_sigma_is_honest_on_arms_that_were_not_looked_at(method: EKF | UKF, position: float) -> None:
    """Eight drawn arms, eight runs each from starts up to 50 % off: pulls (χ̂ − χ)/σ of all parameters.

    Bounds are a sixth around what white errors give (rms 1, 95.4 % within 2σ, .3 % beyond 3σ) with the doubt
    of eight arms, whose parameters err together.
    """
    arms = [state_run(str(name), 1.0, 1e-3, 2) for name in range(20, 28)]
    pulls = np.concatenate([
        run.pulls(method, seed, position=position, share=0.02) for run in arms for seed in range(8)
    ])  # fmt: skip
    rms, inside = np.sqrt(np.mean(pulls**2)), np.mean(np.abs(pulls) < 2)
    print(f"\n{type(method).__name__} {position:g}: rms {rms:.2f}, {inside:.1%} within 2 sigma")
    assert 0.83 < rms < 1.17
    assert inside > 0.9


@pytest.mark.slow
@both
@pytest.mark.parametrize("name", ["emps", "scara"])
@pytest.mark.parametrize("position", [1e-6, 1e-4])
def test_filters_do_not_diverge(method: EKF | UKF, name: str, position: float) -> None:
    run = state_run(name, 1.0, 1e-3, 0)
    pulls = np.array([run.pulls(method, seed, position=position, share=0.02) for seed in range(20)])
    assert np.all(np.isfinite(pulls))
    assert np.sqrt(np.mean(pulls**2)) < 1.5
    assert np.abs(pulls).max() < 8.0
