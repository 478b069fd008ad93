"""Loops in robot files: read and written, wrong ones refused with a sentence, parallelograms recognised."""

from __future__ import annotations

import copy
import tomllib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dynid.core.errors import DynidError, ModelError
from dynid.model.assembly import Linkage
from dynid.model.joint import Joint, JointKind
from dynid.model.load import load_robot
from dynid.model.loaders.mdh import robot_from_table, robot_to_table, robot_to_toml
from dynid.model.loop import Closure, CutKind, LoopCut
from dynid.model.robot import Robot

FOUR_BAR: dict[str, Any] = {
    "name": "bars",
    "joint": [
        {"name": "crank"},
        {"name": "coupler", "d": 0.1},
        {"name": "rocker", "antecedent": "base", "d": 0.3},
    ],
    "loop": [
        {
            "name": "pin",
            "kind": "revolute",
            "links": ["coupler", "rocker"],
            "points": [[0.28, 0, 0], [0.25, 0, 0]],
            "axes": [[0, 0, 1], [0, 0, 2]],
        }
    ],
    "closure": {"coordinates": ["crank"], "start_deg": {"crank": 90, "coupler": -59.3, "rocker": 103.7}},
}


def changed(*path: Any, value: Any) -> dict[str, Any]:
    """The four-bar with one entry changed."""
    table = copy.deepcopy(FOUR_BAR)
    inner: Any = table
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return table


def linkage(robot: Robot) -> Linkage:
    assert robot.closure is not None
    return Linkage(robot.joints, robot.closure.cuts, robot.closure.coordinates)


@pytest.mark.parametrize("name", ["fourbar", "fivebar", "haptic"])
def test_files_are_read_and_written(name: str) -> None:
    robot = load_robot(name)
    assert robot.closure is not None
    assert robot_from_table(tomllib.loads(robot_to_toml(robot))) == robot
    assert robot_from_table(robot_to_table(robot)).digest == robot.digest


def test_the_start_is_polished_and_axes_are_units() -> None:
    robot = robot_from_table(FOUR_BAR)
    assert robot.closure is not None
    assert np.abs(linkage(robot).residuals(np.array([robot.closure.start]))).max() < 1e-15
    assert robot.closure.start[0] == np.pi / 2  # coordinates stay as given
    assert robot.closure.cuts[0].axes == ((0.0, 0.0, 1.0), (0.0, 0.0, 1.0))
    assert [robot.joints[j].name for j in robot.coordinates] == ["crank"]
    assert robot.home == (np.pi / 2,)


