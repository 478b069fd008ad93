"""Loops at the positions of a log: open ones fail it, singular ones ask for care."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.checks.loops import check_loops
from dynid.core.finding import Level, Name
from dynid.dynamics.loop_guess import closed_ranges
from dynid.logs.log import Log
from dynid.model.load import load_robot
from dynid.model.robot import Robot


def log_of(q: np.ndarray) -> Log:
    return Log("log", np.arange(len(q)) * 0.01, {"position": q, "torque": np.zeros_like(q)})


def within_limits(robot: Robot, samples: int = 500) -> np.ndarray:
    rng = np.random.default_rng(3)
    q = rng.uniform(-np.pi, np.pi, (samples, robot.n_coordinates))
    for j in closed_ranges(robot):
        limits = robot.joints[j].limits
        q[:, robot.coordinates.index(j)] = rng.uniform(limits.lower, limits.upper, samples)
    return q


@pytest.mark.parametrize("name", ["fourbar", "fivebar"])
def test_nothing_is_said_within_the_limits(name: str) -> None:
    robot = load_robot(name)
    assert not check_loops(log_of(within_limits(robot)), robot).findings
    assert not check_loops(log_of(within_limits(robot)), None).findings


def test_an_open_loop_fails_the_log() -> None:
    robot = load_robot("fivebar")
    q = within_limits(robot)
    q[40:, 0] -= 1.5
    (found,) = check_loops(log_of(q), robot).findings
    assert (found.name, found.level, found.where.axis) == (Name.LOOP_NOT_CLOSED, Level.FAIL, 1)
    assert "first at 0.4 s: left is at" in found.sentence


def test_a_singular_position_asks_for_care() -> None:
    robot = load_robot("haptic")
    q = np.tile([0.3, 0.5, 1.5], (100, 1))
    assert not check_loops(log_of(q), robot).findings
    q[70, 2] = 0.52
    (found,) = check_loops(log_of(q), robot).findings
    assert (found.name, found.level) == (Name.LOOP_SINGULAR, Level.CARE)
    assert "At 0.7 s (joint1 = 0.3, joint2 = 0.5, joint5 = 0.52)" in found.sentence
