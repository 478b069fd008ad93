"""What a recursion starts from: values, and how sure each of them is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, ShapeError, unknown_name
from dynid.model.robot import Robot


@dataclass(frozen=True, eq=False)
class ParameterPrior:
    """χ₀ and the square roots of the diagonal of P₀ (P4 §5.3).

    Args:
        values: χ₀, (base,).
        sigma: standard deviations, (base,); infinite where nothing is known.
    """

    values: FloatArray
    sigma: FloatArray

    def __post_init__(self) -> None:
        """Refuse deviations of zero, from which no data could move a value."""
        for name in ("values", "sigma"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=float))
        if self.values.ndim != 1 or self.values.shape != self.sigma.shape:
            raise ShapeError(
                f"The prior has values {self.values.shape} and deviations {self.sigma.shape}; give one "
                "of each per base parameter."
            )
        if not np.all(np.isfinite(self.values)):
            raise DynidError(
                "A prior value is not finite; give numbers, and an infinite sigma where unknown."
            )
        if not np.all(self.sigma > 0):
            worst = int(np.flatnonzero(~(self.sigma > 0))[0])
            raise DynidError(
                f"The prior deviation of parameter {worst + 1} is {self.sigma[worst]:g}; every deviation "
                "must be positive, because data could not move the value otherwise."
            )

    @classmethod
    def unknown(cls, count: int) -> ParameterPrior:
        """Nothing is known: the recursion is least squares over the rows alone."""
        return cls(np.zeros(count), np.full(count, np.inf))

    @classmethod
    def even(cls, count: int, variance: float) -> ParameterPrior:
        """Zero with one variance for all, as P4 starts without knowledge (P₀ = 100)."""
        return cls(np.zeros(count), np.full(count, variance**0.5))

    @classmethod
    def by_name(
        cls, names: Sequence[str], values: Mapping[str, float], sigma: Mapping[str, float] | float
    ) -> ParameterPrior:
        """Known for some parameters, by name; the others are unknown.

        Args:
            names: of all base parameters.
            values: of those that are known.
            sigma: their standard deviations, or one share of each value for all.
        """
        prior = cls.unknown(len(names))
        for name, value in values.items():
            if name not in names:
                raise unknown_name("base parameter of the prior", name, names)
            i = list(names).index(name)
            prior.values[i] = value
            prior.sigma[i] = sigma[name] if isinstance(sigma, Mapping) else abs(value) * sigma or np.inf
        return cls(prior.values, prior.sigma)

    @property
    def root(self) -> FloatArray:
        """Rows [R₀ | z₀] of the prior's information, (base, base + 1): R₀ᵀR₀ = P₀⁻¹, R₀ χ₀ = z₀."""
        weight = 1.0 / self.sigma
        return np.column_stack([np.diag(weight), weight * self.values])


def degrees_of_knowledge(
    robot: Robot,
    base: BaseMap,
    values: ArrayLike,
    kept: ArrayLike,
    variances: tuple[float, float, float] = (0.01, 1.0, 100.0),
) -> ParameterPrior:
    """P4 §5.3: variances of essential parameters, of the other inertial ones, and of friction.

    Args:
        robot: the robot.
        base: its base parameters.
        values: of the model inside the controller, (base,); zero where not essential.
        kept: which are essential, (base,) of bool.
        variances: P₀ of the three kinds, in squared SI units of each parameter.
    """
    essential, inertial, friction = variances
    families = [robot.table.entries[c].family for c in base.columns]
    own = np.array([inertial if family == "inertial" else friction for family in families])
    mask = np.asarray(kept, dtype=bool)
    return ParameterPrior(np.where(mask, values, 0.0), np.sqrt(np.where(mask, essential, own)))
