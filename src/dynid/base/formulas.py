"""Regrouping formulas as a person would write them: ZZ1R = ZZ1 + Ia1 + YY2 + YY3 + D3^2*(M3+M4+M5+M6).

Coefficients of the closed form are polynomials in the named lengths already. Those of a numeric regrouping
are numbers: K is computed again for other lengths with the same kept columns, and an entry that varies is
fitted by a polynomial of degree two or by a ratio of two lengths, kept only when it also predicts lengths
that were not fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, groupby, permutations

import numpy as np

from dynid.base.forms import Form, Monomial, Polynomial, matrix_of, used_lengths, with_lengths
from dynid.base.numeric import random_states, regressor_matrix, regrouping_onto
from dynid.core.arrays import FloatArray
from dynid.model.robot import Robot

_HELD_OUT = 5
"""Sets of lengths that a fitted polynomial must predict."""
_MANY_LENGTHS = 8
"""Named lengths up to which polynomials are fitted: degree two has about n²/2 coefficients."""
_AGREES = 1e-8
"""Relative error up to which a formula agrees with the numbers."""
_DIGITS = 10
"""Significant digits of coefficients."""
_ONE: Key = (((), 1.0),)
_MINUS_ONE: Key = (((), -1.0),)


def forms_hold(robot: Robot, rows: Sequence[int], columns: Sequence[int], forms: Sequence[Form]) -> bool:
    """Whether W = W[:, columns] K(lengths) holds for other values of the named lengths as well.

    The forms of ``closed_form`` do on usual robots. Without gravity the rules T_j themselves can hold a
    length, as XZ3 − d3 MX3 of an iiwa; the forms then mix its name with its number.

    Args:
        robot: the robot.
        rows: coordinates whose torques are considered.
        columns: the kept columns.
        forms: rows of K.
    """
    names = used_lengths(robot)
    if not names:
        return True
    other = with_lengths(
        robot, {name: robot.lengths[name] * (1.13 + 0.07 * i) for i, name in enumerate(names)}
    )
    W = regressor_matrix(other, random_states(other, np.random.default_rng(0)), rows)
    K = matrix_of(forms, len(robot.table), other.lengths)
    norms = np.linalg.norm(W, axis=0)
    norms = np.maximum(norms, 1e-6 * norms.max())  # shorter columns are rounding
    return bool(np.abs((W - W[:, list(columns)] @ K) / norms).max() <= _AGREES)


def fitted_forms(
    robot: Robot, rows: Sequence[int], columns: Sequence[int], K: FloatArray
) -> tuple[Form, ...]:
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
        values[s], remainder = regrouping_onto(W, columns, others)
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


Key = tuple[tuple[Monomial, float], ...]


def formula(name: str, own: int, form: Form, names: Sequence[str]) -> str:
    """One base parameter as a sum of standard parameters.

    The kept parameter comes first, then those that enter with ±1 in table order, then the others, gathered
    by their coefficient. A sum is written so that Python reads it after ^ is replaced by **.

    Args:
        name: name of the base parameter.
        own: table index of the kept parameter.
        form: coefficients by table index.
        names: names of the standard parameters.
    """
    indices = [own, *(i for i in sorted(form) if i != own)]
    coefficients = {i: _coefficient_key(form[i]) for i in indices}
    plain = [i for i in indices if coefficients[i] in (_ONE, _MINUS_ONE)]
    text = "".join(_with_sign(coefficients[i] == _MINUS_ONE, names[i]) for i in plain)
    groups: dict[Key, list[tuple[bool, str]]] = {}
    for i in indices:
        if i not in plain and coefficients[i]:
            negative, key = _without_sign(coefficients[i])
            groups.setdefault(key, []).append((negative, names[i]))
    text += "".join(_group(key, members) for key, members in groups.items())
    return f"{name} = {_lead(text)}"


def _coefficient_key(coefficient: Polynomial) -> Key:
    """Terms in a fixed order, lengths before numbers, coefficients to ten digits so that equal ones meet."""
    terms = [(m, float(f"{c:.{_DIGITS}g}")) for m, c in coefficient.terms.items()]
    return tuple(sorted(terms, key=lambda term: (not term[0], term[0])))


def _without_sign(key: Key) -> tuple[bool, Key]:
    negative = key[0][1] < 0
    return negative, tuple((m, -c) for m, c in key) if negative else key


def _group(key: Key, members: list[tuple[bool, str]]) -> str:
    """± coefficient*(sum), with the sign of the first member outside."""
    negative = members[0][0]
    inside = _compact("".join(_with_sign(flag != negative, name) for flag, name in members))
    if len(members) > 1:
        inside = f"({inside})"
    return _with_sign(negative, f"{_coefficient(key)}*{inside}")


def _coefficient(key: Key) -> str:
    if len(key) == 1:
        return _term(*key[0])
    return "(" + _compact("".join(_with_sign(c < 0, _term(m, abs(c))) for m, c in key)) + ")"


def _term(monomial: Monomial, value: float) -> str:
    """As 2*RL4, D3^2, D3*RL4 or 0.42."""
    powers = [(name, len(list(run))) for name, run in groupby(monomial)]
    factors = [name if power == 1 else f"{name}^{power}" for name, power in powers]
    return "*".join(([] if value == 1 and factors else [f"{value:.{_DIGITS}g}"]) + factors)


def _with_sign(negative: bool, text: str) -> str:
    return f" {'-' if negative else '+'} {text}"


def _lead(text: str) -> str:
    return text[3:] if text.startswith(" + ") else text.replace(" - ", "-", 1)


def _compact(text: str) -> str:
    return _lead(text).replace(" ", "")
