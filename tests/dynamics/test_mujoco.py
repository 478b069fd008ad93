"""The kernels against MuJoCo, through an MJCF file of the same robot: a second, unrelated witness."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.model.robot import Robot
from support.evaluate import (
    States,
    dynid_bias,
    dynid_direct,
    dynid_frames,
    dynid_inertia_matrix,
    dynid_inverse,
    random_states,
    relative_error,
)
from support.robots import ORACLE_ROBOTS

pytest.importorskip("mujoco", reason="MuJoCo is the oracle of these tests; install the oracles extra.")
from support.mujoco_oracle import MujocoOracle, mujoco_oracle

TOLERANCE = 1e-8


@pytest.fixture(params=ORACLE_ROBOTS)
def robot(request: pytest.FixtureRequest) -> Robot:
    return ORACLE_ROBOTS[request.param]


@pytest.fixture
def oracle(robot: Robot) -> MujocoOracle:
    return mujoco_oracle(robot)


@pytest.fixture
def states(robot: Robot) -> States:
    return random_states(robot, np.random.default_rng(21))


@pytest.fixture
def chi(robot: Robot) -> np.ndarray:
    return robot.table.vector(robot.parameters)


def test_inverse_dynamics(robot: Robot, oracle: MujocoOracle, states: States, chi: np.ndarray) -> None:
    assert relative_error(dynid_inverse(robot, chi, states), oracle.inverse(states)) < TOLERANCE


def test_inertia_matrix(robot: Robot, oracle: MujocoOracle, states: States, chi: np.ndarray) -> None:
    M = dynid_inertia_matrix(robot, chi, states)
    assert relative_error(M, oracle.inertia_matrix(states)) < TOLERANCE


def test_bias_torques(robot: Robot, oracle: MujocoOracle, states: States, chi: np.ndarray) -> None:
    assert relative_error(dynid_bias(robot, chi, states), oracle.bias(states)) < TOLERANCE


def test_direct_dynamics(robot: Robot, oracle: MujocoOracle, states: States, chi: np.ndarray) -> None:
    tau = np.random.default_rng(22).normal(0.0, 50.0, states.q.shape)
    assert relative_error(dynid_direct(robot, chi, states, tau), oracle.forward(states, tau)) < TOLERANCE


def test_forward_kinematics(robot: Robot, oracle: MujocoOracle, states: States) -> None:
    for ours, theirs in zip(dynid_frames(robot, states), oracle.frames(states), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
