"""Laws the kernels must keep among themselves, with friction, drives, motor terms and couplings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.dynamics.energy import energy_regressor, power_regressor
from dynid.dynamics.loop_guess import closed_ranges
from dynid.dynamics.operations import NUMERIC
from dynid.dynamics.regressor import regressor
from dynid.dynamics.solve import solve_symmetric
from dynid.model.load import catalog, load_robot
from dynid.model.payload import attach_payload
from dynid.model.robot import Robot
from support.evaluate import (
    States,
    dynid_bias,
    dynid_direct,
    dynid_energy,
    dynid_energy_regressor,
    dynid_gravity,
    dynid_inertia_matrix,
    dynid_inverse,
    dynid_regressor,
    random_states,
    relative_error,
    stacked,
)
from support.robots import (
    ORACLE_ROBOTS,
    PAYLOAD,
    branched_robot,
    prismatic_robot,
    skew_robot,
    welded_robot,
    with_random_inertias,
)

FULL_ROBOTS = {name: load_robot(name) for name in catalog()} | {
    "prismatic": prismatic_robot(),
    "branched": branched_robot().with_terms("Ia", "Fv", "Fc", "off"),
    "skew": skew_robot(np.random.default_rng(5)),
    "welded": welded_robot(),
    "tx40_log_payload": attach_payload(load_robot("tx40_log"), PAYLOAD),
}


@pytest.fixture(params=FULL_ROBOTS)
def robot(request: pytest.FixtureRequest) -> Robot:
    return FULL_ROBOTS[request.param]


@pytest.fixture
def states(robot: Robot) -> States:
    return random_states(robot, np.random.default_rng(31))


def physical_parameters(robot: Robot, rng: np.random.Generator) -> np.ndarray:
    """Bodies that can exist on every link, positive drive inertias and arbitrary friction."""
    bodies = with_random_inertias(robot, rng).parameters
    chi = rng.normal(0.0, 1.0, len(robot.table))
    for i, entry in enumerate(robot.table):
        if entry.family == "inertial" or entry.symbol == "Ia":
            chi[i] = bodies[entry.name]
        elif entry.symbol == "Iam":
            chi[i] = 0.01
    return chi


def test_regressor_times_any_parameters_is_inverse_dynamics(robot: Robot, states: States) -> None:
    chi = np.random.default_rng(32).normal(size=len(robot.table))
    tau = dynid_inverse(robot, chi, states)
    assert relative_error(dynid_regressor(robot, states) @ chi, tau) < 1e-12


def test_direct_undoes_inverse(robot: Robot, states: States) -> None:
    chi = physical_parameters(robot, np.random.default_rng(33))
    tau = dynid_inverse(robot, chi, states)
    assert relative_error(dynid_direct(robot, chi, states, tau), states.qdd) < 1e-10


def test_inverse_is_inertia_times_acceleration_plus_bias(robot: Robot, states: States) -> None:
    chi = np.random.default_rng(34).normal(size=len(robot.table))
    M = dynid_inertia_matrix(robot, chi, states)
    np.testing.assert_array_equal(M, M.swapaxes(1, 2))
    tau = np.einsum("sij,sj->si", M, states.qdd) + dynid_bias(robot, chi, states)
    assert relative_error(tau, dynid_inverse(robot, chi, states)) < 1e-12


def test_gravity_is_inverse_at_rest_less_offsets(robot: Robot, states: States) -> None:
    chi = np.random.default_rng(35).normal(size=len(robot.table))
    rest = States(states.q, 0 * states.q, 0 * states.q)
    apart = [entry.symbol == "off" or entry.family == "element" for entry in robot.table]
    smooth = np.where(apart, 0.0, chi)
    expected = dynid_inverse(robot, smooth, rest)
    np.testing.assert_allclose(dynid_gravity(robot, chi, states), expected, rtol=1e-12, atol=1e-12)


def test_kinetic_energy_is_the_form_of_the_inertia_matrix(robot: Robot, states: States) -> None:
    chi = np.random.default_rng(36).normal(size=len(robot.table))
    M = dynid_inertia_matrix(robot, chi, states)
    expected = 0.5 * np.einsum("si,sij,sj->s", states.qd, M, states.qd)
    assert relative_error(dynid_energy(robot, chi, states)[:, 0], expected) < 1e-12


def test_energy_is_linear_in_the_parameters(robot: Robot, states: States) -> None:
    chi = np.random.default_rng(37).normal(size=len(robot.table))
    rows = dynid_energy_regressor(robot, states)
    np.testing.assert_allclose(rows @ chi, dynid_energy(robot, chi, states), rtol=1e-12, atol=1e-12)


def motion(n: int, t: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """A smooth motion of n coordinates at real or complex times: position, speed, acceleration."""
    w = 1.0 + 0.3 * np.arange(n)
    q = [np.sin(a * t) + 0.5 * np.cos(2 * a * t) + 0.1 * k for k, a in enumerate(w)]
    qd = [a * np.cos(a * t) - a * np.sin(2 * a * t) for a in w]
    qdd = [-(a**2) * np.sin(a * t) - 2 * a**2 * np.cos(2 * a * t) for a in w]
    return q, qd, qdd


def motion_of(robot: Robot, t: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """The smooth motion, of coordinates that move loops where these close."""
    q, qd, qdd = motion(robot.n_coordinates, t)
    for j, (low, high) in closed_ranges(robot).items():
        k, size = robot.coordinates.index(j), (high - low) / 4
        q[k], qd[k], qdd[k] = (low + high) / 2 + size * q[k], size * qd[k], size * qdd[k]
    return q, qd, qdd


def test_power_balance(robot: Robot) -> None:
    """d/dt (k + u) = q̇ᵀ W column by column, the derivative exact by a complex step."""
    h = 1e-30
    t = np.linspace(0.0, 3.0, 16)
    stored = [i for i, e in enumerate(robot.table) if e.family == "inertial" or e.symbol in ("Ia", "Iam")]
    q, qd, _ = motion_of(robot, t + 1j * h)
    kinetic, potential = energy_regressor(robot, q, qd, NUMERIC, stored)
    stored_energy = [k + u for k, u in zip(kinetic, potential, strict=True)]
    rate = stacked([np.imag(value) / h for value in stored_energy], len(t))
    q, qd, qdd = motion_of(robot, t)
    power = stacked(power_regressor(regressor(robot, q, qd, qdd, NUMERIC, stored), qd), len(t))
    assert relative_error(rate, power) < 1e-12


def test_friction_stores_no_energy(robot: Robot, states: States) -> None:
    rows = dynid_energy_regressor(robot, states)
    lost = [i for i, e in enumerate(robot.table) if e.family == "friction" or e.symbol in ("Fvm", "Fcm")]
    assert not np.any(rows[:, :, lost])


def test_some_columns_are_those_of_the_whole(robot: Robot, states: States) -> None:
    wanted = [len(robot.table) - 1, 3, 9]
    some = stacked(regressor(robot, states.q.T, states.qd.T, states.qdd.T, NUMERIC, wanted), len(states.q))
    np.testing.assert_array_equal(some, dynid_regressor(robot, states)[:, :, wanted].swapaxes(1, 2))


def test_a_link_loads_only_the_joints_that_carry_it() -> None:
    robot = ORACLE_ROBOTS["branched"]
    x = random_states(robot, np.random.default_rng(38), samples=1)
    columns = regressor(robot, x.q[0], x.qd[0], x.qdd[0], NUMERIC)
    for column, entry in zip(columns, robot.table, strict=True):
        carriers, link = set(), entry.joint
        while link >= 0 and entry.family == "inertial":
            carriers.add(link)
            link = robot.joints[link].antecedent
        carriers.add(entry.joint)
        others = [column[j] for j in range(len(robot.joints)) if j not in carriers]
        assert all(type(value) is float and value == 0.0 for value in others), entry.name


@pytest.mark.parametrize("density", [0.0, 0.4, 1.0])
def test_solve_symmetric_solves(density: float) -> None:
    rng = np.random.default_rng(39)
    for n in range(1, 9):
        B = rng.normal(size=(n, n)) * (rng.random((n, n)) < density)
        A = B @ B.T + np.diag(rng.uniform(1.0, 2.0, n))
        b = rng.normal(size=n)
        x = solve_symmetric([[float(v) for v in row] for row in A], [float(v) for v in b])
        np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-10, atol=1e-12)


def test_gravity_direction_is_in_the_base_frame() -> None:
    upright = load_robot("rx90")
    hung = replace(upright, gravity=(0.0, 0.0, 9.81))
    x = random_states(upright, np.random.default_rng(40))
    chi = physical_parameters(upright, np.random.default_rng(41))
    np.testing.assert_allclose(dynid_gravity(hung, chi, x), -dynid_gravity(upright, chi, x), rtol=1e-13)
