"""New logs beside a model that is not fitted again: its doubt counts, and what has changed is found."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from dynid.core.finding import Level
from dynid.estimators import Estimate
from dynid.preparation.motion import Motion
from dynid.problem import Problem, build_problem
from dynid.suspects.anchor import fit_near_model
from dynid.suspects.judgement import RULES, SuspectJudgement
from dynid.suspects.ledger import open_ledger
from dynid.suspects.log_defects import JointZero
from dynid.suspects.new_logs import judge_new_logs
from dynid.suspects.ranking import score_alone
from dynid.suspects.scene import scenes_of
from support.defect_arms import NOISE, defect_arm

SMALL = (0, 2)
ALL = tuple(pytest.param(seed, marks=() if seed in SMALL else pytest.mark.slow) for seed in range(12))


@cache
def model(seed: int) -> Estimate:
    return defect_arm(seed).fit(defect_arm(seed).motions(seed), seed)


def later(seed: int) -> Motion:
    """Another motion of the arm."""
    return defect_arm(seed).motions(seed + 100)[0]


def rows(seed: int, motion: Motion) -> Problem:
    rng, known = np.random.default_rng([seed, 7]), model(seed).problem
    size = NOISE * np.sqrt(np.mean(motion.tau[:] ** 2, axis=0))
    noisy = replace(motion, tau=motion.tau[:] + size * rng.normal(size=motion.q.shape))
    return build_problem(known.robot, [noisy], known.plan, known.base)


def judged(seed: int, motion: Motion) -> SuspectJudgement:
    found = model(seed)
    return judge_new_logs(rows(seed, motion), found.values, found.covariance, found.kept, found.joint_sigma)


def moved(seed: int, **changed: float) -> Motion:
    """The later motion of an arm some of whose parameters have changed."""
    motion = later(seed)
    return replace(motion, tau=defect_arm(seed).torques(motion.q, motion.qd, motion.qdd, **changed))


@pytest.mark.parametrize("seed", ALL)
def test_of_an_unchanged_robot_nothing_asks_for_care(seed: int) -> None:
    assert [f.sentence for f in judged(seed, later(seed)).findings if f.level >= Level.CARE] == []


@pytest.mark.parametrize("seed", ALL)
def test_friction_that_has_changed_is_found_with_its_size(seed: int) -> None:
    arm = defect_arm(seed)
    label = arm.robot.joints[0].label
    viscous, dry = arm.values[f"Fv{label}"], arm.values[f"Fc{label}"]
    found = judged(seed, moved(seed, **{f"Fv{label}": 0.6 * viscous, f"Fc{label}": 0.6 * dry}))
    first = found.table.ranked[0]
    if arm.robot.n_coordinates > 1:
        assert first.suspect.key == "friction since@1"
        np.testing.assert_allclose(
            first.together.size, [-0.4 * viscous, -0.4 * dry], atol=4 * float(first.together.sigma.max())
        )
    assert "has changed since the fit" in found.findings[0].sentence
    felt = float(np.max(first.together.effect)) >= RULES.missed
    assert (found.findings[0].level is Level.CARE) == felt  # what no joint feels is a note


@pytest.mark.parametrize("seed", ALL)
def test_a_torque_zero_that_has_moved_is_found_with_its_size(seed: int) -> None:
    arm = defect_arm(seed)
    label, joint = arm.robot.joints[-1].label, arm.robot.n_coordinates
    rms = float(np.sqrt(np.mean(later(seed).tau[:, -1] ** 2)))
    found = judged(seed, moved(seed, **{f"off{label}": arm.values[f"off{label}"] + 0.2 * rms}))
    first = found.table.ranked[0]
    assert first.suspect.key == f"torque zero since@{joint}"
    assert first.together.size[0] == pytest.approx(0.2 * rms, rel=0.15)


@pytest.mark.parametrize("seed", ALL)
def test_a_payload_that_was_mounted_is_found(seed: int) -> None:
    arm = defect_arm(seed)
    label = arm.robot.joints[-1].label
    mass = 0.4 * arm.values[f"M{label}"]
    added = {"M": 1.0, "MX": 0.05, "MY": -0.03, "MZ": 0.1}
    found = judged(
        seed, moved(seed, **{f"{s}{label}": arm.values[f"{s}{label}"] + mass * a for s, a in added.items()})
    )
    assert found.table.ranked[0].suspect.key == "payload since"
    assert found.findings[0].level is Level.CARE


def test_the_doubt_of_the_model_counts_as_a_prior() -> None:
    """θ̂ and ρᵀρ are those of the dense system with rows of the prior; a vague prior is a fit of its own."""
    known = model(2)
    problem, suspect = rows(2, later(2)), JointZero(0)
    arguments = (known.values, known.covariance, known.kept, known.joint_sigma)
    anchor = fit_near_model(problem, *arguments)
    weights = anchor.fit.weights
    W = np.vstack([w * problem.rows(j).wide(len(problem.base)) for j, w in enumerate(weights)])
    left = np.concatenate([w * problem.rows(j).residual(known.values) for j, w in enumerate(weights)])
    (scene,) = scenes = scenes_of(problem.base, known.values, problem.motions or (), problem.plan)
    ledger = open_ledger(problem, (suspect,), known.kept, scenes, anchor)
    found = score_alone(ledger)
    assert found is not None
    columns = scene.rows(suspect.columns(scene)[0].T, range(scene.joints))
    s = np.concatenate([w * columns[j][problem.rows(j).sample] for j, w in enumerate(weights)])
    inverse = np.linalg.cholesky(np.linalg.inv(known.covariance)).T
    whole = np.vstack([np.column_stack([W, s]), np.column_stack([inverse, np.zeros(len(inverse))])])
    y = np.concatenate([left, np.zeros(len(inverse))])
    solution, *_ = np.linalg.lstsq(whole, y, rcond=None)
    assert found.size[0] == pytest.approx(solution[-1], rel=1e-6)
    plain = y - whole[:, :-1] @ np.linalg.lstsq(whole[:, :-1], y, rcond=None)[0]
    assert ledger.residual_squares == pytest.approx(float(plain @ plain), rel=1e-6)


def test_what_a_model_does_not_know_is_no_change() -> None:
    """With a thousand times the doubt, an offset that has moved may be the model's error."""
    known, arm = model(2), defect_arm(2)
    label = arm.robot.joints[-1].label
    rms = float(np.sqrt(np.mean(later(2).tau[:, -1] ** 2)))
    problem = rows(2, moved(2, **{f"off{label}": arm.values[f"off{label}"] + 0.2 * rms}))
    arguments = (known.kept, known.joint_sigma)
    sure = judge_new_logs(problem, known.values, known.covariance, *arguments)
    vague = judge_new_logs(problem, known.values, 1e6 * known.covariance, *arguments)
    key = sure.table.ranked[0].suspect.key
    assert key == f"torque zero since@{arm.robot.n_coordinates}"
    assert key not in [ranked.suspect.key for ranked in vague.table.ranked]
