"""The robot: joints over a tree, gravity, couplings, drives and the parameters considered."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from dynid.errors import ModelError, unknown_name
from dynid.model.coupling import Coupling
from dynid.model.drives import Drives
from dynid.model.friction import BUILT_IN, FrictionTerm
from dynid.model.joint import BASE, Joint
from dynid.model.parameters import DRIVE_INERTIA, MOTOR_TERMS, ParameterTable, build_table

EARTH_GRAVITY = (0.0, 0.0, -9.81)
_NEEDS = {"Iam": DRIVE_INERTIA, "Fvm": "Fv"}


@dataclass(frozen=True)
class Robot:
    """A robot described once, as data.

    Args:
        name: short name.
        joints: joints in an order where every antecedent comes before its descendants.
        gravity: acceleration of gravity in the base frame [m/s²].
        terms: parameter terms beside the ten inertial ones: "Ia", friction terms by name, and the motor
            terms "Iam", "Fvm", "Fcm" of coupled transmissions.
        friction: friction terms defined by the user, beside the built-in ones.
        drives: motor–joint transmission, or None when the logs are on the joint side.
        coupling: linear coupling of the tree's joints, or None when each joint is a coordinate.
        lengths: values of the named lengths [m].
        parameters: a-priori values of standard parameters by name, joint side, SI.
        title: what the robot is, in a few words.
        source: where the description comes from.
    """

    name: str
    joints: tuple[Joint, ...]
    gravity: tuple[float, float, float] = EARTH_GRAVITY
    terms: tuple[str, ...] = ("Fv", "Fc", "off")
    friction: tuple[FrictionTerm, ...] = ()
    drives: Drives | None = None
    coupling: Coupling | None = None
    lengths: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    title: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        """Check the description as a whole and freeze what it holds."""
        set_field = object.__setattr__
        labelled = tuple(j if j.label else replace(j, label=str(i + 1)) for i, j in enumerate(self.joints))
        set_field(self, "joints", labelled)
        set_field(self, "gravity", tuple(float(g) for g in self.gravity))
        set_field(self, "lengths", MappingProxyType(dict(self.lengths)))
        _check_tree(self)
        _check_sizes(self)
        _check_terms(self)
        set_field(self, "parameters", MappingProxyType(_checked_parameters(self)))

    @cached_property
    def movable(self) -> tuple[int, ...]:
        """Indices of the joints that move."""
        return tuple(i for i, joint in enumerate(self.joints) if joint.movable)

    @cached_property
    def coordinates(self) -> tuple[int, ...]:
        """Indices of the joints whose positions are the independent coordinates q."""
        if self.coupling is None:
            return self.movable
        return tuple(self.movable[c] for c in self.coupling.coordinates)

    @property
    def n_coordinates(self) -> int:
        """Number of independent coordinates: the width of q, q̇, q̈ and τ."""
        return len(self.coordinates)

    @cached_property
    def friction_terms(self) -> tuple[FrictionTerm, ...]:
        """Friction terms in table order: Fv Fc off first, then the others as listed."""
        known = BUILT_IN | {term.name: term for term in self.friction}
        first = [name for name in ("Fv", "Fc", "off") if name in self.terms]
        rest = [name for name in self.terms if name in known and name not in first]
        return tuple(known[name] for name in first + rest)

    @cached_property
    def table(self) -> ParameterTable:
        """The robot's standard parameters: names, order, units."""
        return build_table(self)

    def with_terms(self, *terms: str) -> Robot:
        """The same robot with other parameter terms; a-priori values of absent parameters are left out."""
        # The check of a-priori values needs the new table, so they are re-attached once it is known.
        bare = replace(self, terms=terms, parameters={})
        kept = {name: value for name, value in self.parameters.items() if name in bare.table.names}
        return replace(bare, parameters=kept)

    def with_gravity(self, x: float, y: float, z: float) -> Robot:
        """The same robot under another gravity, base frame [m/s²]."""
        return replace(self, gravity=(x, y, z))

    def with_parameters(self, values: Mapping[str, float]) -> Robot:
        """The same robot with other a-priori values."""
        return replace(self, parameters=values)

    @cached_property
    def digest(self) -> str:
        """Hash of everything that shapes the robot's equations (not of names, limits or a-priori values)."""
        content = {
            "joints": [
                [j.antecedent, j.kind, j.gamma, j.b, j.alpha, j.d, j.theta, j.r, j.label] for j in self.joints
            ],
            "gravity": self.gravity,
            "terms": [DRIVE_INERTIA in self.terms, [t for t in self.terms if t in MOTOR_TERMS]],
            "friction": [[t.name, t.expression] for t in self.friction_terms],
            "shares": None if self.drives is None else self.drives.shares.tolist(),
            "coupling": None if self.coupling is None else asdict(self.coupling),
        }
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _check_tree(robot: Robot) -> None:
    if not robot.joints:
        raise ModelError(f"Robot {robot.name!r} has no joints.", name="joints")
    for attribute in ("name", "label"):
        values = [getattr(joint, attribute) for joint in robot.joints]
        twice = sorted(value for value, count in Counter(values).items() if count > 1)
        if twice:
            raise ModelError(
                f"Robot {robot.name!r} has two joints of {attribute} {twice[0]!r}.",
                name=attribute,
                value=twice[0],
            )
    for i, joint in enumerate(robot.joints):
        if not BASE <= joint.antecedent < i:
            raise ModelError(
                f"Joint {joint.name!r} (number {i + 1}) names link {joint.antecedent + 1} as its "
                "antecedent; the "
                "antecedent must come before it in the list (0 is the base), so the joints form a tree.",
                name="antecedent",
                value=joint.antecedent,
            )
    if not robot.movable:
        raise ModelError(f"Robot {robot.name!r} has no joint that moves.", name="joints")
    if len(robot.gravity) != 3 or not all(math.isfinite(g) for g in robot.gravity):
        raise ModelError(
            f"Gravity is {robot.gravity}; give three finite numbers in m/s².",
            name="gravity",
            value=robot.gravity,
        )


