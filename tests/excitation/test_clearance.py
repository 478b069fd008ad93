"""Clearances: against coal's distances, gradients against differences, walls, pairs that say nothing."""

from __future__ import annotations

import math
from dataclasses import replace

import coal
import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from dynid.compile.kernels import kernels
from dynid.core.errors import DynidError, ModelError, ShapeError, UnknownNameError
from dynid.core.tables import table_from, to_table
from dynid.excitation import CollisionScene, HalfSpace, Workcell
from dynid.excitation.segments import closest_on_segments, directions
from dynid.model.joint import BASE, Joint
from dynid.model.load import load_robot
from dynid.model.orientation import align_z
from dynid.model.robot import Robot
from dynid.model.shapes import Capsule, capsules_from_frames
from support.robots import branched_robot, prismatic_robot, skew_robot, welded_robot

Array = NDArray[np.float64]
WALLS = (HalfSpace((1.0, 0.2, 0.0), -0.9), HalfSpace((0.0, -3.0, 1.0), -1.1, "the fence"))


def with_capsules(robot: Robot, radius: float = 0.05) -> Robot:
    return robot.with_shapes(capsules_from_frames(robot, radius))


def scenes() -> dict[str, CollisionScene]:
    robots = {
        "iiwa14": load_robot("iiwa14"),
        "ur10": load_robot("ur10"),
        "prismatic": with_capsules(prismatic_robot()),
        "branched": with_capsules(branched_robot()),
        "welded": with_capsules(welded_robot()),
        "skew": with_capsules(skew_robot(np.random.default_rng(3)), 0.02),
    }
    around = Workcell(floor=-1.0, walls=WALLS, margin=0.01)
    return {
        name: CollisionScene(robot if robot.shapes else with_capsules(robot), around)
        for name, robot in robots.items()
    }


SCENES = scenes()
both = pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())


