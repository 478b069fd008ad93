"""The tracker: causal rows as the batch has them, noise learnt, gaps, masks, instruments, kept states."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

import dynid
from dynid.base.find import base_of
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.estimators.linear.least_squares import weighted_fit
from dynid.estimators.recursive import Exponential, RecursionOptions
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.causal_plan import CausalPlan
from dynid.tracking import Arrival, Sample
from dynid.tracking.tracker import Tracker, TrackOptions
from support.causal import causal_problem
from support.logs import robot_log

PLAN = CausalPlan(rate_hz=250.0, cutoff_hz=20.0, decimation=2, row_decimation=5)


def arm(name: str = "scara") -> Robot:
    robot = dynid.load_robot(name)
    values = {e.name: 0.3 for e in robot.table if e.family == "friction"}
    return robot.with_parameters({**robot.parameters, **values})


def log_of(robot: Robot, seconds: float = 30.0, noise: float = 0.02, seed: int = 1) -> Log:
    return robot_log(robot, seconds=seconds, rate_hz=250.0, noise=noise, seed=seed)


def arrivals(log: Log, reference: FloatArray | None = None) -> Iterable[Arrival]:
    rows = zip(log.time.tolist(), log.array("position"), log.array("torque"), strict=True)
    for k, (t, q, tau) in enumerate(rows):
        own = None if reference is None else reference[k]
        yield Arrival(Sample(t, q, tau, None, own), k == 0)


def run(tracker: Tracker, stream: Iterable[Arrival]) -> Tracker:
    for arrival in stream:
        tracker.take(arrival)
    return tracker


@pytest.mark.parametrize(
    "plan", [PLAN, replace(PLAN, row_decimation=1), replace(PLAN, speed_thresholds=(0.2, 0.3))]
)
def test_the_end_is_the_batch_of_the_same_causal_rows(plan: CausalPlan) -> None:
    robot = arm()
    log, sigma = log_of(robot), np.array([0.5, 0.1])
    tracker = run(Tracker(base_of(robot), plan, TrackOptions(joint_sigma=sigma, watch=None)), arrivals(log))
    problem = causal_problem(robot, [log], [plan])
    batch = weighted_fit(problem, 1.0 / sigma, np.ones(len(problem.base), dtype=bool))
    assert tracker.recursion is not None
    assert tracker.recursion.rows == problem.row_counts.sum()
    apart = np.abs(tracker.recursion.values - batch.values) / np.sqrt(np.diag(batch.covariance))
    assert apart.max() < 1e-6


def test_noise_is_learnt_and_nothing_of_the_learning_is_lost() -> None:
    robot = arm()
    log = log_of(robot)
    learnt = run(Tracker(base_of(robot), PLAN, TrackOptions(watch=None, learn=100)), arrivals(log))
    assert learnt.recursion is not None
    told = TrackOptions(joint_sigma=learnt.recursion.joint_sigma, watch=None)
    given = run(Tracker(base_of(robot), PLAN, told), arrivals(log))
    assert given.recursion is not None
    assert np.allclose(given.recursion.values, learnt.recursion.values, rtol=1e-10)
    assert given.recursion.rows == learnt.recursion.rows
    truth = base_of(robot).regroup(robot.parameters)
    assert np.all(np.abs(learnt.recursion.values - truth) < 6 * learnt.recursion.sigma())


def test_a_stream_too_short_to_tell_its_noise_says_so() -> None:
    robot = arm()
    tracker = run(Tracker(base_of(robot), PLAN), arrivals(log_of(robot, seconds=0.6)))
    assert tracker.record({}) is None
    with pytest.raises(NotTrustworthyError, match="too few to tell how large the errors of the torques are"):
        tracker.end_learning()


def test_joints_without_a_motor_have_a_noise_of_their_own() -> None:
    robot = dynid.load_robot("cartpole")
    log = robot_log(robot, seconds=20.0, rate_hz=250.0, noise=0.0, seed=2)
    torque = log.array("torque").copy()
    torque[:, 0] += 0.05 * np.random.default_rng(0).normal(size=len(torque))
    torque[:, ~np.array(robot.driven)] = 0.0
    log = replace(log, channels={**log.channels, "torque": torque})
    tracker = run(Tracker(base_of(robot), PLAN, TrackOptions(watch=None)), arrivals(log))
    tracker.end_learning()
    assert tracker.recursion is not None
    assert np.all(np.isfinite(tracker.recursion.joint_sigma))
    assert np.all(tracker.recursion.joint_sigma > 0)


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("cut", [400, 4000])
def test_a_kept_state_goes_on_in_the_middle_of_a_filter(cut: int, watched: bool) -> None:
    """Also while the noise is still learnt."""
    robot = arm()
    stream = list(arrivals(log_of(robot)))
    options = TrackOptions(learn=60) if watched else TrackOptions(learn=60, watch=None)
    forgetting = RecursionOptions(forgetting=Exponential(factor=0.999))
    options = replace(options, recursion=forgetting)
    make = lambda: Tracker(base_of(robot), PLAN, options)  # noqa: E731
    whole = run(make(), stream)
    first, second = run(make(), stream[:cut]), make()
    second.restore(first.state())
    run(second, stream[cut:])
    assert whole.recursion is not None
    assert second.recursion is not None
    assert (whole.moving, whole.instants) == (second.moving, second.instants)
    assert np.allclose(whole.recursion.values, second.recursion.values, rtol=1e-9)
    assert np.allclose(whole.recursion.sigma(), second.recursion.sigma(), rtol=1e-6)


def test_a_gap_begins_a_stretch_and_the_estimate_goes_on() -> None:
    robot = arm()
    log = log_of(robot)
    stream = list(arrivals(log))
    late = stream[5000]
    cut = [*stream[:3000], late._replace(anew=True), *stream[5001:]]
    options = TrackOptions(joint_sigma=np.array([0.5, 0.1]), watch=None)
    whole, gapped = (run(Tracker(base_of(robot), PLAN, options), s) for s in (stream, cut))
    assert whole.recursion is not None
    assert gapped.recursion is not None
    lost = whole.recursion.updates - gapped.recursion.updates
    assert 200 <= lost < 215  # 2000 samples of ten per row, and the filters that swing in
    apart = np.abs(gapped.recursion.values - whole.recursion.values) / gapped.recursion.sigma()
    assert apart.max() < 3.0


def test_instruments_of_the_reference_keep_noise_of_encoders_out() -> None:
    """Positions with noise, torques of the true motion: RLS shrinks inertias, RIV does not."""
    robot = arm()
    log = log_of(robot, seconds=60.0)
    clean = log.array("position")
    noisy = clean + 3e-3 * np.random.default_rng(5).normal(size=clean.shape)
    noisy_log = replace(log, channels={**log.channels, "position": noisy})
    plan = replace(PLAN, cutoff_hz=40.0, decimation=1, row_decimation=5)
    sigma, truth = np.array([0.5, 0.1]), base_of(robot).regroup(robot.parameters)
    found = {}
    for method in ("rls", "riv"):
        options = TrackOptions(method=method, joint_sigma=sigma, watch=None)
        tracker = run(Tracker(base_of(robot), plan, options), arrivals(noisy_log, clean))
        assert tracker.recursion is not None
        found[method] = tracker.recursion.values / truth - 1.0
    inertia = base_of(robot).names.index("ZZ2")
    assert abs(found["rls"][inertia]) > 5 * abs(found["riv"][inertia])
    assert abs(found["riv"][inertia]) < 0.1


def test_a_stream_without_a_reference_has_no_instruments() -> None:
    robot = arm()
    tracker = Tracker(base_of(robot), PLAN, TrackOptions(method="riv", watch=None))
    with pytest.raises(DynidError, match="no reference"):
        run(tracker, arrivals(log_of(robot, seconds=1.0)))


def test_options_are_checked() -> None:
    with pytest.raises(DynidError, match="Unknown method 'kalman'"):
        TrackOptions(method="kalman")
    with pytest.raises(DynidError, match="from 3 rows per joint; give at least 20"):
        TrackOptions(learn=3)
    robot = arm()
    with pytest.raises(DynidError, match="3 deviations of the torques were given for 2 coordinates"):
        Tracker(base_of(robot), PLAN, TrackOptions(joint_sigma=np.ones(3)))


def test_the_record_tells_how_it_stands() -> None:
    robot = arm()
    tracker = run(Tracker(base_of(robot), PLAN, TrackOptions(watch=None)), arrivals(log_of(robot)))
    record = tracker.record({"received": 7500})
    assert record is not None
    assert record["t"] == pytest.approx(30.0 - tracker.rows.delay_s, abs=0.05)
    assert record["inertia"] > 0
    assert 0.5 < record["innovation"] < 2.0
    assert np.allclose(record["measured"], record["predicted"], atol=1.0)
    header = tracker.header()
    assert header["delay_s"] == tracker.rows.delay_s
    assert len(header["parameters"]) == len(record["values"]) == 8
