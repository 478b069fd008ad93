"""What is put to the test: a robot, its base parameters and their values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.core.errors import ShapeError
from dynid.estimators.estimate import Estimate, Further
from dynid.model.robot import Robot

FloatArray = NDArray[np.float64]
_WITHOUT_DRY = ("Fv", "off")


@dataclass(frozen=True, eq=False)
class Model:
    """An identified model apart from the data it came from.

    Args:
        robot: the robot.
        base: its base parameters.
        values: values of the base parameters, (base,), SI.
        covariance: their covariance (base, base), or None when it is not known.
        further: parameters beside the base ones, of friction that is not linear; None when there are none.
        uncertainty: how the covariance was found: "classical", "hac" or "bootstrap".
    """

    robot: Robot
    base: BaseMap
    values: FloatArray
    covariance: FloatArray | None = None
    further: Further | None = None
    uncertainty: str = "classical"

    @property
    def dry_friction(self) -> bool:
        """Whether any term besides viscous friction and offset tells how friction depends on the speed."""
        return self.further is not None or any(t.name not in _WITHOUT_DRY for t in self.robot.friction_terms)

    def __post_init__(self) -> None:
        """Check sizes and that every value is a number."""
        p = len(self.base)
        _keep(self, "values", self.values, (p,))
        if self.covariance is not None:
            _keep(self, "covariance", self.covariance, (p, p))


def _keep(model: Model, name: str, given: FloatArray, shape: tuple[int, ...]) -> None:
    array = np.ascontiguousarray(given, dtype=float)
    if array.shape != shape:
        raise ShapeError(
            f"The {name} of the model have shape {array.shape}; expected {shape}, one entry per base "
            "parameter."
        )
    if not np.all(np.isfinite(array)):
        raise ShapeError(
            f"The {name} of the model hold values that are not finite; a model that cannot be computed "
            "cannot be validated."
        )
    object.__setattr__(model, name, array)


def as_model(source: Model | Estimate) -> Model:
    """A model as it is, or the one an estimate holds."""
    if isinstance(source, Model):
        return source
    base = source.problem.base
    return Model(base.robot, base, source.values, source.covariance, source.further, source.uncertainty)
