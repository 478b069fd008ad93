"""Ripple that the filter of a fit takes away is found at the full rate of the logs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.core.finding import Level
from dynid.estimators import WLS, Estimate, identify
from dynid.preparation import Preparation
from dynid.problem import build_problem
from dynid.suspects.fast_ripple import fast_ripples
from dynid.suspects.judgement import judge_suspects
from dynid.suspects.ledger import scenes_of_fit
from dynid.suspects.ranking import fit_of
from support.defect_arms import defect_arm

WAVES = 120.0


def fitted(share: float, seed: int = 2, logs: int = 1) -> Estimate:
    """A fit at 4 Hz of an arm whose first joint ripples 120 times per radian, over 2π: 20 to 100 Hz."""
    arm, rng = defect_arm(seed), np.random.default_rng(seed)
    motions = []
    for motion in arm.motions(seed, logs=logs):
        size = np.sqrt(np.mean(motion.tau**2, axis=0))
        tau = motion.tau + 0.02 * size * rng.normal(size=motion.tau.shape)
        tau[:, 0] += share * size[0] * np.sin(WAVES * motion.q[:, 0] + 0.4)
        motions.append(replace(motion, tau=tau))
    return identify(build_problem(arm.robot, motions, Preparation(cutoff_hz=4.0, decimation=20)), WLS())


@pytest.mark.parametrize("logs", [1, 3])
def test_a_ripple_beyond_the_filter_is_told_with_period_and_amplitude(logs: int) -> None:
    estimate = fitted(0.15, logs=logs)
    (found,) = fast_ripples(
        estimate.problem, scenes_of_fit(estimate.problem, fit_of(estimate), full_rate=True)
    )
    assert found.ripple.joint == 0
    assert found.ripple.waves == pytest.approx(WAVES, rel=0.01)
    torque = np.concatenate([motion.tau[:, 0] for motion in estimate.problem.motions or ()])
    assert found.missed == pytest.approx(0.15 / np.sqrt(2), rel=0.1)
    assert found.ripple.amount(found.size) == pytest.approx(0.15 * np.sqrt(np.mean(torque**2)), rel=0.1)
    judged = judge_suspects(estimate)
    assert judged is not None
    (told,) = [f for f in judged.findings if "full rate" in f.sentence]
    assert told.level is Level.CARE
    assert told.where.axis == 1
    assert "the fit's filter takes it away" in told.sentence
    assert "cutoff_hz" in told.remedy


@pytest.mark.parametrize("seed", range(2, 8))
def test_noise_alone_has_no_ripple(seed: int) -> None:
    estimate = fitted(0.0, seed)
    assert (
        fast_ripples(estimate.problem, scenes_of_fit(estimate.problem, fit_of(estimate), full_rate=True))
        == ()
    )


def test_a_small_ripple_is_a_note() -> None:
    judged = judge_suspects(fitted(0.05))
    assert judged is not None
    assert {f.level for f in judged.findings if "full rate" in f.sentence} == {Level.NOTE}
