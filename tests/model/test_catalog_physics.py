"""Robots of the catalog can be simulated: M(q) > 0 everywhere, links that can exist, printed values kept."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.base.find import find_base
from dynid.compile.kernels import kernels
from dynid.core.errors import DynidError
from dynid.dynamics.loop_guess import closed_ranges
from dynid.model.inertia import LinkInertia
from dynid.model.load import catalog, load_robot
from dynid.model.parameters import INERTIAL
from dynid.model.robot import Robot
from dynid.simulation import PID, Controller, Reference, simulate
from support.evaluate import random_states

P1_TABLE_2 = {
    "ZZ1": 1.230, "Fv1": 8.070, "Fc1": 5.780, "MX2": 2.090, "Fv2": 5.550, "Fc2": 7.540, "XX3": 0.127,
    "MX3": 0.045, "Ia3": 0.084, "Fv3": 2.240, "Fc3": 5.860, "Ia4": 0.027, "Fv4": 1.130, "Fc4": 2.310,
    "off4": 0.096, "Ia5": 0.053, "Fv5": 2.010, "Fc5": 3.780, "Ia6": 0.014, "Fv6": 0.721, "off6": 0.166,
}  # fmt: skip
ASSUMED = {"XX2", "ZZ2", "MY2", "ZZ3", "MY3", "Fc6"}
SIMULATED = [name for name in catalog() if not load_robot(name).inverse_only]
OTHERS = [name for name in catalog() if load_robot(name).inverse_only]


def eigenvalues(robot: Robot, values: dict[str, float], poses: int = 20_000) -> np.ndarray:
    """Smallest and largest eigenvalue of M(q) at random poses, two turns wide or where loops close."""
    q = 2.0 * random_states(robot, np.random.default_rng(5), poses).q
    for j in closed_ranges(robot):
        q[:, robot.coordinates.index(j)] /= 2.0
    return np.linalg.eigvalsh(kernels(robot).inertia_matrix(robot.table.vector(values), q))[:, [0, -1]]


@pytest.mark.parametrize("name", SIMULATED)
def test_the_inertia_matrix_is_positive_definite_everywhere(name: str) -> None:
    robot = load_robot(name)
    found = eigenvalues(robot, dict(robot.parameters))
    assert np.all(found[:, 0] > 1e-4 * found[:, 1])


@pytest.mark.parametrize("name", OTHERS)
def test_inverse_only_is_deserved_and_refused(name: str) -> None:
    robot = load_robot(name)
    assert np.mean(eigenvalues(robot, dict(robot.parameters))[:, 0] <= 0) > 0.5
    n = robot.n_coordinates
    with pytest.raises(DynidError, match=rf"'{name}' cannot be simulated with its own values: .* --param"):
        simulate(robot, None, Controller(PID((1.0,) * n), 0.01), Reference(0.01, np.zeros((9, n))))


def test_the_catalog_says_which_robots_those_are() -> None:
    assert OTHERS == ["tx40_log", "tx90"]


def test_the_printed_values_of_the_tx40_alone_are_indefinite() -> None:
    """P1's 21 values stay as printed; with what is assumed beside them half of all poses become sound."""
    robot = load_robot("tx40")
    assert {name: robot.parameters[name] for name in P1_TABLE_2} == P1_TABLE_2
    assert set(robot.parameters) - set(P1_TABLE_2) == ASSUMED
    assert "assumed" in robot.source
    assert 0.4 < np.mean(eigenvalues(robot, P1_TABLE_2)[:, 0] <= 0) < 0.6


@pytest.mark.parametrize("name", ["cartpole", "pendubot", "rx90", "ur10"])
def test_links_given_as_bodies_could_be_built(name: str) -> None:
    """Pseudo-inertia [[½ tr(J) 1 − J, MS], [MSᵀ, M]] of every link, positive definite but for the cart's."""
    robot = load_robot(name)
    assert "assumed" in robot.source
    for joint in robot.joints:
        ten = [robot.parameters[symbol + joint.label] for symbol in INERTIAL]
        smallest = np.linalg.eigvalsh(pseudo_inertia(np.array(ten)))[0]
        assert smallest >= 0 if joint.name == "cart" else smallest > 1e-6


def pseudo_inertia(ten: np.ndarray) -> np.ndarray:
    """[[½ tr(J) 1 − J, MS], [MSᵀ, M]] of XX … M."""
    body = LinkInertia.from_standard(ten)
    J, ms = body.tensor, body.moment
    return np.block([[0.5 * np.trace(J) * np.eye(3) - J, ms[:, None]], [ms[None], np.array([[body.mass]])]])


def distance_from_bodies(robot: Robot, passes: int = 3000) -> float:
    """What bodies that can exist leave of the robot's base values, by Douglas–Rachford steps.

    Unknowns are the pseudo-inertias P_j ⪰ 0 of the links, in coordinates that keep their length, and Ia ≥ 0.
    """
    base, upper = find_base(robot), np.triu_indices(4)
    root = np.where(upper[0] == upper[1], 1.0, np.sqrt(2.0))
    to_vector = np.array([pseudo_inertia(unit)[upper] * root for unit in np.eye(10)]).T
    tables = [[robot.table.index(symbol + joint.label) for symbol in INERTIAL] for joint in robot.joints]
    drives = [robot.table.index(f"Ia{joint.label}") for joint in robot.joints]
    rows = np.any(base.matrix[:, [c for table in tables for c in table]] != 0, axis=1)
    rows |= np.any(base.matrix[:, drives] != 0, axis=1)
    K, wanted = base.matrix[rows], base.regroup(dict(robot.parameters))[rows]
    A = np.hstack([*(K[:, table] @ np.linalg.inv(to_vector) for table in tables), K[:, drives]])
    inverse, n = np.linalg.pinv(A), len(tables)

    def nearest_bodies(u: np.ndarray) -> np.ndarray:
        P = np.zeros((n, 4, 4))
        P[:, upper[0], upper[1]] = u[: 10 * n].reshape(n, 10) / root
        values, vectors = np.linalg.eigh(P, UPLO="U")
        P = (vectors * np.maximum(values, 0)[:, None, :]) @ vectors.transpose(0, 2, 1)
        return np.concatenate([(P[:, upper[0], upper[1]] * root).ravel(), np.maximum(u[10 * n :], 0)])

    z = np.zeros(A.shape[1])
    for _ in range(passes):
        bodies = nearest_bodies(z)
        ahead = 2 * bodies - z
        z = z + ahead - inverse @ (A @ ahead - wanted) - bodies
    return float(np.abs(A @ nearest_bodies(z) - wanted).max())


def test_some_bodies_have_the_base_values_of_the_tx40() -> None:
    """With ZZ3 as the measured log gives it none would: XX3 − YY3 ≤ ZZ3."""
    robot = load_robot("tx40")
    assert distance_from_bodies(robot) < 1e-4
    assert distance_from_bodies(robot.with_parameters({**robot.parameters, "ZZ3": 0.108})) > 5e-3
