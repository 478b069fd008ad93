"""Later logs beside a model with added terms: the terms are known, with their doubt, and no suspects."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from cli.scara_logs import loaded
from dynid.core.finding import Level
from dynid.estimators import CATALOGUE, STRIBECK, Estimate, NonlinearTerm, Separable, identify
from dynid.estimators.linear.augmented import load_torques
from dynid.estimators.linear.terms import nonlinear_torques
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem import Problem, build_problem
from dynid.suspects.judgement import SuspectJudgement
from dynid.suspects.known_terms import KnownTerms, with_known_terms
from dynid.suspects.new_logs import judge_new_logs
from support.estimation import scara, stribeck_torques
from support.motions import exact_torques, fourier_motion

BASE, TRUTH = scara()
PLAN = Preparation(decimation=2)
NOISE = 0.01
TERMS = (CATALOGUE["load"], STRIBECK)


def motion_of(seed: int, zero: float = 0.0, friction: float = 0.0, share: float = 1.0) -> Motion:
    """The SCARA with load and Stribeck friction; torque zero and dry friction of joint 2 may have moved.

    A share of all friction is left.
    """
    rng = np.random.default_rng(seed)
    motion = fourier_motion(BASE.robot, rng, seconds=12.0, rate_hz=250.0)
    truth = np.where([name[0] == "F" for name in BASE.names], share, 1.0) * TRUTH
    tau = exact_torques(BASE, truth, motion) + share * (loaded(motion) + stribeck_torques(motion))
    tau[:, 1] += zero + friction * np.sign(motion.qd[:, 1])
    tau += NOISE * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    return replace(motion, tau=tau)


@cache
def model(terms: tuple[str, ...] = ("load", "stribeck")) -> Estimate:
    problem = build_problem(BASE.robot, [motion_of(seed) for seed in (1, 2)], PLAN, BASE)
    return identify(problem, Separable(terms=tuple(CATALOGUE[name] for name in terms)))


def rows(motion: Motion) -> Problem:
    return build_problem(BASE.robot, [motion], PLAN, BASE)


def known(motion: Motion, estimate: Estimate) -> KnownTerms:
    assert estimate.further is not None
    return with_known_terms(rows(motion), estimate.values, estimate.kept, estimate.further)


def judged(motion: Motion, estimate: Estimate | None = None) -> SuspectJudgement:
    found = model() if estimate is None else estimate
    k = known(motion, found)
    return judge_new_logs(k.problem, k.values, k.covariance, k.kept, found.joint_sigma, found.further)


def torques(motion: Motion, values: np.ndarray, further: np.ndarray) -> np.ndarray:
    """The model's torques at full rate."""
    load = load_torques(BASE, values, motion)
    return np.asarray(
        exact_torques(BASE, values, motion) + nonlinear_torques(BASE.robot, TERMS, further, motion, load)
    )


def test_the_rows_hold_the_model_and_its_slopes() -> None:
    """Residual and derivatives are those of the model's own torques, decimated like the rows."""
    motion, found = motion_of(3), model()
    assert found.further is not None
    k = known(motion, found)

    def residual(values: np.ndarray, further: np.ndarray) -> list[np.ndarray]:
        left = replace(motion, tau=motion.tau[:] - torques(motion, values, further))
        return [rows(left).rows(j).y for j in range(2)]

    at = residual(found.values, found.further.values)
    np.testing.assert_allclose(k.problem.torque_norms(), rows(motion).torque_norms(), rtol=1e-12)
    for j in range(2):
        np.testing.assert_allclose(k.problem.rows(j).residual(k.values), at[j], atol=1e-12)
    both = np.concatenate([found.values, found.further.values])
    rng = np.random.default_rng(0)
    step = 1e-6 * both * rng.normal(size=len(both))
    ahead = residual(*np.split(both + step, [len(found.values)]))
    moved = k.values + np.append(step, 0.0)
    for j in range(2):
        change = k.problem.rows(j).residual(moved) - at[j]
        np.testing.assert_allclose(change, ahead[j] - at[j], atol=2e-3 * np.abs(change).max())


