"""How many base parameters the robots of the papers have, and which (METHODS §1, §7)."""

from __future__ import annotations

import pytest

from dynid.base import find_base, joint_bases
from dynid.model.load import load_robot
from dynid.model.payload import attach_payload

COUPLED = ("Ia", "Fv", "Fc", "off", "Fvm", "Fcm")
COUNTS = {
    "scara": 8,
    "tx90": 52,
    "tx40": 58,
    "rx90": 58,
    "iiwa14": 64,
    "haptic": 30,
    "tx40_log": 61,
    "emps": 4,
    "double_pendulum": 12,
}


@pytest.mark.parametrize("method", ["auto", "numeric"])
@pytest.mark.parametrize(("name", "count"), COUNTS.items())
def test_number_of_base_parameters(name: str, count: int, method: str) -> None:
    assert len(find_base(load_robot(name), method=method)) == count


@pytest.mark.parametrize("name", ["tx40", "rx90"])
@pytest.mark.parametrize("method", ["closed-form", "numeric"])
def test_coupled_wrist_adds_two_friction_parameters(name: str, method: str) -> None:
    base = find_base(load_robot(name).with_terms(*COUPLED), method=method)
    assert len(base) == 60
    assert base.names[-2:] == ("Fvm6", "Fcm6")


def test_trees_are_done_in_closed_form_and_loops_by_numbers() -> None:
    assert find_base(load_robot("tx40")).method == "closed-form"
    assert find_base(load_robot("haptic")).method == "numeric"


def test_scara_has_the_columns_of_eq_65() -> None:
    base = find_base(load_robot("scara"))
    assert base.names == ("ZZ1R", "Fv1", "Fc1", "ZZ2", "MX2", "MY2", "Fv2", "Fc2")


def test_scara_with_geared_motors_has_a_ninth_parameter() -> None:
    """With τ = Ia q̈ a rotor does not turn with joint 1, so Ia2 is not part of ZZ2 as eq 64 of P0 has it."""
    base = find_base(load_robot("scara").with_terms("Ia", "Fv", "Fc"))
    assert len(base) == 9
    assert "Ia2" in base.names


def test_haptic_arm_keeps_the_set_of_the_paper() -> None:
    links = {
        "1": "ZZ MX MY",
        "2": "XX XY XZ YZ ZZ MX MY",
        "3": "XX XY XZ YZ ZZ MX MY",
        "4": "MX",
        "5": "MX MY",
        "6": "MY",
    }
    expected = {symbol + link for link, symbols in links.items() for symbol in symbols.split()}
    expected |= {term + joint for term in ("Fv", "Fc", "off") for joint in "125"}
    base = find_base(load_robot("haptic"))
    assert {base.robot.table.names[c] for c in base.columns} == expected


def test_haptic_arm_with_a_vertical_first_joint_loses_two() -> None:
    lying = find_base(load_robot("haptic"))
    standing = find_base(load_robot("haptic").with_gravity(0, 0, -9.81))
    assert len(standing) == 28
    names = lying.robot.table.names
    assert {names[c] for c in set(lying.columns) - set(standing.columns)} == {"MX1", "MY1"}


def test_joint_wise_sets_of_the_rx90() -> None:
    bases = joint_bases(load_robot("rx90"))
    assert [len(base) for base in bases] == [35, 38, 32, 25, 18, 11]
    assert [base.rows for base in bases] == [(j,) for j in range(6)]


def test_payload_of_the_rx90_as_seen_by_each_joint() -> None:
    """P2 §IV.B: joints 1 to 3 feel all of the payload, 4 and 5 not its mass, 6 neither mass nor MZ."""
    unseen = [
        {name for name in base.unseen if name.endswith("L")}
        for base in joint_bases(attach_payload(load_robot("rx90")))
    ]
    assert unseen == [set(), set(), set(), {"ML"}, {"ML"}, {"ML", "MZL"}]


@pytest.mark.parametrize("method", ["closed-form", "numeric"])
def test_payload_is_regrouped_into_its_carrier(method: str) -> None:
    robot = attach_payload(load_robot("rx90"))
    base = find_base(robot, method=method)
    assert len(base) == 58
    for symbol in ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M"):
        load, carrier = robot.table.indices([f"{symbol}L", f"{symbol}6"])
        assert load not in base.columns
        assert base.matrix[:, load] == pytest.approx(base.matrix[:, carrier], abs=1e-12)
