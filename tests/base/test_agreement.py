"""The closed form and the random-state QR are two independent roads to one answer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from base.helpers import trees, unexplained
from dynid.base import BaseMap, find_base
from dynid.model.drives import Drives
from dynid.model.friction import FrictionTerm
from dynid.model.joint import Joint, JointKind
from dynid.model.load import catalog, load_robot
from dynid.model.robot import Robot

R, P, F = JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.FIXED
QUARTER = math.pi / 2
NO_GRAVITY, DOWN, SIDE = (0.0, 0.0, 0.0), (0.0, 0.0, -9.81), (0.0, -9.81, 0.0)


def agreed(robot: Robot) -> BaseMap:
    """Both methods keep the same columns with the same coefficients, and explain a fresh regressor."""
    closed, numeric = find_base(robot, method="closed-form"), find_base(robot, method="numeric")
    names = robot.table.names
    assert [names[c] for c in closed.columns] == [names[c] for c in numeric.columns]
    assert np.abs(closed.matrix - numeric.matrix).max(initial=0.0) < 1e-9
    assert closed.names == numeric.names
    assert closed.unseen == numeric.unseen
    assert unexplained(closed) < 1e-10
    return closed


TREES = [
    n for n in catalog() if load_robot(n).coupling is load_robot(n).closure and not load_robot(n).elements
]
"""Robots that the closed form knows."""


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("gravity", [None, NO_GRAVITY, SIDE, (1.0, 2.0, 3.0)])
def test_methods_agree_on_the_catalog(name: str, gravity: tuple[float, float, float] | None) -> None:
    robot = load_robot(name)
    agreed(robot if gravity is None else robot.with_gravity(*gravity))


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(trees())
def test_methods_agree_on_random_trees(robot: Robot) -> None:
    agreed(robot)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(trees())
def test_methods_agree_on_many_random_trees(robot: Robot) -> None:
    agreed(robot)


def chain(*joints: Joint, gravity: tuple[float, float, float], terms: tuple[str, ...] = ()) -> Robot:
    return Robot("chain", joints, gravity=gravity, terms=terms)


def serial(*rows: tuple[JointKind, float, float, float]) -> tuple[Joint, ...]:
    """Joints one after the other from (kind, α, d, r)."""
    return tuple(Joint(f"j{i}", i - 1, k, alpha=a, d=d, r=r) for i, (k, a, d, r) in enumerate(rows))


GANTRY = serial((P, 0, 0, 0), (P, QUARTER, 0, 0), (P, QUARTER, 0, 0))
WRIST = serial((R, 0, 0, 0), (R, QUARTER, 0, 0), (R, -QUARTER, 0, 0))
COAXIAL = serial((R, 0, 0, 0), (R, 0, 0, 0.3))
PILLAR = serial((R, 0, 0, 0), (P, 0, 0, 0))
OFF_PILLAR = serial((R, 0, 0, 0), (P, 0, 0.4, 0))
LIFT_FIRST = serial((P, 0, 0, 0), (R, 0, 0.2, 0), (R, 0, 0.3, 0))
RAIL_FIRST = serial((P, QUARTER, 0, 0), (R, -QUARTER, 0, 0))
LINKS_2_3 = {f"{s}{j}" for j in (2, 3) for s in ("XX", "XY", "XZ", "YZ", "ZZ")}

SPECIAL = {
    "gantry without gravity": (GANTRY, NO_GRAVITY, {"M1", "M2", "M3"}),
    "gantry with gravity": (GANTRY, DOWN, {"M1", "M2", "M3"}),
    "wrist without gravity: no first moments": (WRIST, NO_GRAVITY, {"ZZ1"} | LINKS_2_3),
    "wrist on a vertical axis": (WRIST, DOWN, {"ZZ1", "MX2", "MY2", "MX3", "MY3"} | LINKS_2_3),
    "wrist on a horizontal axis": (
        WRIST,
        SIDE,
        {"ZZ1", "MX1", "MY1", "MX2", "MY2", "MX3", "MY3"} | LINKS_2_3,
    ),
    "coincident axes": (COAXIAL, NO_GRAVITY, {"ZZ1", "ZZ2"}),
    "coincident vertical axes": (COAXIAL, DOWN, {"ZZ1", "ZZ2"}),
    "coincident horizontal axes": (COAXIAL, SIDE, {"ZZ1", "MX1", "MY1", "ZZ2", "MX2", "MY2"}),
    "slide along the first axis": (PILLAR, NO_GRAVITY, {"ZZ1", "M2"}),
    "slide along the first axis, vertical": (PILLAR, DOWN, {"ZZ1", "M2"}),
    "slide along the first axis, horizontal": (PILLAR, SIDE, {"ZZ1", "MX1", "MY1", "M2"}),
    "slide beside the first axis": (OFF_PILLAR, NO_GRAVITY, {"ZZ1", "M2"}),
    "slide first, planar arm behind": (LIFT_FIRST, NO_GRAVITY, {"M1", "ZZ2", "ZZ3", "MX3", "MY3"}),
    "slide first, planar arm behind, vertical": (LIFT_FIRST, DOWN, {"M1", "ZZ2", "ZZ3", "MX3", "MY3"}),
    "rail first, a vertical axis on it": (RAIL_FIRST, DOWN, {"M1", "ZZ2", "MX2", "MY2"}),
}


@pytest.mark.parametrize("case", SPECIAL)
def test_special_chains(case: str) -> None:
    joints, gravity, expected = SPECIAL[case]
    base = agreed(chain(*joints, gravity=gravity))
    assert {base.robot.table.names[c] for c in base.columns} == expected


def test_weight_of_a_lift_and_its_offset_cannot_be_told_apart_from_a_drive_inertia() -> None:
    """Vertical slide: M gives q̈ + g, Ia gives q̈, the offset gives 1, so one of the three goes."""
    base = agreed(chain(*serial((P, 0, 0, 0)), gravity=(0.0, 0.0, -10.0), terms=("Ia", "Fv", "off")))
    assert base.names == ("M1R", "Ia1R", "Fv1")
    assert base.formulas[:2] == ("M1R = M1 + 0.1*off1", "Ia1R = Ia1 - 0.1*off1")


def test_a_cosine_law_hides_in_gravity() -> None:
    swing = FrictionTerm("Kc", "cos(q)")
    robot = Robot("swing", serial((R, 0, 0, 0)), gravity=(9.81, 0, 0), terms=("Kc",), friction=(swing,))
    base = agreed(robot)
    assert base.names == ("ZZ1", "MX1", "MY1R")


def test_laws_that_repeat_each_other_are_regrouped() -> None:
    joints = serial((R, 0, 0, 0))
    base = agreed(chain(*joints, gravity=NO_GRAVITY, terms=("Fv", "Fc", "off", "Fvp", "Fvn", "Fcp", "Fcn")))
    assert base.names == ("ZZ1", "Fv1R", "Fc1R", "off1R", "Fvp1R")


def test_belt_driven_scara_regroups_the_motor_inertia() -> None:
    """Motor 2 stands on the base and turns by q1 + q2: its inertia acts as ZZ2 does."""
    drives = Drives(((1.0, 0.0), (1.0, 1.0)), (0.0, 0.0), (1.0, 1.0))
    joints = serial((R, 0, 0, 0), (R, 0, 0.5, 0))
    base = agreed(Robot("belt", joints, gravity=NO_GRAVITY, terms=("Ia", "Iam"), drives=drives))
    assert base.formulas[:2] == ("ZZ1R = ZZ1 + Ia1 - Iam2 + 0.25*M2", "ZZ2R = ZZ2 + Iam2")
    assert base.names == ("ZZ1R", "ZZ2R", "MX2", "MY2", "Ia2R")


def test_branches_and_a_welded_plate() -> None:
    joints = (
        Joint("turret", -1, R),
        Joint("left", 0, R, alpha=QUARTER, d=0.3),
        Joint("right", 0, R, alpha=QUARTER, d=-0.3, gamma=0.5),
        Joint("plate", 0, F, alpha=0.4, d=0.1, r=0.2),
        Joint("slide", 1, P, alpha=-QUARTER, d=0.2),
        Joint("post", -1, P, alpha=0.3),
    )
    base = agreed(Robot("bench", joints, terms=("Ia", "Fv", "Fc", "off")))
    dropped = {base.robot.table.names[i] for i in range(len(base.robot.table)) if i not in base.columns}
    assert {"XX4", "XY4", "XZ4", "YY4", "YZ4", "ZZ4", "MX4", "MY4", "MZ4", "M4"} <= dropped
    assert "off6" in dropped
