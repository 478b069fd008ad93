"""MJCF text read by MuJoCo itself, asked in dynid's order of joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from dynid.model.robot import Robot
from support.evaluate import States

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MjcfOracle:
    """MuJoCo's model of a text, with every constraint (contacts, limits, equalities, frictionloss) off."""

    model: Any
    data: Any

    def places(self, robot: Robot) -> list[int]:
        """MuJoCo's places of the movable joints; MuJoCo lists unnamed joints in the same order."""
        names = [robot.joints[j].name for j in robot.movable]
        known = [self.model.joint(i).name for i in range(self.model.njnt)]
        assert len(names) == self.model.nv
        return [known.index(name) if name in known else k for k, name in enumerate(names)]

    def inverse(self, robot: Robot, x: States) -> Array:
        """mj_inverse (samples, joints): inertia, armature, gravity, damping and springs."""
        places = self.places(robot)
        rows = []
        for q, v, a in x:
            mujoco.mj_resetData(self.model, self.data)
            self.data.qpos[places], self.data.qvel[places] = q, v
            mujoco.mj_forward(self.model, self.data)
            self.data.qacc[places] = a
            mujoco.mj_inverse(self.model, self.data)
            rows.append(self.data.qfrc_inverse[places].copy())
        return np.array(rows)


def mjcf_oracle(text: str) -> MjcfOracle:
    """Let MuJoCo read the text."""
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    return MjcfOracle(model, mujoco.MjData(model))


def equality_residuals(text: str, robot: Robot, q_tree: Array) -> Array:
    """Violations of the equality constraints at positions of the movable joints, one row per sample."""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    places = MjcfOracle(model, data).places(robot)
    rows = []
    for q in q_tree:
        mujoco.mj_resetData(model, data)
        data.qpos[places] = q
        mujoco.mj_fwdPosition(model, data)
        rows.append(data.efc_pos[data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)].copy())
    return np.array(rows)
