"""The regrouping formulas printed in the papers, compared by meaning, with their errata."""

from __future__ import annotations

import pytest

from base.helpers import regrouped_formulas, same_meaning
from dynid.base import find_base
from dynid.model.load import load_robot

P1_EQUATION_27 = """
ZZ1R = Ia1 + D3^2*(M3 + M4 + M5 + M6) + YY2 + YY3 + ZZ1
XX2R = -D3^2*(M3 + M4 + M5 + M6) + XX2 - YY2
XZ2R = -D3*MZ3 + XZ2
ZZ2R = Ia2 + D3^2*(M3 + M4 + M5 + M6) + ZZ2
MX2R = D3*(M3 + M4 + M5 + M6) + MX2
XX3R = 2*MZ4*RL4 + (M4 + M5 + M6)*RL4^2 + XX3 - YY3 + YY4
ZZ3R = 2*MZ4*RL4 + (M4 + M5 + M6)*RL4^2 + YY4 + ZZ3
MY3R = MY3 - MZ4 - (M4 + M5 + M6)*RL4
XX4R = XX4 - YY4 + YY5
ZZ4R = YY5 + ZZ4
MY4R = MY4 + MZ5
XX5R = XX5 - YY5 + YY6
ZZ5R = YY6 + ZZ5
MY5R = MY5 - MZ6
XX6R = XX6 - YY6
"""
P1_FOR_ITS_OWN_TABLE_1 = """
MY3R = MY3 + MZ4 + (M4 + M5 + M6)*RL4
MY4R = MY4 - MZ5
MY5R = MY5 + MZ6
"""
# As printed, in our names; the printed r2² of XX2R is zero by P3's own table 2.
P3_SECTION_4_1 = """
ZZ1R = (M3 + M4 + M5 + M6)*(d2^2 + d3^2 + r3^2) + Ia1 + d2^2*M2 + 2*MZ3*r3 + YY2 + YY3 + ZZ1
XX2R = -(M3 + M4 + M5 + M6)*(d3^2 - r3^2) + XX2 - YY2
XZ2R = XZ2 - d3*(M3 + M4 + M5 + M6 + MZ3)*r3
ZZ2R = Ia2 + d3^2*(M3 + M4 + M5 + M6) + ZZ2
MX2R = d3*(M3 + M4 + M5 + M6) + MX2
XX3R = 2*MZ4*r4 + (M4 + M5 + M6)*r4^2 + XX3 - YY3 + YY4
ZZ3R = 2*MZ4*r4 + (M4 + M5 + M6)*r4^2 + YY4 + ZZ3
MY3R = MY3 - MZ4 - (M4 + M5 + M6)*r4
XX4R = XX4 - YY4 + YY5
ZZ4R = YY5 + ZZ4
MY4R = MY4 + MZ5
XX5R = XX5 - YY5 + YY6
ZZ5R = YY6 + ZZ5
MY5R = MY5 - MZ6
XX6R = XX6 - YY6
"""
P3_CORRECTED = """
XX2R = XX2 - YY2 - d3^2*(M3 + M4 + M5 + M6)
XZ2R = XZ2 - d3*MZ3 - d3*r3*(M3 + M4 + M5 + M6)
"""
P4_TABLE_1 = """
ZZ1R = ZZ1 + YY2
XX2R = XX2 - YY2 + YY3 + 2*d3*MZ3 + (M3 + M4 + M5 + M6 + M7)*d3^2
ZZ2R = ZZ2 + YY3 + 2*d3*MZ3 + (M3 + M4 + M5 + M6 + M7)*d3^2
MY2R = MY2 - MZ3 - (M3 + M4 + M5 + M6 + M7)*d3
XX3R = XX3 - YY3 + YY4
ZZ3R = ZZ3 + YY4
MY3R = MY3 - MZ4
XX4R = XX4 - YY4 + YY5 + 2*d5*MZ5 + (M5 + M6 + M7)*d5^2
ZZ4R = ZZ4 + YY5 + 2*d5*MZ5 + (M5 + M6 + M7)*d5^2
MY4R = MY4 + MZ5 + (M5 + M6 + M7)*d5
XX5R = XX5 - YY5 + YY6
ZZ5R = ZZ5 + YY6
MY5R = MY5 + MZ6
XX6R = XX6 - YY6 + YY7
ZZ6R = ZZ6 + YY7
MY6R = MY6 - MZ7
XX7R = XX7 - YY7
"""


def lines(text: str) -> dict[str, str]:
    return {line.split("R = ")[0]: line for line in text.strip().splitlines()}


def deviations(robot: str, printed: dict[str, str], method: str = "auto") -> set[str]:
    """Names whose printed formula is not ours; the sets of names must be the same."""
    ours = regrouped_formulas(find_base(load_robot(robot), method=method))
    assert ours.keys() == printed.keys()
    return {name for name in ours if not same_meaning(ours[name], printed[name])}


METHODS = pytest.mark.parametrize("method", ["closed-form", "numeric"])


@METHODS
def test_all_17_regroupings_of_p4_table_1(method: str) -> None:
    printed = lines(P4_TABLE_1)
    assert len(printed) == 17
    assert deviations("iiwa14", printed, method) == set()


def test_p1_equation_27_belongs_to_the_angles_of_the_rx90() -> None:
    printed = lines(P1_EQUATION_27)
    assert deviations("rx90", printed) == set()
    assert deviations("tx40", printed) == {"MY3", "MY4", "MY5"}


@METHODS
def test_p1_equation_27_corrected_for_its_own_table(method: str) -> None:
    assert deviations("tx40", lines(P1_EQUATION_27) | lines(P1_FOR_ITS_OWN_TABLE_1), method) == set()


def test_p3_errs_in_two_formulas() -> None:
    assert deviations("tx90", lines(P3_SECTION_4_1)) == {"XX2", "XZ2"}


@METHODS
def test_p3_section_4_1_corrected(method: str) -> None:
    assert deviations("tx90", lines(P3_SECTION_4_1) | lines(P3_CORRECTED), method) == set()


def test_p3_table_3_lists_the_base_parameters() -> None:
    inertial = [f"{s}{link}" for link in range(2, 7) for s in ("XX", "XY", "XZ", "YZ", "ZZ", "MX", "MY")]
    others = ["ZZ1", *(f"Ia{j}" for j in range(3, 7)), *(f"F{s}{j}" for s in "vc" for j in range(1, 7))]
    base = find_base(load_robot("tx90"))
    assert {base.robot.table.names[c] for c in base.columns} == {*inertial, *others}


def test_p0_equation_64() -> None:
    base = find_base(load_robot("scara"))
    assert base.formulas[0] == "ZZ1R = ZZ1 + L^2*M2"


def test_haptic_arm_formulas_name_the_lengths() -> None:
    ours = regrouped_formulas(find_base(load_robot("haptic")))
    expected = """
ZZ1R = ZZ1 + YY2 + YY3 + YY4 + YY5 + YY6 + d3^2*M3 + (d3^2+d4^2)*M4 + d6^2*M6
MX2R = MX2 + MX6 + d3*(M3+M4)
XZ3R = XZ3 - XZ5 - d4*MZ4 + d6*MZ6
MX3R = MX3 + d4*M4 - d6/d3*MX6
MX5R = MX5 - d6/d3*MX6 + d6*M6
"""
    for name, formula in lines(expected).items():
        assert ours[name] == formula
    # P1 table 6 marks these with an R.
    assert {"ZZ1", "MY1", "XX2", "ZZ2", "MX2", "XX3", "ZZ3", "MX3", "MX5"} <= ours.keys()
