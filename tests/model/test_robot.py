"""The robot as data: parameter table, terms, gravity, payload, digest."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from dynid.core.errors import ModelError, ShapeError, UnknownNameError
from dynid.model.friction import FrictionTerm
from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, Joint, JointKind, Limits
from dynid.model.load import load_robot
from dynid.model.parameters import INERTIAL
from dynid.model.payload import attach_payload
from dynid.model.robot import Robot

LIFT = Robot(
    "lift",
    (Joint("up", BASE, JointKind.PRISMATIC), Joint("turn", 0, d=0.3), Joint("tool", 1, JointKind.FIXED)),
    terms=("Fc", "Ia", "Fs", "Fv"),
    friction=(FrictionTerm("Fs", "sign(qd)*exp(-qd^2)", "N m", "N"),),
)


def test_parameters_have_one_order() -> None:
    expected = []
    for label, own in (("1", ["Ia", "Fv", "Fc", "Fs"]), ("2", ["Ia", "Fv", "Fc", "Fs"]), ("3", [])):
        expected += [symbol + label for symbol in (*INERTIAL, *own)]
    assert list(LIFT.table.names) == expected
    assert [entry.name for entry in LIFT.table] == expected
    assert len(LIFT.table) == 38


def test_units_follow_the_kind_of_joint() -> None:
    units = {entry.name: entry.unit for entry in LIFT.table}
    assert [units[n] for n in ("XX1", "MX1", "M1")] == ["kg m^2", "kg m", "kg"]
    assert [units[n] for n in ("Ia1", "Fv1", "Fc1", "Fs1")] == ["kg", "N s/m", "N", "N"]
    assert [units[n] for n in ("Ia2", "Fv2", "Fc2", "Fs2")] == ["kg m^2", "N m s/rad", "N m", "N m"]


def test_families_and_joints_are_known() -> None:
    entries = {entry.name: entry for entry in load_robot("tx40_log").table}
    assert (entries["XX6"].family, entries["Ia6"].family, entries["Fv6"].family) == (
        "inertial",
        "drive",
        "friction",
    )
    assert {name: entries[name].joint for name in ("XX6", "Fcm6")} == {"XX6": 5, "Fcm6": 5}
    assert entries["Fcm6"].family == "motor"
    assert list(entries)[-3:] == ["Iam6", "Fvm6", "Fcm6"]


def test_dependent_joints_have_no_drive_or_friction() -> None:
    names = load_robot("haptic").table.names
    assert [n for n in names if n.startswith("Fv")] == ["Fv1", "Fv2", "Fv5"]
    assert [n for n in names if n.startswith("ZZ")] == [f"ZZ{i}" for i in range(1, 7)]


def test_vectors_and_mappings_come_back() -> None:
    table = LIFT.table
    x = table.vector({"M1": 2.0, "Fs2": 0.5})
    assert (x[table.index("M1")], x[table.index("Fs2")], x.sum()) == (2.0, 0.5, 2.5)
    assert np.array_equal(table.vector(table.mapping(x)), x)
    assert table.indices(["XX1", "XY1"]) == (0, 1)
    with pytest.raises(UnknownNameError, match=r"Unknown parameter 'ZZ9'\. Did you mean 'ZZ3'"):
        table.vector({"ZZ9": 1.0})
    with pytest.raises(ShapeError, match=r"has shape \(3,\); expected \(38,\)"):
        table.mapping(np.zeros(3))


def test_with_terms_keeps_what_still_has_a_name() -> None:
    robot = load_robot("tx40")
    bare = robot.with_terms("Fv")
    assert "Ia1" not in bare.table.names
    assert bare.parameters["Fv1"] == robot.parameters["Fv1"]
    assert "Fc1" not in bare.parameters
    assert len(robot.with_terms().table) == 60
    with pytest.raises(UnknownNameError, match="Unknown parameter term 'Fvv'"):
        robot.with_terms("Fvv")
    with pytest.raises(ModelError, match="The motor term 'Iam' holds only the coupling part; add 'Ia'"):
        robot.with_terms("Iam")


def test_with_gravity_and_parameters_leave_the_original() -> None:
    robot = load_robot("scara")
    assert robot.with_gravity(0, 0, -1).gravity == (0.0, 0.0, -1.0)
    assert robot.gravity == (0.0, 0.0, 0.0)
    assert robot.with_parameters({"ZZ1": 1.0}).parameters == {"ZZ1": 1.0}
    with pytest.raises(ModelError, match="entry 3 of gravity is inf; it must be a finite number"):
        robot.with_gravity(0, 0, math.inf)


def test_a_robot_cannot_be_changed() -> None:
    robot = load_robot("scara")
    with pytest.raises(FrozenInstanceError):
        robot.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        robot.parameters["ZZ1"] = 1.0  # type: ignore[index]
    with pytest.raises(TypeError):
        robot.joints[1].symbols["d"] = "x"  # type: ignore[index]


def test_digest_follows_the_equations_only() -> None:
    robot = load_robot("tx40")
    same = [
        replace(robot, title="other", source="elsewhere", name="x"),
        robot.with_parameters({}),
        replace(robot, joints=(replace(robot.joints[0], limits=Limits(-1, 1)), *robot.joints[1:])),
        load_robot("tx40"),
    ]
    assert {other.digest for other in same} == {robot.digest}
    first, *rest = robot.joints
    different = [
        replace(robot, joints=(replace(first, r=0.1), *rest)),
        replace(robot, joints=(replace(first, kind=JointKind.PRISMATIC), *rest)),
        robot.with_gravity(0, 0, -9.8),
        robot.with_terms("Fv", "Fc"),
        replace(robot, drives=None),
    ]
    assert len({other.digest for other in [robot, *different]}) == len(different) + 1


def test_payload_is_one_more_link() -> None:
    robot = load_robot("iiwa14")
    body = LinkInertia.from_com(3.0, [0, 0, 0.1], np.diag([0.02, 0.02, 0.01]))
    loaded = attach_payload(robot, body)
    assert loaded.joints[-1] == replace(loaded.joints[-1], antecedent=6, kind=JointKind.FIXED, label="L")
    assert loaded.table.names[-10:] == tuple(symbol + "L" for symbol in INERTIAL)
    assert loaded.parameters["ML"] == 3.0
    assert loaded.parameters["XXL"] == pytest.approx(0.05)
    assert loaded.n_coordinates == 7
    assert attach_payload(robot).parameters == robot.parameters
    elbow = attach_payload(robot, carrier=robot.joints[3].name, label="E", name="load")
    assert (elbow.joints[-1].antecedent, elbow.joints[-1].name) == (3, "load")
    with pytest.raises(UnknownNameError, match="Unknown carrier joint 'hand'"):
        attach_payload(robot, carrier="hand")
    with pytest.raises(ModelError, match="has two joints of name 'payload'"):
        attach_payload(loaded, label="K")


@pytest.mark.parametrize(
    ("joints", "sentence"),
    [
        ((), "Robot 'r' has no joints"),
        ((Joint("a", BASE), Joint("a", 0)), "has two joints of name 'a'"),
        ((Joint("a", 0),), "names link 1 as its antecedent; the antecedent must come before"),
        ((Joint("a", -2),), "names link -1 as its antecedent"),
        ((Joint("a", BASE, JointKind.FIXED),), "has no joint that moves"),
    ],
)
def test_trees_that_are_none_are_refused(joints: tuple[Joint, ...], sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence):
        Robot("r", joints)


def test_joints_check_their_numbers_and_symbols() -> None:
    with pytest.raises(ModelError, match="Joint 'a': gamma is nan; it must be a finite number"):
        Joint("a", BASE, gamma=math.nan)
    with pytest.raises(ModelError, match=r"only the lengths b, d, r can be named, not \['alpha'\]"):
        Joint("a", BASE, symbols={"alpha": "A"})
