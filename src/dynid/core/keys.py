"""What a table's keys mean, declared once in the fields of a dataclass, and told in words.

    @dataclass(frozen=True)
    class LowPass:
        cutoff_hz: float = key("cut-off", unit="Hz", above=0)
        order: int = key("order", 4, least=1, most=12)

The declaration gives the object from a parsed TOML file and the file from the object (``core/tables.py``),
the sentence about a wrong value (``allowed_words``), the rows of the page that describes the keys
(``docs_rows``) and the help of a command-line option (``option_help``).
"""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import cache, cached_property
from typing import Any

from dynid.core.errors import unknown_name
from dynid.core.files import toml_value

_NOUNS = {
    bool: ("true or false", "truth values"),
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    str: ("text", "texts"),
}
"""Types in words, one value and several."""


@dataclass(frozen=True)
class OtherKey:
    """A second way to give a value, in another unit, such as ``alpha_deg`` for ``alpha``.

    Args:
        name: the key.
        unit: of its numbers.
        convert: from a number under this key to the number of the field.
    """

    name: str
    unit: str
    convert: Callable[[float], float]


RATE_HZ = OtherKey("rate_hz", "Hz", lambda rate: 1.0 / rate)
"""A time between samples given as a rate."""


@dataclass(frozen=True)
class Key:
    """What a key of a table means and which values it takes.

    Args:
        help: what the value is, in words that begin small and end without a full stop.
        unit: of its numbers.
        above: bound that every number must exceed.
        least: smallest number allowed.
        most: largest number allowed.
        choices: values allowed; a mapping gives what each of them stands for.
        allowed: which values are allowed, in words; made of the type and the bounds when empty.
        rule: further condition on the value.
        per_axis: one value for all axes, or a list with one per axis.
        longest: entries that a list may have.
        infinite: whether numbers may be infinite.
        other: a second key for the same value.
        name: the key, where it is not the field's name.
        absent: what holds when the key is absent, in words.
        spread: a mapping whose entries stand in the table itself; ``choices`` are their keys.
    """

    help: str
    unit: str = ""
    above: float | None = None
    least: float | None = None
    most: float | None = None
    choices: Collection[Any] = ()
    allowed: str = ""
    rule: Callable[[Any], bool] | None = None
    per_axis: bool = False
    longest: int | None = None
    infinite: bool = False
    other: OtherKey | None = None
    name: str = ""
    absent: str = ""
    spread: bool = False

    @cached_property
    def of_entry(self) -> Key:
        """The key of the entries of a list or table: what is said of the whole is left out."""
        return replace(self, per_axis=False, allowed="", rule=None)


def key(help: str, default: Any = MISSING, *, factory: Any = MISSING, **options: Any) -> Any:
    """A dataclass field that is a key of a table.

    Args:
        help: what the value is.
        default: the value when the key is absent; without one the key is needed.
        factory: makes the default, where it is a table.
        options: as in ``Key``.
    """
    return field(default=default, default_factory=factory, metadata={Key: Key(help, **options)})


