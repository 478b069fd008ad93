"""A joint and the link it carries, placed by modified Denavit–Hartenberg (Khalil–Kleinfinger) parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf, radians

from dynid.core.errors import ModelError
from dynid.core.keys import OtherKey, key
from dynid.core.tables import check_fields
from dynid.model.frozen import FrozenDict

GEOMETRY = ("gamma", "b", "alpha", "d", "theta", "r")
LENGTHS = ("b", "d", "r")
BASE = -1
"""Antecedent index of the links fixed to the immobile base."""
_LARGEST = 1e6
"""Largest length [m] and angle [rad]: no robot needs more, and products lose digits."""


class JointKind(StrEnum):
    """How link j moves against its antecedent: σ = 0 (revolute), 1 (prismatic), 2 (fixed)."""

    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one joint in SI units, joint side; infinite where unknown."""

    lower: float = key(
        "smallest position", -inf, unit="rad or m", infinite=True, other=OtherKey("lower_deg", "deg", radians)
    )
    upper: float = key(
        "largest position", inf, unit="rad or m", infinite=True, other=OtherKey("upper_deg", "deg", radians)
    )
    velocity: float = key(
        "largest speed",
        inf,
        unit="rad/s or m/s",
        least=0,
        infinite=True,
        other=OtherKey("velocity_deg", "deg/s", radians),
    )
    acceleration: float = key(
        "largest acceleration",
        inf,
        unit="rad/s² or m/s²",
        least=0,
        infinite=True,
        other=OtherKey("acceleration_deg", "deg/s²", radians),
    )
    jerk: float = key(
        "largest rate of acceleration",
        inf,
        unit="rad/s³ or m/s³",
        least=0,
        infinite=True,
        other=OtherKey("jerk_deg", "deg/s³", radians),
    )
    effort: float = key("largest torque or force", inf, unit="N m or N", least=0, infinite=True)

    def __post_init__(self) -> None:
        """Refuse bounds that no motion can satisfy."""
        check_fields(self, error=ModelError)
        if self.lower > self.upper:
            raise ModelError(f"The lower joint limit {self.lower:g} is above the upper limit {self.upper:g}.")


@dataclass(frozen=True, slots=True)
class Joint:
    """Joint j and link j.

    Frame j has z_j on the joint axis and is reached from frame a(j) by
    Rot(z, γ) Trans(z, b) Rot(x, α) Trans(x, d) Rot(z, θ) Trans(z, r) (Khalil–Kleinfinger 1986).

    Args:
        name: unique name of the joint.
        antecedent: index of link a(j) in the robot's joints, or ``BASE``.
        kind: revolute (θ = theta + q), prismatic (r = r + q) or fixed.
        gamma: rotation about z of a(j) [rad].
        b: translation along z of a(j) [m].
        alpha: rotation about the common normal x [rad].
        d: translation along the common normal x [m].
        theta: rotation about z_j [rad]; the constant part when revolute.
        r: translation along z_j [m]; the constant part when prismatic.
        symbols: names of the lengths b, d, r where the robot file gives them, such as {"d": "D3"};
            a leading "-" means the negative of the named length.
        limits: motion and effort bounds.
        actuated: whether a motor drives the joint.
        label: what follows the symbol in parameter names, as the 3 of ``XX3``.
    """

    name: str
    antecedent: int = key("antecedent")
    kind: JointKind = key("kind", JointKind.REVOLUTE)
    gamma: float = key("angle", 0.0, unit="rad", least=-_LARGEST, most=_LARGEST)
    b: float = key("length", 0.0, unit="m", least=-_LARGEST, most=_LARGEST)
    alpha: float = key("angle", 0.0, unit="rad", least=-_LARGEST, most=_LARGEST)
    d: float = key("length", 0.0, unit="m", least=-_LARGEST, most=_LARGEST)
    theta: float = key("angle", 0.0, unit="rad", least=-_LARGEST, most=_LARGEST)
    r: float = key("length", 0.0, unit="m", least=-_LARGEST, most=_LARGEST)
    symbols: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = Limits()
    actuated: bool = True
    label: str = ""

    def __post_init__(self) -> None:
        """Check kind and numbers and freeze the symbol table."""
        check_fields(self, f"Joint {self.name!r}", ModelError)
        unknown = set(self.symbols) - set(LENGTHS)
        if unknown:
            raise ModelError(
                f"Joint {self.name!r}: only the lengths {', '.join(LENGTHS)} can be named, not "
                f"{sorted(unknown)}."
            )
        object.__setattr__(self, "symbols", FrozenDict(self.symbols))

    @property
    def movable(self) -> bool:
        """Whether the joint has a variable of its own."""
        return self.kind is not JointKind.FIXED
