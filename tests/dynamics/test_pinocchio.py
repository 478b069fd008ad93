"""Every kernel against Pinocchio, written by others, on robots that show every feature of a tree."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.model.robot import Robot
from support.evaluate import (
    States,
    dynid_bias,
    dynid_direct,
    dynid_energy,
    dynid_frames,
    dynid_gravity,
    dynid_inertia_matrix,
    dynid_inverse,
    dynid_regressor,
    random_states,
    relative_error,
)
from support.robots import ORACLE_ROBOTS

pytest.importorskip("pinocchio", reason="Pinocchio is the oracle of these tests; install the oracles extra.")
from support.pinocchio_oracle import PinocchioOracle, pinocchio_oracle

TOLERANCE = 1e-10


@pytest.fixture(params=ORACLE_ROBOTS)
def robot(request: pytest.FixtureRequest) -> Robot:
    return ORACLE_ROBOTS[request.param]


@pytest.fixture
def oracle(robot: Robot) -> PinocchioOracle:
    return pinocchio_oracle(robot)


@pytest.fixture
def states(robot: Robot) -> States:
    return random_states(robot, np.random.default_rng(11))


@pytest.fixture
def chi(robot: Robot) -> np.ndarray:
    return robot.table.vector(robot.parameters)


def inertial_columns(robot: Robot) -> list[int]:
    return [i for i, entry in enumerate(robot.table) if entry.family == "inertial"]


def test_regressor_of_all_links(robot: Robot, oracle: PinocchioOracle, states: States) -> None:
    W = dynid_regressor(robot, states)[:, :, inertial_columns(robot)]
    assert relative_error(W, oracle.frame_regressor(states)) < TOLERANCE


@pytest.mark.parametrize("name", [n for n, r in ORACLE_ROBOTS.items() if len(r.movable) == len(r.joints)])
def test_joint_torque_regressor(name: str) -> None:
    robot = ORACLE_ROBOTS[name]
    states = random_states(robot, np.random.default_rng(12))
    W = dynid_regressor(robot, states)[:, :, inertial_columns(robot)]
    assert relative_error(W, pinocchio_oracle(robot).joint_regressor(states)) < TOLERANCE


def test_regressor_times_parameters_is_rnea(
    robot: Robot, oracle: PinocchioOracle, states: States, chi: np.ndarray
) -> None:
    assert relative_error(dynid_regressor(robot, states) @ chi, oracle.rnea(states)) < TOLERANCE


def test_inverse_dynamics(robot: Robot, oracle: PinocchioOracle, states: States, chi: np.ndarray) -> None:
    assert relative_error(dynid_inverse(robot, chi, states), oracle.rnea(states)) < TOLERANCE


def test_inertia_matrix(robot: Robot, oracle: PinocchioOracle, states: States, chi: np.ndarray) -> None:
    M = dynid_inertia_matrix(robot, chi, states)
    assert relative_error(M, oracle.inertia_matrix(states)) < TOLERANCE
    assert np.linalg.eigvalsh(M).min() > 0


def test_bias_torques(robot: Robot, oracle: PinocchioOracle, states: States, chi: np.ndarray) -> None:
    assert relative_error(dynid_bias(robot, chi, states), oracle.bias(states)) < TOLERANCE


def test_gravity_torques(robot: Robot, oracle: PinocchioOracle, states: States, chi: np.ndarray) -> None:
    assert relative_error(dynid_gravity(robot, chi, states), oracle.gravity(states)) < TOLERANCE


def test_direct_dynamics(robot: Robot, oracle: PinocchioOracle, states: States, chi: np.ndarray) -> None:
    tau = np.random.default_rng(13).normal(0.0, 50.0, states.q.shape)
    assert relative_error(dynid_direct(robot, chi, states, tau), oracle.aba(states, tau)) < TOLERANCE


def test_energies(robot: Robot, oracle: PinocchioOracle, states: States, chi: np.ndarray) -> None:
    ours, theirs = dynid_energy(robot, chi, states), oracle.energy(states)
    assert relative_error(ours[:, 0], theirs[:, 0]) < TOLERANCE
    # Where potential energy is zero is a convention, so only differences are compared.
    assert relative_error(ours[:, 1] - ours[0, 1], theirs[:, 1] - theirs[0, 1]) < TOLERANCE


def test_forward_kinematics(robot: Robot, oracle: PinocchioOracle, states: States) -> None:
    positions, rotations = dynid_frames(robot, states)
    their_positions, their_rotations = oracle.frames(states)
    np.testing.assert_allclose(positions, their_positions, rtol=0, atol=1e-13)
    np.testing.assert_allclose(rotations, their_rotations, rtol=0, atol=1e-13)
