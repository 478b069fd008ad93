"""The closed loop of a robot and a controller as programs for the compiled loop.

State vector: q, q̇ (integrated) · directions of sticking joints (modes) · the controller's memory.
Inputs of a sample: q_r, q̇_r, q̈_r · torque from outside · encoder errors · disturbing torques.
Parameters: robot parameters of some columns · gains · saturation · encoder steps · ripple · added terms.
Records of a sample: torque of the controller · q · q̇ · measured q where encoders round; the loop adds q̈ just
after the torque is set.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dynid.compile.ir_loop import LoopSizes
from dynid.compile.loop import Loop, describe_loop
from dynid.compile.trace import Symbols
from dynid.dynamics.algebra import Scalar, add, mul, sub, total
from dynid.dynamics.inertia_matrix import inertia_matrix
from dynid.dynamics.inverse import bias_torques
from dynid.dynamics.operations import Operations, symbolic
from dynid.model.robot import Robot
from dynid.simulation.added_torques import AddedState, AddedTorque, added_state, solve_accelerations
from dynid.simulation.controller import Controller
from dynid.simulation.law import LawSignals
from dynid.simulation.stick import check_stick, stick_jump, stick_rates

SMOOTH, STICK = "smooth", "stick"


@dataclass(frozen=True)
class LoopPlan:
    """What fixes the programs of a loop.

    Args:
        robot: the robot, with the sign width of smooth friction.
        columns: robot parameters that are symbols; the others are zero.
        controller: the controller; its numbers are symbols.
        friction: "smooth" or "stick".
        quantised: whether encoders round.
        motor_side: whether they sit on the motors.
        ripple_orders: phase of the torque ripple per radian or metre of each axis; () none.
        added: torques beside the robot's own; their numbers are symbols.
    """

    robot: Robot
    columns: tuple[int, ...]
    controller: Controller
    friction: str = SMOOTH
    quantised: bool = False
    motor_side: bool = False
    ripple_orders: tuple[float, ...] = ()
    added: tuple[AddedTorque, ...] = ()

    @property
    def axes(self) -> int:
        """Coordinates."""
        return self.robot.n_coordinates

    @property
    def widths(self) -> dict[str, int]:
        """Groups of the parameter vector, in order."""
        n = self.axes
        return {
            "parameters": len(self.columns),
            "gains": len(self.controller.law.gains),
            "saturation": n if self.controller.saturation else 0,
            "resolution": n if self.quantised else 0,
            "ripple": n if self.ripple_orders else 0,
            "added": sum(len(term.numbers) for term in self.added),
        }

    @property
    def sizes(self) -> LoopSizes:
        """Numbers of scalars."""
        n = self.axes
        modes = n if self.friction == STICK else 0
        parameters, records = sum(self.widths.values()), (4 if self.quantised else 3) * n
        return LoopSizes(2 * n, modes, self.controller.memory, 6 * n, n, parameters, records, noted=n)

    @property
    def key(self) -> str:
        """Text that fixes the programs."""
        drives = self.robot.drives if self.motor_side and self.quantised else None
        encoder = f"{self.quantised} {drives and (drives.ratio, drives.offset)}"
        return (
            f"{_source()} {self.robot.digest} {self.robot.driven} {self.columns} {self.controller.key} "
            f"{self.friction} {encoder} {self.ripple_orders} {[term.key for term in self.added]}"
        )

    def loop(self) -> Loop:
        """The programs."""
        if self.friction == STICK:
            check_stick(self.robot)
        stick = self.friction == STICK
        return describe_loop(
            "closed_loop", self.key, self.sizes, self._step, self._rate, self._jump if stick else None
        )

    def split(self, p: Sequence[Scalar]) -> dict[str, Sequence[Scalar]]:
        """The parameter vector by groups; robot parameters in table order with constant zeros."""
        groups, start = {}, 0
        for name, width in self.widths.items():
            groups[name] = p[start : start + width]
            start += width
        full: list[Scalar] = [0.0] * len(self.robot.table)
        for column, value in zip(self.columns, groups["parameters"], strict=True):
            full[column] = value
        return groups | {"parameters": full}

    def _step(self, s: Symbols) -> list[Any]:
        n, ops = self.axes, symbolic()
        x, p = s["x"], self.split(s["p"])
        q, qd, memory = x[:n], x[n : 2 * n], x[self.sizes.plant :]
        r, rd, rdd, outside, noise, disturbance = (s["u"][k * n : (k + 1) * n] for k in range(6))
        measured = self._encoder([a + b for a, b in zip(q, noise, strict=True)], p["resolution"], ops)
        seen = Measured(r, rd, rdd, measured, qd, outside)
        torques, following = control(self.controller, seen, memory, p, ops, self.robot.driven)
        held = [add(t, d) for t, d in zip(torques, disturbance, strict=True)]
        return [*held, *following, *torques, *q, *qd, *(measured if self.quantised else ())]

    def _encoder(self, q: list[Scalar], steps: Sequence[Scalar], ops: Operations) -> list[Scalar]:
        if not self.quantised:
            return q
        import casadi as ca

        def round_to(x: Scalar, step: Scalar) -> Scalar:
            return ca.if_else(step > 0, step * ca.floor(x / (step + (step <= 0)) + 0.5), x)

        drives = self.robot.drives
        if not self.motor_side or drives is None:
            return [round_to(x, step) for x, step in zip(q, steps, strict=True)]
        R, inverse = drives.matrix, np.linalg.inv(drives.matrix)
        n = self.axes
        motors = [total(mul(float(R[m, j]), q[j] - drives.offset[j]) for j in range(n)) for m in range(n)]
        read = [round_to(x, step) for x, step in zip(motors, steps, strict=True)]
        return [
            add(total(mul(float(inverse[j, m]), read[m]) for m in range(n)), drives.offset[j])
            for j in range(n)
        ]

    def torques_with_ripple(
        self, torques: Sequence[Scalar], q: Sequence[Scalar], p: dict[str, Sequence[Scalar]], ops: Operations
    ) -> list[Scalar]:
        """Torques with the ripple of the drives at a position."""
        if not self.ripple_orders:
            return list(torques)
        waves = zip(torques, p["ripple"], self.ripple_orders, q, strict=True)
        return [t + a * ops.sin(k * at) for t, a, k, at in waves]

    def state(
        self, x: Sequence[Scalar], torques: Sequence[Scalar], p: dict[str, Sequence[Scalar]], ops: Operations
    ) -> AddedState:
        """The robot at q and q̇ under torques and ripple, with the terms that are added to it."""
        q, qd = x[: self.axes], x[self.axes : 2 * self.axes]
        tau = self.torques_with_ripple(torques, q, p, ops)
        return added_state(self.robot, p["parameters"], q, qd, tau, self.added, p["added"], ops)

    def accelerations(self, at: AddedState, p: dict[str, Sequence[Scalar]], ops: Operations) -> list[Scalar]:
        """q̈ with smooth friction: M(q) q̈ + added(q̈) = τ − N(q, q̇)."""
        M = inertia_matrix(self.robot, p["parameters"], at.q, ops)
        bias = bias_torques(self.robot, p["parameters"], at.q, at.qd, ops)
        return solve_accelerations(M, [sub(t, b) for t, b in zip(at.tau, bias, strict=True)], at)

    def _rate(self, s: Symbols) -> list[Any]:
        p, ops = self.split(s["p"]), symbolic()
        at = self.state(s["x"], s["w"], p, ops)
        if self.friction == STICK:
            return [*at.qd, *stick_rates(self.robot, p["parameters"], at, s["x"][2 * self.axes :], ops)]
        return [*at.qd, *self.accelerations(at, p, ops)]

    def _jump(self, s: Symbols) -> list[Any]:
        p, ops = self.split(s["p"]), symbolic()
        at, modes = self.state(s["x"], s["w"], p, ops), s["x"][2 * self.axes :]
        places, speeds, directions = stick_jump(self.robot, p["parameters"], at, modes, s["h"][0], ops)
        return [*places, *speeds, *directions]


@dataclass(frozen=True)
class Measured:
    """What reaches the controller at a sample, before it estimates speeds."""

    reference: Sequence[Scalar]
    reference_speed: Sequence[Scalar]
    reference_acceleration: Sequence[Scalar]
    position: Sequence[Scalar]
    true_speed: Sequence[Scalar]
    torque: Sequence[Scalar]


def control(
    controller: Controller,
    seen: Measured,
    memory: Sequence[Scalar],
    p: dict[str, Sequence[Scalar]],
    ops: Operations,
    driven: Sequence[bool],
) -> tuple[list[Scalar], list[Scalar]]:
    """One step of the controller: torques now on the driven joints, zero on passive ones; its next memory."""
    n, T = controller.axes, controller.sample_time
    cut = controller.velocity.memory(n)
    own, integrals, line = (
        memory[:cut],
        memory[cut : cut + controller.law.memory],
        memory[cut + controller.law.memory :],
    )
    speeds, own_next = controller.velocity.estimate(seen.position, seen.true_speed, own, T or 1.0)
    signals = LawSignals(
        seen.reference,
        seen.reference_speed,
        seen.reference_acceleration,
        seen.position,
        speeds,
        seen.torque,
    )
    torques, rates = controller.law.torque(signals, integrals, p["gains"], ops)
    torques = [add(a, b) if on else 0.0 for a, b, on in zip(torques, seen.torque, driven, strict=True)]
    if controller.saturation:
        low, high = ops.functions["max"], ops.functions["min"]
        torques = [high(low(t, -m), m) for t, m in zip(torques, p["saturation"], strict=True)]
    following = [z + T * rate for z, rate in zip(integrals, rates, strict=True)] if T else list(rates)
    if controller.delay:
        queue = [*torques, *line]
        torques, line = queue[-n:], queue[:-n]
    return torques, [*own_next, *following, *line]


@cache
def _source() -> str:
    """Hash of the code that is traced, so that edited laws never meet old machine code."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()