@dataclass(frozen=True)
class Entry:
    """One key of a declared table: the dataclass field with its type and its ``Key``."""

    field: Field[Any]
    type: Any
    key: Key

    @property
    def name(self) -> str:
        """The key as it is written in a file."""
        return self.key.name or self.field.name

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All keys that give the value."""
        return (self.name,) if self.key.other is None else (self.name, self.key.other.name)

    @property
    def is_needed(self) -> bool:
        """Whether the key must be there."""
        return self.field.default is MISSING and self.field.default_factory is MISSING

    @property
    def default(self) -> Any:
        """The value when the key is absent."""
        made = self.field.default_factory
        return self.field.default if made is MISSING else made()


def entries_of(cls: type) -> tuple[Entry, ...]:
    """The declared keys of a dataclass; fields without a ``Key`` are no part of the table."""
    return _entries(typing.cast(Hashable, cls))


@cache
def _entries(cls: Any) -> tuple[Entry, ...]:
    hints = typing.get_type_hints(cls)
    return tuple(Entry(f, hints[f.name], f.metadata[Key]) for f in fields(cls) if Key in f.metadata)


@cache
def alternatives(hint: Any) -> tuple[Any, ...]:
    """The types of a union, or the one type."""
    union = typing.get_origin(hint) in (types.UnionType, typing.Union)
    return typing.get_args(hint) if union else (hint,)


def allowed_words(hint: Any, key: Key) -> str:
    """Which values a key takes, in words that follow "it must be"."""
    if key.allowed:
        return key.allowed
    if key.choices and not key.spread:
        return _either([str(choice) for choice in key.choices if str(choice).strip()])
    words = [_words(kind, key) for kind in alternatives(hint) if kind is not types.NoneType]
    return _either(list(dict.fromkeys(words)))


def _words(kind: Any, key: Key) -> str:
    origin, items = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        if key.per_axis and typing.get_origin(items[0]) is tuple:
            return "a list of numbers per axis"
        if key.per_axis:
            return f"{_words(items[0], key)}, or a list with one per axis"
        count = f"{len(items)} " if items[-1] is not Ellipsis else ""
        return f"a list of {count}{_nouns(items[0])}{_bounds(key)}"
    if is_dataclass(kind) or origin is not None:
        return "a table of keys and values"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _either([member.value for member in kind])
    noun = _NOUNS[kind][0] if kind in _NOUNS else "a value"
    return noun + _bounds(key) if kind in (int, float) else noun


def _nouns(kind: Any) -> str:
    if typing.get_origin(kind) is tuple:
        return "lists of numbers"
    if is_dataclass(kind):
        return "tables"
    return " or ".join(_NOUNS[k][1] for k in alternatives(kind) if k in _NOUNS)


def _bounds(key: Key) -> str:
    unit = f" {key.unit}" if key.unit else ""
    if key.above is not None:
        upper = "" if key.most is None else f" and at most {key.most:g}"
        return f" above {key.above:g}{upper}{unit}"
    if key.least is not None:
        return (
            f" from {key.least:g}{unit}" if key.most is None else f" from {key.least:g} to {key.most:g}{unit}"
        )
    return f" of at most {key.most:g}{unit}" if key.most is not None else unit and f" in{unit}"


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def docs_rows(cls: type, beyond: type | None = None) -> list[str]:
    """Markdown rows of the keys of a declared class: key, meaning with unit and allowed values, default.

    Args:
        cls: the declared class.
        beyond: class whose keys are left out, because they are described elsewhere.
    """
    rows = []
    known = () if beyond is None else [entry.name for entry in entries_of(beyond)]
    for entry in entries_of(cls):
        if entry.name in known:
            continue
        key, names = entry.key, [f"`{name}`" for name in entry.names]
        if key.spread:
            names = [f"`[{name}]`" for name in key.choices]
        elif _holds_tables(entry.type):
            many = typing.get_origin(entry.type) is tuple
            names = [f"`[[{entry.name}]]`" if many else f"`[{entry.name}]`"]
        meaning = f"{key.help}{_unit_words(key)}{_choice_words(entry, mark='`')}".replace("|", "\\|")
        first = (" " if key.spread else " or ").join(names)
        rows.append(f"| {first} | {meaning} | {_default_words(entry)} |")
    return rows


def option_help(cls: type, name: str) -> str:
    """The help of a command-line option that gives a declared field: meaning, unit, allowed values.

    Args:
        cls: the declared class.
        name: the field.
    """
    for entry in entries_of(cls):
        if entry.field.name == name:
            text = f"{entry.key.help}{_unit_words(entry.key)}{_choice_words(entry)}"
            return f"{text[0].upper()}{text[1:]}."
    raise unknown_name(f"field of {cls.__name__}", name, [entry.field.name for entry in entries_of(cls)])


def _holds_tables(hint: Any) -> bool:
    """Whether a type is a table or a list of tables."""
    kinds = [kind for kind in alternatives(hint) if kind is not types.NoneType]
    items = [typing.get_args(kind)[0] if typing.get_origin(kind) is tuple else kind for kind in kinds]
    return all(is_dataclass(item) or typing.get_origin(item) is Mapping for item in items)


def _unit_words(key: Key) -> str:
    units = [unit for unit in (key.unit, key.other.unit if key.other else "") if unit]
    return f" [{', '.join(units)}]" if units else ""


def _choice_words(entry: Entry, mark: str = "") -> str:
    """What may be given, where the meaning and the type do not say it: choices, bounds, one per axis."""
    key = entry.key
    rows = typing.get_origin((*typing.get_args(entry.type), None)[0]) is tuple
    axes = "; one, or one per axis" if key.per_axis and not rows else ""
    if key.spread:
        return ""
    if key.allowed:
        return f"; {key.allowed}"
    if key.choices:
        words = [f"{mark}{choice}{mark}" for choice in key.choices if str(choice).strip()]
        return f"; {_either(words)}{axes}"
    for kind in alternatives(entry.type):
        if isinstance(kind, type) and issubclass(kind, Enum):
            return f"; {_either([f'{mark}{member.value}{mark}' for member in kind])}"
    bounds = _bounds(Key(key.help, above=key.above, least=key.least, most=key.most)).strip()
    return f"; {bounds}{axes}" if bounds else axes


def _default_words(entry: Entry) -> str:
    if entry.key.absent:
        return entry.key.absent
    if entry.is_needed:
        return "needed"
    value = entry.default
    if is_dataclass(value):
        return "see its keys"
    if isinstance(value, float) and math.isinf(value):
        return "unknown"
    if value is None or (isinstance(value, tuple | Mapping | str) and not value):
        return "none"
    if entry.key.per_axis and len(value) == 1:
        value = value[0]
    return f"`{toml_value(value)}`"
