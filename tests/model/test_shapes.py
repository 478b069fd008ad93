"""Shapes of links: checked, written and read back, taken from frames, enclosing what they stand for."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from dynid.core.errors import DynidError, ModelError
from dynid.model.joint import BASE, Joint, Limits
from dynid.model.load import load_robot
from dynid.model.loaders.enclose import (
    around_box,
    around_cylinder,
    around_ellipsoid,
    around_points,
    volume,
)
from dynid.model.loaders.mdh import robot_from_table, robot_to_table, robot_to_toml
from dynid.model.payload import attach_payload
from dynid.model.robot import Robot
from dynid.model.shapes import Capsule, capsules_from_frames
from support.robots import branched_robot

Array = NDArray[np.float64]


def outside(points: Array, capsule: Capsule) -> float:
    """Largest distance of points from the surface, positive outside [m]."""
    start, along = np.array(capsule.start), np.subtract(capsule.end, capsule.start)
    share = np.clip((points - start) @ along / max(along @ along, 1e-300), 0.0, 1.0)
    return float(np.max(np.linalg.norm(points - start - np.outer(share, along), axis=1))) - capsule.radius


# ── in a robot and in its file ────────────────────────────────────────────────────────────────────────────


def test_a_robot_keeps_its_shapes_and_its_digest() -> None:
    robot = load_robot("scara")
    shapes = (Capsule(1, (0, 0, 0), (0.3, 0, 0), 0.05), Capsule(BASE, (0, 0, -0.1), (0, 0, -0.1), 0.1))
    shaped = robot.with_shapes(shapes)
    assert [shape.link for shape in shaped.shapes] == [BASE, 1]  # by link
    assert shaped.digest == robot.digest
    assert shaped != robot
    assert hash(shaped.shapes) == hash(robot.with_shapes(reversed(shapes)).shapes)
    assert attach_payload(shaped).shapes == shaped.shapes


def test_shapes_and_jerk_survive_the_file() -> None:
    limits = {"lower_deg": -90, "jerk_deg": 5000}
    content = {
        "base_shapes": [{"start": [0, 0, -0.2], "radius": 0.1}],
        "joint": [
            {"limits": limits, "shapes": [{"start": [0, 0, 0], "end": [0.1, 0, 0], "radius": 0.07}]},
            {"d": 0.1, "limits": {"jerk": 80.0}},
        ],
    }
    robot = robot_from_table(content)
    assert robot.joints[0].limits.jerk == pytest.approx(math.radians(5000))
    assert robot.joints[1].limits.jerk == 80.0
    assert math.isinf(Limits().jerk)
    assert robot.shapes == (
        Capsule(BASE, (0.0, 0.0, -0.2), (0.0, 0.0, -0.2), 0.1),
        Capsule(0, (0.0, 0.0, 0.0), (0.1, 0.0, 0.0), 0.07),
    )
    assert robot_from_table(robot_to_table(robot)) == robot
    text = robot_to_toml(robot)  # refuses what does not come back
    assert "[[base_shapes]]\nstart = [0.0, 0.0, -0.2]\nradius = 0.1" in text
    assert "shapes = [{ start = [0.0, 0.0, 0.0], radius = 0.07, end = [0.1, 0.0, 0.0] }]" in text


def test_wrong_shapes_are_told() -> None:
    def read(**shape: object) -> Robot:
        return robot_from_table({"joint": [{"shapes": [shape]}]})

    with pytest.raises(DynidError, match="radius is 0; it must be a number above 0 m"):
        read(start=[0, 0, 0], radius=0)
    with pytest.raises(DynidError, match="start is missing; give a list of 3 numbers in m"):
        read(radius=0.1)
    with pytest.raises(DynidError, match="Unknown key 'centre'"):
        read(centre=[0, 0, 0], radius=0.1)
    with pytest.raises(ModelError, match="entry 2 of end is nan; it must be"):
        Capsule(0, (0.0, 0.0, 0.0), (0.0, math.nan, 0.0), 0.1)
    with pytest.raises(ModelError, match="link is -2; it must be a whole number from -1"):
        Capsule(-2, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.1)
    with pytest.raises(
        ModelError, match="A shape names link 2, but the links of robot 'scara' are 0 to 1, and"
    ):
        load_robot("scara").with_shapes([Capsule(2, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.1)])
    with pytest.raises(ModelError, match="list of shapes holds 'ball'; give a list of Capsule"):
        replace(load_robot("scara"), shapes=("ball",))  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="jerk is -1; it must be a number from 0 rad/s³ or m/s³"):
        Limits(jerk=-1)


@pytest.mark.parametrize("name", ["iiwa14", "ur10", "tx40", "tx90", "rx90"])
def test_catalog_arms_have_a_shape_on_every_link(name: str) -> None:
    robot = load_robot(name)
    assert {shape.link for shape in robot.shapes} == set(range(BASE, len(robot.joints)))
    assert "shapes" in robot.source


# ── from frames ───────────────────────────────────────────────────────────────────────────────────────────


def test_capsules_join_the_origins_of_the_frames() -> None:
    robot = branched_robot()
    shapes = capsules_from_frames(robot, 0.05)
    from_trunk = [shape.end for shape in shapes if shape.link == 0]
    np.testing.assert_allclose(from_trunk, [(0.0, 0.2, 0.3), (0.0, -0.2, 0.3)], atol=1e-15)
    base = [shape.end for shape in shapes if shape.link == BASE]
    assert base[0] == (0.0, 0.0, 0.5)  # the trunk, and then the second root
    assert len(base) == 2
    tip = next(shape for shape in shapes if shape.link == 5)
    assert tip.start == tip.end  # a sphere, as it carries nothing


def test_each_link_may_have_its_own_radius() -> None:
    robot = Robot("arm", (Joint("a", BASE), Joint("b", 0, d=0.4)))
    assert [shape.radius for shape in capsules_from_frames(robot, [0.1, 0.2, 0.3])] == [0.1, 0.2, 0.3]
    with pytest.raises(
        ModelError, match="got 2 radii; give one for all, or 3: that of the base and those of"
    ):
        capsules_from_frames(robot, [0.1, 0.2])
    with pytest.raises(ModelError, match=r"radius is -0.1; it must be a number above 0"):
        capsules_from_frames(robot, -0.1)


# ── around solids ─────────────────────────────────────────────────────────────────────────────────────────

SIZE = st.floats(1e-3, 2.0)


@given(st.tuples(SIZE, SIZE, SIZE))
def test_capsules_enclose_boxes_and_ellipsoids(halves: tuple[float, float, float]) -> None:
    corners = np.array(np.meshgrid(*([-h, h] for h in halves))).reshape(3, -1).T
    assert outside(corners, around_box(halves)) <= 0
    directions = np.random.default_rng(0).normal(size=(2000, 3))
    directions = np.vstack([directions / np.linalg.norm(directions, axis=1)[:, None], np.eye(3)])
    capsule = around_ellipsoid(halves)
    assert -1e-6 < outside(directions * halves, capsule) <= 0  # and it touches


@given(SIZE, SIZE)
def test_capsules_enclose_cylinders(radius: float, half: float) -> None:
    turn = np.linspace(0, 2 * np.pi, 100)
    rim = np.column_stack([radius * np.cos(turn), radius * np.sin(turn), np.full(100, half)])
    capsule = around_cylinder(radius, half)
    assert -1e-6 < outside(np.vstack([rim, -rim]), capsule) <= 0
    tube = Capsule(BASE, (0.0, 0.0, -half), (0.0, 0.0, half), radius)
    assert volume(capsule) <= volume(tube) * (1 + 1e-6)  # no larger than the cylinder with caps
    assert capsule.radius <= math.hypot(radius, half) * (1 + 1e-6)  # nor than the ball around it


@given(st.integers(0, 10_000), st.sampled_from([1, 2, 4, 5, 8, 40, 300]), st.integers(0, 3))
def test_capsules_enclose_points(seed: int, count: int, flat: int) -> None:
    """Clouds, and points in a plane, on a line and in one place."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, 3)) * rng.uniform(0.01, 1.0, 3)
    points[:, :flat] = 0.0
    turned = points @ np.linalg.qr(rng.normal(size=(3, 3)))[0] + rng.normal(size=3)
    assert outside(turned, around_points(turned)) <= 1e-12


def test_a_rod_among_points_is_found() -> None:
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    rod = np.column_stack([rng.uniform(-0.5, 0.5, 4000), *rng.normal(scale=0.01, size=(2, 4000))]) @ turn
    capsule = around_points(rod)
    axis = np.subtract(capsule.end, capsule.start)
    assert abs(axis @ turn[0]) / np.linalg.norm(axis) > 0.99
    assert capsule.radius < 0.06
    with pytest.raises(ModelError, match=r"shape \(0, 3\) is not a list of finite points"):
        around_points(np.empty((0, 3)))
