"""The one place that fixes names, order and units of the parameters of a robot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import ModelError, ShapeError, unknown_name
from dynid.model.joint import JointKind

if TYPE_CHECKING:
    from dynid.model.robot import Robot

INERTIAL = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
"""Inertia tensor at the origin of frame j, first moments, mass: the order of every link."""
TENSOR = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""Rows and columns of the first six: XX XY XZ YY YZ ZZ."""
DRIVE_INERTIA = "Ia"
MOTOR_TERMS = ("Iam", "Fvm", "Fcm")
"""Inertia, viscous and Coulomb friction of a motor that turns with several joints (coupled wrists)."""
NEVER_NEGATIVE = ("Ia", "Iam", "Fv", "Fvm", "Fvp", "Fvn", "Fc", "Fcm", "Fcp", "Fcn")
"""Drive inertia and friction: negative ones would give power."""
_TENSOR_UNIT, _MOMENT_UNIT, _MASS_UNIT = "kg m^2", "kg m", "kg"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One standard parameter.

    Args:
        name: symbol and label, such as ``XX3``.
        symbol: the symbol alone, such as ``XX``.
        joint: index of its link in ``robot.joints``; for the family "motor", the joint of the same number,
            for "element" the first joint it acts on.
        family: "inertial", "drive", "friction", "motor" or "element".
        unit: SI unit, joint side.
    """

    name: str
    symbol: str
    joint: int
    family: str
    unit: str


@dataclass(frozen=True)
class ParameterTable:
    """The standard parameters of a robot, in the order of the regressor's columns.

    Per link: XX XY XZ YY YZ ZZ MX MY MZ M, then Ia Fv Fc off and further friction terms where the joint is a
    coordinate; after the last link, the motor terms of coupled transmissions, then springs and dampers.
    """

    entries: tuple[Parameter, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names in order."""
        return tuple(entry.name for entry in self.entries)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def __len__(self) -> int:
        """Number of parameters."""
        return len(self.entries)

    def __iter__(self) -> Iterator[Parameter]:
        """Parameters in order."""
        return iter(self.entries)

    def index(self, name: str) -> int:
        """Position of a parameter.

        Raises:
            UnknownNameError: with the nearest names, when there is no such parameter.
        """
        if name not in self._index:
            raise unknown_name("parameter", name, self.names)
        return self._index[name]

    def indices(self, names: Iterable[str]) -> tuple[int, ...]:
        """Positions of several parameters."""
        return tuple(self.index(name) for name in names)

    def vector(self, values: Mapping[str, float]) -> NDArray[np.float64]:
        """Values by name as a vector in table order; absent names are zero."""
        x = np.zeros(len(self))
        for name, value in values.items():
            x[self.index(name)] = value
        return x

    def mapping(self, vector: NDArray[np.float64]) -> dict[str, float]:
        """A vector in table order as values by name."""
        if np.shape(vector) != (len(self),):
            raise ShapeError(f"The parameter vector has shape {np.shape(vector)}; expected ({len(self)},).")
        return {name: float(value) for name, value in zip(self.names, vector, strict=True)}


def build_table(robot: Robot) -> ParameterTable:
    """List the standard parameters of a robot in their only order.

    Raises:
        ModelError: when two parameters have one name.
    """
    entries: list[Parameter] = []
    coordinates = set(robot.coordinates)
    for j, joint in enumerate(robot.joints):
        for k, symbol in enumerate(INERTIAL):
            unit = _TENSOR_UNIT if k < 6 else _MOMENT_UNIT if k < 9 else _MASS_UNIT
            entries.append(Parameter(symbol + joint.label, symbol, j, "inertial", unit))
        if j not in coordinates:
            continue
        prismatic = joint.kind is JointKind.PRISMATIC
        if DRIVE_INERTIA in robot.terms:
            unit = _MASS_UNIT if prismatic else _TENSOR_UNIT
            entries.append(Parameter(DRIVE_INERTIA + joint.label, DRIVE_INERTIA, j, "drive", unit))
        for term in robot.friction_terms:
            unit = term.unit_prismatic if prismatic else term.unit_revolute
            entries.append(Parameter(term.name + joint.label, term.name, j, "friction", unit))
    entries += _motor_entries(robot)
    index = {joint.name: j for j, joint in enumerate(robot.joints)}
    for element in robot.elements:
        first = index.get(next(iter(element.joints)), 0)
        entries.append(Parameter(element.name, element.name, first, "element", element.unit))
    _check_unique(entries, robot)
    return ParameterTable(tuple(entries))


def _check_unique(entries: list[Parameter], robot: Robot) -> None:
    counts = Counter(entry.name for entry in entries)
    if len(counts) == len(entries):
        return
    name = next(name for name, count in counts.items() if count > 1)
    owners = [
        f"{entry.symbol!r} of joint {robot.joints[entry.joint].name!r}"
        for entry in entries
        if entry.name == name
    ]
    raise ModelError(
        f"Two parameters are named {name!r}: {' and '.join(owners[:2])}; rename the friction term or the "
        "joint's label."
    )


def _motor_entries(robot: Robot) -> list[Parameter]:
    if robot.drives is None:
        return []
    units = dict(zip(MOTOR_TERMS, (_TENSOR_UNIT, "N m s/rad", "N m"), strict=True))
    entries = []
    for motor in robot.drives.coupled_motors():
        j = robot.coordinates[motor]
        for symbol in MOTOR_TERMS:
            if symbol in robot.terms:
                entries.append(Parameter(symbol + robot.joints[j].label, symbol, j, "motor", units[symbol]))
    return entries
