"""Choices by prediction: each candidate predicts contiguous parts of the logs that its fit has not used.

Neighbours in time know each other, so whole parts are left out, never single samples. All choices (the
preparation, then terms) cut the logs alike. What is chosen does not matter: a candidate is what it fits, part
by part, what all candidates are judged by, and a solver.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.problem.factor import spectrum, triangular


@dataclass(frozen=True)
class ChoiceRules:
    """When a candidate takes the place of the default.

    Set on one half of the population of ``tests/support/population.py``, shown on the other half (docs page
    on preparation). Lower values take more that helps, and more that does not.

    Args:
        parts: contiguous parts of the logs; more of them cost a fit each.
        fewest: logs from which on they are the parts, and parts with rows that a choice needs at least.
        fold: rows of a part over its columns, from which on they are folded once and not in every fit.
        errors: standard errors by which the mean gain over the parts must differ from none.
        gain: least mean gain, as the logarithm of the ratio of torque errors.
    """

    parts: int = 5
    fewest: int = 3
    fold: int = 3
    errors: float = 2.0
    gain: float = 0.02


RULES = ChoiceRules()


@dataclass(frozen=True)
class Gain:
    """How a candidate predicts beside the default.

    Args:
        mean: log(‖e_candidate‖ / ‖e_default‖), mean over the parts; negative where the candidate is better.
        error: standard error of that mean.
    """

    mean: float
    error: float

    @property
    def better(self) -> bool:
        """Whether the candidate is better by more than chance and by enough to matter."""
        return self.mean < -max(RULES.errors * self.error, RULES.gain)

    @property
    def surely_better(self) -> bool:
        """Whether the candidate is better by more than one standard error, however little."""
        return self.mean < -self.error

    @property
    def percent(self) -> float:
        """How much larger its errors are [%]; negative when smaller."""
        return 100.0 * (float(np.exp(self.mean)) - 1.0)


def part_numbers(logs: NDArray[np.intp]) -> NDArray[np.intp]:
    """The part of each sample, row or block: whole logs where there are enough, else stretches of time.

    Args:
        logs: number of the log of each, in order, all of about the same length in time, (any,).
    """
    count = int(logs.max()) + 1
    if count >= RULES.fewest:
        return logs * min(count, RULES.parts) // count
    return np.arange(len(logs)) * RULES.parts // len(logs)


class PartFactors(ABC):
    """[W y] part by part: of all parts but one, to solve with, and of the one, to judge by."""

    @property
    @abstractmethod
    def parts(self) -> int:
        """How many there are."""

    @abstractmethod
    def without(self, part: int) -> FloatArray:
        """The factor or Gram matrix of [W y] over all other parts."""

    @abstractmethod
    def error(self, part: int, values: FloatArray) -> float:
        """‖y − W χ‖ on a part."""

    def held_out_errors(self, solve: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """‖y_b − W_b χ‖ on each part b, with χ solved for on all other parts, (parts,).

        Args:
            solve: from what ``without`` gives to χ.
        """
        return np.array([self.error(b, solve(self.without(b))) for b in range(self.parts)])


@dataclass(frozen=True, eq=False)
class PartRows(PartFactors):
    """Rows of [W y]: as exact as they are, for a solver that decides on the rank.

    Args:
        train: per part, weighted rows to fit, (any rows, base + 1).
        test: per part, weighted rows on which it is judged, the same for all candidates.
    """

    train: Sequence[FloatArray]
    test: Sequence[FloatArray]

    @property
    def parts(self) -> int:
        """Their number."""
        return len(self.train)

    @cached_property
    def _factors(self) -> list[FloatArray]:
        return [triangular(rows) if len(rows) > RULES.fold * rows.shape[1] else rows for rows in self.train]

    def without(self, part: int) -> FloatArray:
        """Triangular factors, or few rows, of all other parts, one below the other."""
        return np.concatenate([own for k, own in enumerate(self._factors) if k != part])

    def error(self, part: int, values: FloatArray) -> float:
        """From the rows."""
        return float(np.linalg.norm(self.test[part] @ np.append(-values, 1.0)))


@dataclass(frozen=True, eq=False)
class PartGrams(PartFactors):
    """Gram matrices of [W S y], which many candidates share: each solves with some of the columns.

    Args:
        train: to fit, (parts, k, k).
        test: to judge by, (parts, k, k).
    """

    train: FloatArray
    test: FloatArray

    @property
    def parts(self) -> int:
        """Their number."""
        return len(self.train)

    @cached_property
    def whole(self) -> FloatArray:
        """Of all parts, to fit, (k, k)."""
        return np.asarray(self.train.sum(axis=0))

    def without(self, part: int) -> FloatArray:
        """What the other parts add up to."""
        return np.asarray(self.whole - self.train[part])

    def error(self, part: int, values: FloatArray) -> float:
        """From the Gram matrix: its quadratic form at (−χ, 1)."""
        ends = np.append(-values, 1.0)
        return float(np.sqrt(max(ends @ self.test[part] @ ends, 0.0)))


def least_squares(factor: FloatArray) -> FloatArray:
    """χ of least squares from rows or a factor of [W y]."""
    return spectrum(factor).solution


def gain_over(default: FloatArray, candidate: FloatArray) -> Gain:
    """A candidate beside the default, from the errors of both on the same parts.

    Args:
        default: its errors, (parts,).
        candidate: its errors, (parts,).
    """
    told = (default > 0) & (candidate > 0)  # a mask may leave nothing of a part, of one at most
    if np.count_nonzero(told) < max(RULES.fewest, len(told) - 1):
        return Gain(0.0, np.inf)
    ratio = np.log(candidate[told] / default[told])
    return Gain(float(np.mean(ratio)), float(np.std(ratio, ddof=1) / np.sqrt(len(ratio))))


def best_of(gains: Mapping[str, Gain]) -> str | None:
    """The candidate that is better than the default, and most so; None keeps the default."""
    better = {name: gain.mean for name, gain in gains.items() if gain.better}
    return min(better, key=lambda name: better[name]) if better else None
