"""The robot: joints over a tree, gravity, couplings, drives and the parameters considered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property

from dynid.model.checks import finite, not_negative
from dynid.model.coupling import Coupling
from dynid.model.drives import Drives
from dynid.model.friction import BUILT_IN, FrictionTerm
from dynid.model.frozen import FrozenDict
from dynid.model.joint import Joint
from dynid.model.parameters import DRIVE_INERTIA, MOTOR_TERMS, ParameterTable, build_table
from dynid.model.robot_checks import (
    check_names,
    check_sizes,
    check_terms,
    check_tree,
    checked_gravity,
    checked_parameters,
    members_of,
)

EARTH_GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True, repr=False)
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
        sign_width: speed below which the sign in friction terms is smooth [rad/s or m/s]; 0 leaves the jump.
        drives_note: why the drives of a file could not be read, in a sentence; empty when none were left out.
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
    sign_width: float = 0.0
    drives_note: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Check the description as a whole and freeze what it holds."""
        set_field = object.__setattr__
        joints = members_of(Joint, self.joints, "joints")
        labelled = tuple(j if j.label else replace(j, label=str(i + 1)) for i, j in enumerate(joints))
        set_field(self, "joints", labelled)
        set_field(self, "terms", members_of(str, self.terms, "terms"))
        set_field(self, "friction", members_of(FrictionTerm, self.friction, "friction"))
        set_field(self, "gravity", checked_gravity(self.gravity))
        set_field(self, "sign_width", not_negative(self.sign_width, "sign_width", "The width of the sign"))
        set_field(
            self, "lengths", FrozenDict({k: finite(v, k, f"Length {k}") for k, v in self.lengths.items()})
        )
        check_tree(self)
        check_sizes(self)
        check_terms(self)
        check_names(self)
        set_field(self, "parameters", FrozenDict(checked_parameters(self)))

    def __repr__(self) -> str:
        """Name and size in one line."""
        axes = f"{self.n_coordinates} {'axis' if self.n_coordinates == 1 else 'axes'}"
        return f"<Robot {self.name}: {axes}, {len(self.table)} parameters>"

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

    def with_drives(self, drives: Drives | None) -> Robot:
        """The same robot behind other drives; a-priori values of absent motor parameters are left out."""
        bare = replace(self, drives=drives, drives_note="", parameters={})
        kept = {name: value for name, value in self.parameters.items() if name in bare.table.names}
        return replace(bare, parameters=kept)

    def with_sign_width(self, width: float) -> Robot:
        """The same robot with friction signs smooth below a speed, as simulation needs [rad/s or m/s]."""
        return replace(self, sign_width=width)

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
            # Gears that turn with one joint each change logs, not equations.
            "shares": self.drives.shares.tolist() if self.drives and self.drives.coupled() else None,
            "coupling": None if self.coupling is None else asdict(self.coupling),
        }
        if self.sign_width:
            content["sign_width"] = self.sign_width
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()
