"""What must hold in a robot as a whole: a tree that moves, fitting sizes, known and unique names."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from dynid.core.errors import ModelError, unknown_name
from dynid.model.checks import bounded, finite, listed, real
from dynid.model.drives import Drives
from dynid.model.friction import BUILT_IN, FrictionTerm
from dynid.model.joint import BASE, Joint
from dynid.model.parameters import DRIVE_INERTIA, MOTOR_TERMS

if TYPE_CHECKING:
    from dynid.model.robot import Robot

_NEEDS = {"Iam": DRIVE_INERTIA, "Fvm": "Fv"}
_WHAT = {Joint: "Joint", str: "names", FrictionTerm: "FrictionTerm"}


def members_of(kind: type, values: object, name: str) -> tuple[Any, ...]:
    """The values as a tuple, each of the kind asked for."""
    what = _WHAT[kind]
    members = listed(values, name, f"The robot's list of {name}", what)
    for member in members:
        if not isinstance(member, kind):
            raise ModelError(f"The robot's list of {name} holds {member!r}; give a list of {what}.")
    return members


def checked_gravity(gravity: object) -> tuple[float, ...]:
    """Three finite numbers [m/s²]."""
    given = listed(gravity, "gravity", "Gravity", "three finite numbers in m/s²")
    values = tuple(real(g, "gravity", "A component of the gravity") for g in given)
    if len(values) != 3 or not all(math.isfinite(g) for g in values):
        raise ModelError(f"Gravity is {values}; give three finite numbers in m/s².")
    return tuple(bounded(g, "gravity", "A component of the gravity", "m/s²") for g in values)


def check_tree(robot: Robot) -> None:
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


def check_sizes(robot: Robot) -> None:
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


def check_terms(robot: Robot) -> None:
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
        if term in MOTOR_TERMS and (robot.drives is None or not robot.drives.coupled()):
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


def check_names(robot: Robot) -> None:
    """Every name means one parameter or one length, because formulas of base parameters hold both."""
    names = set(robot.table.names)  # the table refuses two parameters of one name
    for name in robot.lengths:
        if name in names:
            raise ModelError(
                f"The length {name!r} has the name of a parameter of robot {robot.name!r}; rename it, so "
                "that formulas can hold both."
            )


def checked_parameters(robot: Robot) -> dict[str, float]:
    """A-priori values of known parameters, finite, masses and drive inertias not negative."""
    values = {}
    for name, value in robot.parameters.items():
        entry = robot.table.entries[robot.table.index(name)]
        number = finite(value, name, f"Parameter {name}")
        if entry.symbol in ("M", DRIVE_INERTIA) and number < 0:
            raise ModelError(f"Parameter {name} is {number:g} {entry.unit}; it cannot be negative.")
        values[name] = number
    return values
