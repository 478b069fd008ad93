"""Limits of a covariance, and parameters set free again: variances added to a square-root factor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError


@dataclass(frozen=True, eq=False)
class CovarianceLimits:
    """Standard deviations are kept from ``least`` to ``most``.

    ``least`` keeps a parameter able to follow: variance is added when σ has become smaller. ``most`` keeps
    σ from growing without end while rows are forgotten and the motion shows nothing: as much information as
    is forgotten is given back, as rows that agree with the present value.

    Args:
        least: smallest σ of each parameter, (base,); 0 for none.
        most: largest σ of each parameter, (base,); infinite for none.
    """

    least: FloatArray
    most: FloatArray

    def __post_init__(self) -> None:
        """Refuse limits that cross."""
        for name in ("least", "most"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=float))
        good = self.least.shape == self.most.shape and self.least.ndim == 1
        if not good or not np.all((self.least >= 0) & (self.most > self.least)):
            raise DynidError(
                "The limits of the covariance need, for every parameter, a least σ from 0 on and a larger "
                "most σ."
            )

    @property
    def holds_down(self) -> bool:
        """Whether any σ has a largest value."""
        return bool(np.any(np.isfinite(self.most)))

    @property
    def holds_up(self) -> bool:
        """Whether any σ has a smallest value."""
        return bool(np.any(self.least > 0))

    def missing_variance(self, sigma: FloatArray) -> FloatArray:
        """Variance to add so that no σ is below the least, (base,)."""
        return np.maximum(self.least**2 - sigma**2, 0.0)


def with_variance(factor: FloatArray, variance: FloatArray) -> FloatArray:
    """[R | z] after χ ← χ + v, v ~ N(0, diag(variance)): the time update of a square-root information filter.

    Rows D⁻¹ v = 0 and R (χ − v) = z are triangularised with v first; the lower block is what is left of χ
    (Bierman 1977, chapter VI). Infinite variance forgets a parameter, with all that only went through it.

    Args:
        factor: (base, base + 1).
        variance: added, (base,); infinite where nothing shall be known any more.
    """
    p = len(variance)
    free = np.flatnonzero(variance > 0)
    if not free.size:
        return factor
    k = len(free)
    stack = np.zeros((k + p, k + p + 1))
    stack[:k, :k] = np.diag(1.0 / np.sqrt(variance[free]))
    stack[k:, :k] = -factor[:, free]
    stack[k:, k:] = factor
    turned = np.asarray(np.linalg.qr(stack, mode="r"))
    found = np.zeros((p, p + 1))
    rows = turned[k : k + p, k:]
    found[: len(rows)] = rows
    found[:, np.flatnonzero(np.isinf(variance))] = 0.0  # exactly: rounding would look like knowledge
    return found
