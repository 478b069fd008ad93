"""Continuous laws: the limit of sampled ones, disturbances and ripple included, divergence named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.compile.kernels import kernels
from dynid.core.errors import DynidError
from dynid.model.load import load_robot
from dynid.simulation import PID, Accuracy, Controller, Disturbances, Sensors, simulate, simulate_many
from support.loops import largest, scara_reference, slopes

ROBOT = load_robot("double_pendulum").with_terms("Fv")
LAW = PID((20.0, 3.0), (2.0, 0.2), (8.0, 1.0))
REFERENCE = scara_reference(5e-3, 1.0)


def test_sampled_laws_tend_to_the_continuous_one() -> None:
    """The hold and the backward difference are of first order in the sample time."""
    fine = scara_reference(1.25e-3, 1.0)
    truth = simulate(ROBOT, None, Controller(LAW, None), fine)
    assert truth.outcome.name == "fine"
    periods = [1e-2, 5e-3, 2.5e-3]
    errors = []
    for period in periods:
        found = simulate(ROBOT, None, Controller(LAW, period), scara_reference(period, 1.0))
        each = round(period / 1.25e-3)
        errors.append(largest(found.q, truth.q[::each]))
    assert np.all(np.abs(slopes(periods, errors) - 1.0) < 0.15), errors


def test_accuracy_follows_the_tolerance() -> None:
    tight, loose = (
        simulate(ROBOT, None, Controller(LAW, None), REFERENCE, accuracy=Accuracy(tolerance=t)).q
        for t in (1e-9, 1e-6)
    )
    assert largest(tight, loose) < 1e-6


def test_ripple_noise_and_limits_act_on_a_continuous_law_too() -> None:
    own, rng = Controller(LAW, None), np.random.default_rng
    clean = simulate(ROBOT, None, own, REFERENCE)
    rippled = simulate(ROBOT, None, own, REFERENCE, disturbances=Disturbances(ripple=0.3, ripple_order=5.0))
    assert largest(rippled.q, clean.q) > 1e-4
    noisy = simulate(ROBOT, None, own, REFERENCE, sensors=Sensors(position_noise=1e-3), rng=rng(0))
    assert largest(noisy.q, clean.q) > 1e-5
    seen = noisy.log.channel("position") - noisy.q
    assert np.std(seen) == pytest.approx(1e-3, rel=0.1)
    limited = simulate(ROBOT, None, replace(own, saturation=(2.0, 0.3)), REFERENCE)
    assert np.all(np.abs(limited.tau) <= [2.0, 0.3])


def test_torques_are_those_of_the_motion() -> None:
    found = simulate(ROBOT, None, Controller(LAW, None), REFERENCE)
    again = kernels(ROBOT).inverse(ROBOT.parameters, found.q, found.qd, found.qdd)
    assert largest(again, found.tau) < 1e-12 * max(1.0, np.abs(found.tau).max())


def test_an_unstable_continuous_law_is_named() -> None:
    found = simulate(
        ROBOT, None, Controller(PID((-20.0, -3.0), (-2.0, -0.2)), None), scara_reference(5e-3, 8.0)
    )
    assert found.outcome.name == "diverged"
    assert not found.outcome.trustworthy


def test_many_continuous_simulations() -> None:
    many = simulate_many(ROBOT, [None, ROBOT.parameters], Controller(LAW, None), REFERENCE)
    assert largest(many[0].q, many[1].q) == 0


def test_what_a_continuous_law_cannot_have() -> None:
    own = Controller(LAW, None)
    sentence = "simulated with smooth friction and without quantisation; give the controller a sample_time"
    with pytest.raises(DynidError, match=sentence):
        simulate(ROBOT, None, own, REFERENCE, accuracy=Accuracy("stick"))
    with pytest.raises(DynidError, match=sentence):
        simulate(ROBOT, None, own, REFERENCE, sensors=Sensors(resolution=1e-3))
    with pytest.raises(DynidError, match="A continuous law has no samples to delay"):
        Controller(LAW, None, delay=1)
