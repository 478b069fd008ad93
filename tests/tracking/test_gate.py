"""Glitches are left out, what a robot does is not."""

from __future__ import annotations

import numpy as np
import pytest

import dynid
from dynid.base.find import base_of
from dynid.core.errors import ShapeError
from dynid.preparation.causal_plan import CausalPlan
from dynid.tracking import Arrival, Sample
from dynid.tracking.gate import SampleGate
from dynid.tracking.tracker import Tracker, TrackOptions


def smooth(count: int = 3000, rest: int = 500) -> list[Sample]:
    """Rest with noise of encoders, then motion that begins as a controller begins it."""
    rng = np.random.default_rng(0)
    t = np.arange(count) / 1000.0
    moving = np.maximum(t - rest / 1000.0, 0.0)
    q = np.outer(1.0 - np.cos(3.0 * moving), [1.0, 0.3]) + 2e-5 * rng.normal(size=(count, 2))
    tau = (
        np.outer(9.0 * np.cos(3.0 * moving) * (moving > 0), [2.0, 0.5])
        + 5.0
        + 0.1 * rng.normal(size=(count, 2))
    )
    return [Sample(float(s), a, b) for s, a, b in zip(t, q, tau, strict=True)]


def test_smooth_motion_from_rest_passes() -> None:
    gate = SampleGate(2)
    assert all(gate.takes(sample) for sample in smooth())


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e9, -40.0])
@pytest.mark.parametrize("channel", ["q", "tau"])
def test_a_glitch_is_left_out_and_the_next_sample_passes(channel: str, bad: float) -> None:
    gate, samples = SampleGate(2), smooth()
    for k, sample in enumerate(samples):
        values = {"q": sample.q.copy(), "tau": sample.tau.copy()}
        if k == 1500:
            values[channel][1] = bad if channel == "q" else 10 * bad
        taken = gate.takes(Sample(sample.time, values["q"], values["tau"]))
        assert taken == (k != 1500)
    assert gate.refused == 1


def test_what_stays_is_believed() -> None:
    """Motors that are switched on: torques ten times as large as before, for good."""
    gate, samples = SampleGate(2), smooth()
    taken = [
        gate.takes(Sample(s.time, s.q, s.tau * (30.0 if k > 1500 else 1.0))) for k, s in enumerate(samples)
    ]
    assert taken.count(False) <= 12
    assert all(taken[-1000:])


def test_a_sample_of_another_robot_is_a_sentence() -> None:
    with pytest.raises(ShapeError, match="expected \\(2,\\) of both, one per coordinate"):
        SampleGate(2).takes(Sample(0.0, np.zeros(3), np.zeros(3)))


@pytest.mark.parametrize("watched", [True, False])
def test_a_position_that_no_loop_reaches_does_not_stay_in_the_recursion(watched: bool) -> None:
    """Closed loops give NaN where they do not close; those rows do not count, and the values stay numbers."""
    robot = dynid.load_robot("fivebar")
    assert robot.home is not None
    rng, t = np.random.default_rng(0), np.arange(8000) / 500.0
    q = np.array(robot.home) + 0.2 * np.sin(np.outer(t, [2.0, 3.1]) + np.array([0.0, 1.0]))
    tau = 5.0 * np.sin(np.outer(t, [1.7, 2.3])) + 0.1 * rng.normal(size=q.shape)
    options = TrackOptions(joint_sigma=np.ones(2), **({} if watched else {"watch": None}))
    plan = CausalPlan(rate_hz=500.0, cutoff_hz=20.0, decimation=2, row_decimation=5)
    tracker = Tracker(base_of(robot), plan, options)
    for k, (stamp, position, torque) in enumerate(zip(t, q, tau, strict=True)):
        place = np.array([-3.0, -3.0]) if 50 <= k < 90 else position  # before the gate knows what is usual
        tracker.take(Arrival(Sample(float(stamp), place, torque), k == 0))
    assert tracker.recursion is not None
    assert np.all(np.isfinite(tracker.recursion.values))
    assert tracker.recursion.rows > 1000
    assert tracker.refusals > 0
