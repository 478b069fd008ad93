"""Motors that turn with several joints: which of Iam, Fvm, Fcm can be regrouped.

Iam_m has the energy ½ q̇ᵀ C_m q̇ with a constant C_m off the diagonal. Links can imitate it where axes are
parallel (a SCARA whose second motor stands on the base: ZZ2 does the same), never on a usual wrist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.base.conditions import LinkConditions, motor_crossings
from dynid.base.subspaces import last_echelon, null_space
from dynid.model.joint import BASE
from dynid.model.robot import Robot

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class MotorRegrouping:
    """A motor parameter that others can replace.

    Args:
        index: its table index.
        others: coefficients of the motor parameters that take its place.
        composites: per link, the composite c_j (own columns) that balances one unit of it.
    """

    index: int
    others: dict[int, float]
    composites: tuple[FloatArray, ...]


def motor_regroupings(robot: Robot, conditions: Sequence[LinkConditions]) -> list[MotorRegrouping]:
    """All motor parameters that the un-pivoted order would drop.

    An Iam direction x is unseen when some composites balance it on every joint: own · c_j + motors · x = 0;
    an Fvm direction only when the motors' patterns cancel; Fcm never, as the speeds of motors differ.
    """
    result: list[MotorRegrouping] = []
    crossings = motor_crossings(robot)
    for symbol in ("Iam", "Fvm"):
        indices = [i for i, e in enumerate(robot.table) if e.symbol == symbol and e.family == "motor"]
        if not indices:
            continue
        if symbol == "Iam":
            rows = np.vstack([_unrelated(robot, crossings), *(_unbalanced(link) for link in conditions)])
        else:
            rows = crossings.reshape(len(crossings), -1).T
        free = last_echelon(null_space(rows)[0])
        for x, pivot in zip(free.rows, free.pivots, strict=True):
            others = {indices[k]: -float(x[k]) for k in range(len(x)) if k != pivot and x[k] != 0}
            balance = tuple(_composite(link, x if symbol == "Iam" else 0 * x) for link in conditions)
            result.append(MotorRegrouping(indices[pivot], others, balance))
    return result


def _unbalanced(link: LinkConditions) -> FloatArray:
    """What is left of the motors' part of the conditions when the link's own parameters do their best."""
    left, _ = null_space(link.own.T) if link.own.size else (np.eye(len(link.own)), 0.0)
    return left @ link.motors


def _unrelated(robot: Robot, crossings: FloatArray) -> FloatArray:
    """No link feels two joints of different branches, so nothing can balance a motor across them."""
    n = len(robot.joints)
    related = np.zeros((n, n), dtype=bool)
    for j in range(n):
        i = j
        while i != BASE:
            related[i, j] = related[j, i] = True
            i = robot.joints[i].antecedent
    return crossings[:, ~related].T


def _composite(link: LinkConditions, x: FloatArray) -> FloatArray:
    """The composite over the kept parameters that balances the motors' inertias x."""
    c = np.zeros(len(link.columns))
    kept = [k for k in range(len(c)) if k not in link.free.pivots]
    if link.own.size and np.any(link.motors @ x):
        c[kept] = np.linalg.lstsq(link.own[:, kept], -link.motors @ x, rcond=None)[0]
    whole = np.round(c)
    return np.where(np.abs(c - whole) < 1e-10, whole, c) + 0.0
