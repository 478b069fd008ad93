"""Commanded torques as laws of single axes, beside a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.base import find_base
from dynid.compile.kernels import kernels
from dynid.logs.log import Log
from dynid.model.joint import Joint
from dynid.model.robot import Robot
from dynid.preparation.preparation import Preparation
from dynid.problem import build_problem
from dynid.workflow.commanded import FEEDBACK, AxisLaw, chosen_samples, commanded_motion

ARM = Robot("arm", (Joint("a", -1), Joint("b", 0, d=0.3)), gravity=(0.0, -9.81, 0.0))
GAINS = np.array([[40.0, 6.0, 9.0], [25.0, 2.0, 4.0]])
TIME = np.arange(0.0, 20.0, 1e-3)


def commands(model: bool) -> Log:
    """Sines with errors of two frequencies; torques of the gains, and of the arm's own with a model."""
    phases = np.array([0.3, 1.1])
    reference = np.sin(0.9 * TIME[:, None] + phases) + 0.4 * np.cos(2.1 * TIME[:, None] + 2 * phases)
    slow, quick = 1.7 * TIME[:, None] + phases[::-1], 4.3 * TIME[:, None] + phases
    error = 0.02 * np.sin(slow) + 0.01 * np.sin(quick)
    speed = 0.02 * 1.7 * np.cos(slow) + 0.01 * 4.3 * np.cos(quick)
    torque = GAINS[:, 0] * error + GAINS[:, 1] * speed + GAINS[:, 2] * np.cumsum(error, axis=0) * 1e-3
    if model:
        qd = np.gradient(reference, 1e-3, axis=0)
        values = {"ZZ1": 0.4, "MX1": 3.0, "ZZ2": 0.2, "MX2": 1.0, "M2": 4.0}
        torque = torque + kernels(ARM).inverse(values, reference, qd, np.gradient(qd, 1e-3, axis=0))
    channels = {"reference": reference, "position": reference - error, "torque": torque}
    return Log("drawn", TIME, channels)


@pytest.mark.parametrize("cutoff", [None, 10.0])
def test_the_gains_of_a_law_come_back_beside_a_model(cutoff: float | None) -> None:
    plan = Preparation(cutoff_hz=cutoff, difference_points=5, drop_samples=100 if cutoff else 5)
    part = commanded_motion(commands(model=True), plan, 50.0)
    problem = build_problem(ARM, [part.motion], Preparation(), find_base(ARM))
    law = AxisLaw.of(problem, part.columns[:, :, :FEEDBACK])
    assert law.gains == pytest.approx(GAINS, rel=0.02)
    assert law.alone.min() > 0.5
    assert law.beside.max() < 1e-3


def test_a_law_of_each_axis_leaves_nothing() -> None:
    part = commanded_motion(commands(model=False), Preparation(cutoff_hz=10.0, drop_samples=100), 50.0)
    problem = build_problem(ARM, [part.motion], Preparation(), find_base(ARM))
    assert AxisLaw.of(problem, part.columns).alone.max() < 1e-3


def test_an_axis_that_is_never_off_has_no_feedback() -> None:
    log = commands(model=True)
    channels = {**log.channels, "position": log.array("reference")}
    part = commanded_motion(replace(log, channels=channels), Preparation(), 50.0)
    assert np.all(part.error == 0)
    assert np.all(part.percent == 0)
    problem = build_problem(ARM, [part.motion], Preparation(), find_base(ARM))
    law = AxisLaw.of(problem, part.columns[:, :, :FEEDBACK])
    assert np.all(law.gains == 0)


def test_samples_are_picked_at_the_rate_asked_for() -> None:
    log = commands(model=True)
    for cutoff in (None, 10.0):
        motion = commanded_motion(log, Preparation(cutoff_hz=cutoff), 50.0).motion
        assert motion.rate_hz == pytest.approx(50.0)
        assert motion.samples == 1000
    half = chosen_samples(motion, np.arange(motion.samples) % 2 == 0)
    assert half.samples == 500
    assert half.rate_hz == motion.rate_hz
