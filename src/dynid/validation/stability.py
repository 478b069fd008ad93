"""Do several experiments tell the same parameters?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError, ShapeError
from dynid.validation.numbers import plain

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stability:
    """Parameters identified from each experiment alone.

    Args:
        names: base parameters.
        experiments: names of the experiments.
        values: (experiments, base), SI.
        sigma: their standard deviations, (experiments, base).
        gaps: per parameter, the largest |x_a − x_b| / √(σ_a² + σ_b²) over all pairs of experiments; NaN where
            no pair estimated it.
    """

    names: tuple[str, ...]
    experiments: tuple[str, ...]
    values: FloatArray
    sigma: FloatArray
    gaps: FloatArray

    def moved(self, limit: float = 3.0) -> tuple[str, ...]:
        """Parameters of which two experiments disagree by more than so many combined σ, worst first."""
        order = np.argsort(-np.nan_to_num(self.gaps, nan=-1.0))
        return tuple(self.names[i] for i in order if self.gaps[i] > limit)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "names": list(self.names),
            "experiments": list(self.experiments),
            "values": plain(self.values),
            "sigma": plain(self.sigma),
            "gaps": plain(self.gaps),
            "moved": list(self.moved()),
        }


def stability(
    names: Sequence[str], experiments: Sequence[str], values: FloatArray, sigma: FloatArray
) -> Stability:
    """Compare the parameters that several experiments tell, in units of combined σ.

    Args:
        names: base parameters.
        experiments: names of the experiments, at least two.
        values: (experiments, base), SI.
        sigma: standard deviations of the same shape; a zero marks a parameter that was not estimated.
    """
    shape = (len(experiments), len(names))
    for what, array in (("values", values), ("sigma", sigma)):
        if np.shape(array) != shape:
            raise ShapeError(
                f"The {what} have shape {np.shape(array)}; expected {shape}, experiments by parameters."
            )
    if len(experiments) < 2:
        raise DynidError(f"Stability was asked of {len(experiments)} experiment(s); give at least two.")
    gaps = np.full(len(names), np.nan)
    for a, b in combinations(range(len(experiments)), 2):
        known = (sigma[a] > 0) & (sigma[b] > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = np.abs(values[a] - values[b]) / np.hypot(sigma[a], sigma[b])
        gaps = np.where(known, np.fmax(gaps, gap), gaps)
    return Stability(tuple(names), tuple(experiments), np.array(values), np.array(sigma), gaps)
