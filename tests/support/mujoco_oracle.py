"""Any tree of dynid as MJCF text loaded in MuJoCo, and MuJoCo's answers in dynid's order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from dynid.model.geometry import placement
from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, Joint, JointKind
from dynid.model.parameters import INERTIAL
from dynid.model.robot import Robot
from support.evaluate import States

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MujocoOracle:
    """A MuJoCo model of a robot; ``coordinate`` and ``body`` give MuJoCo's indices in dynid's order."""

    model: Any
    data: Any
    coordinate: tuple[int, ...]
    body: tuple[int, ...]

    def inverse(self, x: States) -> Array:
        """mj_inverse (samples, coordinates)."""
        rows = []
        for q, v, a in x:
            self._set(q, v)
            self.data.qacc[list(self.coordinate)] = a
            mujoco.mj_inverse(self.model, self.data)
            rows.append(self.data.qfrc_inverse[list(self.coordinate)])
        return np.array(rows)

    def forward(self, x: States, tau: Array) -> Array:
        """Accelerations by mj_forward under the torques ``tau``."""
        rows = []
        for (q, v, _), torque in zip(x, tau, strict=True):
            self._set(q, v, torque)
            rows.append(self.data.qacc[list(self.coordinate)])
        return np.array(rows)

    def bias(self, x: States) -> Array:
        """qfrc_bias: Coriolis, centrifugal and gravity torques."""
        rows = []
        for q, v, _ in x:
            self._set(q, v)
            rows.append(self.data.qfrc_bias[list(self.coordinate)])
        return np.array(rows)

    def inertia_matrix(self, x: States) -> Array:
        """M, column by column with mj_mulM (mj_fullM's arguments differ between MuJoCo versions)."""
        n = self.model.nv
        select = np.ix_(self.coordinate, self.coordinate)
        result = []
        for q, v, _ in x:
            self._set(q, v)
            M = np.zeros((n, n))
            for c, unit in enumerate(np.eye(n)):
                column = np.zeros(n)
                mujoco.mj_mulM(self.model, self.data, column, unit)
                M[:, c] = column
            result.append(M[select])
        return np.array(result)

    def frames(self, x: States) -> tuple[Array, Array]:
        """Positions and rotations of the link frames in the base."""
        positions, rotations = [], []
        for q, v, _ in x:
            self._set(q, v)
            positions.append(self.data.xpos[list(self.body)])
            rotations.append(self.data.xmat[list(self.body)].reshape(-1, 3, 3))
        return np.array(positions), np.array(rotations)

    def _set(self, q: Array, v: Array, tau: ArrayLike = 0.0) -> None:
        mujoco.mj_resetData(self.model, self.data)
        places = list(self.coordinate)
        self.data.qpos[places], self.data.qvel[places] = q, v
        self.data.qfrc_applied[places] = tau
        mujoco.mj_forward(self.model, self.data)


def mujoco_oracle(robot: Robot) -> MujocoOracle:
    """Write the robot as MJCF and load it; every link needs a mass."""
    model = mujoco.MjModel.from_xml_string(mjcf(robot))
    coordinate = tuple(model.joint(robot.joints[j].name).dofadr[0] for j in robot.coordinates)
    body = tuple(model.body(f"link {joint.name}").id for joint in robot.joints)
    return MujocoOracle(model, mujoco.MjData(model), coordinate, body)


def mjcf(robot: Robot) -> str:
    """The robot as MJCF: nested bodies, axes along z, full inertias, armatures, no contact."""
    root = ET.Element("mujoco", model=robot.name)
    ET.SubElement(root, "compiler", angle="radian", inertiafromgeom="false")
    option = ET.SubElement(root, "option", gravity=_text(robot.gravity))
    ET.SubElement(option, "flag", contact="disable")
    bodies = {BASE: ET.SubElement(root, "worldbody")}
    for j, joint in enumerate(robot.joints):
        R, p = placement(joint)
        x, y, z, w = Rotation.from_matrix(R).as_quat()
        where = {"pos": _text(p), "quat": _text([w, x, y, z])}
        body = ET.SubElement(bodies[joint.antecedent], "body", where, name=f"link {joint.name}")
        _add_inertia(body, robot, joint)
        if joint.movable:
            kind = "hinge" if joint.kind is JointKind.REVOLUTE else "slide"
            armature = repr(float(robot.parameters.get("Ia" + joint.label, 0.0)))
            ET.SubElement(body, "joint", name=joint.name, type=kind, axis="0 0 1", armature=armature)
        bodies[j] = body
    return ET.tostring(root, encoding="unicode")


def _add_inertia(body: ET.Element, robot: Robot, joint: Joint) -> None:
    values = [robot.parameters.get(symbol + joint.label, 0.0) for symbol in INERTIAL]
    mass, com, J = LinkInertia.from_standard(values).com_form()
    full = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    ET.SubElement(body, "inertial", pos=_text(com), mass=repr(float(mass)), fullinertia=_text(full))


def _text(values: ArrayLike) -> str:
    """All digits of a double, which MJCF parses back exactly."""
    return " ".join(repr(float(value)) for value in np.asarray(values))
