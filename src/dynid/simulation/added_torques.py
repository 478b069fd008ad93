"""Torques of added terms inside a simulated robot, beside what its own parameters give.

τ = M(q) q̈ + N(q, q̇) + t with t_j = Σ c f(q_j, q̇_j, q̈_j, τ_j, ℓ_j) over the terms of joint j. The load ℓ, the
torque of the links' inertia and weight, holds q̈ itself. Where a formula has q̈ or ℓ, accelerations solve
M q̈ + t(q̈) = τ − N by Newton's method with exact slopes, in a fixed number of steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dynid.compile.kernels import kernels
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.dynamics.algebra import Scalar, add, mul, sub, total
from dynid.dynamics.inertia_matrix import inertia_matrix
from dynid.dynamics.inverse import bias_torques
from dynid.dynamics.operations import NUMERIC, Operations
from dynid.dynamics.solve import Matrix, solve_symmetric
from dynid.model.friction import names_in
from dynid.model.robot import Robot

_STEPS = 6
"""Newton steps. |ℓ| has a kink, and a step may land on its other side: of 80 000 states of four arms whose
friction takes 0.9 of the load on all joints, four were off after four steps and none after six."""
_SIGNALS = ("q", "qd", "qdd", "tau", "load")


@dataclass(frozen=True)
class AddedTorque:
    """A torque coefficient × expression on one coordinate.

    Args:
        joint: the coordinate, from 0.
        expression: formula in ``q``, ``qd``, ``qdd``, ``tau`` and ``load`` (the joint's own position, speed,
            acceleration, torque, and torque of the links' inertia and weight, SI) and named constants.
        coefficient: SI.
        constants: values by name.
    """

    joint: int
    expression: str
    coefficient: float
    constants: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what is no formula of these names, or has no finite values."""
        values = dict.fromkeys(_SIGNALS, 1.0)
        with np.errstate(all="ignore"):
            NUMERIC.evaluate_named(self.expression, {**values, **self.constants})
        if not np.all(np.isfinite(self.numbers)):
            raise DynidError(
                f"The added torque {self.expression!r} has the coefficient {self.coefficient} and the "
                f"constants {dict(self.constants)}; give finite numbers."
            )

    @property
    def numbers(self) -> tuple[float, ...]:
        """Coefficient and constants, which are symbols of a compiled loop."""
        return (self.coefficient, *self.constants.values())

    @property
    def key(self) -> str:
        """Text that fixes the formula, whatever its numbers."""
        return f"{self.joint} {self.expression} {tuple(self.constants)}"

    def holds(self, signal: str) -> bool:
        """Whether the formula has a signal."""
        return signal in names_in(self.expression)

    def torque(
        self, signals: Mapping[str, Scalar], ops: Operations, numbers: Sequence[Scalar] | None = None
    ) -> Scalar:
        """c f at the joint's own signals.

        Args:
            signals: all five by name.
            ops: elementary functions of the scalar type.
            numbers: coefficient and constants as scalars; their values when None.
        """
        c, *constants = self.numbers if numbers is None else numbers
        named = dict(zip(self.constants, constants, strict=True))
        return mul(c, ops.evaluate_named(self.expression, {**signals, **named}, self.expression))

    def slope(
        self, by: str, signals: Mapping[str, Scalar], ops: Operations, numbers: Sequence[Scalar]
    ) -> Scalar:
        """∂(c f)/∂signal at the joint's own signals, traced."""
        import casadi as ca

        x = ca.SX.sym(by)
        torque = self.torque({**signals, by: x}, ops, numbers)
        return ca.substitute(ca.gradient(torque, x), x, ca.SX(signals[by]))


@dataclass(frozen=True)
class AddedState:
    """Added terms at one state, as functions of the accelerations.

    Args:
        added: the terms.
        numbers: coefficient and constants of each, as scalars.
        q: coordinates [rad or m].
        qd: their speeds.
        tau: torques of the coordinates.
        load: ℓ where nothing accelerates.
        link_inertia: ∂ℓ/∂q̈; () where no formula holds the load.
        ops: elementary functions of the scalar type, with the robot's smooth sign.
    """

    added: tuple[AddedTorque, ...]
    numbers: tuple[Sequence[Scalar], ...]
    q: Sequence[Scalar]
    qd: Sequence[Scalar]
    tau: Sequence[Scalar]
    load: Sequence[Scalar]
    link_inertia: Matrix
    ops: Operations

    @property
    def implicit(self) -> bool:
        """Whether a torque depends on the accelerations."""
        return any(term.holds("qdd") or term.holds("load") for term in self.added)

    def torques(self, qdd: Sequence[Scalar]) -> list[Scalar]:
        """t at accelerations."""
        made: list[Scalar] = [0.0] * len(self.q)
        load = self._load(qdd)
        for term, numbers in zip(self.added, self.numbers, strict=True):
            j = term.joint
            made[j] = add(made[j], term.torque(self._signals(j, qdd, load), self.ops, numbers))
        return made

    def slopes(self, qdd: Sequence[Scalar]) -> Matrix:
        """∂t/∂q̈ at accelerations: D + E ∂ℓ/∂q̈ with diagonal D and E."""
        n = len(self.q)
        made: Matrix = [[0.0] * n for _ in range(n)]
        load = self._load(qdd)
        for term, numbers in zip(self.added, self.numbers, strict=True):
            j = term.joint
            signals = self._signals(j, qdd, load)
            if term.holds("qdd"):
                made[j][j] = add(made[j][j], term.slope("qdd", signals, self.ops, numbers))
            if term.holds("load"):
                slope = term.slope("load", signals, self.ops, numbers)
                made[j] = [add(m, mul(slope, e)) for m, e in zip(made[j], self.link_inertia[j], strict=True)]
        return made

    def _load(self, qdd: Sequence[Scalar]) -> list[Scalar]:
        if not self.link_inertia:
            return list(self.load)
        return [add(b, _product(row, qdd)) for b, row in zip(self.load, self.link_inertia, strict=True)]

    def _signals(self, j: int, qdd: Sequence[Scalar], load: Sequence[Scalar]) -> dict[str, Scalar]:
        return dict(zip(_SIGNALS, (x[j] for x in (self.q, self.qd, qdd, self.tau, load)), strict=True))


def added_state(
    robot: Robot,
    parameters: Sequence[Scalar],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    added: tuple[AddedTorque, ...],
    numbers: Sequence[Scalar],
    ops: Operations,
) -> AddedState:
    """Added terms at a state of the robot.

    Args:
        robot: the robot.
        parameters: base parameters at their columns in table order, zero elsewhere.
        q: coordinates.
        qd: speeds.
        tau: torques of the coordinates.
        added: the terms.
        numbers: coefficient and constants of all terms one after the other.
        ops: elementary functions of the scalar type.
    """
    own, first = list[Sequence[Scalar]](), 0
    for term in added:
        own.append(numbers[first : first + len(term.numbers)])
        first += len(term.numbers)
    load: list[Scalar] = [0.0] * robot.n_coordinates
    inertia: Matrix = []
    if any(term.holds("load") for term in added):
        links = [v if e.family == "inertial" else 0.0 for v, e in zip(parameters, robot.table, strict=True)]
        load, inertia = bias_torques(robot, links, q, qd, ops), inertia_matrix(robot, links, q, ops)
    smooth = ops.with_smooth_sign(robot.sign_width)
    return AddedState(added, tuple(own), q, qd, tau, load, inertia, smooth)


def solve_accelerations(
    M: Matrix, rest: Sequence[Scalar], at: AddedState, free: Sequence[Scalar] | None = None
) -> list[Scalar]:
    """q̈ with M q̈ + t(q̈) = rest.

    Args:
        M: inertia matrix.
        rest: torques less those that M and t do not give.
        at: the added terms.
        free: 1 where a joint moves, 0 where it is held and does not accelerate; all move when None.
    """
    qdd: list[Scalar] = [0.0] * len(rest)
    if not at.implicit:
        left = [sub(r, t) for r, t in zip(rest, at.torques(qdd), strict=True)]
        return solve_symmetric(*_free_equations(M, left, free))
    for _ in range(_STEPS):
        given = [add(t, _product(row, qdd)) for t, row in zip(at.torques(qdd), M, strict=True)]
        left = [sub(r, g) for r, g in zip(rest, given, strict=True)]
        J = [[add(m, s) for m, s in zip(*rows, strict=True)] for rows in zip(M, at.slopes(qdd), strict=True)]
        qdd = [add(a, d) for a, d in zip(qdd, _solve(*_free_equations(J, left, free)), strict=True)]
    return qdd


def _free_equations(
    M: Matrix, rest: list[Scalar], free: Sequence[Scalar] | None
) -> tuple[Matrix, list[Scalar]]:
    """The equations of the joints that move, and q̈ = 0 of the others."""
    if free is None:
        return M, rest
    n = len(rest)
    rows = [
        [add(mul(free[i] * free[j], M[i][j]), sub(1.0, free[i]) if i == j else 0.0) for j in range(n)]
        for i in range(n)
    ]
    return rows, [mul(f, value) for f, value in zip(free, rest, strict=True)]


def _solve(A: Matrix, rest: Sequence[Scalar]) -> list[Scalar]:
    """A x = rest without pivots, last row first: A is an inertia matrix whose rows friction has scaled."""
    rows, n = [[*row, r] for row, r in zip(A, rest, strict=True)], len(rest)
    for k in reversed(range(n)):
        inverse = 1.0 / rows[k][k]
        for i in range(k):
            factor = mul(rows[i][k], inverse)
            for j in [*range(k), n]:
                rows[i][j] = sub(rows[i][j], mul(factor, rows[k][j]))
    x: list[Scalar] = []
    for k in range(n):
        x.append(mul(sub(rows[k][n], _product(rows[k][:k], x)), 1.0 / rows[k][k]))
    return x


def _product(row: Sequence[Scalar], x: Sequence[Scalar]) -> Scalar:
    return total(mul(a, b) for a, b in zip(row, x, strict=True))


def torques_along(
    robot: Robot,
    parameters: FloatArray,
    added: tuple[AddedTorque, ...],
    *motion: FloatArray,
    links: FloatArray | None = None,
    tau: FloatArray | None = None,
) -> FloatArray:
    """Torques of added terms along q, q̇ and q̈, (samples, coordinates) each [N m or N].

    Args:
        robot: the robot.
        parameters: standard parameters in table order.
        added: the terms.
        motion: q, q̇ and q̈.
        links: parameters that the load comes from; the inertial ones when None.
        tau: the torques that terms may hold; those of the robot without them when None.
    """
    q, qd, qdd = motion
    if tau is None:
        tau = kernels(robot).inverse(parameters, q, qd, qdd)
    if links is None:
        links = np.where([entry.family == "inertial" for entry in robot.table], parameters, 0.0)
    load = kernels(robot).inverse(links, q, qd, qdd)
    ops, made = NUMERIC.with_smooth_sign(robot.sign_width), np.zeros(q.shape)
    for term in added:
        signals = dict(zip(_SIGNALS, (x[:, term.joint] for x in (q, qd, qdd, tau, load)), strict=True))
        made[:, term.joint] += term.torque(signals, ops)
    return made


def added_inertia(added: tuple[AddedTorque, ...], n: int) -> FloatArray:
    """∂t/∂q̈ of each coordinate at rest, the load left out, (n,) [kg m² or kg]."""
    made = np.zeros(n)
    for term in (term for term in added if term.holds("qdd")):
        made[term.joint] += _difference(term, "qdd", dict.fromkeys(_SIGNALS, 0.0))
    return made


def check_added(robot: Robot, added: tuple[AddedTorque, ...]) -> None:
    """Refuse terms of joints that are not there, and friction that locks a joint by its own load."""
    taken = np.zeros((robot.n_coordinates, 4))
    states = [dict.fromkeys(_SIGNALS, 0.0) | {"qd": v, "load": at} for v in (1, -1) for at in (1, -1)]
    for term in added:
        if not 0 <= term.joint < robot.n_coordinates:
            raise DynidError(
                f"The added torque {term.expression!r} is of joint {term.joint}; robot {robot.name!r} has "
                f"0 … {robot.n_coordinates - 1}."
            )
        if term.holds("load"):
            taken[term.joint] += [_difference(term, "load", state) for state in states]
    share = np.abs(taken).max(axis=1)
    if np.any(share >= 1.0):
        j = int(np.argmax(share))
        joint = robot.joints[robot.coordinates[j]].name
        raise DynidError(
            f"Added torques take {share[j]:.3g} of the load of joint {joint!r}; from 1 on it locks itself "
            "and no acceleration follows from a torque, so simulate with smaller coefficients or without "
            "these terms."
        )


def _difference(term: AddedTorque, by: str, signals: Mapping[str, float], step: float = 1e-6) -> float:
    ahead, behind = (float(term.torque({**signals, by: signals[by] + s}, NUMERIC)) for s in (step, -step))
    return (ahead - behind) / (2 * step)
