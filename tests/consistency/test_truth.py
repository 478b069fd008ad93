"""Random robots that can exist, short and weak motion: unseen motion and coverage beside least squares.

``pytest -s -m slow tests/consistency/test_truth.py`` prints the figures of docs/consistency.md, on the half
of the population that no rule was set on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from dynid.consistency import Knowledge, Prior
from dynid.estimators import WLS, Consistent, identify
from dynid.model.parameters import INERTIAL
from support.possible_arms import draw_arm


@dataclass(frozen=True)
class Trial:
    """One arm: error of the possible robot over that of least squares, and how many parameters lie in 2σ."""

    ratio: float
    covered: int
    parameters: int


def trial(half: str, number: int, speed: float) -> Trial:
    arm = draw_arm(half, number, speed=speed, noise=0.03, seconds=3.0)
    plain, held = (identify(arm.problem, strategy) for strategy in (WLS(), Consistent(WLS())))
    off = np.abs(held.values - arm.base_truth)
    return Trial(
        arm.error(held.values) / arm.error(plain.values), int(np.sum(off <= 2 * held.sigma)), len(off)
    )


def shares(trials: list[Trial]) -> tuple[float, float, float]:
    """Share not more than 2 % worse, median ratio, share of parameters within 2σ."""
    ratio = np.array([t.ratio for t in trials])
    covered = sum(t.covered for t in trials) / sum(t.parameters for t in trials)
    return float(np.mean(ratio <= 1.02)), float(np.median(ratio)), covered


def test_unseen_motion_is_predicted_better_and_the_truth_is_covered() -> None:
    kept, median, covered = shares([trial("setting", number, 0.8) for number in (3, 5, 6, 8, 15, 17)])
    assert kept == 1.0
    assert median < 0.8
    assert covered > 0.9


@pytest.mark.parametrize("kind", ["geodesic", "entropic", "quadratic"])
def test_an_honest_prior_is_counted_with_its_doubt(kind: str) -> None:
    """Values off by as much as their doubt says: 2σ still cover the truth, because the prior is drawn too."""
    covered = counted = 0
    for number in (3, 5, 8):
        arm = draw_arm("setting", number, speed=0.3, seconds=2.0)
        rng = np.random.default_rng(number)
        values = dict(arm.truth)
        for joint in arm.robot.joints:  # a whole body by one factor, so that it can exist
            factor = 1.0 + 0.3 * rng.standard_normal() / 2
            values |= {s + joint.label: factor * values[s + joint.label] for s in INERTIAL}
        prior = Knowledge(prior=Prior(values=values, doubt=0.3, kind=kind))
        estimate = identify(arm.problem, Consistent(WLS(), prior))
        covered += int(np.sum(np.abs(estimate.values - arm.base_truth) <= 2 * estimate.sigma))
        counted += len(estimate.values)
    assert covered / counted > 0.85


@pytest.mark.slow
@pytest.mark.parametrize(("name", "speed"), [("weak", 0.3), ("usual", 0.8)])
def test_forty_eight_arms_of_the_other_half(name: str, speed: float) -> None:
    kept, median, covered = shares([trial("showing", number, speed) for number in range(48)])
    print(f"\n| {name} motion, {speed} rad/s | {100 * kept:.0f} % | {median:.3f} | {100 * covered:.1f} % |")
    assert kept >= 0.9
    assert median < 0.8
    assert covered >= 0.9