def test_of_an_unchanged_robot_nothing_asks_for_care() -> None:
    for seed in (3, 4, 5):
        found = judged(motion_of(seed))
        assert [f.sentence for f in found.findings if f.level >= Level.CARE] == []
        keys = {score.suspect.key for score in found.table.scores}
        assert {"flattening@1", "friction since@1"} <= keys
        assert not keys & {"load@1", "load@2", "stribeck@1", "stribeck@2"}


def test_a_term_that_the_model_lacks_on_a_joint_is_a_suspect_still() -> None:
    term = replace(CATALOGUE["load"], joints=(0,))
    problem = build_problem(BASE.robot, [motion_of(1)], PLAN, BASE)
    found = judged(motion_of(3), identify(problem, Separable(terms=(term,))))
    keys = {score.suspect.key for score in found.table.scores}
    assert "load@2" in keys
    assert "load@1" not in keys


def test_a_torque_zero_that_has_moved_is_found_with_its_size() -> None:
    rms = float(np.sqrt(np.mean(motion_of(3).tau[:, 1] ** 2)))
    found = judged(motion_of(3, zero=0.2 * rms))
    first = found.table.ranked[0]
    assert first.suspect.key == "torque zero since@2"
    assert first.together.size[0] == pytest.approx(0.2 * rms, rel=0.1)
    assert found.findings[0].level is Level.CARE
    picture = found.table.picture
    assert picture is not None
    assert picture.explained.mean() == pytest.approx(picture.left.mean(), rel=0.05)


def test_friction_that_has_changed_is_found_with_its_size() -> None:
    rms = float(np.sqrt(np.mean(motion_of(3).tau[:, 1] ** 2)))
    first = judged(motion_of(3, friction=0.2 * rms)).table.ranked[0]
    assert first.suspect.key == "friction since@2"
    assert first.together.size[1] == pytest.approx(0.2 * rms, rel=0.15)


def test_less_friction_of_all_kinds_is_a_share_of_all() -> None:
    """Linear friction and that of the terms fall together."""
    found = judged(motion_of(3, share=0.7))
    first = found.table.ranked[0]
    assert first.suspect.key == "friction since"
    assert first.together.size[0] == pytest.approx(-0.3, abs=0.01)
    assert first.after.share > 0.9


def test_without_its_terms_the_same_model_would_miss_them() -> None:
    """What the terms explain is large enough that leaving them out is seen."""
    found, motion = model(), motion_of(3)
    plain = judge_new_logs(rows(motion), found.values, found.covariance, found.kept, found.joint_sigma)
    assert plain.table.ledger.residual_squares > 5 * judged(motion).table.ledger.residual_squares


def test_the_doubt_of_a_coefficient_counts() -> None:
    """Of a term that is hardly known, more friction of its shape is no change."""
    shape = NonlinearTerm("Fw", "tanh(qd / 0.05)", joints=(1,))
    problem = build_problem(BASE.robot, [motion_of(1), motion_of(2)], PLAN, BASE)
    found = identify(problem, Separable(terms=(*TERMS, shape)))
    rms = float(np.sqrt(np.mean(motion_of(3).tau[:, 1] ** 2)))
    motion = motion_of(3)
    pushed = 0.2 * rms * np.tanh(motion.qd[:] / 0.05) * [0.0, 1.0]
    k, place = known(replace(motion, tau=motion.tau[:] + pushed), found), len(found.values) + 4
    vague = k.covariance.copy()
    vague[place] = vague[:, place] = 0.0
    sure = vague.copy()
    vague[place, place], sure[place, place] = 1e6, 1e-12
    first, other = (
        judge_new_logs(k.problem, k.values, C, k.kept, found.joint_sigma, found.further)
        for C in (sure, vague)
    )
    assert first.table.ranked[0].suspect.key == "friction since@2"
    assert other.table.ranked == ()
