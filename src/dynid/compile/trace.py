"""Kernels run once on CasADi symbols: the customised symbolic model of one robot."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from dynid.compile.program import Port, Program, from_casadi
from dynid.core.errors import ModelError, unknown_name
from dynid.dynamics.direct import direct_dynamics
from dynid.dynamics.energy import energy, energy_regressor, power_regressor
from dynid.dynamics.inertia_matrix import inertia_matrix
from dynid.dynamics.inverse import bias_torques, gravity_torques, inverse_dynamics
from dynid.dynamics.kinematics import forward_kinematics
from dynid.dynamics.operations import symbolic
from dynid.dynamics.regressor import regressor
from dynid.model.robot import Robot

Symbols = dict[str, list[Any]]
RobotBody = Callable[[Robot, Symbols, tuple[int, ...]], list[Any]]


@dataclass(frozen=True)
class Kernel:
    """A kernel of one robot, described well enough to trace it or to find it in the cache.

    Args:
        name: kernel name, a key of ``KERNELS``.
        key: text that fixes the traced program.
        inputs: groups of input scalars.
        outputs: groups of output scalars.
        body: builds the output scalars from symbols.
    """

    name: str
    key: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    body: Callable[[Symbols], list[Any]] = field(repr=False)

    def values(self, symbols: Symbols) -> list[Any]:
        """The output scalars; as many as the outputs are wide."""
        values = self.body(symbols)
        wanted = sum(port.width for port in self.outputs)
        if len(values) != wanted:
            listing = ", ".join(f"{port.name}: {port.width}" for port in self.outputs)
            raise ModelError(
                f"The program {self.name!r} gives {len(values)} values; its outputs ({listing}) "
                f"need {wanted}."
            )
        return values

    def function(self) -> Any:
        """The kernel as a CasADi SX function of column vectors."""
        import casadi as ca

        symbols = {p.name: [ca.SX.sym(f"{p.name}{i}") for i in range(p.width)] for p in self.inputs}
        values = self.values(symbols)
        results, start = [], 0
        for port in self.outputs:
            results.append(_column(values[start : start + port.width]))
            start += port.width
        return ca.Function(self.name, [_column(symbols[p.name]) for p in self.inputs], results)

    def program(self) -> Program:
        """The kernel as a straight-line program."""
        return from_casadi(self.function(), self.inputs, self.outputs)


def _column(values: Sequence[Any]) -> Any:
    import casadi as ca

    return ca.densify(ca.vertcat(*[ca.SX(v) for v in values])) if values else ca.SX(0, 1)


def _flat(rows: Sequence[Sequence[Any]]) -> list[Any]:
    return [value for row in rows for value in row]


def _regressor(robot: Robot, s: Symbols, columns: tuple[int, ...]) -> list[Any]:
    """By joint, then by column, so that each joint's block is a contiguous matrix."""
    by_column = regressor(robot, s["q"], s["qd"], s["qdd"], symbolic(), columns)
    return [column[j] for j in range(robot.n_coordinates) for column in by_column]


def _adjoint(robot: Robot, s: Symbols, columns: tuple[int, ...]) -> list[Any]:
    """Reverse mode: dJ/d(q, q̇, q̈) = (∂W/∂(q, q̇, q̈))ᵀ dJ/dW."""
    import casadi as ca

    W = _column(_regressor(robot, s, columns))
    seeds = _column(s["seed"])
    states = _column(s["q"] + s["qd"] + s["qdd"])
    gradient = ca.jtimes(W, states, seeds, True)
    return [gradient[i] for i in range(3 * robot.n_coordinates)]


def _frames_adjoint(robot: Robot, s: Symbols, _: tuple[int, ...]) -> list[Any]:
    """Reverse mode: dJ/dq = (∂frames/∂q)ᵀ dJ/dframes."""
    import casadi as ca

    frames = _column(forward_kinematics(robot, s["q"], symbolic()))
    gradient = ca.jtimes(frames, _column(s["q"]), _column(s["frames"]), True)
    return [gradient[i] for i in range(robot.n_coordinates)]


def _power(robot: Robot, s: Symbols, columns: tuple[int, ...]) -> list[Any]:
    return power_regressor(regressor(robot, s["q"], s["qd"], s["qdd"], symbolic(), columns), s["qd"])


