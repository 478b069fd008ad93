"""Set-valued Coulomb friction: a joint at rest stays there until the torque leaves the friction's band.

While a joint slides, its direction is kept over a substep, so that Runge–Kutta never meets a jump. A joint
whose speed has changed sign passed rest inside the substep: what followed is taken again from there. A joint
at rest is held (its row and column of M are taken out) until the torque that holds it exceeds the friction on
either side. The method is of second order where joints turn, of fourth elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dynid.core.errors import DynidError
from dynid.dynamics.algebra import Scalar, add, mul, sub, total
from dynid.dynamics.inertia_matrix import inertia_matrix
from dynid.dynamics.inverse import bias_torques
from dynid.dynamics.operations import Operations
from dynid.dynamics.solve import Matrix
from dynid.model.parameters import Parameter
from dynid.model.robot import Robot
from dynid.simulation.added_torques import AddedState, solve_accelerations

_TINY = 1e-12
"""A speed so small that only its direction counts [rad/s or m/s]."""


def check_stick(robot: Robot) -> None:
    """Refuse robots whose jumps are not those of single joints."""
    if "Fcm" in robot.terms:
        raise DynidError(
            f"Robot {robot.name!r} has Coulomb friction between joints (Fcm), which set-valued friction does "
            "not know; simulate it with smooth friction."
        )


def _jumps(robot: Robot, entry: Parameter) -> bool:
    if entry.family != "friction":
        return False
    term = next(t for t in robot.friction_terms if t.name == entry.symbol)
    return "sign" in term.expression or "step" in term.expression


def _friction(
    robot: Robot,
    parameters: Sequence[Scalar],
    q: Sequence[Scalar],
    speeds: Sequence[Scalar],
    ops: Operations,
) -> list[Scalar]:
    """Torques of the terms that jump."""
    torques: list[Scalar] = [0.0] * robot.n_coordinates
    for value, entry in zip(parameters, robot.table, strict=True):
        if not _jumps(robot, entry):
            continue
        k = robot.coordinates.index(entry.joint)
        term = next(t for t in robot.friction_terms if t.name == entry.symbol)
        torques[k] = add(torques[k], mul(value, ops.evaluate(term.expression, q[k], speeds[k], term.name)))
    return torques


def _smooth_part(
    robot: Robot, parameters: Sequence[Scalar], q: Sequence[Scalar], qd: Sequence[Scalar], ops: Operations
) -> list[Scalar]:
    """Bias torques without the terms that jump."""
    calm = [
        0.0 if _jumps(robot, entry) else value for value, entry in zip(parameters, robot.table, strict=True)
    ]
    return bias_torques(robot, calm, q, qd, ops)


def _speeds_in_modes(qd: Sequence[Scalar], modes: Sequence[Scalar], ops: Operations) -> list[Scalar]:
    """Speeds that keep the direction of their mode: at least tiny in it, zero when stuck."""
    top = ops.functions["max"]
    return [s * top(s * v, _TINY) for v, s in zip(qd, modes, strict=True)]


@dataclass(frozen=True)
class _Instant:
    """The robot at one position, split into what jumps, with all added terms, and what does not."""

    robot: Robot
    parameters: Sequence[Scalar]
    q: Sequence[Scalar]
    M: Matrix
    load: Sequence[Scalar]
    added: AddedState
    ops: Operations

    def dry(self, speeds: Sequence[Scalar]) -> list[Scalar]:
        """Friction of the robot's terms that jump."""
        return _friction(self.robot, self.parameters, self.q, speeds, self.ops)

    def breakaway(self, side: float, qdd: Sequence[Scalar]) -> list[Scalar]:
        """Friction of joints that leave rest to one side while others accelerate."""
        speeds: list[Scalar] = [side * _TINY] * len(self.load)
        added = replace(self.added, qd=speeds).torques(qdd)
        return [add(a, b) for a, b in zip(self.dry(speeds), added, strict=True)]

    def accelerations(self, qd: Sequence[Scalar], modes: Sequence[Scalar]) -> list[Scalar]:
        """q̈ of the sliding joints, zero of the stuck ones."""
        speeds = _speeds_in_modes(qd, modes, self.ops)
        rest = [sub(a, b) for a, b in zip(self.load, self.dry(speeds), strict=True)]
        return solve_accelerations(self.M, rest, replace(self.added, qd=speeds), [s * s for s in modes])

    def modes_after_release(self, qd: Sequence[Scalar], modes: Sequence[Scalar]) -> list[Scalar]:
        """Modes after stuck joints have broken away whose holding torque is outside the friction's band."""
        n, step = len(self.load), self.ops.functions["step"]
        moving = self.accelerations(qd, modes)
        up, down = (self.breakaway(side, moving) for side in (1.0, -1.0))
        result: list[Scalar] = []
        for i in range(n):
            holding = sub(self.load[i], total(mul(self.M[i][j], moving[j]) for j in range(n)))
            away = step(sub(holding, up[i])) - step(sub(down[i], holding))
            result.append(modes[i] + (1.0 - modes[i] * modes[i]) * away)
        return result

    def settled_modes(self, qd: Sequence[Scalar], modes: Sequence[Scalar]) -> list[Scalar]:
        """Modes that agree with each other: a joint that breaks away changes what holds the others.

        All stuck joints are released that would go alone; those of them that the others drive back are stuck
        again, and the stuck ones are asked once more.
        """
        step = self.ops.functions["step"]
        loose = self.modes_after_release(qd, modes)
        rates = self.accelerations(qd, loose)
        calmed: list[Scalar] = []
        for before, after, rate in zip(modes, loose, rates, strict=True):
            driven_back = (1.0 - before * before) * step(-1.0 * (after * rate))
            calmed.append(after * (1.0 - driven_back))
        return self.modes_after_release(qd, calmed)


