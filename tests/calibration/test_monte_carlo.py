"""σ of gains through the sequence: the spread of repeated experiments over what each reports."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.calibration import PayloadKnowledge, calibrate_gains
from dynid.estimators import OLS
from support.loaded_arms import GAINS, MASS, PLAN, arm, measured, payload, random_states

RUNS = 60


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "uncertainty"),
    [("sequential", "classical"), ("global", "classical"), ("global", "honest"), ("shared", "honest")],
)
def test_reported_sigma_is_the_spread_of_repetitions(method: str, uncertainty: str) -> None:
    """Noise and the weighed mass are drawn anew, the motions stay; motors 4 and 5 carry the payload's σ."""
    rng = np.random.default_rng(11)
    states = random_states(rng), random_states(rng)
    found, sigma, loads, load_sigma = [], [], [], []
    for _ in range(RUNS):
        motions = [measured(c, own, rng) for c, own in zip(("free", "loaded"), states, strict=True)]
        known = PayloadKnowledge.of_mass(MASS + 0.025 * float(rng.normal()), 0.025)
        gains = calibrate_gains(
            arm(), motions, PLAN, known, method=method, strategy=OLS(uncertainty=uncertainty)
        )
        found.append(gains.relative[:5])
        sigma.append(gains.sigma[:5])
        loads.append(gains.payload)
        load_sigma.append(gains.payload_sigma)
    ratio = np.std(found, axis=0, ddof=1) / np.sqrt(np.mean(np.square(sigma), axis=0))
    assert np.all((ratio > 0.7) & (ratio < 1.4)), ratio
    of_load = np.std(loads, axis=0, ddof=1) / np.sqrt(np.mean(np.square(load_sigma), axis=0))
    # With one arm σ is widened by chance as well; the payload's inertias, by the way, get the most of it.
    least = 0.55 if method == "shared" else 0.7
    assert np.all((of_load > least) & (of_load < 1.4)), of_load
    # No bias beyond what 60 runs show; that of 1/θ, σ², is far below.
    error = np.mean(found, axis=0) - GAINS[:5]
    assert np.all(np.abs(error) < 4 * np.std(found, axis=0) / np.sqrt(RUNS))
    assert np.all(np.abs(np.mean(loads, axis=0) - payload().standard()) < 4 * np.mean(load_sigma, axis=0))


@pytest.mark.slow
def test_population() -> None:
    """Rates of docs/gains.md on members that no threshold was set on."""
    from calibration.population import draw

    sound = [draw(seed, "sound") for seed in range(100, 115)]
    assert all(one.outcome in ("fine", "no load seen") for one in sound)
    assert not any(one.wrong for one in sound)
    swapped = [draw(seed, "swapped").outcome for seed in range(100, 110)]
    assert swapped.count("logs swapped") >= 9
    empty = [draw(seed, "no load").outcome for seed in range(100, 110)]
    assert empty.count("no load seen") >= 9
    turned = [draw(seed, "turned sign").outcome for seed in range(100, 110)]
    assert turned.count("negative gain") >= 8
