"""Friction with constants inside: found with honest deviations, at full rate even when rows are decimated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.errors import DynidError, ModelError, UnknownNameError
from dynid.estimators.identify import LOAD, STRIBECK, WLS, NonlinearTerm, Separable, identify
from dynid.estimators.terms import nonlinear_torques
from dynid.problem.build import build_problem
from dynid.signals.preparation import Preparation
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
    found = identify(problem, Separable(weighted=False))
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


def test_load_dependent_friction_is_linear_and_found() -> None:
    base, truth = scara()
    share = np.array([0.08, 0.12])
    rng = np.random.default_rng(3)
    motion = fourier_motion(base.robot, rng, seconds=12)
    rigid = exact_torques(base, truth, motion)
    sign = np.sign(motion.qd)
    # τ = rigid + share·|τ|·sign(q̇), solved for τ.
    tau = np.where(rigid * sign >= 0, rigid / (1 - share), rigid / (1 + share))
    estimate = identify(
        build_problem(base.robot, [replace(motion, tau=tau)], Preparation(), base), Separable(terms=(LOAD,))
    )
    assert estimate.further is not None
    assert estimate.further.names == ("Fl1", "Fl2")
    np.testing.assert_allclose(estimate.further.values, share, rtol=1e-8)
    np.testing.assert_allclose(estimate.values, truth, rtol=1e-7)


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
    assert any("The motion does not show Fs1, Fs2; leave the term out" in note for note in estimate.notes)
    shown = identify(scara_problem(CASE, noise=noise), Separable())
    assert not shown.notes


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
