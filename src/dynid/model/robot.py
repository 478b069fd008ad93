"""The robot: joints over a tree, gravity, couplings, loops, drives and the parameters considered."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from dynid.core.errors import ModelError, unknown_name
from dynid.core.keys import key
from dynid.core.tables import check_fields
from dynid.model.assembly import closed_at_start
from dynid.model.condition import Condition, check_conditions, living_parameters
from dynid.model.continuation import constant_coupling
from dynid.model.coupling import Coupling
from dynid.model.drives import Drives
from dynid.model.element import ForceElement
from dynid.model.friction import BUILT_IN, FrictionTerm
from dynid.model.frozen import FrozenDict
from dynid.model.joint import BASE, Joint
from dynid.model.loop import Closure
from dynid.model.parameters import DRIVE_INERTIA, MOTOR_TERMS, ParameterTable, build_table
from dynid.model.robot_source import RobotSource
from dynid.model.shapes import Capsule

EARTH_GRAVITY = (0.0, 0.0, -9.81)
_LARGEST_GRAVITY = 1e6
"""Largest component of gravity [m/s²]; more is a slip of the unit."""
_NEEDS = {"Iam": DRIVE_INERTIA, "Fvm": "Fv"}
"""Motor terms that hold only the coupling part, and the terms that hold the rest."""


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
        elements: springs, dampers and counterbalances, between coordinates or between one and the ground.
        drives: motor–joint transmission, or None when the logs are on the joint side.
        coupling: linear coupling of the tree's joints, or None when each joint is a coordinate; that which
            the loops amount to where the robot has such loops.
        closure: closed loops, or None when the robot is a tree.
        lengths: values of the named lengths [m].
        parameters: a-priori values of standard parameters by name, joint side, SI.
        title: what the robot is, in a few words.
        source: where the description comes from.
        sign_width: speed below which the sign in friction terms is smooth [rad/s or m/s]; 0 leaves the jump.
        shapes: capsules that enclose the links, for distances; none when empty.
        conditions: states in which parameters live that other experiments do not have, such as a payload's.
        inverse_only: why the a-priori values serve inverse dynamics only (a clause); simulations refuse them.
        drives_note: why the drives of a file could not be read, in a sentence; empty when none were left out.
        notes: what else of a file was left out or read otherwise than it is written, in sentences.
        origin: the URDF or MJCF file it was read from, so that a model can be written back into it.
    """

    name: str
    joints: tuple[Joint, ...]
    gravity: tuple[float, float, float] = key(
        "gravity", EARTH_GRAVITY, unit="m/s²", least=-_LARGEST_GRAVITY, most=_LARGEST_GRAVITY
    )
    terms: tuple[str, ...] = key("parameter terms", ("Fv", "Fc", "off"))
    friction: tuple[FrictionTerm, ...] = ()
    elements: tuple[ForceElement, ...] = ()
    drives: Drives | None = None
    coupling: Coupling | None = None
    closure: Closure | None = None
    lengths: Mapping[str, float] = key("lengths", factory=dict, unit="m")
    parameters: Mapping[str, float] = key("parameters", factory=dict)
    title: str = ""
    source: str = ""
    sign_width: float = key("width of the sign", 0.0, unit="rad/s or m/s", least=0)
    inverse_only: str = ""
    shapes: tuple[Capsule, ...] = ()
    conditions: tuple[Condition, ...] = ()
    drives_note: str = field(default="", compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    origin: RobotSource | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Check the description as a whole and freeze what it holds."""
        set_field = object.__setattr__
        joints = _members(Joint, self.joints, "joints")
        labelled = tuple(j if j.label else replace(j, label=str(i + 1)) for i, j in enumerate(joints))
        set_field(self, "joints", labelled)
        set_field(self, "friction", _members(FrictionTerm, self.friction, "friction"))
        set_field(self, "elements", _members(ForceElement, self.elements, "elements"))
        shapes = _members(Capsule, self.shapes, "shapes")
        set_field(self, "shapes", tuple(sorted(shapes, key=lambda shape: shape.link)))
        check_fields(self, f"Robot {self.name!r}", ModelError)
        set_field(self, "lengths", FrozenDict(self.lengths))
        _check_tree(self)
        if self.closure is not None:
            set_field(self, "closure", _checked_closure(self))
            set_field(self, "coupling", _found_coupling(self, self.closure))
        _check_sizes(self)
        _check_terms(self)
        _check_elements(self)
        _check_names(self)
        _check_parameters(self)
        _check_shapes(self)
        set_field(self, "conditions", _members(Condition, self.conditions, "conditions"))
        check_conditions(self.conditions, self.table, self.joints)
        set_field(self, "parameters", FrozenDict(self.parameters))

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
        constrained = self.coupling or self.closure
        if constrained is None:
            return self.movable
        return tuple(self.movable[c] for c in constrained.coordinates)

    @cached_property
    def home(self) -> tuple[float, ...]:
        """Coordinates at which the robot can stand: zero, or the start of its loops [rad or m]."""
        if self.closure is None:
            return (0.0,) * self.n_coordinates
        return tuple(self.closure.start[c] for c in self.closure.coordinates)

    @cached_property
    def driven(self) -> tuple[bool, ...]:
        """Whether a motor drives each coordinate; the torque of the others, the passive ones, is zero."""
        return tuple(self.joints[j].actuated for j in self.coordinates)

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
        return replace(self, parameters=values, inverse_only="")

    def with_drives(self, drives: Drives | None) -> Robot:
        """The same robot behind other drives; a-priori values of absent motor parameters are left out."""
        bare = replace(self, drives=drives, drives_note="", parameters={})
        kept = {name: value for name, value in self.parameters.items() if name in bare.table.names}
        return replace(bare, parameters=kept)

    def with_sign_width(self, width: float) -> Robot:
        """The same robot with friction signs smooth below a speed, as simulation needs [rad/s or m/s]."""
        return replace(self, sign_width=width)

    def with_shapes(self, shapes: Iterable[Capsule]) -> Robot:
        """The same robot with other shapes of its links."""
        return replace(self, shapes=tuple(shapes))

    def with_conditions(self, *conditions: Condition) -> Robot:
        """The same robot in experiments of these conditions; none when nothing is given."""
        return replace(self, conditions=conditions)

    def lives_in(self, condition: str) -> tuple[bool, ...]:
        """Which parameters of the table live in a condition; "" is that of logs that name none."""
        return living_parameters(self.conditions, condition, self.table, self.joints)

    @cached_property
    def digest(self) -> str:
        """Hash of everything that shapes the robot's equations (not of names, limits, shapes or values)."""
        content = {
            "joints": [
                [j.antecedent, j.kind, j.gamma, j.b, j.alpha, j.d, j.theta, j.r, j.label] for j in self.joints
            ],
            "gravity": self.gravity,
            "terms": [DRIVE_INERTIA in self.terms, [t for t in self.terms if t in MOTOR_TERMS]],
            "friction": [[t.name, t.expression] for t in self.friction_terms],
            # Gears that turn with one joint each change logs, not equations.
            "shares": self.drives.shares.tolist() if self.drives and self.drives.coupled_motors() else None,
            "coupling": None if self.coupling is None else asdict(self.coupling),
        }
        if self.closure is not None and self.coupling is None:
            # The positions of the dependent joints are computed for the range of the coordinates.
            ranges = [[self.joints[j].limits.lower, self.joints[j].limits.upper] for j in self.coordinates]
            content["closure"] = [asdict(self.closure), ranges]
        if self.elements:
            content["elements"] = [[e.name, dict(e.joints), e.expression] for e in self.elements]
        if self.sign_width:
            content["sign_width"] = self.sign_width
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


# ── what must hold in a robot as a whole ──────────────────────────────────────────────────────────────────


def _members(kind: type, values: Any, name: str) -> tuple[Any, ...]:
    """The values as a tuple, each of the kind asked for."""
    if not isinstance(values, Iterable):
        raise ModelError(f"The robot's list of {name} is {values!r}; give a list of {kind.__name__}.")
    members = tuple(values)
    for member in members:
        if not isinstance(member, kind):
            raise ModelError(f"The robot's list of {name} holds {member!r}; give a list of {kind.__name__}.")
    return members


def _check_tree(robot: Robot) -> None:
    """Joints of different names, each after its antecedent, at least one of them movable."""
    if not robot.joints:
        raise ModelError(f"Robot {robot.name!r} has no joints.")
    for attribute in ("name", "label"):
        values = [getattr(joint, attribute) for joint in robot.joints]
        twice = sorted(value for value, count in Counter(values).items() if count > 1)
        if twice:
            raise ModelError(f"Robot {robot.name!r} has two joints of {attribute} {twice[0]!r}.")
    for i, joint in enumerate(robot.joints):
        if not BASE <= joint.antecedent < i:
            raise ModelError(
                f"Joint {joint.name!r} (number {i + 1}) names link {joint.antecedent + 1} as its "
                "antecedent; the antecedent must come before it in the list (0 is the base), so that the "
                "joints form a tree."
            )
    if not robot.movable:
        raise ModelError(f"Robot {robot.name!r} has no joint that moves.")


def _checked_closure(robot: Robot) -> Closure:
    """The loops, closed at their start."""
    if not isinstance(robot.closure, Closure):
        raise ModelError(f"The robot's closure is {robot.closure!r}; give a Closure, or None.")
    return closed_at_start(robot.joints, robot.closure)


def _found_coupling(robot: Robot, closure: Closure) -> Coupling | None:
    """The linear coupling that the loops amount to, or None; one given beside the loops must be this one."""
    found = constant_coupling(robot.joints, closure)
    if robot.coupling not in (None, found):
        raise ModelError(
            f"Robot {robot.name!r} has loops and a coupling that is not theirs; give the loops alone, with "
            "coupled joints closed by loops of their own."
        )
    return found


def _check_sizes(robot: Robot) -> None:
    """A coupling row per movable joint and a motor per coordinate."""
    if robot.coupling is not None and len(robot.coupling.matrix) != len(robot.movable):
        raise ModelError(
            f"The coupling has {len(robot.coupling.matrix)} rows, but the robot has {len(robot.movable)} "
            "movable joints."
        )
    if robot.drives is not None and not isinstance(robot.drives, Drives):
        raise ModelError(f"The robot's drives are {robot.drives!r}; give a Drives, or None.")
    if robot.drives is not None and len(robot.drives.ratio) != robot.n_coordinates:
        names = ", ".join(robot.joints[j].name for j in robot.coordinates)
        raise ModelError(
            f"The drives name {len(robot.drives.ratio)} motors, but the robot has {robot.n_coordinates} "
            f"coordinates ({names}); give one motor per coordinate, in this order."
        )


def _check_terms(robot: Robot) -> None:
    """Terms that are known, listed once, and fit the drives."""
    custom = {term.name for term in robot.friction}
    if len(custom) < len(robot.friction):
        twice = next(n for n, count in Counter(t.name for t in robot.friction).items() if count > 1)
        raise ModelError(f"The friction term {twice!r} is defined twice; keep one.")
    known = {DRIVE_INERTIA, *MOTOR_TERMS, *BUILT_IN, *custom}
    for term in robot.terms:
        if term not in known:
            raise unknown_name("parameter term", term, known)
        if robot.terms.count(term) > 1:
            raise ModelError(f"The parameter term {term!r} is listed twice.")
        if term in MOTOR_TERMS and (robot.drives is None or not robot.drives.coupled_motors()):
            raise ModelError(
                f"The motor term {term!r} needs drives in which a motor turns with several joints; robot "
                f"{robot.name!r} has none."
            )
        # The share of a motor's inertia and friction on its own joints is inside Ia and Fv.
        if term in _NEEDS and _NEEDS[term] not in robot.terms:
            raise ModelError(
                f"The motor term {term!r} holds only the coupling part; add {_NEEDS[term]!r}, which holds "
                "the rest."
            )


def _check_elements(robot: Robot) -> None:
    """Springs and dampers act on coordinates."""
    names = [robot.joints[j].name for j in robot.coordinates]
    for element in robot.elements:
        for name in element.joints:
            if name not in names:
                raise unknown_name(f"joint of element {element.name!r}", name, names)


def _check_names(robot: Robot) -> None:
    """Every name means one parameter or one length, because formulas of base parameters hold both."""
    names = set(robot.table.names)  # the table refuses two parameters of one name
    for name in robot.lengths:
        if name in names:
            raise ModelError(
                f"The length {name!r} has the name of a parameter of robot {robot.name!r}; rename it, so "
                "that formulas can hold both."
            )


def _check_parameters(robot: Robot) -> None:
    """A-priori values of known parameters; masses and drive inertias that are simulated are not negative."""
    for name, value in robot.parameters.items():
        entry = robot.table.entries[robot.table.index(name)]
        if entry.symbol in ("M", DRIVE_INERTIA) and value < 0 and not robot.inverse_only:
            raise ModelError(f"Parameter {name} is {value:g} {entry.unit}; it cannot be negative.")


def _check_shapes(robot: Robot) -> None:
    """Shapes of links that the robot has."""
    for shape in robot.shapes:
        if shape.link >= len(robot.joints):
            raise ModelError(
                f"A shape names link {shape.link}, but the links of robot {robot.name!r} are 0 to "
                f"{len(robot.joints) - 1}, and {BASE} for the base."
            )