def poses(scene: CollisionScene, count: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(-2.0, 2.0, (count, scene.robot.n_coordinates))


def coal_clearances(scene: CollisionScene, q: Array) -> Array:
    """The same clearances by coal: a capsule lies along z about its middle."""
    p, R = kernels(scene.robot).forward_kinematics(q)

    def placed(shape: Capsule, sample: int) -> tuple[coal.Capsule, coal.Transform3s]:
        start, end = np.array(shape.start), np.array(shape.end)
        turn, middle, length = np.eye(3), (start + end) / 2, float(np.linalg.norm(end - start))
        if length > 0:
            turn = align_z(end - start, "axis")
        if shape.link != BASE:
            middle = p[sample, shape.link] + R[sample, shape.link] @ middle
            turn = R[sample, shape.link] @ turn
        return coal.Capsule(shape.radius, length), coal.Transform3s(turn, middle)

    rows = np.empty((len(q), len(scene.pairs)))
    for k, pair in enumerate(scene.pairs):
        for sample in range(len(q)):
            first = placed(scene.robot.shapes[pair.first], sample)
            if isinstance(pair.second, int):
                second = placed(scene.robot.shapes[pair.second], sample)
            else:  # coal's half-space is the solid side n·x ≤ d
                second = coal.Halfspace(np.array(pair.second.normal), pair.second.offset), coal.Transform3s()
            request, result = coal.DistanceRequest(), coal.DistanceResult()
            request.gjk_tolerance = 1e-12
            rows[sample, k] = coal.distance(*first, *second, request, result)
    return rows - scene.workcell.margin


@both
def test_clearances_are_those_of_coal(scene: CollisionScene) -> None:
    q = poses(scene, 40)
    ours, theirs = scene.clearances(q), coal_clearances(scene, q)
    apart = ours > 1e-3 - scene.workcell.margin
    assert ours.shape == (40, len(scene.names))
    assert np.count_nonzero(apart) > 100
    np.testing.assert_allclose(ours[apart], theirs[apart], atol=1e-9, rtol=0)
    # In contact the axis distance less the radii is negative as coal's, if not always equal.
    assert np.all(theirs[~apart] < 2e-3)


@both
def test_gradient_is_that_of_differences(scene: CollisionScene) -> None:
    q = poses(scene, 60, seed=1)
    seed = np.random.default_rng(2).normal(size=(60, len(scene.pairs)))
    step, numeric = 1e-6, np.empty_like(q)
    kink = np.zeros(60, dtype=bool)
    for axis in range(q.shape[1]):
        shift = np.zeros(q.shape[1])
        shift[axis] = step
        ahead, here, behind = (scene.clearances(q + k * shift) for k in (1, 0, -1))
        numeric[:, axis] = np.sum(seed * (ahead - behind), axis=1) / (2 * step)
        # Where the closest points jump (parallel axes, a level link) the two one-sided slopes differ.
        kink |= np.any(np.abs(ahead - 2 * here + behind) > 1e-9, axis=1)
    assert np.mean(kink) < 0.1
    np.testing.assert_allclose(scene.at(q).gradient(seed)[~kink], numeric[~kink], atol=1e-6)


def test_frames_adjoint_is_the_transpose_of_the_jacobian() -> None:
    robot = branched_robot()
    rng = np.random.default_rng(5)
    q, dq = rng.normal(size=(2, 9, robot.n_coordinates))
    k, step = kernels(robot), 1e-6
    p, R = (rng.normal(size=shape) for shape in ((9, 7, 3), (9, 7, 3, 3)))
    ahead, behind = k.forward_kinematics(q + step * dq), k.forward_kinematics(q - step * dq)
    change = [(a - b) / (2 * step) for a, b in zip(ahead, behind, strict=True)]
    expected = np.sum(p * change[0], axis=(1, 2)) + np.sum(R * change[1], axis=(1, 2, 3))
    got = np.sum(k.forward_kinematics_adjoint(q, p, R) * dq, axis=1)
    np.testing.assert_allclose(got, expected, atol=1e-8)
    with pytest.raises(ShapeError, match=r"shapes \(9, 6, 3\) and .* expected \(samples, 7, 3\)"):
        k.forward_kinematics_adjoint(q, p[:, :6], R)


COORDINATE = st.sampled_from([0.0, 0.5, 1.0, -1.0]) | st.floats(-1.0, 1.0)
POINT = st.tuples(COORDINATE, COORDINATE, COORDINATE)


@given(st.tuples(POINT, POINT, POINT, POINT))
def test_no_points_of_two_segments_are_closer(corners: tuple[tuple[float, float, float], ...]) -> None:
    """Parallel, crossing and touching segments and points among them."""
    a, b, c, d = (np.array(corner).reshape(1, 3, 1) for corner in corners)
    s, t = closest_on_segments(a, b - a, c, d - c)
    assert 0 <= s.item() <= 1
    assert 0 <= t.item() <= 1
    gap = a + s * (b - a) - c - t * (d - c)
    distance = float(np.linalg.norm(gap))
    grid = np.linspace(0.0, 1.0, 41)
    first, second = a + grid * (b - a), c + grid * (d - c)  # (1, 3, 41)
    all_gaps = first[0, :, :, None] - second[0, :, None, :]
    assert distance <= np.min(np.linalg.norm(all_gaps, axis=0)) + 1e-7
    direction = directions(gap, np.full((1, 1), distance), b - a, d - c)
    assert np.linalg.norm(direction) == pytest.approx(1.0)


def test_crossing_axes_part_along_their_common_normal() -> None:
    """A start in which links go through each other can be repaired: the gradient is not zero."""
    joints = (Joint("a", BASE), Joint("b", 0, d=0.5), Joint("c", 1, alpha=1.0))
    shapes = (
        Capsule(BASE, (0.2, -0.3, 0.0), (0.2, 0.3, 0.0), 0.05),
        Capsule(2, (-0.3, 0.0, 0.0), (0.3, 0.0, 0.0), 0.05),
    )
    scene = CollisionScene(Robot("cross", joints, shapes=shapes), Workcell(margin=0.0))
    q = np.zeros((1, 3))
    assert scene.clearances(q)[0, 0] == pytest.approx(-0.1)
    assert np.all(np.isfinite(scene.at(q).gradient([[1.0]])))


def test_pairs_in_words_and_what_is_left_out() -> None:
    scene = SCENES["ur10"]
    assert "link 2 and link 5" in scene.names
    assert "link 4 and the floor" in scene.names
    assert "link 4 and wall 1" in scene.names
    assert "link 4 and the fence" in scene.names
    assert "link 2 and link 3" not in scene.names + scene.left_out  # they share the elbow
    assert "link 1 and the floor" in scene.left_out  # it turns about the vertical
    assert not any(name.startswith("the base and the") for name in scene.names)


def test_links_that_share_a_wrist_are_left_out() -> None:
    scene = CollisionScene(with_capsules(load_robot("tx40")))
    assert "link 3 and link 5" in scene.left_out  # the axes 4 to 6 meet
    assert "link 2 and link 5" in scene.names


def test_rigidly_joined_links_are_one_body() -> None:
    scene = SCENES["welded"]
    robot = scene.robot
    assert not robot.joints[2].movable  # the cover is fixed to the shoulder
    assert not {"link 2 and link 3", "link 3 and link 4", "the base and link 1"} & set(
        scene.names + scene.left_out
    )


def test_several_shapes_of_a_link_are_numbered() -> None:
    scene = SCENES["branched"]
    assert any("link 1 (shape 2)" in name for name in scene.names)


def test_links_may_be_ignored_and_self_collision_switched_off() -> None:
    robot = with_capsules(load_robot("tx40"))
    ignored = CollisionScene(robot, Workcell(ignored=(("joint2", "joint5"),)))
    assert "link 2 and link 5" not in ignored.names + ignored.left_out
    alone = CollisionScene(robot, Workcell(self_collision=False))
    assert alone.clearances(np.zeros((3, 6))).shape == (3, 0)
    assert np.all(alone.at(np.zeros((3, 6))).gradient(np.zeros((3, 0))) == 0)
    with pytest.raises(UnknownNameError, match=r"Unknown link in ignored 'joint9'. Did you mean 'joint"):
        _ = CollisionScene(robot, Workcell(ignored=(("joint2", "joint9"),))).pairs


def test_a_margin_moves_all_clearances() -> None:
    wide = replace(SCENES["skew"].workcell, margin=0.06)
    q = poses(SCENES["skew"], 5)
    thin, thick = SCENES["skew"], CollisionScene(SCENES["skew"].robot, wide)
    common = [name for name in thin.names if name in thick.names]
    rows = [s.clearances(q)[:, [s.names.index(n) for n in common]] for s in (thin, thick)]
    np.testing.assert_allclose(rows[0] - rows[1], 0.05)


def test_surroundings_come_from_tables_and_go_back() -> None:
    table = {
        "floor": -0.36,
        "walls": [{"normal": [0, 2, 0], "offset": -0.5}],
        "ignored": [["base", "joint3"]],
    }
    made = table_from(table, Workcell)
    assert made.walls[0].normal == (0.0, 1.0, 0.0)
    assert made.half_spaces[0] == HalfSpace((0.0, 0.0, 1.0), -0.36, "the floor")
    assert table_from(to_table(made), Workcell) == made


def test_bad_input_is_told() -> None:
    bare = replace(load_robot("scara"), shapes=())
    with pytest.raises(ModelError, match="Robot 'scara' has no shapes, so its clearances are unknown; add"):
        CollisionScene(bare)
    with pytest.raises(DynidError, match="CollisionScene takes a Robot for robot, not str 'iiwa14'"):
        CollisionScene("iiwa14")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"normal is \[0.0, 0.0, 0.0\], which has no direction; give the"):
        HalfSpace((0.0, 0.0, 0.0), 1.0)
    with pytest.raises(ModelError, match="margin is -1; it must be a number from 0 m"):
        Workcell(margin=-1)
    with pytest.raises(ModelError, match="floor is nan; it must be"):
        Workcell(floor=math.nan)
    scene = SCENES["ur10"]
    with pytest.raises(ShapeError, match=r"The seed has shape \(2, 1\); expected \(2, "):
        scene.at(np.zeros((2, 6))).gradient(np.zeros((2, 1)))
    with pytest.raises(ShapeError):
        scene.clearances(np.zeros((2, 5)))
