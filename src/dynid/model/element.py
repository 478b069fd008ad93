"""Springs, dampers and counterbalances: a force law along a sum of coordinates, given as data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dynid.core.errors import ModelError
from dynid.core.keys import key
from dynid.core.tables import check_fields
from dynid.model.friction import parse_expression
from dynid.model.frozen import FrozenDict


@dataclass(frozen=True, slots=True)
class ForceElement:
    """A spring, a damper or a counterbalance: τ_j = coefficient × factor_j × expression(q, qd).

    q = Σ factor_j q_j is the element's deflection and qd its rate, so that a spring between a motor and its
    load has the factors 1 and −1, and one between a joint and the ground a single factor 1. The coefficient
    is one parameter of the robot: stiffness for the expression q, damping for qd.
    """

    name: str = key("name of its coefficient, such as K1; a parameter of the robot")
    joints: Mapping[str, float] = key(
        "factor of each coordinate in the deflection, such as { motor = 1, load = -1 }"
    )
    expression: str = key(
        "force law in the deflection q and its rate qd, like a friction law; q is a spring, qd a damper",
        "q",
    )
    unit: str = key("unit of the coefficient", "N m/rad")

    def __post_init__(self) -> None:
        """Refuse names that no formula could hold, elements without joints, and laws that are no formulas."""
        check_fields(self, "Element", ModelError)
        if not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", self.name):
            raise ModelError(
                f"The element's name {self.name!r} must be letters, digits or _, and not begin with a digit."
            )
        if not any(self.joints.values()):
            raise ModelError(
                f"Element {self.name!r} acts on no joint; give joints = {{ NAME = 1 }} for a spring between "
                "a joint and the ground, { A = 1, B = -1 } for one between two joints."
            )
        parse_expression(self.expression)
        object.__setattr__(self, "joints", FrozenDict(self.joints))
