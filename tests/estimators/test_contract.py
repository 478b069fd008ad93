"""What every strategy promises, whatever it does inside."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from dynid.base import find_base
from dynid.core.errors import NotTrustworthyError, ShapeError
from dynid.estimators import Estimate, identify
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem import build_problem
from support.estimation import (
    CASES,
    DEPENDS_ON_UNITS,
    STRIBECK_TRUTH,
    Case,
    scara,
    scara_motions,
    scara_problem,
    with_column,
    with_friction,
)

PLAN = Preparation()
every = pytest.mark.parametrize("name", CASES)
free_of_units = pytest.mark.parametrize("name", [n for n in CASES if n not in DEPENDS_ON_UNITS])


def same(ours: Estimate, theirs: Estimate, tolerance: float = 1e-7) -> None:
    """Values and deviations agree, as shares of the deviations and of the values."""
    assert ours.outcome == theirs.outcome
    assert np.array_equal(ours.kept, theirs.kept)
    scale = np.maximum(np.abs(theirs.values), 1e-3)
    assert np.max(np.abs(ours.values - theirs.values) / scale) < tolerance
    np.testing.assert_allclose(ours.sigma, theirs.sigma, rtol=max(1e-5, tolerance), atol=1e-14)


@every
def test_without_noise_the_truth_comes_back(name: str) -> None:
    estimate = identify(scara_problem(CASES[name]), CASES[name].strategy)
    assert estimate.outcome.name == "fine"
    np.testing.assert_allclose(estimate.values, scara()[1], rtol=1e-6, atol=1e-9)
    if estimate.further is not None:
        found = dict(zip(estimate.further.names, estimate.further.values, strict=True))
        assert found == pytest.approx(STRIBECK_TRUTH, rel=1e-5)


@every
def test_with_noise_the_truth_is_within_the_doubt(name: str) -> None:
    estimate = identify(scara_problem(CASES[name], noise=0.02), CASES[name].strategy)
    assert estimate.outcome.name == "fine"
    assert np.all(np.abs(estimate.values - scara()[1])[estimate.kept] < 4 * estimate.sigma[estimate.kept])
    assert estimate.kept.all()
    assert 1.7 < estimate.facts["relative_residual"] < 2.3


@every
def test_the_result_is_complete(name: str) -> None:
    estimate = identify(scara_problem(CASES[name], noise=0.02), CASES[name].strategy)
    assert estimate.names == scara()[0].names
    assert estimate.units == scara()[0].units
    assert np.all(np.isfinite(estimate.values))
    assert np.array_equal(estimate.covariance, estimate.covariance.T)
    assert np.linalg.eigvalsh(estimate.correlation).min() > -1e-12
    assert np.all(np.diag(estimate.covariance) > 0)
    assert np.all(estimate.joint_sigma > 0)
    assert estimate.strategy["name"] == type(CASES[name].strategy).__name__
    assert estimate.iterations >= 1
    written = json.loads(json.dumps(estimate.to_dict(), allow_nan=False))
    assert written["strategy"]["name"] == estimate.strategy["name"]
    assert (written["n_kept"], written["n_base"]) == (int(estimate.kept.sum()), len(estimate.names))


@every
def test_the_same_call_gives_the_same_answer(name: str) -> None:
    first, second = (identify(scara_problem(CASES[name], noise=0.02), CASES[name].strategy) for _ in range(2))
    assert np.array_equal(first.values, second.values)
    assert np.array_equal(first.covariance, second.covariance)


@free_of_units
def test_torques_in_other_units_only_rescale_the_answer(name: str) -> None:
    motions = scara_motions(CASES[name], noise=0.02)
    larger = [replace(m, tau=1000 * m.tau) for m in motions]
    base = scara()[0]
    plain, scaled = (
        identify(build_problem(base.robot, m, PLAN, base), CASES[name].strategy) for m in (motions, larger)
    )
    np.testing.assert_allclose(scaled.values, 1000 * plain.values, rtol=1e-6)
    np.testing.assert_allclose(scaled.sigma, 1000 * plain.sigma, rtol=1e-5)
    assert scaled.outcome == plain.outcome


@free_of_units
def test_a_parameter_in_other_units_only_rescales_itself(name: str) -> None:
    """The same viscous column a thousand times larger, under another name."""
    base = scara()[0]
    robot = with_friction(base.robot.with_terms("Fc"), "Fk", "1000 * qd")
    other = find_base(robot)
    motions = scara_motions(CASES[name], noise=0.02)
    plain = identify(build_problem(base.robot, motions, PLAN, base), CASES[name].strategy)
    scaled = identify(build_problem(robot, motions, PLAN, other), CASES[name].strategy)
    for k, parameter in enumerate(base.names):
        found = other.names.index(parameter.replace("Fv", "Fk"))
        factor = 1000.0 if parameter.startswith("Fv") else 1.0
        assert factor * scaled.values[found] == pytest.approx(plain.values[k], rel=1e-6)
        assert factor * scaled.sigma[found] == pytest.approx(plain.sigma[k], rel=1e-5)


def test_plain_total_least_squares_does_depend_on_units() -> None:
    """The reason for its exemption."""
    base = scara()[0]
    motions = scara_motions(CASES["tls-plain"], noise=0.02)
    larger = [replace(m, tau=1000 * m.tau) for m in motions]
    plain, scaled = (
        identify(build_problem(base.robot, m, PLAN, base), CASES["tls-plain"].strategy)
        for m in (motions, larger)
    )
    assert np.max(np.abs(scaled.values / 1000 / plain.values - 1)) > 1e-6


@every
def test_the_order_of_experiments_does_not_matter(name: str) -> None:
    motions = scara_motions(CASES[name], noise=0.02)
    base = scara()[0]
    forward, backward = (
        identify(build_problem(base.robot, m, PLAN, base), CASES[name].strategy)
        for m in (motions, motions[::-1])
    )
    if forward.uncertainty == "bootstrap":  # other draws, same values
        np.testing.assert_allclose(forward.values, backward.values, rtol=1e-7)
        np.testing.assert_allclose(forward.sigma, backward.sigma, rtol=0.5)
    else:
        same(forward, backward)


@every
def test_the_order_of_samples_does_not_matter(name: str) -> None:
    case = CASES[name]
    motions = scara_motions(case, noise=0.02)
    order = np.random.default_rng(0).permutation(motions[0].samples)
    mixed = [replace(m, q=m.q[order], qd=m.qd[order], qdd=m.qdd[order], tau=m.tau[order]) for m in motions]
    base = scara()[0]
    plain, shuffled = (
        identify(build_problem(base.robot, m, PLAN, base), case.strategy) for m in (motions, mixed)
    )
    if plain.uncertainty == "classical":
        same(plain, shuffled)
    else:  # only these look at the order of time
        np.testing.assert_allclose(plain.values, shuffled.values, rtol=1e-7)


@every
def test_two_experiments_are_one_long_one(name: str) -> None:
    first, second = scara_motions(CASES[name], noise=0.02)
    joined = Motion(
        "both",
        np.concatenate([first.time, first.time[-1] + 0.01 + second.time]),
        *(np.vstack([getattr(first, c), getattr(second, c)]) for c in ("q", "qd", "qdd", "tau")),
        first.rate_hz,
    )
    base = scara()[0]
    apart, together = (
        identify(build_problem(base.robot, m, PLAN, base), CASES[name].strategy)
        for m in ([first, second], [joined])
    )
    np.testing.assert_allclose(apart.values, together.values, rtol=1e-6)
    loose = 0.6 if apart.uncertainty == "bootstrap" else 0.05 if apart.uncertainty == "hac" else 1e-5
    np.testing.assert_allclose(apart.sigma, together.sigma, rtol=loose)


@every
def test_the_size_of_blocks_does_not_matter(name: str) -> None:
    motions = scara_motions(CASES[name], noise=0.02)
    base = scara()[0]
    large, small = (
        identify(build_problem(base.robot, motions, PLAN, base, block_samples=size), CASES[name].strategy)
        for size in (100_000, 17)
    )
    same(large, small)


@every
def test_a_duplicated_column_is_named(name: str) -> None:
    robot = with_friction(scara()[0].robot, "Fd", "qd")
    base = with_column(find_base(robot), "Fd2")
    problem = build_problem(robot, scara_motions(CASES[name], noise=0.02), PLAN, base)
    estimate = identify(problem, CASES[name].strategy)
    assert np.all(np.isfinite(estimate.values))
    if name.startswith("ridge"):  # a prior tells them apart, and says that it did
        assert estimate.outcome.name == "fine"
        assert {"Fv2", "Fd2"} <= set(estimate.facts["held_by_prior"])
        return
    assert estimate.outcome.name == "rank deficient"
    assert not estimate.outcome.trustworthy
    assert "cannot be told apart: Fv2, Fd2" in estimate.outcome.sentence
    assert "prior" in estimate.outcome.remedy
    assert estimate.facts["undetermined"] == ["Fv2", "Fd2"]
    assert np.isinf(estimate.sigma[estimate.undetermined]).all()
    assert np.isfinite(estimate.sigma[~estimate.undetermined]).all()


@every
def test_a_robot_at_rest_is_not_identified(name: str) -> None:
    base = scara()[0]
    still = np.full((200, 2), 0.3)
    rest = Motion("rest", np.arange(200) / 100, still, 0 * still, 0 * still, 0 * still, 100.0)
    estimate = identify(build_problem(base.robot, [rest], PLAN, base), CASES[name].strategy)
    assert np.all(np.isfinite(estimate.values))
    if not name.startswith("ridge"):
        assert estimate.outcome.name == "rank deficient"
        assert "not seen at all" in estimate.outcome.sentence


@every
def test_too_few_rows_are_named(name: str) -> None:
    base = scara()[0]
    motion = scara_motions(CASES[name], noise=0.02)[0]
    short = Motion("short", *(getattr(motion, c)[:3] for c in ("time", "q", "qd", "qdd", "tau")), 100.0)
    estimate = identify(build_problem(base.robot, [short], PLAN, base), CASES[name].strategy)
    assert estimate.outcome.name == "too few rows"
    assert not estimate.outcome.trustworthy
    assert "6 rows" in estimate.outcome.sentence
    assert "longer" in estimate.outcome.remedy
    assert np.all(np.isfinite(estimate.values))


def test_values_that_are_not_finite_get_a_sentence() -> None:
    motion = scara_motions(Case(CASES["ols"].strategy))[0]
    torn = motion.tau.copy()
    torn[5, 1] = np.nan
    with pytest.raises(ShapeError, match="tau of motion 'experiment 1' holds values that are not finite"):
        replace(motion, tau=torn)
    base = scara()[0]
    astray = replace(motion, q=motion.q + 1e7)  # the kernels give no sine there
    with pytest.raises(NotTrustworthyError, match="not finite or overflow; run the data check"):
        build_problem(base.robot, [astray], PLAN, base)
