"""A fit and its possible robot on contiguous parts of the logs that were not used, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.consistency.possible_robot import PossibleRobots
from dynid.consistency.system import DataRows
from dynid.core.arrays import FloatArray
from dynid.estimators.estimate import Estimate
from dynid.estimators.honest import used_samples
from dynid.estimators.linear.augmented import AugmentedRows
from dynid.problem.factor import Factor, merge_factors, triangular
from dynid.problem.problem import Problem
from dynid.workflow.choice import RULES, Gain, gain_over, least_squares, part_numbers

Part = tuple[Factor, ...]
"""One factor of [W y] per joint."""


@dataclass(frozen=True, eq=False)
class PartErrors:
    """Errors of two models on parts of the logs that they were not fitted to.

    Args:
        plain: 100 ‖y − W χ‖ / ‖y‖ over all parts, of least squares [%].
        possible: the same of the possible robot [%].
        gain: the possible robot beside least squares, rows weighted as in the fit.
    """

    plain: float
    possible: float
    gain: Gain


def held_out_errors(estimate: Estimate, robots: PossibleRobots) -> PartErrors | None:
    """Fit all parts but one by least squares and to a possible robot, and predict that one.

    Args:
        estimate: a fit of base parameters, whose weights and added terms are kept.
        robots: the possible robots.

    Returns:
        Errors of both, or None where the logs are too short for parts.
    """
    problem = estimate.problem
    parts = contiguous_parts(estimate)
    weights = np.asarray(estimate.facts["weights"], dtype=float)
    counts = [sum(factor.rows for factor in part) for part in parts]
    if np.count_nonzero(counts) < RULES.fewest or sum(counts) - max(counts) <= len(problem.base):
        return None

    plain_errors, possible_errors = (np.empty((len(parts), len(weights))) for _ in range(2))
    for b, part in enumerate(parts):
        factor = _weighted_factor(problem, [own for k, own in enumerate(parts) if k != b], weights)
        rows = DataRows.from_factor(problem.base, factor, sum(counts) - counts[b])
        plain_errors[b] = _joint_errors(part, least_squares(factor))
        possible_errors[b] = _joint_errors(part, robots.nearest_values(rows))
    gain = gain_over(*(np.linalg.norm(e * weights, axis=1) for e in (plain_errors, possible_errors)))
    if not np.isfinite(gain.error):
        return None
    torque = np.linalg.norm([factor.torque_norm for part in parts for factor in part])
    plain, possible = (100 * float(np.linalg.norm(e) / torque) for e in (plain_errors, possible_errors))
    return PartErrors(plain, possible, gain)


def _joint_errors(part: Part, values: FloatArray) -> list[float]:
    """‖y − W χ‖ of each joint on a part, (coordinates,)."""
    return [float(np.linalg.norm(factor.residual(values))) for factor in part]


def _weighted_factor(problem: Problem, parts: Sequence[Part], weights: FloatArray) -> FloatArray:
    """The weighted factor of [W y] over parts and joints, (base + 1, base + 1)."""
    width = len(problem.base)
    rows = [w * f.wide(width) for part in parts for w, f in zip(weights, part, strict=True) if f.rows]
    return triangular(np.vstack(rows))


def contiguous_parts(estimate: Estimate) -> list[Part]:
    """Whole logs, or stretches of time where there are few: per part a factor of each joint.

    Samples that no joint uses, because the robot rests, belong to no part. Torques of added terms are taken
    off. Where rows were not kept, the stretches are those that were folded.
    """
    problem = estimate.problem
    if not problem.has_rows:
        cells = problem.regression.cells
        numbers = part_numbers(np.array([cell.experiment for cell in cells], dtype=np.intp))
        return [
            tuple(merge_factors(factors) for factors in zip(*own, strict=True))
            for own in (
                [cell.factors for cell, n in zip(cells, numbers, strict=True) if n == b]
                for b in range(int(numbers.max()) + 1)
            )
        ]
    used = used_samples(problem)
    first = np.concatenate([[0], np.cumsum([len(samples) for samples in used])])
    numbers = part_numbers(np.repeat(np.arange(len(used)), np.diff(first)))
    added = _term_torques(estimate)
    parts: list[list[Factor]] = [[] for _ in range(int(numbers.max()) + 1)]
    for j in range(len(problem.regression.joints)):
        rows = problem.rows(j)
        place = [np.searchsorted(s, rows.sample[rows.experiment == k]) + first[k] for k, s in enumerate(used)]
        part = numbers[np.concatenate(place)]
        for b, factors in enumerate(parts):
            own = part == b
            y = (rows.y - added[j])[own]
            factors.append(Factor.empty(rows.columns).fold(np.asfortranarray(rows.W[own]).T, y))
    return [tuple(factors) for factors in parts]


def _term_torques(estimate: Estimate) -> list[FloatArray]:
    """Torques of added terms at the rows of each joint; zero where there are none."""
    problem, further = estimate.problem, estimate.further
    torques = [np.zeros(len(problem.rows(j))) for j in range(len(problem.regression.joints))]
    if further is None:
        return torques
    system = AugmentedRows.of(problem, further.terms, estimate.kept).with_loads(estimate.values)
    theta = further.values[len(system.slots) :]
    columns = zip(system.slots, further.values, system.columns(theta), strict=False)
    for slot, coefficient, column in columns:
        torques[slot.joint] += coefficient * column
    return torques
