"""URDF text read by Pinocchio itself, asked in dynid's order of joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from dynid.model.robot import Robot
from support.evaluate import States

Array = NDArray[np.float64]


@dataclass(frozen=True)
class UrdfOracle:
    """Pinocchio's model of a URDF; mimic joints are free joints in it."""

    model: Any
    data: Any

    def rnea(self, robot: Robot, x: States) -> Array:
        """Inverse dynamics (samples, joints) at states of the movable joints of ``robot``, by name."""
        ids = [self.model.getJointId(robot.joints[j].name) for j in robot.movable]
        assert len(ids) == self.model.njoints - 1
        places = [self.model.joints[i].idx_v for i in ids]
        rows = []
        for q, v, a in x:
            full_q, full_v, full_a = np.zeros(self.model.nq), np.zeros(self.model.nv), np.zeros(self.model.nv)
            for i, angle in zip(ids, q, strict=True):
                joint = self.model.joints[i]
                # Pinocchio keeps a continuous joint as a point on the unit circle.
                value = [np.cos(angle), np.sin(angle)] if joint.nq == 2 else [angle]
                full_q[joint.idx_q : joint.idx_q + joint.nq] = value
            full_v[places], full_a[places] = v, a
            rows.append(pin.rnea(self.model, self.data, full_q, full_v, full_a)[places].copy())
        return np.array(rows)


def urdf_oracle(text: str) -> UrdfOracle:
    """Let Pinocchio read the text."""
    model = pin.buildModelFromXML(text)
    return UrdfOracle(model, model.createData())
