"""Regrouping formulas as a person would write them: ZZ1R = ZZ1 + Ia1 + YY2 + YY3 + D3^2*(M3+M4+M5+M6)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from dynid.base.grouping import Form
from dynid.base.polynomial import Monomial, Polynomial

_DIGITS = 10
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
    coefficients = {i: _rounded(form[i]) for i in indices}
    plain = [i for i in indices if coefficients[i] in (_ONE, _MINUS_ONE)]
    text = "".join(_signed(coefficients[i] == _MINUS_ONE, names[i]) for i in plain)
    groups: dict[Key, list[tuple[bool, str]]] = {}
    for i in indices:
        if i not in plain and coefficients[i]:
            negative, key = _without_sign(coefficients[i])
            groups.setdefault(key, []).append((negative, names[i]))
    text += "".join(_group(key, members) for key, members in groups.items())
    return f"{name} = {_lead(text)}"


_ONE: Key = (((), 1.0),)
_MINUS_ONE: Key = (((), -1.0),)


def _rounded(coefficient: Polynomial) -> Key:
    """Terms in a fixed order, lengths before numbers, coefficients to ten digits so that equal ones meet."""
    terms = [(m, float(f"{c:.{_DIGITS}g}")) for m, c in coefficient.terms.items()]
    return tuple(sorted(terms, key=lambda term: (not term[0], term[0])))


def _without_sign(key: Key) -> tuple[bool, Key]:
    negative = key[0][1] < 0
    return negative, tuple((m, -c) for m, c in key) if negative else key


def _group(key: Key, members: list[tuple[bool, str]]) -> str:
    """± coefficient*(sum), with the sign of the first member outside."""
    negative = members[0][0]
    inside = _compact("".join(_signed(flag != negative, name) for flag, name in members))
    if len(members) > 1:
        inside = f"({inside})"
    return _signed(negative, f"{_coefficient(key)}*{inside}")


def _coefficient(key: Key) -> str:
    if len(key) == 1:
        return _term(*key[0])
    return "(" + _compact("".join(_signed(c < 0, _term(m, abs(c))) for m, c in key)) + ")"


def _term(monomial: Monomial, value: float) -> str:
    """As 2*RL4, D3^2, D3*RL4 or 0.42."""
    powers = [(name, len(list(run))) for name, run in groupby(monomial)]
    factors = [name if power == 1 else f"{name}^{power}" for name, power in powers]
    return "*".join(([] if value == 1 and factors else [f"{value:.{_DIGITS}g}"]) + factors)


def _signed(negative: bool, text: str) -> str:
    return f" {'-' if negative else '+'} {text}"


def _lead(text: str) -> str:
    return text[3:] if text.startswith(" + ") else text.replace(" - ", "-", 1)


def _compact(text: str) -> str:
    return _lead(text).replace(" ", "")
