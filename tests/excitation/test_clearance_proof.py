"""The proven smallest clearance: against dense sampling, on chains, trees, prismatic and coupled joints."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from dynid.core.errors import DynidError, ModelError, ShapeError
from dynid.excitation import CollisionScene, HalfSpace, Workcell, verified_clearance
from dynid.excitation.clearance_proof import reach
from dynid.model.coupling import Coupling
from dynid.model.joint import JointKind, Limits
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.model.shapes import capsules_from_frames
from support.robots import branched_robot, prismatic_robot
from support.trees import trees

Array = NDArray[np.float64]
FREQUENCIES = 2 * np.pi * np.arange(1, 6) / 8.0
WALL = HalfSpace((1.0, 0.3, -0.2), -0.7)


def with_limits(robot: Robot, half: float = 1.2) -> Robot:
    joints = tuple(replace(joint, limits=Limits(-half, half)) for joint in robot.joints)
    return replace(robot, joints=joints, shapes=capsules_from_frames(robot, 0.04))


def coupled_robot() -> Robot:
    """Five joints, three of them prismatic, driven by two coordinates."""
    coupling = Coupling(
        (0, 1), ((1.0, 0.0), (0.0, 1.0), (0.5, -1.0), (-0.3, 0.2), (0.0, 1.5)), (0.0, 0.0, 0.2, 0.0, -0.1)
    )
    return replace(prismatic_robot(), coupling=coupling, terms=(), name="coupled")


def motion(robot: Robot, seed: int, speed: float = 0.5) -> tuple[object, Array]:
    """Sums of sines within ±1 and the exact bounds of their speeds."""
    a = np.random.default_rng(seed).normal(size=(robot.n_coordinates, 5)) * speed
    a *= np.minimum(1.0, 1.0 / np.sum(np.abs(a / FREQUENCIES), axis=1))[:, None]
    return lambda t: np.sin(np.multiply.outer(t, FREQUENCIES)) @ (a / FREQUENCIES).T, np.sum(
        np.abs(a), axis=1
    )


ROBOTS = {
    "iiwa14": with_limits(load_robot("iiwa14")),
    "prismatic": with_limits(prismatic_robot()),
    "branched": with_limits(branched_robot()),
    "coupled": with_limits(coupled_robot()),
}
every_robot = pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS.keys())


@every_robot
@pytest.mark.parametrize("seed", [1, 2])
def test_dense_sampling_finds_nothing_below_the_bound(robot: Robot, seed: int) -> None:
    scene = CollisionScene(robot, Workcell(floor=-0.5, walls=(WALL,)))
    at, speeds = motion(robot, seed)
    least = verified_clearance(scene, at, 8.0, speeds)  # type: ignore[arg-type]
    dense = scene.clearances(at(np.linspace(0.0, 8.0, 20001)))  # type: ignore[operator]
    assert least.bound <= dense.min()
    assert dense.min() >= least.value - 1e-3
    assert 0 <= least.value - least.bound <= 1e-3
    here = scene.clearances(at(np.array([least.time])))[0]  # type: ignore[operator]
    assert here.min() == pytest.approx(least.value, abs=1e-12)
    assert scene.names[int(np.argmin(here))] == least.pair


@every_robot
def test_no_slope_is_beyond_the_reach(robot: Robot) -> None:
    scene = CollisionScene(robot, Workcell(floor=-0.5, walls=(WALL,)))
    q = np.random.default_rng(4).uniform(-1.2, 1.2, (300, robot.n_coordinates))
    levers = reach(scene)
    assert levers.shape == (len(scene.pairs), robot.n_coordinates)
    for k in range(len(scene.pairs)):
        seed = np.zeros((300, len(scene.pairs)))
        seed[:, k] = 1.0
        assert np.all(np.abs(scene.at(q).gradient(seed)) <= levers[k] + 1e-9)


@settings(max_examples=15, deadline=None)
@given(trees(), st.integers(0, 1000))
def test_no_slope_of_a_drawn_tree_is_beyond_the_reach(tree: Robot, seed: int) -> None:
    robot = with_limits(tree)
    scene = CollisionScene(robot, Workcell(floor=-0.3))
    rng = np.random.default_rng(seed)
    q, dq = rng.uniform(-1.1, 1.1, (2, 50, robot.n_coordinates))
    step = 1e-3
    change = np.abs(scene.clearances(q + step * dq) - scene.clearances(q))
    assert np.all(change <= step * np.abs(dq) @ reach(scene).T + 1e-12)


def test_a_brief_approach_between_samples_is_found() -> None:
    """A peak of 20 ms that a grid of 50 ms does not see."""
    robot = ROBOTS["iiwa14"]
    scene = CollisionScene(robot, Workcell(floor=-0.5, self_collision=False))

    def at(t: Array) -> Array:
        q = np.zeros((len(t), 7))
        q[:, 1] = 2.5 * np.exp(-(((t - 3.025) / 0.005) ** 2))
        return q

    grid = scene.clearances(at(np.arange(0.0, 8.0, 0.05)))
    speeds = np.zeros(7)
    speeds[1] = 2.5 / 0.005  # above sqrt(2/e) amplitude/width
    least = verified_clearance(scene, at, 8.0, speeds)
    assert grid.min() > 0.2
    assert least.value < -0.1
    assert least.time == pytest.approx(3.025, abs=1e-3)
    assert least.pair.endswith("the floor")


def test_bounds_of_speed_within_intervals_give_the_same() -> None:
    robot = ROBOTS["branched"]
    scene = CollisionScene(robot, Workcell(floor=-0.5))
    at, speeds = motion(robot, 7)
    calls = []

    def within(start: Array, end: Array) -> Array:
        assert np.all(end > start)
        calls.append(len(start))
        return np.tile(speeds, (len(start), 1))

    plain = verified_clearance(scene, at, 8.0, speeds)  # type: ignore[arg-type]
    assert verified_clearance(scene, at, 8.0, within) == plain  # type: ignore[arg-type]
    assert calls[0] == 64


def test_without_pairs_nothing_is_near() -> None:
    scene = CollisionScene(ROBOTS["iiwa14"], Workcell(self_collision=False))
    assert verified_clearance(scene, lambda t: np.zeros((len(t), 7)), 1.0, np.ones(7)).bound == math.inf


def test_bad_input_is_told() -> None:
    robot = ROBOTS["prismatic"]
    scene = CollisionScene(robot, Workcell(floor=-3.0))

    def still(t: Array) -> Array:
        return np.zeros((len(t), 5))

    with pytest.raises(
        DynidError, match=r"got a duration of 0 s and a tolerance of 0.001 m; both must be above"
    ):
        verified_clearance(scene, still, 0.0, np.ones(5))
    with pytest.raises(
        ShapeError, match=r"speeds has shape \(1, 4\); give one bound for each of the 5 coord"
    ):
        verified_clearance(scene, still, 1.0, np.ones(4))
    with pytest.raises(DynidError, match="speeds holds a bound that is negative or not finite"):
        verified_clearance(scene, still, 1.0, -np.ones(5))
    with pytest.raises(DynidError, match=r"The motion has no finite positions at 0.0078125 s; give one"):
        verified_clearance(scene, lambda t: np.full((len(t), 5), np.nan), 1.0, np.ones(5))
    free = tuple(replace(j, limits=Limits()) if j.kind is JointKind.PRISMATIC else j for j in robot.joints)
    with pytest.raises(
        ModelError, match=r"Prismatic joints have no limits \('lift', 'reach', 'push'\), so it is unknown"
    ):
        reach(CollisionScene(replace(robot, joints=free), Workcell(floor=-3.0)))
