"""What a method of finding base parameters hands back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.base.polynomial import Polynomial
from dynid.core.errors import NotTrustworthyError
from dynid.model.robot import Robot

CLEAR_GAP = 1e4
"""Least ratio between what is kept and what is dropped for an answer to be trusted."""
REMEDY = "look for lengths or angles that are nearly but not quite zero, or friction laws that hardly differ"

Form = dict[int, Polynomial]
"""A linear form over the standard parameters: coefficient by table index."""


@dataclass(frozen=True)
class Grouping:
    """Kept columns and how the others are regrouped into them.

    Args:
        columns: table indices of the kept columns.
        matrix: K (base, standard).
        gap: how clearly kept and dropped directions are apart.
        forms: rows of K with named lengths, or None where the method knows numbers only.
    """

    columns: tuple[int, ...]
    matrix: NDArray[np.float64]
    gap: float
    forms: tuple[Form, ...] | None = None


def require_clear(robot: Robot, gap: float) -> None:
    """Refuse a rank decision that another rounding could turn.

    Raises:
        NotTrustworthyError: when the gap between kept and dropped directions is small.
    """
    if gap < CLEAR_GAP:
        raise NotTrustworthyError(
            f"The base parameters of robot {robot.name!r} are not clear: the gap between kept and dropped "
            f"directions is {gap:.3g}, where at least {CLEAR_GAP:g} is asked for; {REMEDY}."
        )
