"""Criteria of a design: how much a motion tells, as smooth functions of its information matrix.

G = Wᵀ Σ⁻¹ W (+ what is known before). Every criterion is to be made small and gives its exact gradient ∂J/∂G,
which ``information.py`` carries to the motion. All are logarithms: P3's
1/Π (eq 23) as printed is about 1e-180.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError

Graded = tuple[float, FloatArray]
"""Value of a criterion and its gradient by G, symmetric."""


class SingularError(Exception):
    """The information matrix has no inverse: a motion that shows nothing of some parameter."""


class Criterion(ABC):
    """A function of an information matrix G, the smaller the better."""

    name: ClassVar[str]
    words: ClassVar[str]

    def softer(self, steps: int) -> Criterion:
        """A smoother criterion for the way, so many steps before the last one; itself where it is smooth."""
        return self

    @abstractmethod
    def grade(self, G: FloatArray) -> Graded:
        """J and ∂J/∂G.

        Raises:
            SingularError: when G has no inverse in double precision.
        """


@dataclass(frozen=True)
class LogDet(Criterion):
    """J2 = −n⁻¹ log det G: the volume of the confidence ellipsoid (P3 eq 25, printed with the other sign).

    Divided by the number of parameters, all criteria are logarithms of one parameter's size: sums make sense.
    """

    name: ClassVar[str] = "log-det"
    words: ClassVar[str] = (
        "It was searched for a small confidence ellipsoid of the base parameters (−log det WᵀW)."
    )

    def grade(self, G: FloatArray) -> Graded:
        """−log det G and −G⁻¹, both over n."""
        inverse, diagonal = _inverse(G)
        return -2.0 * float(np.mean(np.log(diagonal))), inverse / -len(G)


@dataclass(frozen=True)
class LogCond(Criterion):
    """J3 = log cond W (P3 eq 26), smooth where eigenvalues meet.

    log cond W = ½ log (λ_max/λ_min) is approached from above by ½p⁻¹ (log Σ λᵖ + log Σ λ⁻ᵖ), which has a
    gradient also where the least eigenvalues are equal, as they are at most optima.

    Args:
        power: p; the excess over the true value is at most log(n)/p.
    """

    power: float = 64.0
    name: ClassVar[str] = "log-cond"
    words: ClassVar[str] = "It was searched for a small condition number of the observation matrix W."

    def softer(self, steps: int) -> LogCond:
        """A quarter of the power for each step."""
        return LogCond(max(self.power / 4.0**steps, 2.0))

    def grade(self, G: FloatArray) -> Graded:
        """The smooth logarithm of the condition number and its gradient."""
        if not np.all(np.isfinite(G)):
            raise SingularError
        values, vectors = np.linalg.eigh(G)
        if not values[0] > LEAST_RATIO * values[-1]:
            raise SingularError
        logs = np.log(values)
        top, top_weights = _soft_largest(logs, self.power)
        bottom, bottom_weights = _soft_largest(-logs, self.power)
        slopes = 0.5 * (top_weights - bottom_weights) / values
        return 0.5 * (top + bottom), (vectors * slopes) @ vectors.T


@dataclass(frozen=True)
class Hadamard(Criterion):
    """J1 = −n⁻¹ Σ log ‖W_g‖²: the product of the columns' squared lengths, which bounds det G (P3 eq 21–23).

    It does not see columns that become parallel; a design warns where they do.
    """

    name: ClassVar[str] = "hadamard"
    words: ClassVar[str] = "It was searched for long columns of W, whose product bounds det WᵀW (Hadamard)."

    def grade(self, G: FloatArray) -> Graded:
        """−Σ log G_gg and its diagonal gradient, both over n."""
        diagonal = np.diag(G)
        if not np.all(diagonal > 0) or not np.all(np.isfinite(diagonal)):
            raise SingularError
        return -float(np.mean(np.log(diagonal))), np.diag(-1.0 / (len(G) * diagonal))


@dataclass(frozen=True)
class AOptimal(Criterion):
    """log tr(S G⁻¹ S): the summed variances of all parameters, in units that make them comparable.

    Args:
        units: size of each parameter, (parameters,); relative variances where they are the a-priori values.
            One for all when empty.
    """

    units: tuple[float, ...] = ()
    name: ClassVar[str] = "a-optimal"
    words: ClassVar[str] = "It was searched for a small sum of variances of the base parameters."

    def __post_init__(self) -> None:
        """Refuse units by which nothing can be divided."""
        if not all(0 < abs(unit) < np.inf for unit in self.units):
            raise DynidError(f"units is {list(self.units)}; give sizes that are finite and not zero.")

    def grade(self, G: FloatArray) -> Graded:
        """log Σ σ_i²/u_i² and its gradient −G⁻¹ S² G⁻¹ / tr."""
        inverse, _ = _inverse(G)
        weights = _per_parameter(self.units, len(G), "units") ** -2.0
        total = float(np.diag(inverse) @ weights)
        return float(np.log(total)), -(inverse * weights) @ (inverse / total)


@dataclass(frozen=True)
class LogSigma(Criterion):
    """Mean of log σ_i: the geometric mean of the standard deviations, whatever the units of the parameters.

    Args:
        weights: how much each parameter counts, (parameters,); all alike when empty. Those of weight zero
            stay unknowns of the fit, but their σ does not matter.
    """

    weights: tuple[float, ...] = ()
    name: ClassVar[str] = "log-sigma"
    words: ClassVar[str] = (
        "It was searched for a small geometric mean of the standard deviations of the base parameters."
    )

    def __post_init__(self) -> None:
        """Refuse weights that ask for large standard deviations, or for nothing."""
        if self.weights and not (min(self.weights) >= 0 and 0 < sum(self.weights) < np.inf):
            raise DynidError(f"weights is {list(self.weights)}; give numbers from 0, one of them above it.")

    def grade(self, G: FloatArray) -> Graded:
        """½ Σ w_i log (G⁻¹)_ii and its gradient −½ G⁻¹ diag(w_i/(G⁻¹)_ii) G⁻¹."""
        inverse, _ = _inverse(G)
        variances = np.diag(inverse)
        weights = _per_parameter(self.weights, len(G), "weights")
        weights = weights / weights.sum()
        return 0.5 * float(weights @ np.log(variances)), -0.5 * (inverse * (weights / variances)) @ inverse


@dataclass(frozen=True)
class Scaled(Criterion):
    """Another criterion on W with columns of length 1: G_ij / √(G_ii G_jj).

    Args:
        inner: that criterion.
    """

    inner: Criterion
    name: ClassVar[str] = "scaled"
    words: ClassVar[str] = "It was searched by a criterion of W with columns of unit length."

    def softer(self, steps: int) -> Scaled:
        """The inner one softer."""
        return Scaled(self.inner.softer(steps))

    def grade(self, G: FloatArray) -> Graded:
        """The inner criterion of the scaled matrix, its gradient carried through the scaling."""
        diagonal = np.diag(G)
        if not np.all(diagonal > 0) or not np.all(np.isfinite(diagonal)):
            raise SingularError
        lengths = np.sqrt(diagonal)
        S = G / np.outer(lengths, lengths)
        value, slope = self.inner.grade(S)
        gradient = slope / np.outer(lengths, lengths)
        gradient[np.diag_indices_from(gradient)] -= np.sum(slope * S, axis=1) / diagonal
        return value, gradient


@dataclass(frozen=True)
class Combined(Criterion):
    """A weighted sum of criteria.

    Args:
        parts: (weight, criterion) each; weights positive.
    """

    parts: tuple[tuple[float, Criterion], ...]
    name: ClassVar[str] = "combined"
    words: ClassVar[str] = "It was searched by a weighted sum of criteria."

    def __post_init__(self) -> None:
        """Refuse sums of nothing."""
        if not self.parts or any(not weight > 0 for weight, _ in self.parts):
            raise DynidError(
                f"A combined criterion of the weights {[weight for weight, _ in self.parts]} was asked for; "
                "give at least one criterion, each with a positive weight."
            )

    def softer(self, steps: int) -> Combined:
        """Each part softer."""
        return Combined(tuple((weight, criterion.softer(steps)) for weight, criterion in self.parts))

    def grade(self, G: FloatArray) -> Graded:
        """Sums of values and gradients."""
        grades = [(weight, *criterion.grade(G)) for weight, criterion in self.parts]
        gradient = np.sum([weight * slope for weight, _, slope in grades], axis=0)
        return sum(weight * value for weight, value, _ in grades), gradient


LEAST_RATIO = 1e-14
"""λ_min/λ_max below which rounding of G hides the least eigenvalue."""


def _per_parameter(values: tuple[float, ...], count: int, what: str) -> FloatArray:
    """One value per parameter that counts; ones where none are given."""
    if values and len(values) != count:
        raise DynidError(
            f"{what} has {len(values)} entries, and {count} base parameters count; give as many."
        )
    return np.array(values, dtype=float) if values else np.ones(count)


def _soft_largest(logs: FloatArray, power: float) -> tuple[float, FloatArray]:
    """p⁻¹ log Σ exp(p x) and its weights, without overflow."""
    largest = float(logs.max())
    shares = np.exp(power * (logs - largest))
    total = float(shares.sum())
    return largest + float(np.log(total)) / power, shares / total


def _inverse(G: FloatArray) -> tuple[FloatArray, FloatArray]:
    """G⁻¹ and the diagonal of its Cholesky factor, through columns of unit length.

    Units of the columns differ by 1e6 and more, which says nothing about rank.
    """
    from scipy.linalg import lapack

    lengths = np.sqrt(np.abs(np.diag(G)))
    if not np.all(lengths > 0) or not np.all(np.isfinite(G)):
        raise SingularError
    factor, failed = lapack.dpotrf(G / np.outer(lengths, lengths), lower=1)
    if failed or np.min(np.diag(factor)) ** 2 < LEAST_RATIO:
        raise SingularError
    half, _ = lapack.dpotri(factor, lower=1)
    inverse = np.tril(half) + np.tril(half, -1).T
    return inverse / np.outer(lengths, lengths), np.diag(factor) * lengths


CRITERIA: dict[str, Criterion] = {
    "log-det": LogDet(),
    "log-cond": LogCond(),
    "hadamard": Hadamard(),
    "a-optimal": AOptimal(),
    "log-sigma": LogSigma(),
    "scaled-log-cond": Scaled(LogCond()),
    "scaled-log-det": Scaled(LogDet()),
}
"""Criteria by the names of the command line."""
