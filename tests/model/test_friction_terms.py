"""Friction formulas: plain arithmetic works, everything else is refused."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.base import find_base
from dynid.compile.kernels import kernels
from dynid.core.errors import ModelError
from dynid.dynamics.actuation import actuation_column
from dynid.dynamics.operations import NUMERIC
from dynid.model.friction import BUILT_IN, FUNCTIONS, FrictionTerm, parse_expression
from dynid.model.joint import BASE, Joint
from dynid.model.robot import Robot

Q = np.linspace(-2.0, 2.0, 41)
QD = np.linspace(-3.0, 3.0, 41)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("qd", QD),
        ("-q + 2*qd", -Q + 2 * QD),
        ("sign(qd)", np.sign(QD)),
        ("step(qd)", (QD > 0) * 1.0),
        ("qd^2 * sign(qd)", QD * np.abs(QD)),
        ("abs(qd)^0.5", np.sqrt(np.abs(QD))),
        ("sign(qd) * exp(-(qd/0.1)^2)", np.sign(QD) * np.exp(-((QD / 0.1) ** 2))),
        ("tanh(50*qd) - atan(qd)/2", np.tanh(50 * QD) - np.arctan(QD) / 2),
        ("max(qd, 0) + min(q, 0.5)", np.maximum(QD, 0) + np.minimum(Q, 0.5)),
        ("sin(q)*cos(3*q) + log(1 + q^2)", np.sin(Q) * np.cos(3 * Q) + np.log(1 + Q**2)),
        ("sqrt(1 + qd*qd)", np.sqrt(1 + QD * QD)),
        ("2e-3*(qd - -1)", 2e-3 * (QD + 1)),
        ("+q", Q),
        ("qd^10", QD**10),
    ],
)
def test_formulas_are_evaluated_on_arrays(expression: str, expected: np.ndarray) -> None:
    assert np.allclose(NUMERIC.evaluate(expression, Q, QD), expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("x", "'x'"),
        ("__import__('os')", "__import__"),
        ("__import__('os').system('ls')", "__import__"),
        ("q.__class__", "q.__class__"),
        ("q[0]", "q[0]"),
        ("lambda: q", "lambda"),
        ("[q for q in qd]", "for q in qd"),
        ("q if qd else 1", "q if qd else 1"),
        ("q > 0", "q > 0"),
        ("q // 2", "q // 2"),
        ("q @ qd", "q @ qd"),
        ("~q", "~q"),
        ("not q", "not q"),
        ("q and qd", "q and qd"),
        ("'a'", "'a'"),
        ("True", "True"),
        ("1j", "1j"),
        ("sin", "sin"),
        ("sin(x=q)", "sin(x=q)"),
        ("sin(*q)", "*q"),
        ("open(q)", "open(q)"),
        ("(q, qd)", "(q, qd)"),
        ("(q := 1)", "q := 1"),
        ("f'{q}'", "f'{q}'"),
        ("1e999 * q", "1e309"),
        ("9" * 400, "999"),
    ],
)
def test_everything_but_arithmetic_is_refused(expression: str, named: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_expression(expression)
    assert named in str(caught.value)
    assert "allowed are q, qd, numbers, + - * / ^ and the functions sign" in str(caught.value)


@pytest.mark.parametrize("expression", ["", "q +", "import os", "q; qd", "q = 1", "(" * 300, "q\x00", "q qd"])
def test_what_is_no_formula_is_refused(expression: str) -> None:
    with pytest.raises(ModelError, match="is not a formula"):
        parse_expression(expression)


@pytest.mark.parametrize("expression", ["qd + 1/0", "9^9^9^9 * q"])
def test_constants_without_a_value_are_named(expression: str) -> None:
    with pytest.raises(ModelError, match="has no value"):
        NUMERIC.evaluate(expression, Q, QD)


@pytest.mark.parametrize("expression", ["qd + 1/0", "9^9^9^9 * q"])
def test_terms_without_a_value_are_named_where_they_are_used(expression: str) -> None:
    robot = Robot("r", (Joint("a", BASE),), terms=("Fz",), friction=(FrictionTerm("Fz", expression),))
    with pytest.raises(ModelError) as caught:
        actuation_column(robot, robot.table.entries[-1], [0.1], [0.2], [0.3], NUMERIC)
    assert f"The friction expression {expression!r} of the term 'Fz' has no value (" in str(caught.value)
    assert "; give one that has a value at every position and speed." in str(caught.value)
    with pytest.raises(ModelError, match="of the term 'Fz' has no value"):
        find_base(robot)
    with pytest.raises(ModelError, match="of the term 'Fz' has no value"):
        kernels(robot).regressor_blocks([[0.1]], [[0.2]], [[0.3]])


def test_long_and_deep_formulas_are_refused_or_survived() -> None:
    with pytest.raises(ModelError, match="has 501 characters; at most 500 are taken"):
        parse_expression("q" * 501)
    assert np.allclose(NUMERIC.evaluate("-" * 400 + "q", Q, QD), Q)


@pytest.mark.parametrize(
    ("expression", "wanted", "given"), [("sin(q, qd)", 1, 2), ("max(q)", 2, 1), ("abs()", 1, 0)]
)
def test_argument_counts_are_checked(expression: str, wanted: int, given: int) -> None:
    with pytest.raises(ModelError, match=rf"takes {wanted} argument\(s\), not {given}"):
        parse_expression(expression)


@pytest.mark.parametrize("name", ["F2", "", "a-b", "1a", "a b", "é"])
def test_names_that_could_not_carry_a_joints_number_are_refused(name: str) -> None:
    with pytest.raises(ModelError, match="must be letters, digits or _ and must not end in a digit"):
        FrictionTerm(name, "qd")


def test_built_in_terms_split_by_direction() -> None:
    values = {name: NUMERIC.evaluate(term.expression, Q, QD) for name, term in BUILT_IN.items()}
    assert np.allclose(values["Fvp"] + values["Fvn"], values["Fv"])
    assert np.allclose(values["Fcp"] + values["Fcn"], values["Fc"])
    assert float(values["off"]) == 1.0
    assert all(name in NUMERIC.functions for name in FUNCTIONS)
