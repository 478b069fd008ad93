"""MuJoCo's answers about MJCF models with loops: closed positions, G, torques of the motors, simulation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from dynid.model.robot import Robot
from support.evaluate import States
from support.mjcf_oracle import MjcfOracle, mjcf_oracle

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LoopOracle:
    """A model with connect or weld equalities, asked in the order of a robot's joints.

    The loops are closed by Newton steps on MuJoCo's own residuals and Jacobian of the equalities.
    """

    text: str
    robot: Robot

    @cached_property
    def model(self) -> Any:
        """With the equalities and no other constraint."""
        model = mujoco.MjModel.from_xml_string(self.text)
        model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        for flag in ("LIMIT", "CONTACT", "FRICTIONLOSS"):
            model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
        return model

    @cached_property
    def data(self) -> Any:
        return mujoco.MjData(self.model)

    @cached_property
    def tree(self) -> MjcfOracle:
        """The same bodies without equalities."""
        return mjcf_oracle(self.text)

    @cached_property
    def places(self) -> list[int]:
        return self.tree.places(self.robot)

    @property
    def coordinates(self) -> list[int]:
        """Indices among the movable joints."""
        return [self.robot.movable.index(j) for j in self.robot.coordinates]

    @property
    def dependent(self) -> list[int]:
        return [i for i in range(len(self.places)) if i not in self.coordinates]

    def rows(self, q: Array) -> tuple[Array, Array]:
        """Residuals of the equalities and their Jacobian over the movable joints."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[self.places] = q
        mujoco.mj_fwdPosition(self.model, self.data)
        count = self.data.nefc
        J = np.array(self.data.efc_J).reshape(count, self.model.nv)
        return np.array(self.data.efc_pos[:count]), J[:, self.places]

    def close(self, q: Array, near: Array) -> Array:
        """All joints with the coordinates at ``q``; the others are found from ``near``."""
        found = np.array(near)
        found[self.coordinates] = q
        for _ in range(50):
            gap, J = self.rows(found)
            if np.abs(gap).max() < 1e-14:
                break
            found[self.dependent] -= np.linalg.pinv(J[:, self.dependent], rcond=1e-9) @ gap
        return found

    def G(self, q_tree: Array) -> Array:
        """∂q_tree/∂q from the Jacobian of the equalities."""
        _, J = self.rows(q_tree)
        G = np.zeros((len(q_tree), len(self.coordinates)))
        G[self.coordinates] = np.eye(len(self.coordinates))
        G[self.dependent] = -np.linalg.pinv(J[:, self.dependent], rcond=1e-9) @ J[:, self.coordinates]
        return G

    def tree_states(self, x: States) -> tuple[States, list[Array]]:
        """Motion of all joints, and G; its rate comes from differences along the motion."""
        assert self.robot.closure is not None
        start, step = np.array(self.robot.closure.start), 1e-5
        q_tree, G, rates = [], [], []
        for q, qd, _ in x:
            near = start
            for share in np.linspace(0.0, 1.0, 11):  # the branch of the start
                near = self.close((1 - share) * start[self.coordinates] + share * q, near)
            after, before = (self.G(self.close(q + h * qd, near)) for h in (step, -step))
            q_tree.append(near)
            G.append(self.G(near))
            rates.append((after - before) / (2 * step))
        qd = [g @ v for g, v in zip(G, x.qd, strict=True)]
        qdd = [g @ a + r @ v for g, r, v, a in zip(G, rates, x.qd, x.qdd, strict=True)]
        return States(np.array(q_tree), np.array(qd), np.array(qdd)), G

    def inverse(self, x: States) -> Array:
        """Torques of the motors, τ = Gᵀ τ_tree with mj_inverse of the tree, (samples, coordinates)."""
        tree, G = self.tree_states(x)
        torques = self.tree.inverse(self.robot, tree)
        return np.array([g.T @ tau for g, tau in zip(G, torques, strict=True)])

    def accelerations(self, x: States, torque: Array) -> Array:
        """q̈ of the coordinates under torques, with M and the forces by ``inverse``."""
        zero = States(x.q, x.qd, np.zeros_like(x.qdd))
        bias = self.inverse(zero)
        columns = [
            self.inverse(States(x.q, x.qd, np.tile(unit, (len(x.q), 1)))) - bias
            for unit in np.eye(len(self.coordinates))
        ]
        M = np.stack(columns, axis=2)
        return np.linalg.solve(M, (torque - bias)[:, :, None])[:, :, 0]

    def simulate(self, start: Array, torque: Array, step: float) -> Array:
        """Positions of the coordinates, from rest, with torques held over each step (steps + 1, coordinates).

        Args:
            start: of all movable joints, closed.
            torque: (steps, coordinates).
            step: of time [s].
        """
        model, data = self.model, self.data
        mujoco.mj_resetData(model, data)
        model.opt.timestep = step
        data.qpos[self.places] = start
        coordinates = [self.places[c] for c in self.coordinates]
        found = [np.array(data.qpos[coordinates])]
        for held in torque:
            data.qfrc_applied[coordinates] = held
            mujoco.mj_step(model, data)
            found.append(np.array(data.qpos[coordinates]))
        return np.array(found)
