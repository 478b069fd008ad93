"""How a closed loop is integrated: friction model, tolerance, steps per sample."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dynid.core.errors import DynidError, unknown_name
from dynid.model.robot import Robot
from dynid.simulation.law import whole_number
from dynid.simulation.programs import SMOOTH, STICK

FRICTIONS = (SMOOTH, STICK)
MAX_SUBSTEPS = 256


@dataclass(frozen=True)
class Accuracy:
    """How a loop is integrated.

    Args:
        friction: "smooth" (sign over |q̇| < width) or "stick" (set-valued, with rest).
        width: of the smooth sign [rad/s or m/s].
        tolerance: accepted error of q [rad or m] by step doubling.
        substeps: integration steps per sample; chosen when None. Their error is estimated either way.
    """

    friction: str = SMOOTH
    width: float = 3e-3
    tolerance: float = 5e-6
    substeps: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be integrated."""
        if self.friction not in FRICTIONS:
            raise unknown_name("friction model", self.friction, FRICTIONS)
        if not (0 < self.width < math.inf and 0 < self.tolerance < math.inf):
            raise DynidError(
                f"width is {self.width!r} and tolerance {self.tolerance!r}; both must be positive."
            )
        if self.substeps is None:
            return
        substeps = whole_number(self.substeps)
        if substeps is None or not 1 <= substeps <= MAX_SUBSTEPS:
            raise DynidError(f"substeps is {self.substeps}; allowed are 1 to {MAX_SUBSTEPS}.")
        object.__setattr__(self, "substeps", substeps)

    def robot(self, robot: Robot) -> Robot:
        """The robot whose friction can be integrated so."""
        width = self.width if self.friction == SMOOTH else 0.0
        return robot if robot.sign_width == width else robot.with_sign_width(width)


DEFAULT = Accuracy()
