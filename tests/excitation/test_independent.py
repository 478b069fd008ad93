"""Designs judged by others at 1 kHz: Pinocchio's torques and placements, coal's distances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import coal
import numpy as np
import pytest
from numpy.typing import NDArray

from dynid.excitation import Design, DesignTask, LimitChoice, Workcell, design_motion
from dynid.excitation.clearance import CollisionScene
from dynid.model.joint import BASE
from dynid.model.load import load_robot
from dynid.model.parameters import INERTIAL
from dynid.model.robot import Robot
from dynid.model.shapes import Capsule
from dynid.trajectories import FourierSpace
from support.evaluate import States
from support.pinocchio_oracle import pinocchio_oracle

Array = NDArray[np.float64]
FLOORS = {"iiwa14": -0.36, "ur10": 0.0}
"""Height of the floor [m]: the base frame of the one is at its shoulder, that of the other at its foot."""
TORQUES = {"iiwa14": 0.25, "ur10": 0.5}
"""Share of the robot's torques that is allowed: its speeds need no more, and the limit is to bind."""
every_arm = pytest.mark.parametrize("name", FLOORS)


@dataclass(frozen=True)
class Checked:
    """A design and its states at 1 kHz."""

    robot: Robot
    design: Design
    states: States


def limits(robot: Robot, name: str) -> Array:
    return np.array([getattr(joint.limits, name) for joint in robot.joints])


def effort(name: str) -> Array:
    return TORQUES[name] * limits(load_robot(name), "effort")


@cache
def checked(name: str) -> Checked:
    robot = load_robot(name)
    choice = LimitChoice(effort=effort(name))  # type: ignore[arg-type]
    task = DesignTask(FourierSpace(0.1, 5), limits=choice, workcell=Workcell(floor=FLOORS[name]))
    design = design_motion(robot, task, starts=1, seed=1)
    time = np.linspace(0.0, 10.0, 10001)
    return Checked(robot, design, States(*(design.trajectory.at(time, order) for order in range(3))))


@every_arm
def test_positions_speeds_and_accelerations_are_inside(name: str) -> None:
    """Against the robot file itself; without accelerations there, twice the speed per second is assumed."""
    it = checked(name)
    x, speed = it.states, limits(it.robot, "velocity")
    assert np.all(x.q <= limits(it.robot, "upper") + 1e-6)
    assert np.all(x.q >= limits(it.robot, "lower") - 1e-6)
    assert np.all(np.abs(x.qd) <= speed * (1 + 1e-6))
    assert np.all(np.abs(x.qdd) <= 2 * speed * (1 + 1e-6))
    assert np.max(np.abs(x.qdd) / (2 * speed)) > 0.95  # and they are used


def by_name(robot: Robot, symbol: str) -> Array:
    """A parameter of every joint."""
    return np.array([robot.parameters.get(symbol + joint.label, 0.0) for joint in robot.joints])


def pinocchio_torques(robot: Robot, x: States) -> Array:
    """Torques of the robot's a-priori values, with the friction that Pinocchio does not know.

    Base values have links without mass, of which Pinocchio's RNEA makes NaN: its regressor times the values
    serves both robots, and RNEA too where all links have mass.
    """
    oracle = pinocchio_oracle(robot)
    values = np.concatenate([[by_name(robot, symbol)[j] for symbol in INERTIAL] for j in range(x.q.shape[1])])
    torques = oracle.joint_regressor(x) @ values + by_name(robot, "Ia") * x.qdd
    if np.all(by_name(robot, "M") > 0):
        np.testing.assert_allclose(oracle.rnea(x), torques, atol=1e-9)
    Fv, Fc, off = (by_name(robot, symbol) for symbol in ("Fv", "Fc", "off"))
    return np.asarray(torques + Fv * x.qd + Fc * np.sign(x.qd) + off, dtype=float)


@every_arm
def test_pinocchio_finds_no_torque_beyond_its_limit(name: str) -> None:
    it = checked(name)
    torques = pinocchio_torques(it.robot, it.states)
    assert np.all(np.abs(torques) <= effort(name) * (1 + 1e-6))
    assert np.max(np.abs(torques) / effort(name)) > 0.95
    told = {use.joint: use for use in it.design.uses if use.quantity == "torque"}
    for joint, column in zip(it.robot.joints, torques.T, strict=True):
        assert told[joint.name].largest == pytest.approx(column.max(), rel=1e-9)
        assert told[joint.name].least == pytest.approx(column.min(), rel=1e-9)


class CoalArm:
    """The capsules of a robot as coal has them: along z about their middle."""

    def __init__(self, robot: Robot) -> None:
        self.shapes = [self._shape(shape) for shape in robot.shapes]
        self.links = [shape.link for shape in robot.shapes]

    @staticmethod
    def _shape(shape: Capsule) -> tuple[coal.Capsule, Array, Array]:
        start, end = np.array(shape.start), np.array(shape.end)
        length = float(np.linalg.norm(end - start))
        z = (end - start) / length if length > 0 else np.array([0.0, 0.0, 1.0])
        x = np.cross(z, [1.0, 0.0, 0.0] if abs(z[0]) < 0.9 else [0.0, 1.0, 0.0])
        x /= np.linalg.norm(x)
        turn = np.column_stack([x, np.cross(z, x), z])
        return coal.Capsule(shape.radius, length), turn, (start + end) / 2

    def placed(self, k: int, p: Array, R: Array) -> tuple[coal.Capsule, coal.Transform3s]:
        """Shape k where its link is, from positions (links, 3) and rotations (links, 3, 3) in the base."""
        shape, turn, middle = self.shapes[k]
        link = self.links[k]
        if link == BASE:
            return shape, coal.Transform3s(turn, middle)
        return shape, coal.Transform3s(R[link] @ turn, p[link] + R[link] @ middle)


@every_arm
def test_coal_finds_no_contact_of_links_and_none_with_the_floor(name: str) -> None:
    it = checked(name)
    scene = it.design.problem.scene
    assert isinstance(scene, CollisionScene)
    assert it.design.clearance is not None
    p, R = pinocchio_oracle(it.robot).frames(it.states)
    arm, request = CoalArm(it.robot), coal.DistanceRequest()
    floor = coal.Halfspace(np.array([0.0, 0.0, 1.0]), FLOORS[name])
    assert sum(not isinstance(pair.second, int) for pair in scene.pairs) >= 3
    assert sum(isinstance(pair.second, int) for pair in scene.pairs) >= 5
    least = np.inf
    for sample in range(len(p)):
        bodies = [arm.placed(k, p[sample], R[sample]) for k in range(len(arm.shapes))]
        for pair in scene.pairs:
            other = bodies[pair.second] if isinstance(pair.second, int) else (floor, coal.Transform3s())
            distance = coal.distance(*bodies[pair.first], *other, request, coal.DistanceResult())
            least = min(least, distance)
    margin = scene.workcell.margin
    assert least >= margin - 1e-6
    assert least >= it.design.clearance.bound + margin - 1e-6  # the proof holds
    assert least <= it.design.clearance.value + margin + 1e-4  # and is not idle
