"""Significant digits of least squares by stochastic arithmetic: CESTAC on the factors.

Every result of the computation is rounded up or down at random (Vignes and La Porte 1974). The digits that
three such runs share are those that rounding leaves:

    C = log₁₀(√N |x̄| / (τ s)),   N = 3, τ = 4.303 (Student, 95 %), s the spread of the runs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name

RUNS = 3
_STUDENT = 4.302652729911275
"""Two-sided 95 % quantile of Student's distribution with two degrees of freedom."""
_MOST = -np.log10(np.finfo(float).eps / 2)
"""Digits of a double."""

_FEW_DIGITS = 4.0
"""Significant digits below which rounding is worth a care: sensors give no more."""


class RandomRounding:
    """Results moved to the next number above or below, with probability ½ each; zero stays."""

    def __init__(self, rng: np.random.Generator) -> None:
        """With draws of a generator."""
        self._rng = rng

    def __call__(self, x: ArrayLike) -> FloatArray:
        """The results of one operation, rounded at random."""
        ends = np.where(self._rng.random(np.shape(x)) < 0.5, -np.inf, np.inf)
        return np.where(np.equal(x, 0.0), 0.0, np.nextafter(x, ends))


def significant_digits(factor: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Decimal digits of each parameter that rounding leaves, (parameters,), between 0 and 15.95.

    Args:
        factor: R of the weighted [W Y], (rows, parameters + 1).
        rng: of the random rounding.
    """
    runs = np.array([_least_squares(factor, RandomRounding(rng)) for _ in range(RUNS)])
    mean, spread = np.abs(runs.mean(axis=0)), runs.std(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = np.log10(np.sqrt(RUNS) * mean / (_STUDENT * spread))
    return np.asarray(np.clip(np.where(spread > 0, digits, _MOST), 0.0, _MOST), dtype=float)


def _least_squares(factor: FloatArray, rounded: RandomRounding) -> FloatArray:
    """argmin ‖y − W χ‖ by Householder reflections and back substitution, every result rounded.

    The factor itself carries what rounding left of the rows: an error of a unit of each column's length.
    """
    lengths = np.linalg.norm(factor, axis=0)
    A = factor + (rounded(np.broadcast_to(lengths, factor.shape)) - lengths)
    k = A.shape[1] - 1
    for i in range(min(k, len(A) - 1)):
        x = A[i:, i]
        norm = rounded(np.sqrt(rounded(np.sum(rounded(x**2)))))
        if norm == 0.0:
            continue
        v = x.copy()
        v[0] = rounded(v[0] + np.copysign(norm, v[0]))
        size = rounded(np.sum(rounded(v**2)))
        along = rounded(2.0 * rounded(np.sum(rounded(v[:, None] * A[i:, i:]), axis=0)) / size)
        A[i:, i:] = rounded(A[i:, i:] - rounded(np.outer(v, along)))
    values = np.zeros(k)
    for i in range(k - 1, -1, -1):
        rest = rounded(A[i, k] - rounded(np.sum(rounded(A[i, i + 1 : k] * values[i + 1 :]))))
        values[i] = rounded(rest / A[i, i]) if A[i, i] != 0.0 else 0.0
    return values


def digits_finding(names: tuple[str, ...], digits: FloatArray) -> Finding:
    """How many digits rounding leaves, as a line on numerical health."""
    worst = int(np.argmin(digits))
    words = f"Rounding leaves at least {digits[worst]:.1f} significant digits ({names[worst]}), "
    words += f"{np.median(digits):.1f} in the middle, by three runs of stochastic arithmetic."
    level = Level.NOTE if digits[worst] >= _FEW_DIGITS else Level.CARE
    remedy = "" if level is Level.NOTE else "Use a motion that shows the parameters better, or remove some."
    return Finding(Name.SIGNIFICANT_DIGITS, level, words, remedy)
