"""Friction with constants inside: found with honest deviations, at full rate even when rows are decimated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.core.errors import DynidError, ModelError, UnknownNameError
from dynid.estimators import LOAD, STRIBECK, WLS, NonlinearTerm, Separable, identify
from dynid.estimators.linear.augmented import inertial_columns
from dynid.estimators.linear.terms import nonlinear_torques
from dynid.preparation.preparation import Preparation
from dynid.problem import Problem, build_problem
from dynid.validation.model import IdentifiedModel, predictions
from support.estimation import CASES, STRIBECK_TRUTH, scara, scara_motions, scara_problem
from support.motions import exact_torques, fourier_motion

CASE = CASES["separable"]


def test_constants_are_found_from_a_poor_start() -> None:
    problem = scara_problem(CASE, noise=0.02)
    for start in ({"vs": 1.5}, {"vs": 0.05, "vs2": 2.0}):
        estimate = identify(problem, Separable(start=start))
        assert estimate.outcome.name == "fine"
        assert estimate.further is not None
        for name, value, sigma in zip(
            estimate.further.names, estimate.further.values, estimate.further.sigma, strict=True
        ):
            assert abs(value - STRIBECK_TRUTH[name]) < 4 * sigma < 0.6 * STRIBECK_TRUTH[name]
    assert estimate.further.names == ("Fs1", "Fs2", "vs1", "vs2")
    assert estimate.further.units == ("N m", "N m", "rad/s", "rad/s")
    assert estimate.further.covariance.shape == (12, 12)
    np.testing.assert_allclose(estimate.further.covariance[:8, :8], estimate.covariance)


def test_the_term_explains_what_the_linear_model_cannot() -> None:
    problem = scara_problem(CASE, noise=0.01)
    linear, separable = identify(problem, WLS()), identify(problem, Separable())
    assert separable.facts["relative_residual"] < 0.7 * linear.facts["relative_residual"]


def test_the_deviations_are_those_of_the_full_jacobian() -> None:
    """Against a plain nonlinear fit of all twelve by finite differences."""
    base, _ = scara()
    problem = scara_problem(CASE, noise=0.02)
    found = identify(problem, Separable(weighted=False, uncertainty="classical"))
    assert found.further is not None
    motions = problem.motions
    assert motions is not None

    def torque(x: np.ndarray) -> np.ndarray:
        parts = [
            exact_torques(base, x[:8], m) + nonlinear_torques(base.robot, (STRIBECK,), x[8:], m)
            for m in motions
        ]
        return np.concatenate([part.T.ravel() for part in parts])

    x = np.concatenate([found.values, found.further.values])
    steps = 1e-6 * np.eye(12)
    J = np.column_stack([(torque(x + h) - torque(x - h)) / 2e-6 for h in steps])
    y = np.concatenate([m.tau.T.ravel() for m in motions])
    residual = y - torque(x)
    assert np.abs(J.T @ residual).max() < 1e-5 * np.abs(J.T @ y).max()  # stationary
    C = residual @ residual / (len(y) - 12) * np.linalg.inv(J.T @ J)
    np.testing.assert_allclose(found.further.covariance, C, rtol=1e-4, atol=1e-10)


def test_terms_are_decimated_as_every_column_is() -> None:
    """A sign at full rate, then low-passed, is not the sign of a low-passed speed."""
    base, truth = scara()
    rng = np.random.default_rng(0)
    motions = []
    for k in range(2):
        motion = fourier_motion(base.robot, rng, seconds=12.0, rate_hz=500.0, name=f"run {k}")
        motions.append(replace(motion, tau=exact_torques(base, truth, motion) + CASE.beside(motion)))
    plan = Preparation(decimation=10, speed_thresholds=(0.02, 0.02))
    estimate = identify(build_problem(base.robot, motions, plan, base), Separable())
    assert estimate.further is not None
    np.testing.assert_allclose(estimate.values, truth, rtol=1e-5)
    found = dict(zip(estimate.further.names, estimate.further.values, strict=True))
    assert found == pytest.approx(STRIBECK_TRUTH, rel=1e-4)


LOAD_TRUTH = np.array([0.1, 0.15])


def loaded_problem(share: np.ndarray, noise: float, seed: int = 3, decimation: int = 1) -> Problem:
    """The SCARA with friction that grows with the torque of its links' inertia."""
    base, truth = scara()
    rng = np.random.default_rng(seed)
    motions = []
    for k in range(2):
        motion = fourier_motion(base.robot, rng, seconds=8, rate_hz=100.0 * decimation, name=f"run {k}")
        rigid = exact_torques(base, np.where(inertial_columns(base), truth, 0.0), motion)
        tau = exact_torques(base, truth, motion) + share * np.abs(rigid) * np.sign(motion.qd)
        rms = np.sqrt(np.mean(tau**2, axis=0))
        motions.append(replace(motion, tau=tau + noise * rms * rng.normal(size=tau.shape)))
    return build_problem(base.robot, motions, Preparation(decimation=decimation), base)


@pytest.mark.parametrize("decimation", [1, 5])
def test_load_dependent_friction_is_found_exactly_without_noise(decimation: int) -> None:
    _, truth = scara()
    estimate = identify(
        loaded_problem(LOAD_TRUTH, 0.0, decimation=decimation), Separable(terms=(LOAD,), weighted=False)
    )
    assert estimate.outcome.name == "fine"
    assert estimate.further is not None
    assert estimate.further.names == ("Fl1", "Fl2")
    np.testing.assert_allclose(estimate.further.values, LOAD_TRUTH, rtol=1e-5)
    np.testing.assert_allclose(estimate.values, truth, rtol=1e-5)