_STATE = ("q", "qd", "qdd")
KERNELS: dict[str, tuple[tuple[str, ...], RobotBody]] = {
    "regressor": (_STATE, _regressor),
    "regressor_adjoint": ((*_STATE, "seed"), _adjoint),
    "power_regressor": (_STATE, _power),
    "energy_regressor": (
        ("q", "qd"),
        lambda robot, s, columns: _flat(energy_regressor(robot, s["q"], s["qd"], symbolic(), columns)),
    ),
    "energy": (
        ("q", "qd", "parameters"),
        lambda robot, s, _: energy(robot, s["parameters"], s["q"], s["qd"], symbolic()),
    ),
    "inverse": (
        (*_STATE, "parameters"),
        lambda robot, s, _: inverse_dynamics(robot, s["parameters"], s["q"], s["qd"], s["qdd"], symbolic()),
    ),
    "bias": (
        ("q", "qd", "parameters"),
        lambda robot, s, _: bias_torques(robot, s["parameters"], s["q"], s["qd"], symbolic()),
    ),
    "gravity": (
        ("q", "parameters"),
        lambda robot, s, _: gravity_torques(robot, s["parameters"], s["q"], symbolic()),
    ),
    "inertia_matrix": (
        ("q", "parameters"),
        lambda robot, s, _: _flat(inertia_matrix(robot, s["parameters"], s["q"], symbolic())),
    ),
    "direct": (
        ("q", "qd", "tau", "parameters"),
        lambda robot, s, _: direct_dynamics(robot, s["parameters"], s["q"], s["qd"], s["tau"], symbolic()),
    ),
    "forward_kinematics": (
        ("q",),
        lambda robot, s, _: forward_kinematics(robot, s["q"], symbolic()),
    ),
    "forward_kinematics_adjoint": (("q", "frames"), _frames_adjoint),
}
"""Input groups and body of every kernel."""
_BY_COLUMN = ("regressor", "regressor_adjoint", "power_regressor", "energy_regressor")


def describe(robot: Robot, name: str, columns: Sequence[int] | None = None) -> Kernel:
    """A kernel of a robot, not yet traced.

    Args:
        robot: the robot.
        name: a key of ``KERNELS``.
        columns: standard parameters wanted, for kernels that yield one value per parameter; all when None.
    """
    if name not in KERNELS:
        raise unknown_name("kernel", name, KERNELS)
    if columns is not None and name not in _BY_COLUMN:
        raise ModelError(f"The kernel {name!r} has no columns to select.")
    chosen = tuple(range(len(robot.table))) if columns is None else tuple(columns)
    if any(not 0 <= c < len(robot.table) for c in chosen):
        raise ModelError(
            f"Columns {list(chosen)} are not all among the robot's {len(robot.table)} parameters."
        )
    groups, body = KERNELS[name]
    inputs = tuple(_input(robot, group, len(chosen)) for group in groups)
    outputs = tuple(_outputs(robot, name, len(chosen)))
    return Kernel(name, f"{name} {robot.digest} {chosen}", inputs, outputs, lambda s: body(robot, s, chosen))


def _input(robot: Robot, group: str, n_columns: int) -> Port:
    if group == "parameters":
        return Port(group, len(robot.table), uniform=True)
    if group == "seed":
        return Port(group, robot.n_coordinates * n_columns, columns=True)
    if group == "frames":
        return Port(group, 12 * len(robot.joints), columns=True)
    return Port(group, robot.n_coordinates)


def _outputs(robot: Robot, name: str, n_columns: int) -> list[Port]:
    n = robot.n_coordinates
    match name:
        case "regressor":
            return [Port("W", n * n_columns)]
        case "regressor_adjoint":
            return [Port("q", n), Port("qd", n), Port("qdd", n)]
        case "power_regressor":
            return [Port("power", n_columns)]
        case "energy_regressor":
            return [Port("kinetic", n_columns), Port("potential", n_columns)]
        case "energy":
            return [Port("kinetic", 1), Port("potential", 1)]
        case "inertia_matrix":
            return [Port("M", n * n)]
        case "forward_kinematics":
            return [Port("frames", 12 * len(robot.joints))]
        case "forward_kinematics_adjoint":
            return [Port("q", n)]
        case "direct":
            return [Port("qdd", n)]
        case _:
            return [Port("tau", n)]


def fingerprint(function: Callable[..., Any]) -> str:
    """Hash of a function's code, of the plain values it takes from outside and of the functions it calls."""
    digest = hashlib.sha256()
    _add_function(digest, function, set())
    return digest.hexdigest()


def _add_function(digest: Any, function: Any, seen: set[int]) -> None:
    if id(function) in seen:
        return
    seen.add(id(function))
    outside = getattr(function, "__globals__", {})

    def add(code: CodeType) -> None:
        digest.update(code.co_code)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                add(constant)
            else:
                _add_value(digest, constant, seen)
        digest.update(repr((code.co_names, code.co_varnames)).encode())
        for name in code.co_names:
            _add_value(digest, outside.get(name), seen)

    add(function.__code__)
    for cell in function.__closure__ or ():
        _add_value(digest, cell.cell_contents, seen)
    _add_value(digest, function.__defaults__, seen)
    _add_value(digest, tuple((function.__kwdefaults__ or {}).items()), seen)


def _add_value(digest: Any, value: object, seen: set[int]) -> None:
    """Numbers, texts, arrays, and tuples or lists of them; other functions of Python by their own code.

    Anything else is for the caller's key.
    """
    if isinstance(value, FunctionType):
        _add_function(digest, value, seen)
    elif isinstance(value, np.ndarray):
        digest.update(value.tobytes())
    elif isinstance(value, list | tuple):
        for item in value:
            _add_value(digest, item, seen)
    elif isinstance(value, frozenset):
        digest.update(repr(sorted(map(repr, value))).encode())  # its own order differs from run to run
    elif isinstance(value, bool | int | float | complex | str | bytes | np.generic | None):
        digest.update(repr(value).encode())
