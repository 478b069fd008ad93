"""What standard parameters must satisfy beside that bodies are possible: G x + h in a cone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.model.parameters import NEVER_NEGATIVE
from dynid.model.robot import Robot

_PRECISION = 1e-4
"""Share of its terms by which a constraint may be missed."""


class Cone(StrEnum):
    """Kinds of cones."""

    ZERO = "zero"
    POSITIVE = "positive"
    SECOND_ORDER = "second order"


@dataclass(frozen=True, eq=False)
class Constraint:
    """G x + h in a cone, x the standard parameters of a robot.

    Args:
        name: what is bounded, in words, such as "mass of link of elbow at most 5 kg".
        cone: which cone.
        G: (rows, standard).
        h: (rows,).
        given: whether the user asked for it; the others hold for every robot.
    """

    name: str
    cone: Cone
    G: FloatArray
    h: FloatArray
    given: bool = True

    def holds(self, standard: FloatArray) -> bool:
        """Whether parameters (standard,) satisfy it, to a ten-thousandth of its terms."""
        s = self.G @ standard + self.h
        size = float(np.max(np.abs(self.G) @ np.abs(standard) + np.abs(self.h)))
        if self.cone is Cone.ZERO:
            return bool(np.max(np.abs(s)) <= _PRECISION * max(size, float(np.abs(standard).max())))
        least = s[0] - np.linalg.norm(s[1:]) if self.cone is Cone.SECOND_ORDER else s.min()
        return bool(least >= -_PRECISION * size)


def at_least_zero(robot: Robot, free: Sequence[int] = ()) -> list[Constraint]:
    """Drive inertia and friction that are not negative, one constraint each.

    Args:
        robot: the robot.
        free: parameters that may have any sign, because terms beside them share their effect.
    """
    kept = [i for i, entry in enumerate(robot.table) if entry.symbol in NEVER_NEGATIVE and i not in set(free)]
    identity = np.eye(len(robot.table))
    return [
        Constraint(
            f"{robot.table.names[i]} ≥ 0", Cone.POSITIVE, identity[i : i + 1], np.zeros(1), given=False
        )
        for i in kept
    ]


def between(
    name: str, row: FloatArray, low: float, high: float, unit: str, per: FloatArray | None = None
) -> Iterable[Constraint]:
    """Constraints low ≤ row x ≤ high, or low ≤ row x / per x ≤ high; infinite bounds are none.

    Args:
        name: of what is bounded.
        row: (standard,).
        low: least value.
        high: largest value.
        unit: of the bounds, for the words.
        per: what the row is divided by, such as the mass, (standard,); nothing when None.
    """
    tail = f" {unit}" if unit else ""
    for word, bound, sign in (("least", low, 1.0), ("most", high, -1.0)):
        if np.isfinite(bound):
            G = row if per is None else row - bound * per
            h = -bound if per is None else 0.0
            yield Constraint(
                f"{name} at {word} {bound:g}{tail}", Cone.POSITIVE, sign * G[None], np.array([sign * h])
            )
