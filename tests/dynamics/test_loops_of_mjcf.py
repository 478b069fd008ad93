"""Robots with loops read from MJCF: torques, accelerations and a simulated second against MuJoCo's own."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("mujoco", reason="MuJoCo is these tests' oracle; install the oracles extra.")

from dynid.base.find import find_base
from dynid.compile.kernels import kernels
from dynid.model.loaders.mjcf import from_mjcf_text
from dynid.model.robot import Robot
from support.evaluate import States, dynid_regressor, relative_error
from support.mjcf_loop_oracle import LoopOracle
from support.mjcf_loops import MODELS

Array = NDArray[np.float64]
TEXTS = {name: text.replace('axis="1 0 0" damping="0.03"', 'axis="1 0 0"') for name, text in MODELS.items()}
"""Without damping of a joint that follows, which dynid leaves out."""
BASE = {"fivebar": 17, "fourbar": 11, "rssr": 20, "three_legs": 28}


@pytest.fixture(params=TEXTS)
def robot(request: pytest.FixtureRequest) -> Robot:
    return from_mjcf_text(TEXTS[request.param])


def oracle_of(robot: Robot) -> LoopOracle:
    assert robot.origin is not None
    return LoopOracle(robot.origin.text, robot)


def states_within(robot: Robot, samples: int = 12) -> States:
    rng = np.random.default_rng(3)
    limits = [robot.joints[j].limits for j in robot.coordinates]
    low, high = np.array([(own.lower, own.upper) for own in limits]).T
    n = len(limits)
    return States(
        rng.uniform(low, high, (samples, n)),
        rng.normal(0.0, 2.0, (samples, n)),
        rng.normal(0.0, 10.0, (samples, n)),
    )


def test_torques_are_those_of_the_constrained_model(robot: Robot) -> None:
    """W χ = Gᵀ τ_tree, with τ_tree of mj_inverse and G of MuJoCo's Jacobian of the equalities."""
    x = states_within(robot)
    theirs = oracle_of(robot).inverse(x)
    chi = robot.table.vector(robot.parameters)
    own = kernels(robot)
    assert relative_error(own.inverse(chi, x.q, x.qd, x.qdd), theirs) < 1e-8
    assert relative_error(own.regressor(x.q, x.qd, x.qdd) @ chi, theirs) < 1e-8
    assert relative_error(dynid_regressor(robot, x) @ chi, theirs) < 1e-8


def test_base_parameters_give_the_same_torques(robot: Robot) -> None:
    x = states_within(robot)
    base = find_base(robot)
    W = kernels(robot, base.columns).regressor(x.q, x.qd, x.qdd)
    assert relative_error(W @ base.regroup(robot.parameters), oracle_of(robot).inverse(x)) < 1e-8


def test_there_are_as_many_base_parameters_as_independent_columns(robot: Robot) -> None:
    x = states_within(robot, 1000)
    W = np.concatenate(kernels(robot).regressor(x.q, x.qd, x.qdd))
    lengths = np.linalg.norm(W, axis=0)
    s = np.linalg.svd(W[:, lengths > 1e-9] / lengths[lengths > 1e-9], compute_uv=False)
    base = find_base(robot)
    assert len(base) == BASE[robot.name]
    assert s[len(base) - 1] > 1e-6 * s[0]
    assert s[len(base)] < 1e-12 * s[0]


def test_accelerations_are_those_of_the_constrained_model(robot: Robot) -> None:
    x = states_within(robot)
    oracle = oracle_of(robot)
    torque = np.random.default_rng(4).normal(0.0, 2.0, x.q.shape)
    theirs = oracle.accelerations(x, torque)
    chi = robot.table.vector(robot.parameters)
    assert relative_error(kernels(robot).direct(chi, x.q, x.qd, torque), theirs) < 1e-7


STEP = 2e-4
"""MuJoCo's equalities are springs of two steps' time constant: the shorter the step, the stiffer."""


def test_a_simulated_second_is_mujocos(robot: Robot) -> None:
    """The same held torques. MuJoCo holds the loop softly: the two drift apart, by less than 1e-7 rad."""
    oracle = oracle_of(robot)
    assert robot.closure is not None
    start = np.array(robot.closure.start)
    torque = torques_of_a_motion(robot, 1.0)
    theirs = oracle.simulate(start, torque, STEP)
    ours = integrate(robot, start[oracle.coordinates], torque)
    assert np.ptp(ours, axis=0).min() > 0.1  # it has moved
    assert np.abs(ours - theirs).max() < 1e-6


def torques_of_a_motion(robot: Robot, duration: float) -> Array:
    """Torques that take the coordinates from the start to the middle of their longer side and back."""
    assert robot.closure is not None
    start = np.array([robot.closure.start[robot.movable.index(j)] for j in robot.coordinates])
    limits = [robot.joints[j].limits for j in robot.coordinates]
    ends = np.array(
        [
            max(own.lower, own.upper, key=lambda end: abs(end - x))
            for own, x in zip(limits, start, strict=True)
        ]
    )
    time = (np.arange(round(duration / STEP)) + 0.5) * STEP
    w = 2 * np.pi / duration
    way = 0.4 * (ends - start)
    shape = [(1 - np.cos(w * time)), w * np.sin(w * time), w * w * np.cos(w * time)]
    q, qd, qdd = (s[:, None] * way for s in shape)
    return kernels(robot).inverse(robot.parameters, start + q, qd, qdd)


def integrate(robot: Robot, start: Array, torque: Array) -> Array:
    """Runge–Kutta steps with held torques, from rest."""
    own, chi = kernels(robot), robot.table.vector(robot.parameters)

    def rate(x: Array, tau: Array) -> Array:
        q, qd = np.split(x, 2)
        return np.concatenate([qd, own.direct(chi, q[None], qd[None], tau[None])[0]])

    x = np.concatenate([start, np.zeros_like(start)])
    found = [start]
    for tau in torque:
        a = rate(x, tau)
        b = rate(x + STEP / 2 * a, tau)
        c = rate(x + STEP / 2 * b, tau)
        d = rate(x + STEP * c, tau)
        x = x + STEP / 6 * (a + 2 * b + 2 * c + d)
        found.append(x[: len(start)])
    return np.array(found)


@pytest.mark.slow
def test_ranges_that_a_file_does_not_give_are_found() -> None:
    text = re.sub(r' range="[^"]*"', "", TEXTS["fivebar"])
    robot = from_mjcf_text(text)
    x = states_within(from_mjcf_text(TEXTS["fivebar"]))
    near = States(np.array([0.3, 0.0]) + 0.5 * (x.q - [0.3, 0.0]), x.qd, x.qdd)
    ours = kernels(robot).inverse(robot.parameters, near.q, near.qd, near.qdd)
    assert relative_error(ours, oracle_of(robot).inverse(near)) < 1e-8
    far = np.array([[3.0, -3.0]])
    assert np.isnan(kernels(robot).gravity(robot.parameters, far)).all()  # never a plausible number
