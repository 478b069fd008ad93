"""Closed loops by hand: SciPy's DOP853 between samples, the controller in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from dynid.dynamics.direct import direct_dynamics
from dynid.dynamics.operations import NUMERIC
from dynid.model.joint import BASE, Joint, JointKind
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.simulation import Bandwidth, Controller, Reference, Sines
from dynid.simulation.inertia import joint_inertias

Array = NDArray[np.float64]
Accelerations = Callable[[Array, Array, Array], Array]
Gains = Callable[[Array, Array], Array]


def slider(*terms: str, **values: float) -> Robot:
    """One axis that slides without gravity: a mass M1 and friction."""
    robot = Robot("slider", (Joint("axis", BASE, JointKind.PRISMATIC),), terms=terms)
    return robot.with_gravity(0.0, 0.0, 0.0).with_parameters({"M1": 2.0} | values)


def scara() -> Robot:
    return load_robot("scara")


def scara_reference(sample_time: float = 5e-3, duration: float = 2.0) -> Reference:
    """Fast enough for several turns of both joints in two seconds."""
    sines = Sines(((0.6, 0.2), (0.5, 0.2)), ((0.5, 1.1), (0.7, 1.3)), ((0.3, 1.0), (2.0, 0.1)))
    return sines.sample(sample_time, duration)


def scara_controller(**options: object) -> Controller:
    """P0's law, 1 Hz and 10 Hz, tuned at posture zero."""
    robot = scara()
    law = Controller(Bandwidth((2 * np.pi, 20 * np.pi)), 5e-3, posture=(0.0, 0.0), **options)  # type: ignore[arg-type]
    return law.scaled(tuple(joint_inertias(robot, robot.table.vector(robot.parameters), law)))


def accelerations(robot: Robot) -> Accelerations:
    """Direct dynamics in plain floats; smooth friction is the robot's."""
    chi = list(robot.table.vector(robot.parameters))

    def answer(q: Array, qd: Array, tau: Array) -> Array:
        return np.array(direct_dynamics(robot, chi, list(q), list(qd), list(tau), NUMERIC))

    return answer


@dataclass(frozen=True)
class ByHand:
    """Positions, speeds and torques at the samples."""

    q: Array
    qd: Array
    tau: Array
    measured: Array


@dataclass
class Loop:
    """A sampled loop in plain Python; every part may be replaced."""

    plant: Accelerations
    law: Callable[[Array, Array, Array, Array, Array], Array]
    period: float
    velocity: str = "backward"
    cutoff_hz: float = 0.0
    delay: int = 0
    limit: float = np.inf
    encoder: Callable[[Array], Array] | None = None
    extra: Callable[[Array], Array] | None = None
    pushed: Array | None = None

    def run(self, r: Reference) -> ByHand:
        assert r.qd is not None
        assert r.qdd is not None
        q, qd, n = r.q[0], r.qd[0], r.axes
        before = [q - self.period * qd, q - 2 * self.period * qd]
        smooth, line = qd.copy(), [np.zeros(n)] * self.delay
        rows: list[tuple[Array, ...]] = []
        for k in range(r.samples):
            seen = q if self.encoder is None else self.encoder(q)
            speed = (seen - before[0]) / self.period
            if self.velocity == "exact":
                speed = qd
            elif self.velocity == "mean":
                speed = (seen - before[1]) / (2 * self.period)
            elif self.velocity == "filtered":
                keep = np.exp(-2 * np.pi * self.cutoff_hz * self.period)
                smooth = speed = keep * smooth + (1 - keep) * speed
            before = [seen, before[0]]
            tau = np.clip(self.law(r.q[k], r.qd[k], r.qdd[k], seen, speed), -self.limit, self.limit)
            line = [tau, *line]
            tau = line.pop()
            rows.append((q, qd, tau, seen))
            q, qd = self._advance(q, qd, tau + (0.0 if self.pushed is None else self.pushed[k]))
        return ByHand(*(np.array(column) for column in zip(*rows, strict=True)))

    def _advance(self, q: Array, qd: Array, tau: Array) -> tuple[Array, Array]:
        n = len(q)

        def rate(_: float, x: Array) -> Array:
            load = tau if self.extra is None else tau + self.extra(x[:n])
            return np.concatenate([x[n:], self.plant(x[:n], x[n:], load)])

        end = solve_ivp(
            rate, (0.0, self.period), np.concatenate([q, qd]), method="DOP853", rtol=1e-12, atol=1e-12
        ).y[:, -1]
        return end[:n], end[n:]


def largest(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max())


def slopes(sizes: list[float], errors: list[float]) -> Array:
    """Orders between neighbours: Δlog error / Δlog size."""
    return np.diff(np.log(errors)) / np.diff(np.log(sizes))
