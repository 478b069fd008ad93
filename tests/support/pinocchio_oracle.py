"""Any tree of dynid as a Pinocchio model, and Pinocchio's answers in dynid's order and conventions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from dynid.model.geometry import placement
from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, JointKind
from dynid.model.parameters import INERTIAL
from dynid.model.robot import Robot
from support.evaluate import States
from support.robots import pinocchio_values

Array = NDArray[np.float64]
_MODELS = {JointKind.REVOLUTE: pin.JointModelRZ, JointKind.PRISMATIC: pin.JointModelPZ}
# Pinocchio's order m mx my mz XX XY YY XZ YZ ZZ, read into dynid's XX XY XZ YY YZ ZZ MX MY MZ M.
_COLUMNS = [4, 5, 7, 6, 8, 9, 1, 2, 3, 0]


@dataclass(frozen=True)
class PinocchioOracle:
    """A Pinocchio model of a robot.

    ``coordinate`` gives, for each coordinate of dynid, its place in Pinocchio's vectors; ``frame`` gives, for
    each link, the Pinocchio frame that moves with it (None for links welded to the base).
    """

    robot: Robot
    model: Any
    data: Any
    coordinate: tuple[int, ...]
    frame: tuple[int, ...]

    def rnea(self, x: States) -> Array:
        """Inverse dynamics (samples, coordinates)."""
        return self._torques(x, lambda q, v, a: pin.rnea(self.model, self.data, q, v, a))

    def bias(self, x: States) -> Array:
        """Coriolis, centrifugal and gravity torques."""
        return self._torques(x, lambda q, v, a: pin.nonLinearEffects(self.model, self.data, q, v))

    def gravity(self, x: States) -> Array:
        """Gravity torques."""
        return self._torques(x, lambda q, v, a: pin.computeGeneralizedGravity(self.model, self.data, q))

    def aba(self, x: States, tau: Array) -> Array:
        """Accelerations under the torques ``tau``, which take the place of the accelerations of ``x``."""
        pushed = States(x.q, x.qd, tau)
        return self._torques(pushed, lambda q, v, t: pin.aba(self.model, self.data, q, v, t))

    def inertia_matrix(self, x: States) -> Array:
        """M (samples, coordinates, coordinates)."""
        select = np.ix_(self.coordinate, self.coordinate)
        return self._each(x, lambda q, v, a: self._full(pin.crba(self.model, self.data, q))[select])

    def energy(self, x: States) -> Array:
        """Kinetic and potential energy (samples, 2)."""

        def both(q: Array, v: Array, a: Array) -> Array:
            kinetic = pin.computeKineticEnergy(self.model, self.data, q, v)
            return np.array([kinetic, pin.computePotentialEnergy(self.model, self.data, q)])

        return self._each(x, both)

    def joint_regressor(self, x: States) -> Array:
        """computeJointTorqueRegressor in dynid's order, for robots whose every joint moves."""

        def one(q: Array, v: Array, a: Array) -> Array:
            W = pin.computeJointTorqueRegressor(self.model, self.data, q, v, a)
            blocks = [self.model.getJointId(joint.name) - 1 for joint in self.robot.joints]
            return W[list(self.coordinate)][:, [10 * b + c for b in blocks for c in _COLUMNS]]

        return self._each(x, one)

    def frame_regressor(self, x: States) -> Array:
        """The same regressor link by link, Jᵀ × frameBodyRegressor, which also takes welded links."""

        def one(q: Array, v: Array, a: Array) -> Array:
            pin.rnea(self.model, self.data, q, v, a)  # fills the accelerations less gravity
            pin.computeJointJacobians(self.model, self.data, q)
            pin.updateFramePlacements(self.model, self.data)
            return np.hstack([self._link_columns(frame) for frame in self.frame])[list(self.coordinate)]

        return self._each(x, one)

    def frames(self, x: States) -> tuple[Array, Array]:
        """Positions and rotations of the link frames in the base."""
        positions, rotations = [], []
        for q, _, _ in x:
            pin.framesForwardKinematics(self.model, self.data, self._ordered(q))
            poses = [self.data.oMf[frame] for frame in self.frame]
            positions.append([pose.translation.copy() for pose in poses])
            rotations.append([pose.rotation.copy() for pose in poses])
        return np.array(positions), np.array(rotations)

    def _link_columns(self, frame: int) -> Array:
        if self.model.frames[frame].parentJoint == 0:
            return np.zeros((self.model.nv, 10))
        # A model of one joint gives a flat Jacobian.
        J = pin.getFrameJacobian(self.model, self.data, frame, pin.LOCAL).reshape(6, self.model.nv)
        return (J.T @ pin.frameBodyRegressor(self.model, self.data, frame))[:, _COLUMNS]

    def _full(self, upper: Array) -> Array:
        """The whole of a symmetric matrix of which only the upper half is promised."""
        half = np.reshape(upper, (self.model.nv, self.model.nv))
        return np.triu(half) + np.triu(half, 1).T

    def _ordered(self, values: Array) -> Array:
        result = np.empty(self.model.nv)
        result[list(self.coordinate)] = values
        return result

    def _each(self, x: States, one: Callable[[Array, Array, Array], Array]) -> Array:
        return np.array([np.array(one(*(self._ordered(part) for part in sample))) for sample in x])

    def _torques(self, x: States, one: Callable[[Array, Array, Array], Array]) -> Array:
        return self._each(x, lambda q, v, a: one(q, v, a)[list(self.coordinate)])


def pinocchio_oracle(robot: Robot) -> PinocchioOracle:
    """Build the model joint by joint, depth first as Pinocchio wants its trees."""
    model = pin.Model()
    model.gravity.linear = np.array(robot.gravity)
    support: dict[int, tuple[int, Any]] = {BASE: (0, pin.SE3.Identity())}
    frame: dict[int, int] = {}
    for j in _depth_first(robot):
        joint = robot.joints[j]
        carrier, pose = support[joint.antecedent]
        pose = pose * pin.SE3(*placement(joint))
        if joint.movable:
            carrier = model.addJoint(carrier, _MODELS[joint.kind](), pose, joint.name)
            pose = pin.SE3.Identity()
        support[j] = carrier, pose
        model.appendBodyToJoint(carrier, _inertia(robot, joint.label), pose)
        link = pin.Frame(f"link {joint.name}", carrier, 0, pose, pin.FrameType.OP_FRAME)
        # Bodies are already in their joints, so frames must not bring inertia of their own.
        frame[j] = model.addFrame(link, False)
    coordinate = tuple(model.joints[support[j][0]].idx_v for j in robot.coordinates)
    armature = np.zeros(model.nv)
    for place, j in zip(coordinate, robot.coordinates, strict=True):
        armature[place] = robot.parameters.get("Ia" + robot.joints[j].label, 0.0)
    model.armature = armature
    return PinocchioOracle(
        robot, model, model.createData(), coordinate, tuple(frame[j] for j in range(len(robot.joints)))
    )


def _inertia(robot: Robot, label: str) -> Any:
    values = [robot.parameters.get(symbol + label, 0.0) for symbol in INERTIAL]
    return pin.Inertia.FromDynamicParameters(pinocchio_values(LinkInertia.from_standard(values)))


def _depth_first(robot: Robot) -> list[int]:
    order: list[int] = []

    def visit(parent: int) -> None:
        for j, joint in enumerate(robot.joints):
            if joint.antecedent == parent:
                order.append(j)
                visit(j)

    visit(BASE)
    return order
