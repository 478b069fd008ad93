"""What standard parameters must satisfy beside that bodies are possible: G x + h in a cone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.model.parameters import NEVER_NEGATIVE
from dynid.model.robot import Robot


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
