"""Trails: what a result folder keeps of the fit's motions tells as much as the motions themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.checks.novelty import repeated_share
from dynid.model.load import load_robot
from dynid.preparation.motion import Motion, Trail, trails_of
from dynid.results.load import trails_from
from dynid.results.save import trail_arrays
from support.motions import fourier_motion


def motion(robot: str, seed: int, seconds: float = 10.0) -> Motion:
    rng = np.random.default_rng(seed)
    return fourier_motion(load_robot(robot), rng, seconds=seconds, rate_hz=200.0, name=f"run{seed}")


def part(whole: Motion, rows: slice) -> Motion:
    return replace(whole, **{key: getattr(whole, key)[rows] for key in ("time", "q", "qd", "qdd", "tau")})


@pytest.mark.parametrize("robot", ["scara", "double_pendulum", "tx40"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_trails_judge_as_the_motions_do(robot: str, seed: int) -> None:
    once, other, long = motion(robot, 0), motion(robot, seed), motion(robot, seed, 20.0)
    noise = 1e-3 * np.random.default_rng(9).normal(size=once.q.shape)
    cases = (
        (replace(once, q=once.q + noise), [other, once]),
        (part(once, slice(700, 1900)), [once]),
        (other, [once]),
        (part(long, slice(2800, None)), [part(long, slice(2800))]),
    )
    for held, fitted in cases:
        assert repeated_share(held, trails_of(fitted)) == repeated_share(held, fitted)
    assert [repeated_share(held, trails_of(fitted)) for held, fitted in cases[:2]] == [1.0, 1.0]


def test_trails_are_small() -> None:
    trails = trails_of([motion("tx40", 0), motion("tx40", 1, 20.0)])
    assert sum(trail.samples for trail in trails) < 600
    assert trails[0].rate_hz == pytest.approx(trails[1].rate_hz, rel=0.02)
    assert trails[0].time[-1] == pytest.approx(motion("tx40", 0).time[-1])


def test_trails_of_long_fast_motions_are_bounded() -> None:
    """An hour of circles, cut in two: as coarse as they get, and known again all the same."""
    time = np.arange(360_000) / 100.0
    slow = 0.3 * np.cumsum(np.random.default_rng(0).normal(size=360))
    phase = 2 * np.pi * 0.6 * time + np.interp(time, np.arange(360) * 10.0, slow)
    q = np.column_stack([np.sin(phase), np.cos(phase)])
    qd = np.gradient(q, 0.01, axis=0)
    whole = Motion("hour", time, q, qd, np.gradient(qd, 0.01, axis=0), np.zeros_like(q), 100.0)
    halves = [part(whole, slice(180_000)), part(whole, slice(180_000, None))]
    trails = trails_of(halves)
    assert 19_000 < sum(trail.samples for trail in trails) < 20_010
    assert sum(array.nbytes for array in trail_arrays(trails).values()) < 2 * 80_100
    assert repeated_share(part(whole, slice(200_000, 230_000)), trails) == 1.0


def test_a_robot_at_rest_leaves_a_short_trail() -> None:
    once = motion("scara", 0)
    still = replace(once, q=np.ones_like(once.q), qd=np.zeros_like(once.q))
    (trail,) = trails_of([still])
    assert trail.samples < 20
    assert repeated_share(once, [trail]) == 0.0
    assert trails_of([]) == ()
    assert repeated_share(once, ()) == 0.0


def test_arrays_come_back_and_damaged_ones_do_not() -> None:
    trails = trails_of([motion("scara", 0), motion("scara", 1)])
    arrays = trail_arrays(trails)
    again = trails_from(arrays, 2)
    assert [trail.samples for trail in again] == [trail.samples for trail in trails]
    assert again[1].rate_hz == trails[1].rate_hz
    np.testing.assert_allclose(again[1].q, trails[1].q, rtol=1e-6, atol=1e-6)
    assert trail_arrays(()) == {}
    assert trails_from({}, 2) == ()
    with pytest.raises(ValueError, match="lacks 'trail_samples'"):
        trails_from({"trail_positions": arrays["trail_positions"]}, 2)
    for name, wrong in (
        ("trail_positions", arrays["trail_positions"][1:]),
        ("trail_positions", np.full_like(arrays["trail_positions"], np.nan)),
        ("trail_samples", -arrays["trail_samples"]),
        ("trail_rate_hz", np.zeros(2)),
        ("trail_rate_hz", np.ones(3)),
    ):
        with pytest.raises(ValueError, match="do not belong together"):
            trails_from(arrays | {name: wrong}, 2)
    with pytest.raises(ValueError, match="do not belong together"):
        trails_from(arrays, 6)
    assert Trail(10.0, np.zeros((3, 1))).time.tolist() == [0.0, 0.1, 0.2]
