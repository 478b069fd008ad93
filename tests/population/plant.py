"""What the robot really does: rigid bodies, elastic joints, friction that no linear model has.

The links follow a prescribed path, so nothing is integrated. A joint's spring carries the torque of its link,
k (q_m − q) = τ_l(q, q̇, q̈), hence q_m = q + τ_l / k exactly, with q̇_m and q̈_m by differences on a fine grid;
backlash adds half its gap in the direction of τ_l. Friction, drive inertia and ripple act on the motor:
τ = τ_l + Ia q̈_m + friction(q̇_m, τ_l) + ripple(q_m) + spring q_m + off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.compile.kernels import kernels
from dynid.model.inertia import LinkInertia
from dynid.model.payload import attach_payload
from dynid.model.robot import Robot
from population.motions import Path, State

Array = NDArray[np.float64]
FINE_HZ = 1000.0
"""Least rate of the grid on which the physics is computed; logs take samples of it."""


@dataclass(frozen=True, eq=False)
class Drive:
    """What acts on the motors, each (joints,) in SI on the joint side; zero where an effect is absent.

    Args:
        Ia: drive inertia.
        Fv: viscous friction.
        Fc: Coulomb friction.
        off: constant torque.
        stribeck: dry friction at standstill beyond Fc.
        stribeck_speed: speed at which a third of it is left.
        flattening: viscous friction lost per speed: −flattening v|v|.
        load: dry friction per torque of the link.
        asymmetry: viscous friction that has one sign: asymmetry |v|.
        ripple: amplitude of a torque over position.
        ripple_turns: its periods per radian or metre, times 2π.
        spring: torque per position.
        compliance: 1/k of the joint.
        backlash: gap between motor and link [rad or m].
        coupling: inertia of a motor that turns with this joint and the next one, as far as it couples them.
        presliding: speed below which dry friction is not yet whole.
    """

    Ia: Array
    Fv: Array
    Fc: Array
    off: Array
    stribeck: Array
    stribeck_speed: Array
    flattening: Array
    load: Array
    asymmetry: Array
    ripple: Array
    ripple_turns: Array
    spring: Array
    compliance: Array
    backlash: Array
    coupling: Array
    presliding: Array

    def with_joint(self, joint: int, **values: float) -> Drive:
        """Other values on one joint."""
        changed = {}
        for key, value in values.items():
            changed[key] = getattr(self, key).copy()
            changed[key][joint] = value
        return replace(self, **changed)


@dataclass(frozen=True, eq=False)
class Plant:
    """A robot with its true bodies and drives.

    Args:
        robot: its true geometry and gravity; a payload is a link of its own.
        bodies: inertial parameters by name.
        drive: what acts on the motors.
    """

    robot: Robot
    bodies: dict[str, float]
    drive: Drive

    @property
    def parameters(self) -> dict[str, float]:
        """Standard parameters by name, as far as a linear model has them."""
        labels = [self.robot.joints[c].label for c in self.robot.coordinates]
        known = {s: getattr(self.drive, s) for s in ("Ia", "Fv", "Fc", "off")}
        return self.bodies | {f"{s}{lab}": float(known[s][j]) for s in known for j, lab in enumerate(labels)}

    def link_torques(self, state: State) -> Array:
        """Torques of the rigid bodies alone, (samples, joints)."""
        return kernels(self.robot).inverse(self.bodies, *state)

    def torques(self, path: Path, time: Array, rng: np.random.Generator) -> tuple[State, Array]:
        """Motion of the motors on the joint side and their torques along a path, on an even fine grid.

        Args:
            path: of the links.
            time: the grid (samples,).
            rng: what dry friction holds at each rest.
        """
        q, qd, qdd = path.at(time)
        link = self.link_torques((q, qd, qdd))
        if np.any(self.drive.compliance) or np.any(self.drive.backlash):
            soft = np.maximum(0.3 * np.sqrt(np.mean(link**2, axis=0)), 1e-9)
            bend = link * self.drive.compliance + 0.5 * self.drive.backlash * np.arctan(2 * link / soft) / (
                np.pi / 2
            )
            rate = np.gradient(bend, time, axis=0)
            q, qd, qdd = q + bend, qd + rate, qdd + np.gradient(rate, time, axis=0)
        return (q, qd, qdd), link + drive_torques(self.drive, q, qd, qdd, link, held_shares(qd, rng))

    def with_payload(self, body: LinkInertia) -> Plant:
        """The plant with a body fixed to its last link."""
        loaded = attach_payload(replace(self.robot, parameters={}), body)
        return replace(self, robot=loaded, bodies=self.bodies | body.by_name("L"))


def drive_torques(drive: Drive, q: Array, qd: Array, qdd: Array, link: Array, held: Array) -> Array:
    """Torques of drive inertia, friction, ripple and springs, (samples, joints)."""
    ratio = qd / drive.presliding
    near = np.exp(-np.minimum(ratio**2, 50.0))
    direction = np.tanh(ratio) + held * near
    stribeck = drive.stribeck * np.exp(-np.minimum((qd / drive.stribeck_speed) ** 2, 50.0))
    dry = (drive.Fc + stribeck + drive.load * np.abs(link)) * direction
    wet = drive.Fv * qd - drive.flattening * qd * np.abs(qd) + drive.asymmetry * np.abs(qd)
    other = drive.spring * q + drive.ripple * np.sin(drive.ripple_turns * q)
    tau = drive.Ia * qdd + dry + wet + other + drive.off
    for j in np.flatnonzero(drive.coupling[:-1]):
        tau[:, j] += drive.coupling[j] * qdd[:, j + 1]
        tau[:, j + 1] += drive.coupling[j] * qdd[:, j]
    return np.asarray(tau)


def held_shares(qd: Array, rng: np.random.Generator) -> Array:
    """Share of the dry friction that holds a joint while it rests, another one at each rest."""
    at_rest = np.abs(qd) < 1e-9
    rests = np.cumsum(np.diff(at_rest, axis=0, prepend=False), axis=0)
    shares = rng.uniform(-0.8, 0.8, (int(rests.max()) + 1, qd.shape[1]))
    return np.where(at_rest, np.take_along_axis(shares, rests, axis=0), 0.0)
