"""One kernel, three scalar types: Python floats, NumPy arrays over samples, CasADi symbols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dynid.dynamics.direct import direct_dynamics
from dynid.dynamics.energy import energy
from dynid.dynamics.inertia_matrix import inertia_matrix
from dynid.dynamics.inverse import bias_torques, gravity_torques, inverse_dynamics
from dynid.dynamics.kinematics import forward_kinematics
from dynid.dynamics.operations import NUMERIC, Operations, symbolic
from dynid.dynamics.regressor import regressor
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from support.evaluate import States, random_states, relative_error, stacked
from support.robots import branched_robot, prismatic_robot, welded_robot

Kernel = Callable[[Robot, Any, Any, Any, Any, Operations], Any]

KERNELS: dict[str, Kernel] = {
    "regressor": lambda r, x, q, qd, qdd, ops: regressor(r, q, qd, qdd, ops),
    "inverse": inverse_dynamics,
    "bias": lambda r, x, q, qd, qdd, ops: bias_torques(r, x, q, qd, ops),
    "gravity": lambda r, x, q, qd, qdd, ops: gravity_torques(r, x, q, ops),
    "inertia_matrix": lambda r, x, q, qd, qdd, ops: inertia_matrix(r, x, q, ops),
    "direct": direct_dynamics,
    "energy": lambda r, x, q, qd, qdd, ops: energy(r, x, q, qd, ops),
    "frames": lambda r, x, q, qd, qdd, ops: forward_kinematics(r, q, ops),
}
ROBOTS = {name: load_robot(name) for name in ("iiwa14", "tx40_log", "haptic", "emps")} | {
    "prismatic": prismatic_robot(),
    "branched": branched_robot(),
    "welded": welded_robot(),
}
SAMPLES = 5


@pytest.fixture(params=ROBOTS)
def robot(request: pytest.FixtureRequest) -> Robot:
    return ROBOTS[request.param]


@pytest.fixture
def states(robot: Robot) -> States:
    return random_states(robot, np.random.default_rng(81), SAMPLES)


@pytest.fixture
def chi(robot: Robot) -> np.ndarray:
    return np.random.default_rng(82).normal(size=len(robot.table))


def on_arrays(kernel: Kernel, robot: Robot, chi: Any, x: States) -> np.ndarray:
    """All samples at once."""
    return stacked(kernel(robot, chi, x.q.T, x.qd.T, x.qdd.T, NUMERIC), SAMPLES)


def on_floats(kernel: Kernel, robot: Robot, chi: Any, x: States) -> np.ndarray:
    """One sample after the other; every scalar a Python float."""
    plain = [float(value) for value in chi]
    rows = [kernel(robot, plain, q.tolist(), qd.tolist(), qdd.tolist(), NUMERIC) for q, qd, qdd in x]
    return np.array(rows, dtype=float)


def on_symbols(kernel: Kernel, robot: Robot, chi: Any, x: States) -> np.ndarray:
    """Traced once with symbols for the motion and the parameters, then evaluated."""
    ca = pytest.importorskip("casadi")
    n = robot.n_coordinates
    inputs = [ca.SX.sym(name, size) for name, size in (("x", len(chi)), ("q", n), ("qd", n), ("qdd", n))]
    result = kernel(robot, *(ca.vertsplit(symbols) for symbols in inputs), symbolic())
    nested = isinstance(result[0], list)
    flat = [value for row in result for value in row] if nested else list(result)
    traced = ca.Function("kernel", inputs, [ca.vertcat(*(ca.SX(value) for value in flat))])
    rows = np.array([np.array(traced(chi, q, qd, qdd)).ravel() for q, qd, qdd in x])
    return rows.reshape(SAMPLES, len(result), -1) if nested else rows


@pytest.mark.parametrize("name", KERNELS)
def test_floats_equal_arrays(robot: Robot, chi: np.ndarray, states: States, name: str) -> None:
    ours = on_floats(KERNELS[name], robot, chi, states)
    assert relative_error(ours, on_arrays(KERNELS[name], robot, chi, states)) < 1e-12


@pytest.mark.parametrize("name", KERNELS)
def test_symbols_equal_arrays(robot: Robot, chi: np.ndarray, states: States, name: str) -> None:
    ours = on_symbols(KERNELS[name], robot, chi, states)
    assert relative_error(ours, on_arrays(KERNELS[name], robot, chi, states)) < 1e-12


def test_zeros_fold_away_when_tracing() -> None:
    """What cannot be seen is the constant zero, not a symbol that happens to be zero: SCARA, no gravity."""
    ca = pytest.importorskip("casadi")
    robot = load_robot("scara")
    q, qd, qdd = (ca.vertsplit(ca.SX.sym(name, 2)) for name in ("q", "qd", "qdd"))
    columns = regressor(robot, q, qd, qdd, symbolic())
    alive = {
        entry.name
        for entry, column in zip(robot.table, columns, strict=True)
        if any(not (isinstance(value, float) and value == 0.0) for value in column)
    }
    assert alive == {"ZZ1", "Fv1", "Fc1", "ZZ2", "MX2", "MY2", "M2", "Fv2", "Fc2"}


def test_the_traced_iiwa_regressor_stays_small() -> None:
    """Folding keeps the straight-line program short; a lost fold shows here long before it costs time."""
    ca = pytest.importorskip("casadi")
    robot = load_robot("iiwa14")
    inputs = [ca.SX.sym(name, 7) for name in ("q", "qd", "qdd")]
    columns = regressor(robot, *(ca.vertsplit(symbols) for symbols in inputs), symbolic())
    flat = ca.vertcat(*(ca.SX(value) for column in columns for value in column))
    assert ca.Function("W", inputs, [ca.cse(flat)]).n_instructions() < 6000