def test_load_dependent_friction_is_not_biased_by_noise_and_its_deviation_is_honest() -> None:
    _, truth = scara()
    found, values, sigmas = [], [], []
    for seed in range(12):
        estimate = identify(loaded_problem(LOAD_TRUTH, 0.05, seed), Separable(terms=(LOAD,)))
        assert estimate.further is not None
        found.append((estimate.further.values - LOAD_TRUTH) / estimate.further.sigma)
        values.append((estimate.values - truth) / estimate.sigma)
        sigmas.append(estimate.further.sigma)
    # Means of twelve within three of their deviations, spread near one: a bias of 0.3 would be tens of σ.
    for normed in (np.array(found), np.array(values)):
        assert np.all(np.abs(normed.mean(axis=0)) < 3 / np.sqrt(12) + 0.2)
        assert np.sqrt(np.mean(normed**2)) < 1.6
    assert np.max(sigmas) < 0.05


def test_no_load_dependent_friction_is_found_where_there_is_none() -> None:
    problem = loaded_problem(np.zeros(2), 0.05)
    estimate, plain = identify(problem, Separable(terms=(LOAD,))), identify(problem, WLS())
    assert estimate.further is not None
    assert np.all(np.abs(estimate.further.values) < 3 * estimate.further.sigma)
    assert any("The motion does not show Fl" in f.text for f in estimate.findings)
    assert np.all(np.abs(estimate.values - plain.values) < 3 * estimate.sigma)


def test_load_friction_predicts_other_motions_from_the_model_alone() -> None:
    """The torque that is to be predicted must not be looked at."""
    base, truth = scara()
    estimate = identify(loaded_problem(LOAD_TRUTH, 0.0), Separable(terms=(LOAD,), weighted=False))
    motion = fourier_motion(base.robot, np.random.default_rng(9), seconds=5)
    rigid = exact_torques(base, np.where(inertial_columns(base), truth, 0.0), motion)
    tau = exact_torques(base, truth, motion) + LOAD_TRUTH * np.abs(rigid) * np.sign(motion.qd)
    assert estimate.further is not None
    model = IdentifiedModel(base.robot, base, estimate.values, None, estimate.further)
    np.testing.assert_allclose(predictions(model, motion)[0], tau, atol=1e-4 * np.abs(tau).max())
    with pytest.raises(DynidError, match="'Fl' holds the load; give the torques of inertia and weight"):
        nonlinear_torques(base.robot, (LOAD,), np.array([0.1, 0.1]), motion)


@pytest.mark.parametrize("start", [0.002, 5.0, 30.0, 90.0])
def test_a_far_start_does_not_end_in_a_wrong_valley(start: float) -> None:
    """The scan covers the speeds of the motion, whatever the guess."""
    problem = scara_problem(CASE, noise=0.02)
    near, far = identify(problem, Separable()), identify(problem, Separable(start={"vs": start}))
    assert far.outcome.name == "fine"
    assert near.further is not None
    assert far.further is not None
    np.testing.assert_allclose(far.further.values, near.further.values, rtol=1e-3)


@pytest.mark.parametrize("uncertainty", ["hac", "bootstrap"])
def test_other_uncertainties_cover_the_constants_too(uncertainty: str) -> None:
    problem = scara_problem(CASE, noise=0.02)
    classical, other = (identify(problem, Separable(uncertainty=u)) for u in ("classical", uncertainty))
    assert classical.further is not None
    assert other.further is not None
    assert other.uncertainty == uncertainty
    np.testing.assert_allclose(other.further.sigma, classical.further.sigma, rtol=0.4)


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_a_term_the_motion_does_not_show_is_named(noise: float) -> None:
    estimate = identify(scara_problem(CASES["wls"], noise=noise), Separable())
    assert any(
        "The motion does not show Fs1, Fs2; leave the term out" in note
        for note in (f.text for f in estimate.findings)
    )
    shown = identify(scara_problem(CASE, noise=noise), Separable())
    assert not shown.findings


def test_terms_that_cannot_be_get_a_sentence() -> None:
    problem = scara_problem(CASE)
    with pytest.raises(ModelError, match="constant 'vs' of the term 'Fs' has the first guess None"):
        NonlinearTerm("Fs", "exp(-(qd/vs)^2)")
    with pytest.raises(ModelError, match=r"contains .__import__"):
        NonlinearTerm("Fs", "__import__('os')")
    with pytest.raises(ModelError, match="is not a formula"):
        NonlinearTerm("Fs", "qd +")
    with pytest.raises(UnknownNameError, match="Unknown constant 'vz'"):
        identify(problem, Separable(start={"vz": 1.0}))
    with pytest.raises(DynidError, match="names joint 5; give some of 0 … 1"):
        identify(problem, Separable(terms=(replace(STRIBECK, joints=(5,)),)))
    with pytest.raises(DynidError, match="Two parameters would be called 'Fc1'"):
        identify(problem, Separable(terms=(replace(STRIBECK, name="Fc"),)))
    with pytest.raises(DynidError, match="given no terms"):
        Separable(terms=())
    base = scara()[0]
    size = sum(problem.rows(j).nbytes for j in range(2))
    tight = build_problem(base.robot, scara_motions(CASE), Preparation(), base, budget_bytes=size + 1)
    assert tight.motions is None
    with pytest.raises(DynidError, match="motions did not fit the memory budget"):
        identify(tight, Separable())
