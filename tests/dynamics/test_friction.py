"""Friction columns are the functions they are named after: built-in, asymmetric and the user's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.core.errors import ModelError
from dynid.dynamics.operations import NUMERIC, symbolic
from dynid.model.friction import BUILT_IN, FUNCTIONS, FrictionTerm
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from support.evaluate import (
    States,
    dynid_bias,
    dynid_direct,
    dynid_inertia_matrix,
    dynid_inverse,
    dynid_regressor,
    random_states,
)

STRIBECK = FrictionTerm("Fs", "sign(qd) * exp(-(qd / 0.1)^2)")
RIPPLE = FrictionTerm("Fr", "abs(qd) * sin(2*q) - max(q, -0.5) / 4")
CUBIC = FrictionTerm("Fq", "qd^3 + 2^3")

EXPECTED = {
    "Fv": lambda q, qd: qd,
    "Fc": lambda q, qd: np.where(qd > 0, 1.0, np.where(qd < 0, -1.0, 0.0)),
    "off": lambda q, qd: np.ones_like(qd),
    "Fvp": lambda q, qd: np.where(qd > 0, qd, 0.0),
    "Fvn": lambda q, qd: np.where(qd < 0, qd, 0.0),
    "Fcp": lambda q, qd: np.where(qd > 0, 1.0, 0.0),
    "Fcn": lambda q, qd: np.where(qd < 0, -1.0, 0.0),
    "Fs": lambda q, qd: np.sign(qd) * np.exp(-((qd / 0.1) ** 2)),
    "Fr": lambda q, qd: np.abs(qd) * np.sin(2 * q) - np.maximum(q, -0.5) / 4,
    "Fq": lambda q, qd: qd**3 + 8,
}


@pytest.fixture(scope="module")
def robot() -> Robot:
    custom = (STRIBECK, RIPPLE, CUBIC)
    return replace(load_robot("scara"), friction=custom, terms=(*BUILT_IN, *(term.name for term in custom)))


@pytest.fixture(scope="module")
def states(robot: Robot) -> States:
    x = random_states(robot, np.random.default_rng(51))
    x.qd[:3] = [[0.0, -1.0], [0.05, 0.0], [-0.02, 0.1]]  # rest and the Stribeck range
    return x


@pytest.mark.parametrize("symbol", EXPECTED)
def test_column_of_each_term(robot: Robot, states: States, symbol: str) -> None:
    W = dynid_regressor(robot, states)
    for k, label in enumerate("12"):
        column = W[:, :, robot.table.index(symbol + label)]
        expected = np.zeros_like(states.q)
        expected[:, k] = EXPECTED[symbol](states.q[:, k], states.qd[:, k])
        np.testing.assert_allclose(column, expected, rtol=1e-14, atol=0)


def test_asymmetric_terms_add_up_to_the_symmetric_ones(robot: Robot, states: States) -> None:
    W = dynid_regressor(robot, states)
    for whole, forward, backward in (("Fv", "Fvp", "Fvn"), ("Fc", "Fcp", "Fcn")):
        for label in "12":
            parts = W[:, :, robot.table.index(forward + label)] + W[:, :, robot.table.index(backward + label)]
            np.testing.assert_array_equal(W[:, :, robot.table.index(whole + label)], parts)


def test_friction_opposes_motion(robot: Robot) -> None:
    """A positive coefficient brakes: steady motion needs torque along it, and free motion loses energy."""
    still = np.zeros((2, 2))
    x = States(still, np.array([[1.0, 1.0], [-1.0, -1.0]]), still)
    for symbols in (("Fv",), ("Fc",), ("Fvp", "Fvn"), ("Fcp", "Fcn"), ("Fs",)):
        friction = {symbol + label: 100.0 for symbol in symbols for label in "12"}
        chi = robot.table.vector({"ZZ1": 1.0, "ZZ2": 1.0} | friction)
        assert np.all(dynid_bias(robot, chi, x) * x.qd > 0), symbols
        slowing = dynid_direct(robot, chi, x, still)
        momentum = np.einsum("sij,sj->si", dynid_inertia_matrix(robot, chi, x), x.qd)
        assert np.all(np.einsum("si,si->s", momentum, slowing) < 0), symbols


def test_direct_undoes_inverse_with_user_friction(robot: Robot, states: States) -> None:
    chi = np.random.default_rng(52).normal(size=len(robot.table))
    chi[list(robot.table.indices(["ZZ1", "ZZ2", "M2"]))] = 3.0, 1.0, 2.0
    chi[list(robot.table.indices(["MX2", "MY2"]))] = 0.1, 0.2
    tau = dynid_inverse(robot, chi, states)
    np.testing.assert_allclose(dynid_direct(robot, chi, states, tau), states.qdd, rtol=1e-10, atol=1e-10)


def test_drive_inertia_column_is_the_acceleration() -> None:
    robot = load_robot("rx90")
    x = random_states(robot, np.random.default_rng(53))
    W = dynid_regressor(robot, x)
    for k in range(6):
        expected = np.zeros_like(x.q)
        expected[:, k] = x.qdd[:, k]
        np.testing.assert_array_equal(W[:, :, robot.table.index(f"Ia{k + 1}")], expected)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_agree_between_numbers_and_symbols(name: str) -> None:
    ca = pytest.importorskip("casadi")
    arguments = "abs(qd), q" if name in ("min", "max") else "abs(qd)" if name in ("log", "sqrt") else "qd"
    formula = f"2 * {name}({arguments}) - q"
    q, qd = ca.SX.sym("q"), ca.SX.sym("qd")
    f = ca.Function("f", [q, qd], [symbolic().evaluate(formula, q, qd)])
    for speed in (-1.5, 0.3, 2.0) if name == "log" else (-1.5, 0.0, 0.3, 2.0):
        assert float(f(0.7, speed)) == pytest.approx(NUMERIC.evaluate(formula, 0.7, speed), rel=1e-14)


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("__import__('os')", "allowed are q, qd, numbers"),
        ("qd.real", "allowed are q, qd, numbers"),
        ("speed", "allowed are q, qd, numbers"),
        ("min(qd)", "min takes 2 argument(s), not 1"),
        ("qd +", "is not a formula"),
        ("qd" + "+qd" * 200, "at most 500 are taken"),
    ],
)
def test_only_formulas_are_taken(formula: str, said: str) -> None:
    with pytest.raises(ModelError) as error:
        FrictionTerm("Fx", formula)
    assert said in str(error.value)
