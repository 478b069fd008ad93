"""The robot as a system with state and parameters: one sample ahead, and the derivatives of that.

State x = [q, q̇], parameters χ (base), input τ: q̈ = M(q, χ)⁻¹ (τ − b(q, q̇, χ)). With base values on their own
columns and zeros elsewhere M, b and the regressor W are those of the robot, so standard parameters are never
needed. At an accelerating state the implicit derivatives of τ = ID(q, q̇, q̈, χ) are exact:
∂q̈/∂χ = −M⁻¹ W(q, q̇, q̈), ∂q̈/∂q = −M⁻¹ ∂ID/∂q, ∂q̈/∂q̇ = −M⁻¹ ∂ID/∂q̇, ∂q̈/∂τ = M⁻¹.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.compile.batch import BatchKernel, compile_batch
from dynid.compile.ir_loop import STAGES
from dynid.compile.one_sample import OneSample
from dynid.compile.program import Port
from dynid.compile.trace import Kernel, Symbols, fingerprint
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.dynamics.algebra import Scalar, is_zero, mul, sub
from dynid.dynamics.inertia_matrix import inertia_matrix
from dynid.dynamics.inverse import bias_torques, inverse_dynamics
from dynid.dynamics.operations import symbolic
from dynid.dynamics.regressor import regressor
from dynid.dynamics.solve import Matrix, solve_symmetric
from dynid.model.robot import Robot


@dataclass(frozen=True, eq=False)
class Slopes:
    """Accelerations of one state and their derivatives.

    Args:
        qdd: q̈ (n,).
        inverse: M⁻¹ (n, n).
        by: ∂q̈/∂(q, q̇, χ), (n, 2n + base).
        inertia: ∂M_jj/∂χ, (n, base).
        definite: whether M(q) > 0; the others mean nothing where it is not.
    """

    qdd: FloatArray
    inverse: FloatArray
    by: FloatArray
    inertia: FloatArray
    definite: bool


@dataclass(frozen=True, eq=False)
class Ahead:
    """The state one sample ahead.

    Args:
        x: [q, q̇] (2n,).
        by: its derivatives by [q, q̇, χ] before, (2n, 2n + base).
        torque: its derivatives by a torque that is held over the sample, (2n, n).
        before: accelerations before and their derivatives.
    """

    x: FloatArray
    by: FloatArray
    torque: FloatArray
    before: Slopes


@dataclass(frozen=True, eq=False)
class AugmentedModel:
    """Compiled motion of a robot with its base parameters as a part of the state.

    Args:
        base: base parameters of the robot.
        sign_width: width of the smooth sign of Coulomb friction [rad/s or m/s]. A wide sign misses friction
            near rest; a narrow one needs steps shorter than 2.78 M·width/Fc. At .01 one step per millisecond
            is stable for Fc/M up to 28 rad/s².
        backend: "auto", "llvm" or "casadi".
    """

    base: BaseMap
    sign_width: float = 0.01
    backend: str = "auto"

    def __post_init__(self) -> None:
        """Refuse friction that cannot be integrated."""
        if not 0 < self.sign_width < math.inf:
            raise DynidError(f"sign_width is {self.sign_width!r}; give a positive speed in rad/s or m/s.")

    @property
    def axes(self) -> int:
        """Coordinates n."""
        return self.base.robot.n_coordinates

    @cached_property
    def robot(self) -> Robot:
        """The robot with smooth friction."""
        robot = self.base.robot
        return robot if robot.sign_width == self.sign_width else robot.with_sign_width(self.sign_width)

    @cached_property
    def _slopes(self) -> OneSample:
        n, p = self.axes, len(self.base)
        widths = {"qdd": n, "inverse": n * n, "by": n * (2 * n + p), "inertia": n * p, "pivots": n}
        outputs = tuple(Port(name, width) for name, width in widths.items())
        kernel = self._kernel("state_slopes", ("q", "qd", "tau", "chi"), outputs, _slopes_body)
        return OneSample(kernel, self.backend)

    @cached_property
    def _rates(self) -> BatchKernel:
        outputs = (Port("qdd", self.axes), Port("pivots", self.axes))
        kernel = self._kernel("state_rates", ("q", "qd", "tau", "chi"), outputs, _rates_body)
        return compile_batch(kernel, self.backend)

    @cached_property
    def _pivots(self) -> OneSample:
        outputs = (Port("pivots", self.axes),)
        return OneSample(self._kernel("state_pivots", ("q", "chi"), outputs, _pivots_body), self.backend)

    def _kernel(self, name: str, groups: Sequence[str], outputs: tuple[Port, ...], body: Body) -> Kernel:
        robot, columns = self.robot, self.base.columns
        inputs = tuple(Port(g, len(columns) if g == "chi" else self.axes, columns=True) for g in groups)
        key = f"{name} {robot.digest} {columns} {fingerprint(body)}"
        return Kernel(name, key, inputs, outputs, lambda s: body(robot, columns, s))

    def slopes(self, x: FloatArray, tau: FloatArray, chi: FloatArray) -> Slopes:
        """Accelerations of a state [q, q̇] (2n,) under torques (n,) with parameters (base,)."""
        n, p, kernel = self.axes, len(chi), self._slopes
        given = kernel.inputs
        given["q"][...], given["qd"][...], given["tau"][...], given["chi"][...] = x[:n], x[n:], tau, chi
        found = kernel()
        inverse = found["inverse"].reshape(n, n).copy()
        by = -inverse @ found["by"].reshape(n, 2 * n + p)
        definite = bool(found["pivots"].min() > 0)
        inertia = found["inertia"].reshape(n, p).copy()
        return Slopes(found["qdd"].copy(), inverse, by, inertia, definite)

    def ahead(
        self, x: FloatArray, chi: FloatArray, tau: tuple[FloatArray, FloatArray], step: float, substeps: int
    ) -> Ahead:
        """One sample ahead by classical Runge–Kutta, and the derivative of that (variational equation).

        Args:
            x: [q, q̇] (2n,).
            chi: base parameters (base,).
            tau: torques at the beginning and at the end, linear in between, each (n,).
            step: length of the sample [s].
            substeps: Runge–Kutta steps in it.
        """
        n, h = self.axes, step / substeps
        total = np.zeros((2 * n, 2 * n + len(chi)))
        total[:, : 2 * n] = np.eye(2 * n)
        first = None
        for k in range(substeps):
            start, slope = total, np.zeros_like(total)
            at, rate = x, np.zeros_like(x)
            moved, tangent = x.copy(), total.copy()
            for place, weight in STAGES:
                share = (k + place) / substeps
                here, by = at + place * h * rate, start + place * h * slope
                found = self.slopes(here, (1 - share) * tau[0] + share * tau[1], chi)
                first = first or found
                rate = np.concatenate([here[n:], found.qdd])
                slope = np.vstack([by[n:], found.by[:, : 2 * n] @ by])
                slope[n:, 2 * n :] += found.by[:, 2 * n :]
                moved += weight * h * rate
                tangent += weight * h * slope
            x, total = moved, tangent
        assert first is not None
        pushed = step * np.vstack([0.5 * step * first.inverse, first.inverse])
        return Ahead(x, total, pushed, first)

    def ahead_many(
        self,
        points: FloatArray,
        chi: FloatArray,
        tau: tuple[FloatArray, FloatArray],
        step: float,
        substeps: int,
    ) -> tuple[FloatArray, bool]:
        """Many states with parameters of their own one sample ahead, side by side.

        Args:
            points: [q, q̇] in columns, (2n, points).
            chi: base parameters in columns, (base, points).
            tau: as for ``ahead``.
            step: as for ``ahead``.
            substeps: as for ``ahead``.

        Returns:
            The states (2n, points), and whether M(q) > 0 at all of them before.
        """
        n, h, count = self.axes, step / substeps, points.shape[1]
        x, definite = points, True
        for k in range(substeps):
            moved, rate = x.copy(), np.zeros_like(x)
            for place, weight in STAGES:
                share = (k + place) / substeps
                here = x + place * h * rate
                torque = (1 - share) * tau[0] + share * tau[1]
                raw = self._rates(here[:n], here[n:], np.repeat(torque[:, None], count, axis=1), chi)
                if k == 0 and place == 0:
                    definite = bool(np.all(raw[n:] > 0))
                rate = np.concatenate([here[n:], raw[:n]])
                moved += weight * h * rate
            x = moved
        return x, definite

    def inertia_positive(self, q: FloatArray, chi: FloatArray) -> bool:
        """Whether M(q, χ) > 0; M is linear in χ, so differences of parameters may be asked about too."""
        kernel = self._pivots
        kernel.inputs["q"][...], kernel.inputs["chi"][...] = q, chi
        return bool(kernel()["pivots"].min() > 0)

    def fastest_rate(self, q: FloatArray, chi: FloatArray) -> float:
        """Fastest rate at which friction and springs act at rest: max |λ(∂ẋ/∂x)| [1/s]."""
        n = self.axes
        found = self.slopes(np.concatenate([q, np.zeros(n)]), np.zeros(n), chi)
        if not found.definite:
            return 0.0
        A = np.vstack([np.eye(n, 2 * n, n), found.by[:, : 2 * n]])
        return float(np.abs(np.linalg.eigvals(A)).max()) if np.all(np.isfinite(A)) else 0.0


Body = Callable[[Robot, tuple[int, ...], Symbols], list[Any]]


def _standard(robot: Robot, columns: tuple[int, ...], chi: Sequence[Scalar]) -> list[Scalar]:
    """Base values on their columns, constant zeros elsewhere."""
    full: list[Scalar] = [0.0] * len(robot.table)
    for column, value in zip(columns, chi, strict=True):
        full[column] = value
    return full


def _slopes_body(robot: Robot, columns: tuple[int, ...], s: Symbols) -> list[Any]:
    """q̈ · M⁻¹ · ∂ID/∂(q, q̇, χ) and ∂M_jj/∂χ joint by joint · pivots of M."""
    import casadi as ca

    n, ops = robot.n_coordinates, symbolic()
    q, qd = s["q"], s["qd"]
    full = _standard(robot, columns, s["chi"])
    M = inertia_matrix(robot, full, q, ops)
    bias = bias_torques(robot, full, q, qd, ops)
    qdd = solve_symmetric(M, [sub(t, b) for t, b in zip(s["tau"], bias, strict=True)])
    inverse = [solve_symmetric(M, [float(i == j) for i in range(n)]) for j in range(n)]
    held = [ca.SX.sym(f"held{j}") for j in range(n)]  # q̈ does not move while q and q̇ are varied
    torques = ca.vertcat(*[ca.SX(t) for t in inverse_dynamics(robot, full, q, qd, held, ops)])
    by_state = ca.jacobian(torques, ca.vertcat(*q, *qd))
    by_state = ca.densify(ca.substitute(by_state, ca.vertcat(*held), ca.vertcat(*qdd)))
    W = regressor(robot, q, qd, qdd, ops, columns)
    by = [v for j in range(n) for v in (*[by_state[j, i] for i in range(2 * n)], *[w[j] for w in W])]
    diagonal = ca.vertcat(*[ca.SX(M[j][j]) for j in range(n)])
    own = ca.densify(ca.jacobian(diagonal, ca.vertcat(*s["chi"])))
    inertia = [own[j, i] for j in range(n) for i in range(len(columns))]
    return [*qdd, *[value for row in inverse for value in row], *by, *inertia, *_pivots(M)]


def _rates_body(robot: Robot, columns: tuple[int, ...], s: Symbols) -> list[Any]:
    """q̈ · pivots of M."""
    ops, full = symbolic(), _standard(robot, columns, s["chi"])
    M = inertia_matrix(robot, full, s["q"], ops)
    bias = bias_torques(robot, full, s["q"], s["qd"], ops)
    return [*solve_symmetric(M, [sub(t, b) for t, b in zip(s["tau"], bias, strict=True)]), *_pivots(M)]


def _pivots_body(robot: Robot, columns: tuple[int, ...], s: Symbols) -> list[Any]:
    return _pivots(inertia_matrix(robot, _standard(robot, columns, s["chi"]), s["q"], symbolic()))


def _pivots(M: Matrix) -> list[Scalar]:
    """D of M = Lᵀ D L, last row first as in ``solve_symmetric``: all positive where M > 0, and only there."""
    rest = [list(row) for row in M]
    for k in reversed(range(len(M))):
        for i in [i for i in range(k) if not is_zero(rest[k][i])]:
            factor = rest[k][i] / rest[k][k]
            for j in [j for j in range(i + 1) if not is_zero(rest[k][j])]:
                rest[i][j] = sub(rest[i][j], mul(factor, rest[k][j]))
    return [rest[k][k] for k in range(len(M))]
