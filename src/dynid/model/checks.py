"""Values given to the nouns of the model, made into numbers and tuples or refused in a sentence."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any

from dynid.core.errors import ModelError

LARGEST = 1e6
"""Largest length [m], angle [rad] and gravity [m/s²]: no robot needs more, and products lose digits."""


def real(value: Any, name: str, where: str) -> float:
    """A number as a float, infinite ones included; texts and truth values are none.

    Args:
        value: what was given.
        name: the argument it was given for.
        where: the sentence's subject, such as "Joint 'a': d".
    """
    if not isinstance(value, str | bytes | bool):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            pass  # the sentence below
    raise ModelError(f"{where} is {value!r}; it must be a number.")


def finite(value: Any, name: str, where: str) -> float:
    """A finite number as a float; the arguments are those of ``real``."""
    number = real(value, name, where)
    if not math.isfinite(number):
        raise ModelError(f"{where} is {number}; it must be a finite number.")
    return number


def bounded(value: Any, name: str, where: str, unit: str) -> float:
    """A finite number of at most ``LARGEST`` as a float; the unit stands in the sentence."""
    number = finite(value, name, where)
    if abs(number) > LARGEST:
        raise ModelError(
            f"{where} is {number:g} {unit}; at most {LARGEST:g} {unit} are taken, so check its unit."
        )
    return number


def whole(value: Any, name: str, where: str) -> int:
    """An integer of any integer type; truth values are none."""
    if not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            pass  # the sentence below
    raise ModelError(f"{where} is {value!r}; it must be a whole number.")


def listed(values: Any, name: str, where: str, what: str) -> tuple[Any, ...]:
    """A list, tuple or other iterable as a tuple; a text is none, because its letters are not meant."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ModelError(f"{where} is {values!r}; give a list of {what}.")
    return tuple(values)


def row(values: Any, name: str, where: str) -> tuple[float, ...]:
    """Numbers as a tuple of floats, infinite ones included."""
    return tuple(real(value, name, where) for value in listed(values, name, where, "numbers"))


def not_negative(value: Any, name: str, where: str) -> float:
    """A finite number of at least zero as a float."""
    number = finite(value, name, where)
    if number < 0:
        raise ModelError(f"{where} is {number:g}; it cannot be negative.")
    return number
