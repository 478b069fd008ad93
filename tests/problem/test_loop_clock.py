"""Logs on the clock of their controller: references that are too short, trims, and stamps beside samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.core.errors import DynidError
from dynid.logs.log import Log
from dynid.preparation.preparation import Preparation
from dynid.problem import build_loop_problem
from dynid.problem.closed_loop import LoopExperiment
from dynid.simulation import Reference, simulate
from support.closed_loop import PERIOD, controller, reference, scara

ROBOT = scara()[0].robot
WHOLE = reference(1, 3.0)
LOG = simulate(ROBOT, None, controller(), WHOLE).log
ALONE = replace(LOG, channels={name: LOG.channels[name] for name in ("torque", "position")})


def experiment(log: Log, followed: Reference | None, **keys: object) -> LoopExperiment:
    plan = Preparation(**keys)  # type: ignore[arg-type]
    given = None if followed is None else [followed]
    return build_loop_problem(ROBOT, [log], controller(), given, plan).experiments[0]


def cut(first: int, last: int) -> Reference:
    rows = slice(first, WHOLE.samples - last)
    signals = {name: getattr(WHOLE, name)[rows] for name in ("q", "qd", "qdd")}
    return replace(WHOLE, start=first * PERIOD, **signals)


@pytest.mark.parametrize(("first", "last"), [(0, 1), (0, 2), (1, 0), (2, 2)])
def test_a_reference_that_lacks_two_samples_goes_on_at_its_speed(first: int, last: int) -> None:
    found = experiment(ALONE, cut(first, last))
    assert found.reference.samples == WHOLE.samples
    assert found.reference.start == pytest.approx(0.0)
    assert np.array_equal(found.samples, np.arange(WHOLE.samples))
    np.testing.assert_allclose(found.reference.q, WHOLE.q, atol=2 * PERIOD**2 * np.abs(WHOLE.qdd).max())
    assert [step.name for step in found.history[-1:]] == ["reference continued"]
    assert found.history[-1].options == {"start": first, "end": last}


def test_a_reference_that_lacks_more_is_refused_with_the_option_that_helps() -> None:
    for first, last in ((0, 3), (3, 0)):
        with pytest.raises(
            DynidError, match=r"reference only from .*--reference.*--trim-start-s .*--trim-end-s"
        ):
            experiment(ALONE, cut(first, last))
    found = experiment(ALONE, cut(0, 100), trim_end_s=0.5)
    assert found.time[-1] == pytest.approx(LOG.time[-1] - 0.5)
    assert found.history[-1].name == "trim"


def test_a_slow_log_may_lack_two_of_its_own_samples() -> None:
    slow = ALONE.part(slice(None, None, 10))
    found = experiment(slow, cut(0, 20))
    assert found.history[-1].options["end"] == slow.samples * 10 - 10 - (WHOLE.samples - 20) + 1


def test_a_log_s_own_reference_covers_it_at_any_stamps() -> None:
    """The median step of uneven stamps does not divide their span: the last samples were refused for it."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        stamps = np.cumsum(rng.uniform(0.6, 1.4, LOG.samples)) * PERIOD
        found = experiment(replace(LOG, time=stamps), None)
        assert found.samples[0] == 0
        assert found.time[-1] > stamps[-1] - 2 * PERIOD


def jittered(share: float, seed: int = 0) -> Log:
    """The log read at other moments than the controller's, by the smooth signals themselves."""
    from scipy.interpolate import CubicSpline

    rng = np.random.default_rng(seed)
    stamps = LOG.time + share * PERIOD * rng.uniform(-1, 1, LOG.samples)
    stamps[0], stamps[-1] = LOG.time[0], LOG.time[-1]
    channels = {name: CubicSpline(LOG.time, LOG.array(name))(stamps) for name in LOG.channels}
    return replace(LOG, time=stamps, channels=channels)


@pytest.mark.parametrize("share", [0.1, 0.45, 0.49])
def test_uneven_stamps_are_read_at_the_controller_s_samples(share: float) -> None:
    found = experiment(jittered(share), WHOLE)
    assert np.array_equal(found.samples, np.arange(LOG.samples))
    assert found.position is not None
    off = found.position - LOG.array("position")  # but for the jolt at the start, which no spline follows
    assert np.sqrt(np.mean(off[20:] ** 2)) < 2e-6
    assert found.history[-1].name == "resample"
    assert found.history[-1].options == {"rate_hz": 200.0}


def test_the_plan_may_take_stamps_for_even() -> None:
    taken = experiment(jittered(0.2), WHOLE, stamps="even")
    assert taken.history == LOG.history
    with pytest.raises(DynidError, match=r"of a sample beside the controller's samples; .*--stamps auto"):
        experiment(jittered(0.45), WHOLE, stamps="even")


def test_even_stamps_between_two_samples_are_read_at_samples() -> None:
    late = replace(ALONE, time=LOG.time + 0.47 * PERIOD)
    found = experiment(late, reference(1, 3.1))
    assert found.history[-1].name == "resample"
    near = experiment(replace(ALONE, time=LOG.time + 0.2 * PERIOD), reference(1, 3.1))
    assert near.history == LOG.history


def test_missing_samples_stay_missing() -> None:
    rows = np.r_[0:200, 260 : LOG.samples]
    kept = Log("gap", LOG.time[rows], {name: LOG.array(name)[rows] for name in LOG.channels})
    assert np.array_equal(experiment(kept, WHOLE).samples, rows)
    shaken = jittered(0.4)
    holed = Log("gap", shaken.time[rows], {name: shaken.array(name)[rows] for name in LOG.channels})
    found = experiment(holed, WHOLE)
    assert not np.any((found.samples > 201) & (found.samples < 258))
