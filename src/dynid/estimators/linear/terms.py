"""Terms beside the robot's own: torques with a coefficient and named unknown constants, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, ModelError, unknown_name
from dynid.dynamics.operations import NUMERIC
from dynid.model.friction import names_in
from dynid.model.joint import JointKind
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.simulation.added_torques import AddedTorque

SIGNALS = ("q", "qd", "qdd", "tau", "load")


@dataclass(frozen=True)
class NonlinearTerm:
    """A torque coefficient × expression(q, qd, qdd, tau, load; constants) on each joint.

    Args:
        name: symbol of the coefficient; the joint's label is appended, as in ``Fs1``.
        expression: formula in ``q``, ``qd``, ``qdd``, ``load`` and ``tau`` (the joint's own position, speed,
            acceleration, torque of the links' inertia and weight by the model's own values, and measured
            torque, SI), the functions of friction expressions, and other names: the unknown constants, one
            per joint. The measured torque holds friction and noise itself: a formula with ``tau`` gives
            biased coefficients.
        start: a first guess of each constant.
        bounds: lowest and highest value of a constant; a factor of 1000 around the guess where not given.
        joints: coordinates that have the term; all when None.
        unit: unit of the coefficient on a revolute joint; on a prismatic one N m becomes N, rad becomes m.
        constant_units: units of the constants, likewise.
        words: what it is, as in "the model lacks …"; the formula where not given.
        never_negative: whether a negative coefficient cannot be physics.
    """

    name: str
    expression: str
    start: Mapping[str, float] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    joints: tuple[int, ...] | None = None
    unit: str = "N m"
    constant_units: Mapping[str, str] = field(default_factory=dict)
    words: str = ""
    never_negative: bool = False

    def __post_init__(self) -> None:
        """Refuse formulas with anything but arithmetic, and constants without a first guess."""
        for constant in self.constants:
            guess = self.start.get(constant)
            if guess is None or not np.isfinite(guess) or guess == 0:
                raise ModelError(
                    f"The constant {constant!r} of the term {self.name!r} has the first guess {guess}; "
                    "give a number other than zero."
                )
        for name in {*self.start, *self.bounds} - set(self.constants):
            raise unknown_name(f"constant of the term {self.name!r}", name, self.constants)

    @property
    def constants(self) -> tuple[str, ...]:
        """Names of the unknown constants, in order of appearance."""
        return tuple(name for name in names_in(self.expression) if name not in SIGNALS)

    @property
    def signals(self) -> tuple[str, ...]:
        """Signals that the formula holds."""
        return tuple(name for name in names_in(self.expression) if name in SIGNALS)

    def bound(self, constant: str) -> tuple[float, float]:
        """Lowest and highest value of a constant."""
        guess = self.start[constant]
        low, high = self.bounds.get(constant, sorted((guess / 1000, guess * 1000)))
        return float(low), float(high)

    def evaluate(self, signals: Mapping[str, FloatArray], constants: Mapping[str, float]) -> FloatArray:
        """Value of the expression at every sample."""
        with np.errstate(all="ignore"):
            value = NUMERIC.evaluate_named(self.expression, {**signals, **constants}, self.name)
        return np.broadcast_to(np.asarray(value, dtype=float), signals["qd"].shape)

    def require_finite(self, values: FloatArray, joint: int) -> FloatArray:
        """The values of the formula on a joint, refused where some are no numbers."""
        if not np.all(np.isfinite(values)):
            raise DynidError(
                f"The term {self.name!r} ({self.expression}) is not finite all along the motion of joint "
                f"{joint + 1}; give a formula that is, or joints= without this one."
            )
        return values


@dataclass(frozen=True)
class Slot:
    """A term on a joint: its coefficient and its constants."""

    term: NonlinearTerm
    joint: int
    label: str
    prismatic: bool = False

    @property
    def coefficient(self) -> str:
        """Name of the coefficient."""
        return self.term.name + self.label

    @property
    def constants(self) -> tuple[str, ...]:
        """Names of the constants on this joint."""
        return tuple(name + self.label for name in self.term.constants)

    @property
    def unit(self) -> str:
        """Unit of the coefficient on this joint."""
        return self.own_unit(self.term.unit)

    @property
    def constant_units(self) -> tuple[str, ...]:
        """Units of the constants on this joint; empty where a unit is not known."""
        return tuple(self.own_unit(self.term.constant_units.get(name, "")) for name in self.term.constants)

    def own_unit(self, unit: str) -> str:
        """A unit of revolute joints as it is on this joint."""
        return unit_on_joint(unit, self.prismatic)

    def values(self, motion: Motion, constants: FloatArray, load: FloatArray | None = None) -> FloatArray:
        """The column at full rate, (samples,).

        Args:
            motion: any motion.
            constants: of the term on this joint.
            load: torques of inertia and weight, (samples, coordinates), where the formula holds them.
        """
        named = dict(zip(self.term.constants, constants, strict=True))
        return self.term.evaluate(self.signals(motion, load), named)

    def signals(self, motion: Motion, load: FloatArray | None) -> dict[str, FloatArray]:
        """What the formula is evaluated on, each (samples,): the speed, and the signals that it holds."""
        if load is None and "load" in self.term.signals:
            raise DynidError(
                f"The term {self.term.name!r} holds the load; give the torques of inertia and weight."
            )
        made = {"qd": motion.qd[:, self.joint]}
        for name in self.term.signals:
            source = load if name == "load" else getattr(motion, name)
            assert source is not None
            made[name] = source[:, self.joint]
        return made

    def ranges(
        self, motions: Sequence[Motion], loads: Sequence[FloatArray | None]
    ) -> dict[str, tuple[float, float]]:
        """Lowest and highest value of each signal of the formula over motions with their loads."""
        each = [self.signals(motion, load) for motion, load in zip(motions, loads, strict=True)]
        return {
            name: (min(float(s[name].min()) for s in each), max(float(s[name].max()) for s in each))
            for name in self.term.signals
        }


def unit_on_joint(unit: str, prismatic: bool) -> str:
    """A unit of revolute joints as it is on a joint: N m becomes N, rad becomes m on a prismatic one."""
    on_slides = unit.replace("N m", "N").replace("rad", "m").replace("kg m^2", "kg")
    return on_slides if prismatic else unit


def slots_of(robot: Robot, terms: tuple[NonlinearTerm, ...]) -> tuple[Slot, ...]:
    """All terms on all their joints, in order.

    Raises:
        DynidError: when a joint does not exist or two parameters would have the same name.
    """
    slots = []
    for term in terms:
        for j in range(robot.n_coordinates) if term.joints is None else term.joints:
            if not 0 <= j < robot.n_coordinates:
                raise DynidError(
                    f"The term {term.name!r} names joint {j}; give some of 0 … {robot.n_coordinates - 1}."
                )
            joint = robot.joints[robot.coordinates[j]]
            slots.append(Slot(term, j, joint.label, joint.kind is JointKind.PRISMATIC))
    names = [*robot.table.names] + [n for slot in slots for n in (slot.coefficient, *slot.constants)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DynidError(
            f"Two parameters would be called {twice[0]!r}; give the terms and their constants other names."
        )
    return tuple(slots)


def friction_beside_terms(robot: Robot, terms: tuple[NonlinearTerm, ...]) -> tuple[int, ...]:
    """Friction of joints that have such terms too, as places in the table: only their sum is friction."""
    joints = {robot.coordinates[slot.joint] for slot in slots_of(robot, terms)}
    return tuple(i for i, e in enumerate(robot.table) if e.family == "friction" and e.joint in joints)


def own_constants(slots: Sequence[Slot], theta: NDArray[Any]) -> list[NDArray[Any]]:
    """The constants of each slot, from those of all slots one after the other."""
    return np.split(theta, np.cumsum([len(slot.constants) for slot in slots])[:-1])


def nonlinear_torques(
    robot: Robot,
    terms: tuple[NonlinearTerm, ...],
    values: FloatArray,
    motion: Motion,
    load: FloatArray | None = None,
    counted: Callable[[NonlinearTerm], bool] = lambda term: True,
) -> FloatArray:
    """Torques of nonlinear terms over a motion, (samples, coordinates).

    Args:
        robot: the robot.
        terms: the terms.
        values: coefficients of all slots, then their constants: the order of ``Estimate.further``.
        motion: any motion.
        load: torques of inertia and weight, (samples, coordinates), where a formula holds them.
        counted: which of the terms.
    """
    slots = slots_of(robot, terms)
    torques = np.zeros_like(motion.tau)
    coefficients, theta = values[: len(slots)], values[len(slots) :]
    for slot, c, own in zip(slots, coefficients, own_constants(slots, theta), strict=True):
        if counted(slot.term):
            torques[:, slot.joint] += c * slot.values(motion, own, load)
    return torques


def simulated_terms(
    robot: Robot, terms: tuple[NonlinearTerm, ...], values: FloatArray
) -> tuple[AddedTorque, ...]:
    """The same terms as torques of a simulated robot.

    Args:
        robot: the robot.
        terms: the terms.
        values: coefficients of all slots, then their constants: the order of ``Estimate.further``.
    """
    slots = slots_of(robot, terms)
    each = zip(slots, values, own_constants(slots, values[len(slots) :]), strict=False)
    return tuple(
        AddedTorque(
            slot.joint,
            slot.term.expression,
            float(c),
            dict(zip(slot.term.constants, own.tolist(), strict=True)),
        )
        for slot, c, own in each
    )
