"""Objects from parsed tables and back, by the declaration of their keys (``core/keys.py``).

Unknown, missing and doubled keys, wrong types, numbers out of bounds or not finite, lists of a wrong length,
tables inside tables and values per axis are handled here for every file, each with its sentence.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, is_dataclass, replace
from enum import Enum
from numbers import Integral, Real
from typing import Any, TypeVar

from dynid.core.errors import DynidError, unknown_name
from dynid.core.keys import Entry, Key, allowed_words, alternatives, entries_of

Made = TypeVar("Made")
LARGEST_NUMBER = 1e300
"""Largest size of a number in a table; the product of two such numbers is infinite."""
_SHOWN = 60
"""Characters of a value that a sentence shows."""
_ACCEPTED: dict[type, type] = {float: Real, int: Integral}
"""What counts as a number, those of NumPy too; truth values do not."""
_NOT_TAKEN = object()
"""Says that a type does not take a value."""


def table_from(content: object, cls: type[Made], where: str = "", axes: int | None = None) -> Made:
    """An object of a declared class from a parsed table.

    Args:
        content: keys and values, as a TOML or JSON parser gives them.
        cls: dataclass whose fields are declared with ``Key``.
        where: the table, for sentences, such as "[drives]"; empty at the top of a file.
        axes: number of axes; values per axis are then made so many.

    Raises:
        DynidError: for a key that is not known, missing or given twice, and for a value not allowed.
    """
    if not isinstance(content, Mapping):
        raise DynidError(f"{where or 'The file'} is {shown(content)}; it must be a table of keys and values.")
    entries = entries_of(cls)
    known = [name for entry in entries if not entry.key.spread for name in entry.names]
    spread = next((entry for entry in entries if entry.key.spread), None)
    rest = [name for name in content if name not in known]
    allowed = known if spread is None else [*known, *spread.key.choices]
    for name in rest:
        if spread is None or (spread.key.choices and name not in spread.key.choices):
            raise _at(where, unknown_name("key", str(name), allowed))
    values = {}
    for entry in entries:
        if entry is spread:
            inner = replace(entry.key, choices=(), spread=False)
            kind = typing.get_args(entry.type)[1]
            values[entry.field.name] = {
                name: _value_of(content[name], kind, _Spot(where, name, inner, axes)) for name in rest
            }
            continue
        given = [name for name in entry.names if name in content]
        if len(given) > 1:
            raise _at(where, DynidError(f"{' and '.join(given)} are both given; keep one."))
        if given:
            values[entry.field.name] = _value_under(content[given[0]], entry, given[0], where, axes)
        elif entry.is_needed:
            said = " or ".join(entry.names)
            raise _at(where, DynidError(f"{said} is missing; give {allowed_words(entry.type, entry.key)}."))
    try:
        return cls(**values)
    except DynidError as error:
        raise _at(where, error) from None


def table_by_kind(
    content: Mapping[str, Any], kinds: Mapping[str, type[Made]], what: str, axes: int | None = None
) -> Made:
    """An object of the class that the key ``kind`` names.

    Args:
        content: keys and values.
        kinds: declared classes by kind; each declares ``kind`` as well.
        what: what is described, such as "controller".
        axes: as in ``table_from``.
    """
    spot = _Spot("", "kind", Key(what, choices=tuple(kinds)), None)
    if "kind" not in content:
        raise DynidError(f"kind is missing; give {allowed_words(str, spot.key)}.")
    kind = _value_of(content["kind"], str, spot)
    return table_from(content, kinds[kind], f"{kind} {what}", axes)


def check_fields(made: Any, where: str = "", error: type[DynidError] = DynidError) -> None:
    """Check the declared fields of an object made in Python, and bring their values to the declared types.

    Args:
        made: a dataclass object, in its ``__post_init__``.
        where: the object, for sentences.
        error: kind of the error about a wrong value.
    """
    for entry in entries_of(type(made)):
        name = entry.field.name
        try:
            value = _value_of(getattr(made, name), entry.type, _Spot(where, name, entry.key, None))
        except DynidError as refusal:
            raise (error if type(refusal) is DynidError else type(refusal))(str(refusal)) from None
        object.__setattr__(made, name, value)


def shown(value: object) -> str:
    """A value as a sentence shows it; what is too long is cut."""
    if isinstance(value, Integral) and abs(int(value)) > LARGEST_NUMBER:
        return "a number of more than 300 digits"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


@dataclass(frozen=True)
class _Spot:
    """Where a value stands: the table, the key in it, and what was declared."""

    where: str
    name: str
    key: Key
    axes: int | None

    def error(self, what: str) -> DynidError:
        return _at(self.where, DynidError(f"{self.name} {what}."))

    def refusal(self, value: object, allowed: str) -> DynidError:
        return self.error(f"is {shown(value)}; it must be {allowed}")

    def inside(self, name: str) -> _Spot:
        return _Spot(self.where, name, self.key.of_entry, self.axes)


def _at(where: str, error: DynidError) -> DynidError:
    return type(error)(f"{where}: {error}") if where else error


def _value_under(value: object, entry: Entry, name: str, where: str, axes: int | None) -> Any:
    other = entry.key.other
    if other is None or name != other.name:
        return _value_of(value, entry.type, _Spot(where, name, entry.key, axes))
    key = replace(entry.key, unit=other.unit)
    return _in_field_unit(_value_of(value, entry.type, _Spot(where, name, key, axes)), other.convert)


def _in_field_unit(value: Any, convert: Callable[[float], float]) -> Any:
    return tuple(_in_field_unit(v, convert) for v in value) if isinstance(value, tuple) else convert(value)


def _value_of(value: Any, hint: Any, spot: _Spot) -> Any:
    """The value as the declared type has it; of several types the first that takes it."""
    for kind in alternatives(hint):
        made = _value_as(value, kind, spot)
        if made is not _NOT_TAKEN and (spot.key.rule is None or spot.key.rule(made)):
            return made
    raise spot.refusal(value, allowed_words(hint, spot.key))


def _value_as(value: Any, kind: Any, spot: _Spot) -> Any:
    """The value as one type has it; ``_NOT_TAKEN`` when it has another shape.

    Raises:
        DynidError: when it has the shape but something inside is not allowed.
    """
    origin = typing.get_origin(kind)
    if origin is tuple:
        return _row(value, typing.get_args(kind), spot)
    if origin is Mapping:
        return (
            _values_by_name(value, typing.get_args(kind)[1], spot)
            if isinstance(value, Mapping)
            else _NOT_TAKEN
        )
    if is_dataclass(kind):
        if isinstance(value, typing.cast(type, kind)):
            return value
        made = isinstance(value, Mapping)
        return table_from(value, typing.cast(type, kind), _inner(spot), spot.axes) if made else _NOT_TAKEN
    if issubclass(kind, Enum):
        names = [member.value for member in kind]
        return kind(_choice(value, names, spot)) if isinstance(value, str) else _NOT_TAKEN
    if not isinstance(value, _ACCEPTED.get(kind, kind)) or (isinstance(value, bool) and kind is not bool):
        return _NOT_TAKEN
    if spot.key.choices:
        value = _choice(value, spot.key.choices, spot)
    return _number(value, kind, spot) if kind in _ACCEPTED else value


def _values_by_name(value: Mapping[Any, Any], kind: Any, spot: _Spot) -> dict[str, Any]:
    inner = replace(spot, where=_inner(spot))
    return {str(name): _value_of(part, kind, inner.inside(str(name))) for name, part in value.items()}


def _number(value: Any, kind: type, spot: _Spot) -> Any:
    key = spot.key
    if isinstance(value, Integral) and abs(int(value)) > LARGEST_NUMBER:
        raise spot.refusal(value, f"between -{LARGEST_NUMBER:g} and {LARGEST_NUMBER:g}")
    number = int(value) if kind is int else float(value)
    if not (key.infinite or abs(number) < LARGEST_NUMBER):
        bounds = f"between -{LARGEST_NUMBER:g} and {LARGEST_NUMBER:g}"
        raise spot.refusal(number, bounds if math.isfinite(number) else "a finite number")
    low = (key.above is None or number > key.above) and (key.least is None or number >= key.least)
    if math.isnan(number) or not (low and (key.most is None or number <= key.most)):
        raise spot.refusal(value, allowed_words(kind, key))
    return number


def _choice(value: Any, choices: Collection[Any], spot: _Spot) -> Any:
    if value in choices:
        return choices[value] if isinstance(choices, Mapping) else value
    if isinstance(value, str):
        raise _at(spot.where, unknown_name(spot.name, value, map(str, choices)))
    raise spot.refusal(value, allowed_words(type(value), spot.key))


def _row(value: Any, items: tuple[Any, ...], spot: _Spot) -> Any:
    """A list as a tuple: of fixed length, of any length, or with one entry per axis."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        one = _value_as(value, items[0], spot.inside(spot.name)) if spot.key.per_axis else _NOT_TAKEN
        return one if one is _NOT_TAKEN else (one,) * (spot.axes or 1)
    values, fixed = list(value), items[-1] is not Ellipsis
    if fixed and len(values) != len(items):
        raise spot.refusal(value, allowed_words(tuple[items], spot.key))  # type: ignore[valid-type]
    if spot.key.longest is not None and len(values) > spot.key.longest:
        raise spot.error(f"has {len(values)} entries; at most {spot.key.longest} are taken")
    rows = spot.key.per_axis and typing.get_origin(items[0]) is tuple
    if spot.key.per_axis:
        values = _one_per_axis(values, rows, spot)
    made: list[Any] = []
    for i, (part, kind) in enumerate(zip(values, items if fixed else (items[0],) * len(values), strict=True)):
        if is_dataclass(kind) and isinstance(part, Mapping):
            title = part.get("name")
            label = f"{spot.name} {title!r}" if isinstance(title, str) else f"{spot.name} {i + 1}"
            made.append(table_from(part, typing.cast(type, kind), label, spot.axes))
            continue
        if rows and not isinstance(part, list | tuple):
            part = (part,)
        made.append(_value_of(part, kind, spot.inside(f"entry {i + 1} of {spot.name}")))
    return tuple(made)


