"""What is known of a payload beside the logs: values with their σ, and bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, unknown_name
from dynid.model.frozen import FrozenDict
from dynid.model.payload import LABEL

Range = tuple[float, float]


@dataclass(frozen=True)
class PayloadKnowledge:
    """Parameters of a payload that are known or bounded; all others are unknown (χ_kL and χ_uL of P2 eq 23).

    Args:
        values: known parameters by name, such as ``{"ML": 7.025}``, in the carrier's frame, SI.
        sigma: their standard deviations; 0, exactly known, where none is given.
        bounds: least and largest value of parameters by name, for the constrained method.
        scale_sigma: relative standard deviation common to all known values, beside ``sigma``: that of the
            mass where moments and inertias were calculated from it.
    """

    values: Mapping[str, float]
    sigma: Mapping[str, float] = field(default_factory=dict)
    bounds: Mapping[str, Range] = field(default_factory=dict)
    scale_sigma: float = 0.0

    def __post_init__(self) -> None:
        """Refuse values that no payload has."""
        for name, value in self.values.items():
            _require_value(name, value)
        for name, sigma in self.sigma.items():
            if name not in self.values:
                raise unknown_name("known payload parameter with a σ", name, self.values)
            if not (np.isfinite(sigma) and sigma >= 0):
                raise DynidError(f"σ of {name} is {sigma:g}; give a finite number of 0 or more.")
        if not (np.isfinite(self.scale_sigma) and self.scale_sigma >= 0):
            raise DynidError(
                f"The relative σ of all known values is {self.scale_sigma:g}; give a finite number of 0 "
                "or more."
            )
        for name, (low, high) in self.bounds.items():
            if not low <= high:
                raise DynidError(f"The bounds of {name} are {low:g} and {high:g}; give the smaller first.")
        if not any(value != 0 for value in self.values.values()):
            raise DynidError(
                "Nothing that scales the torques is known of the payload; give its mass, as a weighing "
                "machine shows it."
            )
        for name in ("values", "sigma", "bounds"):
            object.__setattr__(self, name, FrozenDict(getattr(self, name)))

    @classmethod
    def of_mass(cls, mass: float, sigma: float = 0.0, *, label: str = LABEL) -> PayloadKnowledge:
        """A payload of which only the mass is known.

        Args:
            mass: as weighed [kg].
            sigma: its standard deviation [kg].
            label: what follows the symbols in the names of the payload's parameters.
        """
        return cls({f"M{label}": mass}, {f"M{label}": sigma})

    def mask(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Which parameters are known, (payload,).

        Raises:
            UnknownNameError: for a parameter that the payload does not have.
        """
        for name in (*self.values, *self.bounds):
            if name not in names:
                raise unknown_name("payload parameter", name, names)
        return np.array([name in self.values for name in names])

    def vector(self, names: Sequence[str]) -> FloatArray:
        """Known values, zero elsewhere, (payload,)."""
        return np.array([self.values.get(name, 0.0) for name in names])

    def sigma_of(self, name: str) -> float:
        """σ of a known value, with what is common to all."""
        return float(np.hypot(self.sigma.get(name, 0.0), self.scale_sigma * self.values[name]))

    def scale_covariance(self, theta: FloatArray, payload: FloatArray) -> FloatArray:
        """s² d dᵀ with d = (−θ, χ): known values that are all larger by a share make θ smaller, χ larger.

        θ χ stays, and with it the torques, so that this holds exactly, whatever the method.

        Args:
            theta: 1/g of the motors, (motors,).
            payload: χ, (payload,).
        """
        d = self.scale_sigma * np.concatenate([-theta, payload])
        return np.outer(d, d)

    def deviations(self, names: Sequence[str]) -> FloatArray:
        """σ of each known value by itself, zero elsewhere, (payload,)."""
        return np.array([self.sigma.get(name, 0.0) for name in names])


def _require_value(name: str, value: float) -> None:
    if not np.isfinite(value):
        raise DynidError(f"The payload's {name} is {value!r}; give a finite number.")
    if name.startswith("M") and not name.startswith(("MX", "MY", "MZ")) and value <= 0:
        raise DynidError(f"The mass of the payload is {value:g} kg; give what was weighed, which is above 0.")
