"""References: exact derivatives, other rates, splines, logs."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.logs.log import Log
from dynid.simulation.reference import reference_of_log
from dynid.trajectories.reference import Reference, from_samples
from dynid.trajectories.sines import Sines
from support.loops import largest, slopes


def test_sines_have_exact_derivatives() -> None:
    sines = Sines(((2.0, 1.0), (0.8,)), ((0.08, 0.15), (0.3,)), ((0.1, 0.2), (0.3,)), (0.0, 0.5))
    errors, steps = [], [0.02, 0.01, 0.005]
    for step in steps:
        r = sines.sample(step, 10.0)
        inside = slice(5, -5)
        numeric = np.gradient(r.q, step, axis=0)[inside]
        errors.append(largest(numeric, r.qd[inside]))
        assert largest(np.gradient(r.qd, step, axis=0)[inside], r.qdd[inside]) < 1e-2
    assert np.all(np.abs(slopes(steps, errors) - 2.0) < 0.05)
    assert r.q[0] == pytest.approx([2 * np.sin(0.1) + np.sin(0.2), 0.5 + 0.8 * np.sin(0.3)])


def test_sines_may_be_given_as_arrays() -> None:
    rows = ((0.8, 0.4), (0.6, 0.2)), ((0.2, 0.5), (0.3, 0.6)), ((0.1, 0.2), (0.3, 0.4))
    assert Sines(*map(np.array, rows), np.array([0.0, 0.5])) == Sines(*rows, (0.0, 0.5))


def test_derivatives_are_differences_where_none_are_given() -> None:
    t = np.arange(0, 1, 0.01)[:, None]
    r = Reference(0.01, t**2, start=3.0)
    assert largest(r.qd[1:-1], 2 * t[1:-1]) < 1e-12
    assert largest(r.qdd[2:-2], np.full((96, 1), 2.0)) < 1e-10
    assert r.time[0] == 3.0
    assert (r.samples, r.axes) == (100, 1)


def test_resampling_goes_through_the_same_points() -> None:
    r = Sines(((1.0,),), ((1.0,),)).sample(0.01, 1.0)
    fast = r.resampled(0.0025)
    assert largest(fast.q[::4], r.q) < 1e-12
    assert r.resampled(0.01) is r
    held = r.resampled(0.0025, "hold")
    assert np.all(held.q[4:8] == r.q[1])
    assert r.resampled(0.03).samples == 34


def test_a_slow_reference_is_joined_smoothly() -> None:
    """From 25 Hz to 500 Hz: the accelerations of the sines, not a kink at every sample."""
    sines = Sines(((0.8, 0.4, 0.1), (0.6, 0.2, 0.1)), ((0.2, 0.55, 1.1), (0.25, 0.6, 0.9)))
    slow, exact = sines.sample(0.04, 20.0), sines.sample(2e-3, 20.0)
    made = Reference(0.04, slow.q, start=2.0).resampled(2e-3)
    inside = slice(100, made.samples - 100)
    for got, wanted in ((made.q, exact.q), (made.qd, exact.qd), (made.qdd, exact.qdd)):
        assert largest(got[inside], wanted[inside]) < 0.01 * np.abs(wanted).max()
    differences = np.diff(made.q, 2, axis=0) / 2e-3**2
    assert largest(differences[inside], exact.qdd[1:][inside]) < 0.01 * np.abs(exact.qdd).max()
    kinks = np.diff(slow.resampled(2e-3, "linear").q, 2, axis=0) / 2e-3**2
    assert np.abs(kinks).max() > 10 * np.abs(exact.qdd).max()
    assert (made.start, made.samples) == (2.0, 9981)


def test_a_longer_step_takes_the_stored_derivatives() -> None:
    r = Sines(((1.0,),), ((1.0,),)).sample(0.01, 1.0)
    slower = r.resampled(0.02)
    for got, stored in ((slower.q, r.q), (slower.qd, r.qd), (slower.qdd, r.qdd)):
        assert largest(got, stored[::2]) < 1e-12


def test_two_samples_are_joined_by_a_line() -> None:
    made = Reference(1.0, np.array([[0.0], [1.0]])).resampled(0.25)
    assert largest(made.q[:, 0], np.linspace(0, 1, 5)) < 1e-15


def test_splines_go_through_the_points() -> None:
    t = np.linspace(0, 2, 9)
    points = np.column_stack([np.sin(t), np.cos(t)])
    r = from_samples(t, points, 0.05)
    assert largest(r.q[::5], points) < 1e-12
    assert r.samples == 41
    inside = slice(10, -10)
    assert largest(r.qd[inside], np.column_stack([np.cos(r.time), -np.sin(r.time)])[inside]) < 1e-2


def test_the_reference_of_a_log() -> None:
    t = 5.0 + np.arange(50) * 0.02
    log = Log("run", t, {"reference": np.sin(t)[:, None]})
    own = reference_of_log(log)
    assert own.sample_time == pytest.approx(0.02)
    assert largest(own.q, log.channel("reference")) == 0
    assert own.start == 5.0
    assert reference_of_log(log, 0.01).samples == 99