def _one_per_axis(values: list[Any], rows: bool, spot: _Spot) -> list[Any]:
    """The values, one repeated for all axes; rows are given for each axis."""
    if not (values or rows):
        raise spot.error("is an empty list; give one value per axis, or one for all")
    if spot.axes is None or len(values) == spot.axes:
        return values
    if len(values) == 1 and not rows:
        return values * spot.axes
    more = "one list of numbers per axis" if rows else "one per axis, or one for all"
    axes = f"{spot.axes} {'axis' if spot.axes == 1 else 'axes'}"
    raise spot.error(f"has {len(values)} values for {axes}; give {more}")


def _inner(spot: _Spot) -> str:
    return f"{spot.where}: {spot.name}" if spot.where else f"[{spot.name}]"


# ── from an object to a table ─────────────────────────────────────────────────────────────────────────────


def to_table(made: Any, *, full: bool = False) -> dict[str, Any]:
    """The keys and values of an object of a declared class, ready for TOML or JSON.

    Args:
        made: the object.
        full: defaults are written too, unless they are None or infinite, which JSON does not know.
    """
    table: dict[str, Any] = {}
    for entry in entries_of(type(made)):
        value = getattr(made, entry.field.name)
        absent = value is None or (isinstance(value, float) and math.isinf(value)) if full else True
        # By their text, because 0.0 and -0.0 are equal and not the same.
        if absent and not entry.is_needed and repr(value) == repr(entry.default):
            continue
        if entry.key.spread:
            table |= {name: _plain(part, full) for name, part in value.items()}
            continue
        if isinstance(entry.key.choices, Mapping):
            value = next(word for word, meant in entry.key.choices.items() if meant == value)
        table[entry.name] = _plain(value, full)
    return table


def _plain(value: Any, full: bool) -> Any:
    if is_dataclass(value):
        return to_table(value, full=full)
    if isinstance(value, Mapping):
        return {name: _plain(part, full) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, full) for part in value]
    return value.value if isinstance(value, Enum) else value
