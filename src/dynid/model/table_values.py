"""Values of a robot file, checked one by one: what is not of its kind is named in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dynid.core.errors import ModelError, unknown_name

Table = Mapping[str, Any]


def table_of(content: Table, key: str) -> Table:
    """The table under a key; empty when absent."""
    value = content.get(key, {})
    if not isinstance(value, Mapping):
        raise ModelError(f"{key} must be a table, as [{key}].")
    return value


def number_of(value: object, where: str) -> float:
    """A number; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ModelError(f"{where} is {value!r}; it must be a number.")
    if isinstance(value, int) and abs(value) > 10**300:
        raise ModelError(f"{where} is a number of more than 300 digits.")
    return float(value)


def numbers_of(values: object, where: str, count: int) -> tuple[float, ...]:
    """A list of so many numbers."""
    if not isinstance(values, list) or len(values) != count:
        raise ModelError(f"{where} is {values!r}; it must be a list of {count} numbers.")
    return tuple(number_of(value, where) for value in values)


def list_of(row: Table, key: str, default: list[Any]) -> list[Any]:
    """The list under a key."""
    value = row.get(key, default)
    if not isinstance(value, list):
        raise ModelError(f"{key} is {value!r}; it must be a list.")
    return value


def truth_of(row: Table, key: str, default: bool, where: str) -> bool:
    """True or false."""
    value = row.get(key, default)
    if not isinstance(value, bool):
        raise ModelError(f"{where}: {key} is {value!r}; it must be true or false.")
    return value


def check_keys(row: object, known: Iterable[str], where: str) -> None:
    """Refuse what is not a table, and keys that mean nothing, with the nearest that do."""
    if not isinstance(row, Mapping):
        raise ModelError(f"The {where} must be a table of keys and values, not {row!r}.")
    allowed = tuple(known)
    for key in row:
        if key not in allowed:
            raise unknown_name(f"key in the {where}", str(key), allowed)
