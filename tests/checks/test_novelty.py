"""Motion kept for validation: is it new, or does it repeat the fit's?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.checks.novelty import novelty, repeated_share
from dynid.core.finding import Level
from dynid.model.load import load_robot
from dynid.preparation.motion import Motion
from support.motions import fourier_motion


def motion(name: str, robot: str = "scara", seed: int = 0, seconds: float = 10.0) -> Motion:
    rng = np.random.default_rng(seed)
    return fourier_motion(load_robot(robot), rng, seconds=seconds, rate_hz=200.0, name=name)


def cut(whole: Motion, first: int, last: int, name: str) -> Motion:
    rows = slice(first, last)
    names = ("time", "q", "qd", "qdd", "tau")
    return replace(whole, name=name, **{key: getattr(whole, key)[rows] for key in names})


def twice(once: Motion, noise: float = 0.0) -> Motion:
    rng = np.random.default_rng(9)
    names = ("q", "qd", "qdd", "tau")
    signals = {key: np.tile(getattr(once, key), (2, 1)) for key in names}
    signals["q"] = signals["q"] + noise * rng.normal(size=signals["q"].shape)
    return replace(once, time=np.arange(2 * once.samples) / once.rate_hz, **signals)


@pytest.mark.parametrize("robot", ["scara", "tx40"])
def test_the_second_part_of_a_periodic_motion_repeats_the_first(robot: str) -> None:
    whole = twice(motion("once", robot), noise=1e-3)
    first, rest = cut(whole, 0, 2600, "first"), cut(whole, 2600, 4000, "rest")
    assert repeated_share(rest, [first]) == 1.0


@pytest.mark.parametrize("robot", ["scara", "tx40"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_motion_is_new(robot: str, seed: int) -> None:
    assert repeated_share(motion("new", robot, seed), [motion("once", robot)]) < 0.5


def test_the_rest_of_a_motion_that_does_not_repeat_is_new() -> None:
    whole = motion("whole", seconds=20.0)
    assert repeated_share(cut(whole, 2800, 4000, "rest"), [cut(whole, 0, 2800, "first")]) < 0.5


def test_the_same_path_at_another_speed_is_new() -> None:
    once = motion("once")
    slow = replace(once, time=once.time * 1.5, rate_hz=once.rate_hz / 1.5, qd=once.qd / 1.5)
    assert repeated_share(slow, [once]) < 0.5


def test_motion_at_another_rate_repeats_all_the_same() -> None:
    once = motion("once")
    rare = replace(cut(once, 0, 2000, "rare"), rate_hz=100.0)
    names = ("time", "q", "qd", "qdd", "tau")
    rare = replace(rare, **{key: getattr(rare, key)[::2] for key in names})
    assert repeated_share(rare, [motion("other", seed=5), once]) == 1.0


def test_a_motion_at_rest_repeats_nothing() -> None:
    once = motion("once")
    still = replace(once, q=np.zeros_like(once.q), qd=np.zeros_like(once.q), qdd=np.zeros_like(once.q))
    assert repeated_share(still, [once]) == 0.0
    assert repeated_share(once, [still]) == 0.0


def test_the_sentences() -> None:
    once, new = motion("once"), motion("new", seed=1)
    again = replace(once, name="again")
    found = novelty([again], [False], [once])
    assert (found.own, found.repeated) == (False, True)
    assert found.findings[0].level is Level.CARE
    assert found.findings[0].sentence == (
        "Validation motion again repeats that of the fit: 100 % of it runs through the same positions at the "
        "same speeds, so it proves little beyond them; validate with another motion."
    )
    own = novelty([again], [True], [once])
    assert (own.own, own.repeated) == (True, False)
    assert own.findings[0].sentence.startswith("Validation log again is a log of the fit itself")
    mixed = novelty([again, new], [False, False], [once])
    assert (mixed.own, mixed.repeated, len(mixed.findings)) == (False, False, 1)
    assert novelty([new], [False], [once]).findings == ()
    assert novelty([], [], [once]).own is False
