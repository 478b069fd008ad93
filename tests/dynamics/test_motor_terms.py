"""Motors that turn with several joints: the coupled wrist of the TX40 and transmissions in general."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.core.errors import ModelError
from dynid.model.drives import Drives
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from support.evaluate import States, dynid_inertia_matrix, dynid_regressor, random_states


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("tx40_log")


@pytest.fixture(scope="module")
def states(robot: Robot) -> States:
    return random_states(robot, np.random.default_rng(61))


def column(robot: Robot, states: States, name: str) -> np.ndarray:
    return dynid_regressor(robot, states)[:, :, robot.table.index(name)]


def test_the_wrist_has_three_motor_parameters(robot: Robot) -> None:
    assert [entry.name for entry in robot.table if entry.family == "motor"] == ["Iam6", "Fvm6", "Fcm6"]


def test_tx40_wrist_columns(robot: Robot, states: States) -> None:
    """On joint 5: q̈6, q̇6, sign(q̇5+q̇6); on joint 6: q̈5, q̇5, sign(q̇5+q̇6); nothing elsewhere."""
    qd5, qd6, qdd5, qdd6 = states.qd[:, 4], states.qd[:, 5], states.qdd[:, 4], states.qdd[:, 5]
    expected = {
        "Iam6": (qdd6, qdd5),
        "Fvm6": (qd6, qd5),
        "Fcm6": (np.sign(qd5 + qd6), np.sign(qd5 + qd6)),
    }
    for name, (on5, on6) in expected.items():
        W = column(robot, states, name)
        np.testing.assert_array_equal(W[:, 4], on5)
        np.testing.assert_array_equal(W[:, 5], on6)
        assert not W[:, :4].any()


def test_motor_inertia_is_what_the_motor_side_says() -> None:
    """With R coupled, the rotors' inertia on the joint side is Rᵀ diag(J) R; Ia and Iam must rebuild it."""
    R = ((30.0, 0.0, 0.0), (0.0, -40.0, 10.0), (5.0, 8.0, 20.0))
    drives = Drives(R, (0.0,) * 3, (1.0,) * 3)
    iiwa = load_robot("iiwa14")
    robot = Robot("coupled", iiwa.joints[:3], terms=("Ia", "Iam"), drives=drives)
    rotor = np.array([2e-4, 3e-4, 1e-4])
    joint_side = np.array(R).T @ np.diag(rotor) @ np.array(R)
    values = {f"Ia{k + 1}": joint_side[k, k] for k in range(3)}
    values |= {f"Iam{m + 1}": rotor[m] * R[m][m] ** 2 for m in (1, 2)}
    x = random_states(robot, np.random.default_rng(62), samples=1)
    M = dynid_inertia_matrix(robot, robot.table.vector(values), x)[0]
    np.testing.assert_allclose(M, joint_side, rtol=1e-14)
    W = dynid_regressor(robot, x)[0]
    np.testing.assert_allclose(W @ robot.table.vector(values), joint_side @ x.qdd[0], rtol=1e-13)


def test_motor_friction_loads_joints_by_their_share() -> None:
    """Motor m dissipates Fcm |ρ·q̇|: the power of its column is the speed in joint-m units, never negative."""
    R = ((30.0, 0.0, 0.0), (0.0, -40.0, 10.0), (5.0, 8.0, 20.0))
    iiwa = load_robot("iiwa14")
    robot = Robot("coupled", iiwa.joints[:3], terms=("Fcm",), drives=Drives(R, (0.0,) * 3, (1.0,) * 3))
    x = random_states(robot, np.random.default_rng(63))
    for m in (1, 2):
        power = np.einsum("si,si->s", x.qd, column(robot, x, f"Fcm{m + 1}"))
        speed = x.qd @ np.array(R[m]) / R[m][m]
        np.testing.assert_allclose(power, np.abs(speed), rtol=1e-13)


def test_motor_terms_need_a_coupled_motor_and_their_diagonal_part(robot: Robot) -> None:
    with pytest.raises(ModelError, match="needs drives in which a motor turns with several joints"):
        load_robot("iiwa14").with_terms("Fv", "Fcm")
    with pytest.raises(ModelError, match="holds only the coupling part; add 'Ia'"):
        replace(robot, terms=("Fv", "Iam"), parameters={})
