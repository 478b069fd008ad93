"""Samples that are lost while the stamps stay even: found where they are, and not where they are not."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.checks import check_log
from dynid.checks.lost_samples import LOST, check_lost_samples
from dynid.core.finding import Name
from dynid.logs.log import Log
from population.cases import draw_case
from population.defects import damage
from population.robots import ROBOTS


def smooth_log(lost: float, rng: np.random.Generator, noise: float = 1e-5) -> Log:
    time = np.arange(4000) / 250.0
    q = np.stack([np.sin(1.3 * time + k) + 0.4 * np.sin(3.1 * time) for k in range(3)], axis=1)
    q += noise * rng.standard_normal(q.shape)
    kept = rng.random(len(time)) >= lost
    rows = int(kept.sum())
    return Log("lost", time[:rows], {"position": q[kept], "torque": np.cos(q[kept])})


def test_lost_samples_are_counted_and_told() -> None:
    log = smooth_log(0.02, np.random.default_rng(1))
    (found,) = [f for f in check_log(log).findings if f.name is Name.LOST_SAMPLES]
    assert found.figures["share"] == pytest.approx(0.02, rel=0.25)
    assert "the stamps do not show it" in found.sentence
    assert "counter of samples" in found.remedy


@pytest.mark.parametrize("noise", [1e-6, 1e-4, 1e-2])
def test_a_whole_log_lacks_nothing(noise: float) -> None:
    assert not check_lost_samples(smooth_log(0.0, np.random.default_rng(2), noise), {}).findings


def test_late_samples_are_not_lost_ones() -> None:
    log = smooth_log(0.0, np.random.default_rng(3))
    q, late = np.array(log.column("position", 0)), np.arange(50, 3900, 40)
    channel = np.stack([np.array(log.column("position", k)) for k in range(3)], axis=1)
    channel[late] = channel[late - 1]  # the recorder repeats a sample, and the next one is on time
    assert len(q) == len(channel)
    held = Log("held", log.time, {"position": channel, "torque": np.cos(channel)})
    assert not check_lost_samples(held, {}).findings


def test_a_gap_that_the_stamps_show_is_a_gap() -> None:
    log = smooth_log(0.0, np.random.default_rng(4))
    kept = np.random.default_rng(5).random(log.samples) >= 0.02
    gaps = Log("gaps", log.time[kept], {k: np.asarray(v[:])[kept] for k, v in log.channels.items()})
    assert not check_lost_samples(gaps, {}).findings


@pytest.mark.slow
def test_rates_on_the_half_of_the_population_that_set_nothing() -> None:
    """Printed for docs/data-check.md."""
    cases = [draw_case("showing", index) for index in range(3 * ROBOTS)]
    told = {0.0: [any(check_lost_samples(log, {}).findings for log in case.logs) for case in cases]}
    for grade in (0.5, 2.0, 5.0):
        damaged = [damage(case, "lost samples", grade) for case in cases]
        told[grade] = [any(check_lost_samples(log, {}).findings for log in c.logs) for c in damaged if c]
    print({grade: f"{np.mean(found):.3f} of {len(found)}" for grade, found in told.items()})
    assert np.mean(told[0.0]) <= 0.01
    assert np.mean(told[2.0]) >= 0.9
    assert LOST.share < 0.005
