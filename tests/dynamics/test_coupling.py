"""Linear couplings: the haptic arm's double parallelogram against an open tree in Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.model.load import load_robot
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
from support.robots import free_tree, with_random_inertias

# q3 = q5 − q2 − π, q4 = π − q5, q6 = q2 − q5 over the coordinates q1, q2, q5 (P1 §4.2).
G = np.array([[1, 0, 0], [0, 1, 0], [0, -1, 1], [0, 0, -1], [0, 0, 1], [0, 1, -1]], dtype=float)
SHIFT = np.array([0, 0, -np.pi, np.pi, 0, 0])


@pytest.fixture(scope="module")
def haptic() -> Robot:
    return load_robot("haptic")


@pytest.fixture(scope="module")
def states(haptic: Robot) -> States:
    return random_states(haptic, np.random.default_rng(71))


def open_tree(haptic: Robot, states: States) -> tuple[Robot, States]:
    """The arm with its loops cut, and the motion of all six joints that the closed arm makes."""
    tree = with_random_inertias(free_tree(haptic), np.random.default_rng(72))
    bodies = {name: value for name, value in tree.parameters.items() if not name.startswith("Ia")}
    motion = States(states.q @ G.T + SHIFT, states.qd @ G.T, states.qdd @ G.T)
    return tree.with_parameters(bodies), motion


def test_the_loop_closes(haptic: Robot, states: States) -> None:
    """Link 6, at d3, meets link 3, at −d6, in every configuration."""
    p, R = dynid_frames(haptic, states)
    d3, d6 = haptic.lengths["d3"], haptic.lengths["d6"]
    on_link6 = p[:, 5] + d3 * R[:, 5, :, 0]
    on_link3 = p[:, 2] - d6 * R[:, 2, :, 0]
    np.testing.assert_allclose(on_link6, on_link3, rtol=0, atol=1e-14)


def test_coupling_matrix_is_the_papers(haptic: Robot) -> None:
    assert haptic.coupling is not None
    np.testing.assert_array_equal(haptic.coupling.G, G)
    np.testing.assert_allclose(haptic.coupling.offset, SHIFT, rtol=1e-15)


def test_friction_and_offsets_are_the_motors_own(haptic: Robot, states: States) -> None:
    W = dynid_regressor(haptic, states)
    for k, label in enumerate("125"):
        expected = {"Fv": states.qd[:, k], "Fc": np.sign(states.qd[:, k]), "off": np.ones(len(states.q))}
        for symbol, values in expected.items():
            column = W[:, :, haptic.table.index(symbol + label)]
            np.testing.assert_array_equal(column[:, k], values)
            assert not np.delete(column, k, axis=1).any()
    assert not [entry for entry in haptic.table if entry.family == "friction" and entry.name[-1] in "346"]


def test_every_kernel_is_the_projected_open_tree(haptic: Robot, states: States) -> None:
    pytest.importorskip("pinocchio", reason="Pinocchio is this test's oracle; install the oracles extra.")
    from support.pinocchio_oracle import pinocchio_oracle

    tree, motion = open_tree(haptic, states)
    oracle = pinocchio_oracle(tree)
    inertial = [i for i, entry in enumerate(haptic.table) if entry.family == "inertial"]
    chi = haptic.table.vector(tree.parameters)
    tau = oracle.rnea(motion) @ G
    W = np.einsum("ik,sip->skp", G, oracle.joint_regressor(motion))
    assert relative_error(dynid_regressor(haptic, states)[:, :, inertial], W) < 1e-10
    assert relative_error(dynid_inverse(haptic, chi, states), tau) < 1e-10
    assert relative_error(dynid_bias(haptic, chi, states), oracle.bias(motion) @ G) < 1e-10
    assert relative_error(dynid_gravity(haptic, chi, states), oracle.gravity(motion) @ G) < 1e-10
    M = G.T @ oracle.inertia_matrix(motion) @ G
    assert relative_error(dynid_inertia_matrix(haptic, chi, states), M) < 1e-10
    assert relative_error(dynid_direct(haptic, chi, states, tau), states.qdd) < 1e-10
    assert relative_error(dynid_energy(haptic, chi, states)[:, 0], oracle.energy(motion)[:, 0]) < 1e-10
    for ours, theirs in zip(dynid_frames(haptic, states), oracle.frames(motion), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