def _check_sizes(robot: Robot) -> None:
    if robot.coupling is not None and len(robot.coupling.matrix) != len(robot.movable):
        raise ModelError(
            f"The coupling has {len(robot.coupling.matrix)} rows, but the robot has {len(robot.movable)} "
            "movable "
            "joints.",
            name="coupling",
        )
    if robot.drives is not None and len(robot.drives.ratio) != robot.n_coordinates:
        raise ModelError(
            f"The drives name {len(robot.drives.ratio)} motors, but the robot has {robot.n_coordinates} "
            "coordinates; give one motor per coordinate.",
            name="drives",
        )


def _check_terms(robot: Robot) -> None:
    custom = {term.name for term in robot.friction}
    known = {DRIVE_INERTIA, *MOTOR_TERMS, *BUILT_IN, *custom}
    for term in robot.terms:
        if term not in known:
            raise unknown_name("parameter term", term, known)
        if robot.terms.count(term) > 1:
            raise ModelError(f"The parameter term {term!r} is listed twice.", name="terms", value=term)
        if term in MOTOR_TERMS and (robot.drives is None or not robot.drives.coupled()):
            raise ModelError(
                f"The motor term {term!r} needs drives in which a motor turns with several joints; robot "
                f"{robot.name!r} has none.",
                name="terms",
                value=term,
            )
        # The share of a motor's inertia and friction on its own joints is inside Ia and Fv.
        if term in _NEEDS and _NEEDS[term] not in robot.terms:
            raise ModelError(
                f"The motor term {term!r} holds only the coupling part; add {_NEEDS[term]!r}, which holds "
                "the rest.",
                name="terms",
                value=term,
            )


def _checked_parameters(robot: Robot) -> dict[str, float]:
    values = {}
    for name, value in robot.parameters.items():
        entry = robot.table.entries[robot.table.index(name)]
        number = float(value)
        if not np.isfinite(number):
            raise ModelError(f"Parameter {name} is {number}; it must be finite.", name=name, value=number)
        if entry.symbol in ("M", DRIVE_INERTIA) and number < 0:
            raise ModelError(
                f"Parameter {name} is {number:g} {entry.unit}; it cannot be negative.",
                name=name,
                value=number,
                allowed=">= 0",
            )
        values[name] = number
    return values
