"""From numbers to formulas: coefficients of a numeric regrouping as polynomials in the named lengths.

K is computed again for other lengths with the same kept columns; an entry that varies is fitted by a
polynomial of degree two or by a ratio of two lengths, kept only when it also predicts lengths that were not
fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, permutations

import numpy as np
from numpy.typing import NDArray

from dynid.base.grouping import Form
from dynid.base.lengths import used_lengths, with_lengths
from dynid.base.numeric import random_states, regressor_matrix, regrouped
from dynid.base.polynomial import Monomial, Polynomial
from dynid.model.robot import Robot

FloatArray = NDArray[np.float64]
_HELD_OUT = 5
_MANY_LENGTHS = 8
_AGREES = 1e-8


def recognised(robot: Robot, rows: Sequence[int], columns: Sequence[int], K: FloatArray) -> tuple[Form, ...]:
    """Rows of K as linear forms, with named lengths wherever a polynomial explains the numbers.

    Args:
        robot: the robot.
        rows: coordinates whose torques gave K.
        columns: the kept columns.
        K: regrouping at the robot's own lengths.
    """
    names = used_lengths(robot)
    entries = [(int(i), int(c)) for i, c in np.argwhere(K != 0)]
    polynomials = {entry: Polynomial.constant(float(K[entry])) for entry in entries}
    if names and len(names) <= _MANY_LENGTHS:
        polynomials |= _fits(robot, rows, columns, K, names)
    forms: tuple[Form, ...] = tuple({} for _ in columns)
    for (i, c), value in polynomials.items():
        forms[i][c] = value
    return forms


def _fits(
    robot: Robot, rows: Sequence[int], columns: Sequence[int], K: FloatArray, names: Sequence[str]
) -> dict[tuple[int, int], Polynomial]:
    """Polynomials of the entries of K that vary with the lengths and are explained by one."""
    monomials = [m for degree in range(3) for m in combinations_with_replacement(sorted(names), degree)]
    rng = np.random.default_rng(1)
    own = np.array([robot.lengths[name] for name in names])
    trials = np.vstack([own, rng.uniform(0.2, 1.2, (len(monomials) + _HELD_OUT, len(names)))])
    others = [c for c in range(K.shape[1]) if c not in set(columns) and np.any(K[:, c])]
    values = np.empty((len(trials), len(columns), len(others)))
    values[0] = K[:, others]
    for s, lengths in enumerate(trials[1:], start=1):
        other = with_lengths(robot, dict(zip(names, map(float, lengths), strict=True)))
        W = regressor_matrix(other, random_states(other, rng), rows)
        values[s], remainder = regrouped(W, columns, others)
        if remainder > _AGREES:  # these lengths regroup differently, so no formula holds for all
            return {}
    design = np.array([[_value(m, names, lengths) for m in monomials] for lengths in trials])
    varying = np.argwhere(np.ptp(values, axis=0) > _AGREES)
    found = {}
    for i, c in varying:
        y = values[:, i, c]
        fit = _fit(design, y, monomials) or _ratio(trials, y, names)
        if fit is not None:
            found[int(i), others[c]] = fit
    return found


def _value(monomial: Monomial, names: Sequence[str], lengths: FloatArray) -> float:
    return float(np.prod([lengths[names.index(name)] for name in monomial])) if monomial else 1.0


def _fit(design: FloatArray, y: FloatArray, monomials: Sequence[Monomial]) -> Polynomial | None:
    """Coefficients from all but the robot's own lengths and the last trials; those must then be predicted."""
    fitted = slice(1, len(y) - _HELD_OUT)
    x = np.linalg.lstsq(design[fitted], y[fitted], rcond=None)[0]
    quarters = np.round(4 * x) / 4
    x = np.where(np.abs(x - quarters) < 1e-6, quarters, x)
    if np.abs(design @ x - y).max() > _AGREES * max(1.0, float(np.abs(y).max())):
        return None
    return Polynomial(dict(zip(monomials, map(float, x), strict=True)))


def _ratio(trials: FloatArray, y: FloatArray, names: Sequence[str]) -> Polynomial | None:
    """y = c · a / b for two lengths, as parallelograms give; written as one name, ``a/b``."""
    for a, b in permutations(range(len(names)), 2):
        quotient = y * trials[:, b] / trials[:, a]
        if np.ptp(quotient) < _AGREES and abs(quotient[0]) > _AGREES:
            factor = round(4 * float(quotient[0])) / 4
            exact = factor if abs(factor - quotient[0]) < _AGREES else float(quotient[0])
            return exact * Polynomial.variable(f"{names[a]}/{names[b]}")
    return None