def test_the_jacobian_is_the_derivative_for_every_kind_of_cut() -> None:
    rng, turning = np.random.default_rng(0), JointKind.REVOLUTE
    joints = tuple(
        Joint(f"j{i}", a, kind, gamma=0.3, b=0.1, alpha=0.4 + i, d=0.2, theta=0.5, r=0.3)
        for i, (a, kind) in enumerate([(-1, turning), (0, JointKind.PRISMATIC), (-1, turning), (2, turning)])
    )
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    turn = (Q * np.sign(np.linalg.det(Q))).tolist()
    axes, points = rng.normal(size=(2, 3)).tolist(), rng.normal(size=(2, 3)).tolist()
    cuts = (
        LoopCut("a", CutKind.REVOLUTE, (1, 3), points, axes),
        LoopCut("b", CutKind.SPHERICAL, (1, -1), points),
        LoopCut("c", CutKind.PRISMATIC, (3, 0), points, axes, turn),
        LoopCut("d", CutKind.FIXED, (1, 3), points, None, turn),
        LoopCut("e", CutKind.PARALLEL, (3, 1), points, axes),
    )
    chain = Linkage(joints, cuts, (0,))
    q, h = rng.normal(size=(3, 4)), 1e-6
    J = chain.jacobian(q)
    for i in range(4):
        step = h * np.eye(4)[i]
        rate = (chain.residuals(q + step) - chain.residuals(q - step)) / (2 * h)
        np.testing.assert_allclose(J[:, :, i], rate, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (changed("loop", 0, "links", value=["coupler", "roker"]), "Unknown link of .* 'roker'.*'rocker'"),
        (changed("loop", 0, "links", value=["rocker", "rocker"]), "both ends are on the same link"),
        (changed("loop", 0, "kind", value="hinge"), "Unknown kind 'hinge'"),
        (changed("loop", 0, "kind", value="spherical"), "a spherical cut has no axes; leave them out"),
        (changed("loop", 0, "axes", value=[[0, 0, 1], [0, 0, 0]]), "an axis is zero"),
        (changed("loop", value=[]), r"has \[closure\] but no \[\[loop\]\]"),
        (changed("closure", "coordinates", value=["krank"]), "Unknown coordinate in .*'crank'"),
        (changed("closure", "start_deg", value={"crank": 90}), "does not give joint 'coupler'"),
        (changed("closure", "start", value={"crank": 1.0}), "gives joint 'crank' twice"),
        (
            changed("closure", "start_deg", "rocker", value=60),
            "does not close loop 'pin'.*They close at crank = 1.5708, coupler = -1.03524, rocker = 1.80988",
        ),
        (  # from here Newton steps end six turns away
            changed("closure", "start_deg", value={"crank": 90, "coupler": -180, "rocker": -60}),
            "They close at crank = 1.5708, coupler = -1.03524, rocker = 1.80988",
        ),
        (changed("joint", 2, "d", value=3.0), "does not close loop 'pin'"),
        (changed("closure", "coordinates", value=["crank", "rocker"]), "do not leave joint.* 1 freedoms"),
        (
            changed("joint", value=[*FOUR_BAR["joint"], {"name": "tool", "antecedent": "rocker"}]),
            "does not give joint 'tool'",
        ),
    ],
)
def test_slips_have_their_sentence(table: dict[str, Any], words: str) -> None:
    with pytest.raises(DynidError, match=words):
        robot_from_table(table)


def test_loose_joints_are_named() -> None:
    table = copy.deepcopy(FOUR_BAR)
    table["joint"].append({"name": "tool", "antecedent": "rocker"})
    table["closure"]["start_deg"]["tool"] = 0
    with pytest.raises(ModelError, match="The loops do not hold joint 'tool'"):
        robot_from_table(table)
    table["closure"]["coordinates"].append("tool")
    assert robot_from_table(table).n_coordinates == 2


def test_a_coupling_beside_loops_must_be_theirs() -> None:
    haptic = load_robot("haptic")
    assert haptic.coupling is not None
    assert replace(haptic, gravity=(0.0, 0.0, -9.81)).coupling == haptic.coupling
    other = replace(haptic.coupling, offset=(0.0,) * 6)
    with pytest.raises(ModelError, match="has loops and a coupling that is not theirs"):
        replace(haptic, coupling=other)


def test_a_parallelogram_is_a_coupling() -> None:
    table = changed("joint", 2, "d", value=0.28)
    table["loop"][0]["points"] = [[0.28, 0, 0], [0.1, 0, 0]]
    table["closure"]["start_deg"] = {"crank": 90, "coupler": -90, "rocker": 90}
    found = robot_from_table(table).coupling
    assert found is not None
    assert found.matrix == ((1.0,), (-1.0,), (1.0,))
    assert found.offset == (0.0, 0.0, 0.0)


def test_fixed_cuts_keep_the_rotation_of_the_start() -> None:
    """A weld of two links that turn together: the second joint follows the first."""
    joints = (Joint("a", -1), Joint("b", -1, actuated=False))
    weld = LoopCut("weld", CutKind.FIXED, (0, 1), ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    robot = Robot("two", joints, closure=Closure((weld,), (0,), (0.2, 0.5)))
    assert robot.closure is not None
    assert robot.closure.cuts[0].rotation is not None
    assert robot.coupling is not None
    assert robot.coupling.matrix == ((1.0,), (1.0,))
    assert robot.coupling.offset == pytest.approx((0.0, 0.3))