def _instant(
    robot: Robot,
    parameters: Sequence[Scalar],
    added: AddedState,
    ops: Operations,
) -> _Instant:
    q, smooth = added.q, _smooth_part(robot, parameters, added.q, added.qd, ops)
    load = [sub(t, a) for t, a in zip(added.tau, smooth, strict=True)]
    return _Instant(robot, parameters, q, inertia_matrix(robot, parameters, q, ops), load, added, ops)


def stick_rates(
    robot: Robot,
    parameters: Sequence[Scalar],
    at: AddedState,
    modes: Sequence[Scalar],
    ops: Operations,
) -> list[Scalar]:
    """Accelerations at a state with friction in the direction of the modes (−1, 0 stuck, 1)."""
    return _instant(robot, parameters, at, ops).accelerations(at.qd, modes)


def stick_jump(
    robot: Robot,
    parameters: Sequence[Scalar],
    state: AddedState,
    modes: Sequence[Scalar],
    length: Scalar,
    ops: Operations,
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """Positions, speeds and modes after a substep: joints stop or turn, and stuck ones break away.

    A joint whose speed has turned against its direction passed rest δ = q̇/q̈ ago. The part of the substep
    since then is taken again with the friction that truly acted: that of rest, or of the other direction.

    Args:
        robot: the robot.
        parameters: in table order.
        state: coordinates and speeds at the end of the substep, torques, added terms.
        modes: directions during the substep.
        length: of the substep [s]; zero where a new torque was just set, which only lets joints break away.
        ops: elementary functions of the scalar type.
    """
    n, q, qd = robot.n_coordinates, state.q, state.qd
    step, top, size = (ops.functions[name] for name in ("step", "max", "abs"))
    at = _instant(robot, parameters, state, ops)
    turned = [step(-1.0 * (v * s)) for v, s in zip(qd, modes, strict=True)]
    before = at.accelerations(qd, modes)
    ago = [
        t * length * size(v) / top(top(size(a) * length, size(v)), _TINY)
        for t, v, a in zip(turned, qd, before, strict=True)
    ]
    kept = [(1.0 - t) * s for t, s in zip(turned, modes, strict=True)]
    slow = [k * k * v for k, v in zip(kept, qd, strict=True)]
    after = at.settled_modes(slow, kept)
    now = at.accelerations(slow, after)
    since: Scalar = 0.0
    for d in ago:
        since = top(since, d)
    positions, speeds = [], []
    for i in range(n):
        gained = sub(now[i], before[i])
        # A joint that turned starts again from rest; the others feel its friction change.
        fresh = after[i] * top(after[i] * now[i], 0.0) * ago[i]
        speeds.append(turned[i] * fresh + (1.0 - turned[i]) * (slow[i] + gained * since))
        back = 0.5 * ago[i] * (fresh - qd[i])
        positions.append(q[i] + turned[i] * back + (1.0 - turned[i]) * (0.5 * since * since) * gained)
    return positions, speeds, after
