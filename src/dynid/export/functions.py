"""The functions of an identified model as straight-line programs, with its values as constants.

Zeros and ones among the values fold away while a program is traced: base parameters, with zeros for all that
is regrouped into them, give the shortest programs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.compile.dialects import operation_counts
from dynid.compile.program import Port, Program
from dynid.compile.trace import Kernel, Symbols
from dynid.core.arrays import FloatArray
from dynid.dynamics.algebra import Scalar, add, sub
from dynid.dynamics.inertia_matrix import inertia_matrix
from dynid.dynamics.inverse import actuation_torques, bias_torques, gravity_torques, inverse_dynamics
from dynid.dynamics.operations import symbolic
from dynid.model.robot import Robot
from dynid.results.result import SavedResult
from dynid.simulation.added_torques import AddedTorque, added_state, solve_accelerations


@dataclass(frozen=True, eq=False)
class ModelValues:
    """Numbers that make a robot a model.

    Args:
        robot: the robot.
        parameters: standard parameters in table order, SI.
        load: the parameters whose torques are the load of added terms: base parameters of the links.
        added: the added terms.
    """

    robot: Robot
    parameters: FloatArray
    load: FloatArray
    added: tuple[AddedTorque, ...]

    @property
    def friction(self) -> FloatArray:
        """The parameters without those of the links."""
        return np.where(_of_links(self.robot), 0.0, self.parameters)


def standard_values(result: SavedResult) -> ModelValues:
    """The possible robot of a result, which must have one."""
    assert result.standard is not None
    base = result.base.regroup(result.standard)
    return ModelValues(result.robot, result.standard, _load(result.base, base), result.added_torques)


def base_values(result: SavedResult) -> ModelValues:
    """The identified base parameters, all other parameters being zero."""
    parameters = result.base.expand(result.values)
    return ModelValues(result.robot, parameters, _load(result.base, result.values), result.added_torques)


def _of_links(robot: Robot) -> Any:
    return np.array([entry.family == "inertial" for entry in robot.table])


def _load(base: BaseMap, values: FloatArray) -> FloatArray:
    """What is regrouped into a link's parameter, as Ia1 into ZZ1R, loads with it: as in the fit."""
    return np.where(_of_links(base.robot), base.expand(values), 0.0)


@dataclass(frozen=True)
class ModelFunction:
    """A function of a model.

    Args:
        name: what it computes; with "_base" behind it, from base parameters beside a standard form.
        program: inputs, outputs and instructions.
        words: the same in a sentence.
    """

    name: str
    program: Program
    words: str

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of what it takes."""
        return tuple(port.name for port in self.program.inputs)

    @property
    def output(self) -> str:
        """Name of what it gives."""
        return self.program.outputs[0].name

    @property
    def operations(self) -> dict[str, int]:
        """Operations of one evaluation, by kind."""
        return operation_counts(self.program)


def _inverse(values: ModelValues, s: Symbols) -> list[Scalar]:
    q, qd, qdd = s["q"], s["qd"], s["qdd"]
    tau = inverse_dynamics(values.robot, _numbers(values.parameters), q, qd, qdd, symbolic())
    return [add(t, more) for t, more in zip(tau, _added_torques(values, q, qd, qdd), strict=True)]


def _friction(values: ModelValues, s: Symbols) -> list[Scalar]:
    q, qd, still = s["q"], s["qd"], [0.0] * values.robot.n_coordinates
    tau = actuation_torques(values.robot, _numbers(values.parameters), q, qd, still, symbolic())
    return [add(t, more) for t, more in zip(tau, _added_torques(values, q, qd, still), strict=True)]


def _forward(values: ModelValues, s: Symbols) -> list[Scalar]:
    robot, parameters, ops = values.robot, _numbers(values.parameters), symbolic()
    M = inertia_matrix(robot, parameters, s["q"], ops)
    bias = bias_torques(robot, parameters, s["q"], s["qd"], ops)
    numbers = [number for term in values.added for number in term.numbers]
    at = added_state(robot, _numbers(values.load), s["q"], s["qd"], s["tau"], values.added, numbers, ops)
    return solve_accelerations(M, [sub(t, b) for t, b in zip(s["tau"], bias, strict=True)], at)


def _added_torques(
    values: ModelValues, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[Scalar]:
    """Torques of the added terms; a torque that they hold is that of the model without them."""
    robot, ops = values.robot, symbolic()
    smooth = ops.with_smooth_sign(robot.sign_width)
    none: list[Scalar] = [0.0] * robot.n_coordinates

    def torques(signal: str, parameters: FloatArray) -> list[Scalar]:
        held = any(term.holds(signal) for term in values.added)
        return inverse_dynamics(robot, _numbers(parameters), q, qd, qdd, ops) if held else none

    made, tau, load = list(none), torques("tau", values.parameters), torques("load", values.load)
    for term in values.added:
        j = term.joint
        signals = {"q": q[j], "qd": qd[j], "qdd": qdd[j], "tau": tau[j], "load": load[j]}
        made[j] = add(made[j], term.torque(signals, smooth))
    return made


def _numbers(values: FloatArray) -> list[float]:
    return [float(value) for value in values]


_Body = Callable[[ModelValues, Symbols], list[Any]]
_BODIES: dict[str, tuple[tuple[str, ...], str, str, _Body]] = {
    "inverse": (
        ("q", "qd", "qdd"),
        "tau",
        "Torques of a motion, friction and added terms included.",
        _inverse,
    ),
    "gravity": (
        ("q",),
        "tau",
        "Torques of gravity alone.",
        lambda values, s: gravity_torques(values.robot, _numbers(values.parameters), s["q"], symbolic()),
    ),
    "friction": (
        ("q", "qd"),
        "tau",
        "Torques of friction, offsets, springs and added terms, at zero acceleration.",
        _friction,
    ),
    "inertia_matrix": (
        ("q",),
        "M",
        "Inertia matrix, row by row, drives included.",
        lambda values, s: [
            x
            for row in inertia_matrix(values.robot, _numbers(values.parameters), s["q"], symbolic())
            for x in row
        ],
    ),
    "forward": (("q", "qd", "tau"), "qdd", "Accelerations that torques give, friction included.", _forward),
}
"""Of each function: inputs, output, what it is, and its scalars over symbols."""
FUNCTIONS = tuple(_BODIES)
"""Names of the functions of a model."""


def model_function(values: ModelValues, name: str, suffix: str = "") -> ModelFunction:
    """Trace a function of a model.

    Args:
        values: the model.
        name: one of ``FUNCTIONS``.
        suffix: what follows the name.
    """
    inputs, output, words, body = _BODIES[name]
    n = values.robot.n_coordinates
    ports = tuple(Port(port, n) for port in inputs)
    result = (Port(output, n * n if output == "M" else n),)
    kernel = Kernel(name + suffix, "", ports, result, lambda symbols: body(values, symbols))
    return ModelFunction(name + suffix, kernel.program(), words)
