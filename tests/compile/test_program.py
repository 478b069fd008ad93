"""Straight-line programs: what CasADi's instructions become."""

from __future__ import annotations

import casadi as ca
import pytest

from dynid.compile.csource import c_source
from dynid.compile.program import Port, from_casadi
from dynid.compile.trace import describe
from dynid.core.errors import DynidError
from dynid.model.load import load_robot


def program_of(build, width: int = 2):  # type: ignore[no-untyped-def]
    x = ca.SX.sym("x", width)
    results = ca.vertcat(*build(x))
    return from_casadi(
        ca.Function("f", [x], [ca.densify(results)]), [Port("x", width)], [Port("y", results.numel())]
    )


def test_equal_expressions_are_computed_once() -> None:
    program = program_of(lambda x: [x[0] * x[1] + 1, 2 * (x[1] * x[0]), x[1] * x[0]])
    assert program.count()["mul"] == 1


def test_nothing_unused_is_kept() -> None:
    program = program_of(lambda x: [0 * ca.sin(x[0]) + x[1]])
    assert "sin" not in program.count()
    assert {b for op, _, b in program.instructions if op == "input"} == {1}


def test_zeros_by_structure_are_known() -> None:
    program = program_of(lambda x: [x[0], ca.SX(0), ca.SX(2.5)])
    assert program.nonzero == (0, 2)
    assert program.results[1] == -1


def test_one_division_per_divisor() -> None:
    program = program_of(lambda x: [x[0] / x[2], x[1] / x[2], 1 / x[2]], width=3)
    assert program.count()["div"] == 1


def test_unknown_operations_are_told() -> None:
    with pytest.raises(DynidError, match="cannot be compiled"):
        program_of(lambda x: [ca.erf(x[0])])


def test_the_customised_model_is_small() -> None:
    """Folding zeros and ones leaves a small part of the dense recursion (SYMORO's customisation)."""
    program = describe(load_robot("iiwa14").with_terms(), "regressor").program()
    counts = program.count()
    assert counts["mul"] + counts["add"] + counts["sub"] < 1500
    assert counts["sin"] == counts["cos"] == 6  # joint 1 turns about gravity: its angle is nowhere
    assert len(program.nonzero) < 7 * 70 / 1.9  # block triangular


@pytest.mark.parametrize("name", ["2fast", "double", "sin", "a-b"])
def test_c_source_refuses_a_bad_name(name: str) -> None:
    program = describe(load_robot("scara"), "inverse").program()
    with pytest.raises(DynidError, match=f"'{name}' is not a name for a C function of one's own"):
        c_source(program, name)
