"""Essential parameters of a simulated TX40: the 20 % rule finds exactly the true set."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dynid.base import find_base
from dynid.core.errors import DynidError, UnknownNameError
from dynid.estimators import IRLS, OLS, WLS, Essential, Separable, identify
from dynid.estimators.strategy import Strategy
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.problem import Problem, build_problem
from support.estimation import CASES, scara_problem
from support.motions import fourier_motion, simulated


@pytest.fixture(scope="module")
def tx40() -> tuple[Problem, np.ndarray]:
    """Two experiments of the catalog's TX40, whose table leaves most base parameters zero, at 3 % noise."""
    base = find_base(load_robot("tx40"))
    truth = base.regroup(base.robot.parameters)
    rng = np.random.default_rng(11)
    motions = [
        simulated(
            base, truth, fourier_motion(base.robot, rng, seconds=20, harmonics=8, name=f"run {k}"), rng, 0.03
        )
        for k in range(3)
    ]
    return build_problem(base.robot, motions, Preparation(), base), truth


def test_the_sigma_rule_keeps_exactly_the_true_set(tx40: tuple[Problem, np.ndarray]) -> None:
    problem, truth = tx40
    estimate = identify(problem, Essential(WLS()))
    assert np.array_equal(estimate.kept, truth != 0)
    assert np.all(estimate.values[~estimate.kept] == 0)
    assert np.all(estimate.sigma[~estimate.kept] == 0)
    np.testing.assert_allclose(estimate.values[estimate.kept], truth[estimate.kept], rtol=0.2)
    summary = estimate.facts["essential"]
    assert estimate.facts["removed"] == [r["name"] for r in estimate.facts["removals"]]
    assert set(estimate.facts["removed"]) == {n for n, t in zip(problem.names, truth, strict=True) if t == 0}
    assert summary["kept"] == np.count_nonzero(truth)
    assert summary["gap"] == pytest.approx(
        summary["smallest_removed_relative_sigma"] / summary["largest_kept_relative_sigma"]
    )
    assert summary["gap"] > 1.5
    assert summary["largest_kept_relative_sigma"] <= 20
    assert summary["residual_ratio"] == pytest.approx(1, abs=0.002)
    json.dumps(estimate.to_dict(), allow_nan=False)


def test_the_first_removed_is_the_least_sure(tx40: tuple[Problem, np.ndarray]) -> None:
    problem, _ = tx40
    full = identify(problem, WLS())
    removed = identify(problem, Essential(WLS())).facts["removed"]
    assert removed[0] == problem.names[int(np.argmax(full.relative_sigma))]


def test_the_residual_rule_stops_before_four_per_cent(tx40: tuple[Problem, np.ndarray]) -> None:
    problem, truth = tx40
    estimate = identify(problem, Essential(WLS(), rule="residual"))
    summary = estimate.facts["essential"]
    assert summary["residual_ratio"] < 1.04 <= summary["stopped_by"]["residual_ratio"]
    assert np.all(truth[estimate.kept] != 0)
    # It goes on as long as the residual allows, so it never keeps more than the other rule.
    assert summary["kept"] < np.count_nonzero(truth)


def test_the_f_test_keeps_what_is_significant(tx40: tuple[Problem, np.ndarray]) -> None:
    problem, truth = tx40
    estimate = identify(problem, Essential(WLS(), rule="f-test"))
    summary = estimate.facts["essential"]
    assert summary["significance"] >= 0.01
    assert np.all(estimate.kept[truth != 0])
    assert np.count_nonzero(estimate.kept & (truth == 0)) <= 2


@pytest.mark.parametrize("inner", [OLS(), IRLS(), WLS(uncertainty="hac")], ids=lambda s: type(s).__name__)
def test_any_strategy_can_be_inside(tx40: tuple[Problem, np.ndarray], inner: OLS) -> None:
    problem, truth = tx40
    estimate = identify(problem, Essential(inner))
    assert estimate.uncertainty in ("classical", "blocks", inner.uncertainty)
    assert np.all(truth[estimate.kept] != 0)
    assert estimate.strategy["strategy"]["name"] == type(inner).__name__


def test_nothing_is_removed_when_all_matter() -> None:
    estimate = identify(scara_problem(CASES["wls"], noise=0.01), Essential(WLS()))
    assert estimate.kept.all()
    assert estimate.facts["removed"] == []
    assert estimate.facts["essential"]["gap"] is None


def test_rules_and_thresholds_that_mean_nothing_get_a_sentence() -> None:
    with pytest.raises(UnknownNameError, match="Unknown rule for essential parameters 'sigmas'"):
        Essential(WLS(), rule="sigmas")
    with pytest.raises(DynidError, match=r"threshold of the rule .residual. is 0.9; it must be"):
        Essential(WLS(), rule="residual", threshold=0.9)
    with pytest.raises(DynidError, match="not another Essential"):
        Essential(Essential(WLS()))


@pytest.mark.parametrize("rule", ["residual", "f-test"])
def test_the_residual_beside_nonlinear_friction_is_that_of_the_whole_model(rule: str) -> None:
    """Without the term most of what is left would be the term, and true parameters would seem to be noise."""
    problem = scara_problem(CASES["separable"], noise=0.02)
    estimate = identify(problem, Essential(Separable(), rule=rule))
    assert estimate.facts["removed"] == []
    stopped = estimate.facts["essential"]["stopped_by"]
    assert (stopped["name"], stopped["residual_ratio"]) == ("Fv1", pytest.approx(1.061, abs=0.001))


def test_sigma_counts_the_removal() -> None:
    """σ² is that of the full model and the squared distance from it; the classical one does not ask."""
    problem = scara_problem(CASES["wls"], noise=0.3)
    full, kept = (identify(problem, strategy) for strategy in (WLS(), Essential(WLS())))
    k = kept.kept
    assert not k.all()
    np.testing.assert_allclose(kept.sigma[k], np.hypot(full.sigma, kept.values - full.values)[k], rtol=1e-9)
    rest = identify(problem, Essential(WLS(uncertainty="classical")))
    assert np.all(
        rest.sigma[rest.kept] < 1.2 * identify(problem, WLS(uncertainty="classical")).sigma[rest.kept]
    )


@pytest.mark.parametrize("strategy", [OLS(uncertainty="classical"), WLS(uncertainty="classical"), WLS()])
@pytest.mark.parametrize("name", ["tx40", "iiwa14", "scara"])
def test_torques_without_noise_keep_no_rounding(name: str, strategy: Strategy) -> None:
    """Least squares leaves 1e-14 of parameters that are zero, and is as sure of them as of all others."""
    base = find_base(load_robot(name))
    truth = base.regroup(base.robot.parameters)
    motion = fourier_motion(base.robot, np.random.default_rng(5), seconds=20, harmonics=8)
    exact = simulated(base, truth, motion, np.random.default_rng(0), 0.0)
    estimate = identify(build_problem(base.robot, [exact], Preparation(), base), Essential(strategy))
    assert np.array_equal(estimate.kept, np.abs(truth) > 1e-12)
    np.testing.assert_allclose(estimate.values, truth, atol=1e-8)
    json.dumps(estimate.to_dict(), allow_nan=False)
