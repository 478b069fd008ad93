"""The pieces of an honest σ: windows, blocks, and how σ shrinks with the length of the log."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.core.errors import DynidError
from dynid.estimators import HAC, IRLS, TLS, WLS, Bootstrap, Honest, Ridge, identify
from dynid.estimators.honest import few_blocks_factor, time_blocks
from dynid.estimators.uncertainty import automatic_bandwidth, bartlett, fixed_share_factor, white_rows
from dynid.preparation.preparation import Preparation
from dynid.problem import Problem, build_problem
from support.estimation import CASES, scara, scara_motions, scara_problem
from support.motions import coloured, exact_torques, fourier_motion, simulated


@pytest.fixture(scope="module")
def white() -> Problem:
    return scara_problem(CASES["wls"], noise=0.03)


def drifting(seed: int = 0, seconds: float = 40.0, pole: float = 0.95) -> Problem:
    """The SCARA under a coloured disturbance."""
    base, truth = scara()
    rng = np.random.default_rng(seed)
    motion = fourier_motion(base.robot, rng, seconds=seconds)
    tau = exact_torques(base, truth, motion)
    tau += coloured(rng, tau.shape, 0.03 * np.sqrt(np.mean(tau**2, axis=0)), pole)
    return build_problem(base.robot, [replace(motion, tau=tau)], Preparation(), base)


@pytest.mark.parametrize("lags", [0, 1, 7, 60])
def test_the_window_of_sums_is_newey_and_west(lags: int) -> None:
    s = np.random.default_rng(0).normal(size=(50, 3))
    expected = s.T @ s
    for k in range(1, min(lags, 49) + 1):
        gamma = s[k:].T @ s[:-k]
        expected += (1 - k / (lags + 1)) * (gamma + gamma.T)
    np.testing.assert_allclose(bartlett(s, lags), expected, rtol=1e-12, atol=1e-12)


def test_the_window_grows_with_the_memory_of_the_errors() -> None:
    rng = np.random.default_rng(1)
    for pole, samples in ((0.5, 4000), (0.9, 4000), (0.9, 32000)):
        window = automatic_bandwidth([coloured(rng, (samples, 4), 1.0, pole)])
        # Andrews' formula for a first-order recursion: it also grows with the cube root of the length.
        theory = 1.1447 * (4 * pole**2 / (1 - pole**2) ** 2 * samples) ** (1 / 3)
        assert window == pytest.approx(theory, rel=0.12)
    assert automatic_bandwidth([rng.normal(size=(4000, 4))]) < 5
    assert fixed_share_factor(0.0) == 1.0
    assert fixed_share_factor(0.1) == pytest.approx(1.153, abs=1e-3)


def test_whitened_rows_are_orthonormal(white: Problem) -> None:
    for strategy in (WLS(), IRLS()):
        fit = strategy.fit(white)
        total = sum(
            fit.row_weights[j] * rows.X.T @ rows.X
            for j, rows in enumerate(white_rows(white, fit, j) for j in range(2))
        )
        np.testing.assert_allclose(total, np.eye(8), atol=1e-10)
        pulls = sum(rows.X.T @ rows.pull for rows in (white_rows(white, fit, j) for j in range(2)))
        assert np.abs(pulls).max() < 1e-3 * np.sqrt(len(white.rows(0)))  # the estimating equation holds


@pytest.mark.parametrize("kind", [HAC(), HAC(cross_joint=False), HAC(prewhiten=False), Bootstrap()])
def test_with_white_errors_all_agree(white: Problem, kind: HAC | Bootstrap) -> None:
    classical, other = identify(white, WLS(uncertainty="classical")), identify(white, WLS(uncertainty=kind))
    assert np.array_equal(classical.values, other.values)
    np.testing.assert_allclose(other.sigma, classical.sigma, rtol=0.3)
    assert np.median(other.sigma / classical.sigma) == pytest.approx(1, abs=0.12)


@pytest.mark.parametrize("kind", [HAC(), Bootstrap(), Honest()])
def test_with_coloured_errors_the_classical_one_is_too_small(kind: HAC | Bootstrap | Honest) -> None:
    problem = drifting()
    classical, honest = (identify(problem, WLS(uncertainty=k)) for k in ("classical", kind))
    # An AR(1) error of pole 0.95 makes slow scores (1 + ρ)/(1 − ρ) = 39 times as variable.
    assert 3 < np.median(honest.sigma / classical.sigma) < 6.5
    assert honest.uncertainty == ("blocks" if isinstance(kind, Honest) else kind.name)


def test_hac_tells_what_the_samples_are_worth() -> None:
    estimate = identify(drifting(seconds=10.0, pole=0.97), WLS(uncertainty="hac"))
    assert estimate.facts["variance_inflation"] > 10
    assert any("samples are worth" in f.text for f in estimate.findings)
    assert identify(drifting(), WLS(uncertainty=HAC(lags=5))).facts["hac_lags"] == 5


def test_joints_that_err_together_need_the_cross_option() -> None:
    """One disturbance on both joints: taken one by one, half of its effect is lost or doubled."""
    base, truth = scara()
    rng = np.random.default_rng(2)
    motion = fourier_motion(base.robot, rng, seconds=40)
    tau = exact_torques(base, truth, motion)
    rms = np.sqrt(np.mean(tau**2, axis=0))
    tau = tau + 0.03 * rms * rng.normal(size=(len(tau), 1))
    problem = build_problem(base.robot, [replace(motion, tau=tau)], Preparation(), base)
    together, apart = (identify(problem, WLS(uncertainty=HAC(cross_joint=c))).sigma for c in (True, False))
    assert np.max(np.abs(together / apart - 1)) > 0.05


def test_the_bootstrap_depends_on_its_seed_only(white: Problem) -> None:
    first, again, other = (
        identify(white, WLS(uncertainty=Bootstrap(seed=seed, replicates=100))).covariance
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    shared = identify(white, WLS(uncertainty=Bootstrap(workers=3))).covariance
    np.testing.assert_array_equal(shared, identify(white, WLS(uncertainty=Bootstrap(workers=1))).covariance)


def test_the_bootstrap_works_from_stored_stretches_of_time() -> None:
    base, truth = scara()
    rng = np.random.default_rng(4)
    motion = fourier_motion(base.robot, rng, seconds=600.0, harmonics=60)
    tau = exact_torques(base, truth, motion)
    tau += coloured(rng, tau.shape, 0.03 * np.sqrt(np.mean(tau**2, axis=0)), 0.9)
    motions = [replace(motion, tau=tau)]
    full = build_problem(base.robot, motions, Preparation(), base)
    bare = build_problem(base.robot, motions, Preparation(), base, budget_bytes=0)
    assert not bare.has_rows
    with_rows, without = (identify(p, WLS(uncertainty="bootstrap")) for p in (full, bare))
    np.testing.assert_allclose(with_rows.values, without.values, rtol=1e-10)
    np.testing.assert_allclose(without.sigma, with_rows.sigma, rtol=0.4)
    assert np.median(without.sigma / with_rows.sigma) == pytest.approx(1, abs=0.2)


def test_what_needs_rows_says_so_when_there_are_none() -> None:
    base, _ = scara()
    bare = build_problem(base.robot, scara_motions(CASES["wls"], 0.02), Preparation(), base, budget_bytes=0)
    for strategy in (IRLS(), WLS(uncertainty="hac")):
        with pytest.raises(DynidError, match=r"did not fit the memory budget.*use a larger decimation"):
            identify(bare, strategy)
    assert identify(bare, WLS()).outcome.name == "fine"
    assert identify(bare, Ridge(prior={})).outcome.name == "fine"


def test_few_blocks_are_a_note(white: Problem) -> None:
    estimate = identify(white, WLS(uncertainty=Bootstrap(block=200)))
    assert any("rests on 6 blocks" in f.text for f in estimate.findings)


@pytest.mark.parametrize("name", ["ols", "wls", "huber", "wls-hac", "wls-bootstrap"])
def test_sigma_shrinks_with_the_root_of_the_length(name: str) -> None:
    """The slope of log σ over log N is −1/2 (the same motion repeated, so that only N changes)."""
    base, truth = scara()
    motion = fourier_motion(base.robot, np.random.default_rng(5), seconds=5.0)
    rng = np.random.default_rng(6)
    lengths, sigmas = [2, 8, 32], []
    for n in lengths:
        motions = [simulated(base, truth, motion, rng, 0.03) for _ in range(n)]
        problem = build_problem(base.robot, motions, Preparation(), base)
        strategy = CASES[name].strategy
        if strategy.uncertainty == "honest":  # which may choose another way at each length
            strategy = replace(strategy, uncertainty="classical")
        sigmas.append(np.log(identify(problem, strategy).sigma).mean())
    slope = np.polyfit(np.log(lengths), sigmas, 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.04)


def test_honest_is_classical_where_errors_are_white(white: Problem) -> None:
    estimate = identify(white, WLS())
    assert estimate.uncertainty == "classical"
    assert np.array_equal(estimate.covariance, identify(white, WLS(uncertainty="classical")).covariance)
    assert estimate.facts["blocks"] == 10
    assert estimate.facts["uncertainty_reason"] == (
        "10 blocks of time differ as white errors of equal size would"
    )
    assert estimate.facts["variance_inflation"] == pytest.approx(1, abs=0.35)


def test_a_block_left_out_moves_the_values_as_the_jackknife_says() -> None:
    """Against fits without each block, by hand."""
    problem = drifting()
    fit = WLS().fit(problem)
    blocks = time_blocks(problem, fit, 10)
    steps = blocks.pulls(1.0) @ fit.root.T
    y, W, where = [], [], []
    for j in range(2):
        rows = problem.rows(j)
        y.append(fit.weights[j] * rows.y)
        W.append(fit.weights[j] * rows.wide(8))
        where.append(rows.sample * 10 // problem.experiments[0].regression_samples)
    for b in range(10):
        kept = np.concatenate(where) != b
        without, *_ = np.linalg.lstsq(np.vstack(W)[kept], np.concatenate(y)[kept], rcond=None)
        np.testing.assert_allclose(fit.values - without, steps[b], rtol=1e-6, atol=1e-10)


def test_few_blocks_widen_as_student_says() -> None:
    from scipy.stats import norm, t

    for free in (3, 5, 9, 30):
        assert few_blocks_factor(free) == pytest.approx(t.ppf(norm.cdf(2), free) / 2, rel=9e-3)


def test_experiments_are_blocks_from_six_on_and_a_common_doubt_below() -> None:
    base, truth = scara()
    rng = np.random.default_rng(9)
    motions = []
    for k in range(7):
        other = truth * np.array([1 + 0.3 * rng.normal() if n.startswith("F") else 1.0 for n in base.names])
        motion = fourier_motion(base.robot, rng, seconds=6.0, name=f"day {k}")
        motions.append(simulated(base, other, motion, rng, 0.01))
    many, few = (identify(build_problem(base.robot, motions[:n], Preparation(), base), WLS()) for n in (7, 3))
    assert many.facts["blocks_are_experiments"]
    assert many.facts["blocks"] == 7
    assert "7 experiments differ" in many.facts["uncertainty_reason"]
    assert not few.facts["blocks_are_experiments"]
    assert "and the 3 experiments" in few.facts["uncertainty_reason"]
    for estimate in (many, few):
        assert np.mean(np.abs(estimate.values - truth) < 2 * estimate.sigma) > 0.8
        assert "blocks" in estimate.uncertainty


def test_honest_works_from_stored_stretches_of_time() -> None:
    base, truth = scara()
    rng = np.random.default_rng(4)
    motion = fourier_motion(base.robot, rng, seconds=300.0, harmonics=40)
    tau = exact_torques(base, truth, motion)
    tau += coloured(rng, tau.shape, 0.03 * np.sqrt(np.mean(tau**2, axis=0)), 0.95)
    full, bare = (
        identify(
            build_problem(base.robot, [replace(motion, tau=tau)], Preparation(), base, budget_bytes=b), WLS()
        )
        for b in (1e9, 0)
    )
    assert (full.uncertainty, bare.uncertainty) == ("blocks", "blocks")
    # Stretches end elsewhere than blocks of equal length.
    np.testing.assert_allclose(full.sigma, bare.sigma, rtol=0.6)
    assert np.median(full.sigma / bare.sigma) == pytest.approx(1, abs=0.2)


def test_total_least_squares_is_no_surer_than_its_distance_from_least_squares(white: Problem) -> None:
    total, least = (identify(white, strategy) for strategy in (TLS(), WLS()))
    moved = np.abs(total.values - least.values)
    np.testing.assert_allclose(total.sigma, np.hypot(least.sigma, moved), rtol=1e-9)
    assert np.all(identify(white, TLS(uncertainty="classical")).sigma <= total.sigma * 1.05)
