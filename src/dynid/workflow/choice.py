"""Choices by prediction: each candidate predicts contiguous parts of the logs that its fit has not used.

Neighbours in time know each other, so whole parts are left out, never single samples. What is chosen (here a
preparation) does not matter: a candidate is its rows of [W y] to fit, part by part, and the rows on which all
candidates are judged alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.problem.factor import spectrum, triangular


@dataclass(frozen=True)
class ChoiceRules:
    """When a candidate takes the place of the default.

    Set on one half of the population of ``tests/support/population.py``, shown on the other half (docs page
    on preparation). Lower values take more that helps, and more that does not.

    Args:
        parts: contiguous parts of the logs; more of them cost a fit each.
        fewest: parts with rows from which on a choice is made.
        fold: rows of a part over its columns, from which on they are folded once and not in every fit.
        errors: standard errors by which the mean gain over the parts must differ from none.
        gain: least mean gain, as the logarithm of the ratio of torque errors.
    """

    parts: int = 5
    fewest: int = 4
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


def held_out_errors(train: Sequence[FloatArray], test: Sequence[FloatArray]) -> FloatArray:
    """‖y_b − W_b χ‖ on each part b, with χ by least squares on the rows of all other parts.

    Args:
        train: per part, weighted rows of [W y] to fit, (any rows, base + 1).
        test: per part, weighted rows on which it is judged, the same for all candidates.

    Returns:
        (parts,).
    """
    errors = np.empty(len(train))
    folded = [triangular(rows) if len(rows) > RULES.fold * rows.shape[1] else rows for rows in train]
    for b, rows in enumerate(test):
        others = np.concatenate([part for k, part in enumerate(folded) if k != b])
        errors[b] = np.linalg.norm(rows @ np.append(-spectrum(others).solution, 1.0))
    return errors


def gain_over(default: FloatArray, candidate: FloatArray, fewest: int = RULES.fewest) -> Gain:
    """A candidate beside the default, from the errors of both on the same parts.

    Args:
        default: its errors, (parts,).
        candidate: its errors, (parts,).
        fewest: parts with rows below which nothing can be told.
    """
    told = (default > 0) & (candidate > 0)  # a mask may leave nothing of a part
    if np.count_nonzero(told) < fewest:
        return Gain(0.0, np.inf)
    ratio = np.log(candidate[told] / default[told])
    return Gain(float(np.mean(ratio)), float(np.std(ratio, ddof=1) / np.sqrt(len(ratio))))


def best_of(gains: Mapping[str, Gain]) -> str | None:
    """The candidate that is better than the default, and most so; None keeps the default."""
    better = {name: gain.mean for name, gain in gains.items() if gain.better}
    return min(better, key=lambda name: better[name]) if better else None
