"""A joint and the link it carries, placed by modified Denavit–Hartenberg (Khalil–Kleinfinger) parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from dynid.core.errors import ModelError
from dynid.model.checks import bounded, real, whole
from dynid.model.frozen import FrozenDict

GEOMETRY = ("gamma", "b", "alpha", "d", "theta", "r")
LENGTHS = ("b", "d", "r")
BASE = -1
"""Antecedent index of the links fixed to the immobile base."""


class JointKind(StrEnum):
    """How link j moves against its antecedent: σ = 0 (revolute), 1 (prismatic), 2 (fixed)."""

    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one joint in SI units, joint side; infinite where unknown."""

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    acceleration: float = math.inf
    effort: float = math.inf

    def __post_init__(self) -> None:
        """Refuse bounds that no motion can satisfy."""
        for name in ("lower", "upper", "velocity", "acceleration", "effort"):
            object.__setattr__(self, name, real(getattr(self, name), name, f"The joint limit {name}"))
        values = (self.lower, self.upper, self.velocity, self.acceleration, self.effort)
        if any(math.isnan(v) for v in values):
            raise ModelError(f"A joint limit is not a number: {values}.")
        if self.lower > self.upper:
            raise ModelError(f"The lower joint limit {self.lower:g} is above the upper limit {self.upper:g}.")
        for name in ("velocity", "acceleration", "effort"):
            if getattr(self, name) < 0:
                raise ModelError(
                    f"The {name} limit {getattr(self, name):g} is negative; give its absolute bound."
                )


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
    antecedent: int
    kind: JointKind = JointKind.REVOLUTE
    gamma: float = 0.0
    b: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    r: float = 0.0
    symbols: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = Limits()
    actuated: bool = True
    label: str = ""

    def __post_init__(self) -> None:
        """Check kind and numbers and freeze the symbol table."""
        set_field, where = object.__setattr__, f"Joint {self.name!r}"
        set_field(self, "kind", _kind(self.kind, where))
        set_field(self, "antecedent", whole(self.antecedent, "antecedent", f"{where}: antecedent"))
        for name in GEOMETRY:
            unit = "m" if name in LENGTHS else "rad"
            set_field(self, name, bounded(getattr(self, name), name, f"{where}: {name}", unit))
        unknown = set(self.symbols) - set(LENGTHS)
        if unknown:
            raise ModelError(
                f"Joint {self.name!r}: only the lengths {', '.join(LENGTHS)} can be named, not "
                f"{sorted(unknown)}."
            )
        set_field(self, "symbols", FrozenDict(self.symbols))

    @property
    def movable(self) -> bool:
        """Whether the joint has a variable of its own."""
        return self.kind is not JointKind.FIXED


def _kind(kind: object, where: str) -> JointKind:
    allowed = [known.value for known in JointKind]
    if kind not in allowed:
        raise ModelError(f"{where}: kind is {kind!r}; it must be {', '.join(allowed[:-1])} or {allowed[-1]}.")
    return JointKind(kind)
