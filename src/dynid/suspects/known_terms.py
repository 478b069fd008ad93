"""Added terms of a model that is not fitted again: known torques, and columns of what is not known of them.

The model χ̂, ĉ gives W χ̂ + t(χ̂, ĉ) with ĉ the coefficients and constants of its terms. To first order

    W χ + t(χ, c) = (W + L) χ + P (c − ĉ) + (t − L χ̂),   L = ∂t/∂χ through the load, P = ∂t/∂c,

which is a regression whose parameters are χ, c − ĉ, and a last one that is 1 and known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.estimators.estimate import Further
from dynid.estimators.linear.augmented import AugmentedRows
from dynid.problem.factor import Factor
from dynid.problem.problem import Problem
from dynid.problem.regression import JointRows, Regression


@dataclass(frozen=True, eq=False)
class KnownTerms:
    """Rows with the columns of added terms, and the model in their parameters.

    Args:
        problem: the rows; columns are base parameters, those of the terms, and the known torque.
        values: χ̂, zeros, 1, (base + further + 1,).
        covariance: of all of them; zero of the last.
        kept: which are in doubt: the base parameters that were estimated, and those of the terms.
    """

    problem: Problem
    values: FloatArray
    covariance: FloatArray
    kept: NDArray[np.bool_]


def with_known_terms(
    problem: Problem, values: FloatArray, kept: NDArray[np.bool_], further: Further
) -> KnownTerms:
    """New rows beside a model with added terms.

    Args:
        problem: the new rows, with motions.
        values: base parameters of the model, (base,).
        kept: which were estimated, (base,).
        further: its added terms.
    """
    rows = AugmentedRows.of(problem, further.terms, kept).with_loads(values)
    coefficients, theta = np.split(further.values, [len(rows.slots)])
    columns = rows.jacobian(theta, coefficients)
    by_base = rows.load_jacobian(theta, coefficients)
    left = rows.residual(values, coefficients, theta)
    pieces = []
    for j, own in enumerate(rows.rows):
        torque = own.residual(values) - left[j]
        W = own.wide(len(values))
        if by_base is not None:
            W, torque = W + by_base[j], torque - by_base[j] @ values
        wide = np.asfortranarray(np.column_stack([W, columns[j], torque]))
        pieces.append(replace(own, columns=tuple(range(wide.shape[1])), W=wide))
    covariance = np.pad(further.covariance, (0, 1))
    doubted = np.concatenate([kept, np.ones(len(further.values), dtype=bool), [False]])
    known = np.concatenate([values, np.zeros(len(further.values)), [1.0]])
    return KnownTerms(replace(problem, regression=_regression(pieces)), known, covariance, doubted)


def _regression(rows: Sequence[JointRows]) -> Regression:
    """Rows of all experiments, and their factors."""
    factors = tuple(Factor.empty(own.columns).fold(own.W.T, own.y) for own in rows)
    return Regression((factors,), (), (tuple(rows),))
