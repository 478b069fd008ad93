"""Kinds of arguments: a verb or an object that is given something else than it declares says what it takes.

The annotations are the declaration. They are read as text, so that nothing is imported that a call does not
use; a class is recognised by its name, which has one meaning over all of dynid.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import typing
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any

from dynid.core.errors import DynidError

_WORDS = {
    "float": ("a number", "numbers"),
    "int": ("a whole number", "whole numbers"),
    "bool": ("True or False", "truth values"),
    "str": ("text", "texts"),
    "Path": ("a path", "paths"),
    "Any": ("anything", "values"),
    "Callable": ("a function", "functions"),
    "Progress": ("a function of a text", "functions"),
    "Samples": ("an array of numbers", "arrays of numbers"),
    "ArrayLike": ("an array of numbers", "arrays of numbers"),
    "NDArray": ("an array of numbers", "arrays of numbers"),
    "FloatArray": ("an array of numbers", "arrays of numbers"),
    "BoolArray": ("an array of truth values", "arrays"),
    "ResultView": ("a result", "results"),
}
"""Kinds in words, one and several; a class of dynid is called by its name."""
_HINTS = {
    "Robot": "use load_robot for a name or file",
    "Log": "use read_log for a file",
    "Preparation": "use dynid.Preparation(…), or dynid.preparation.load_preparation for a file",
    "Strategy": "give an estimator with its options, such as WLS()",
    "Controller": "use load_controller for a name or file",
    "Reference": "use load_reference for a name or file",
    "ResultView": "use load_result for a folder",
    "SavedResult": "use load_result for a folder",
}
"""What to do where something else was given."""
_SCALARS: Mapping[str, Callable[[Any], bool]] = {
    "Any": lambda value: True,
    "None": lambda value: value is None,
    "float": lambda value: isinstance(value, Real) and not isinstance(value, bool),
    "int": lambda value: isinstance(value, Integral) and not isinstance(value, bool),
    "bool": lambda value: type(value).__name__ in ("bool", "bool_"),
    "str": lambda value: isinstance(value, str),
    "Path": lambda value: isinstance(value, Path),
    "Callable": callable,
    "Mapping": lambda value: isinstance(value, Mapping),
}
_LISTS = ("Sequence", "tuple", "list", "Iterable")
_ARRAYS = ("ArrayLike", "NDArray", "FloatArray", "BoolArray")


def require_kinds(function: Callable[..., Any], given: Mapping[str, Any], verb: str = "") -> None:
    """Refuse arguments of other kinds than the annotations of a function declare.

    Args:
        function: that was called.
        given: its arguments by name: ``locals()`` in its first line.
        verb: its name in sentences, where that is not its own.
    """
    space = sys.modules[function.__module__].__dict__
    for name, declared in inspect.get_annotations(inspect.unwrap(function)).items():
        if name in given and name != "self":
            _require(given[name], declared, space, verb or function.__name__, name)


def require_field_kinds(thing: Any) -> None:
    """Refuse fields of a dataclass that are of other kinds than declared."""
    for field, space in _fields_with_space(typing.cast(Hashable, type(thing))):
        if field.init and isinstance(field.type, str):
            _require(getattr(thing, field.name), field.type, space, type(thing).__name__, field.name)


@functools.cache
def _fields_with_space(cls: Any) -> tuple[tuple[Any, dict[str, Any]], ...]:
    """Fields of a dataclass, each with the names of the module that declares it."""
    declared = [(base, vars(base).get("__annotations__", ())) for base in reversed(cls.__mro__)]
    homes = {name: base.__module__ for base, names in declared for name in names}
    return tuple((field, sys.modules[homes[field.name]].__dict__) for field in fields(cls))


def _require(value: object, declared: str, space: Mapping[str, Any], verb: str, name: str) -> None:
    kinds = _alternatives(declared)
    if any(_is_kind(value, kind, space) for kind in kinds):
        return
    words = list(dict.fromkeys(_words(kind) for kind in kinds))
    taken = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
    named = [part.id for kind in kinds for part in ast.walk(kind) if isinstance(part, ast.Name)]
    hint = next((f"; {_HINTS[kind]}" for kind in named if kind in _HINTS), "")
    raise DynidError(f"{verb} takes {taken} for {name}, not {_given(value)}{hint}.")


@functools.cache
def _alternatives(declared: str) -> tuple[ast.expr, ...]:
    """The kinds of a union, as expressions."""

    def parts(node: ast.expr) -> Iterator[ast.expr]:
        if isinstance(node, ast.BinOp):
            yield from (*parts(node.left), *parts(node.right))
        else:
            yield node

    return tuple(parts(ast.parse(declared, mode="eval").body))


def _is_kind(value: Any, kind: ast.expr, space: Mapping[str, Any]) -> bool:
    if isinstance(kind, ast.Subscript):
        return _is_group(value, kind, space)
    name = _name(kind)
    if name in _SCALARS:
        return _SCALARS[name](value)
    if name in _ARRAYS:
        return hasattr(value, "__array__") or isinstance(value, list | tuple)
    return _is_named(value, name, space.get(name))


def _is_named(value: Any, name: str, known: Any) -> bool:
    """Whether a value is of a class, or of an alias of several kinds, that has this name."""
    if isinstance(known, type):
        return isinstance(value, known)
    if known is None:
        return any(base.__name__ == name for base in type(value).__mro__)
    origin = typing.get_origin(known)  # an alias of a union is not judged
    return isinstance(value, origin) if isinstance(origin, type) and origin is not UnionType else True


def _is_group(value: Any, kind: ast.Subscript, space: Mapping[str, Any]) -> bool:
    """A list, mapping or other group whose members are of a kind."""
    group, inner = _name(kind.value), kind.slice
    if group == "Mapping" and isinstance(inner, ast.Tuple):
        of, to = inner.elts
        return isinstance(value, Mapping) and _all_of(value, of, space) and _all_of(value.values(), to, space)
    if group not in _LISTS:
        return _is_kind(value, kind.value, space)
    of = inner.elts[0] if isinstance(inner, ast.Tuple) else inner
    if hasattr(value, "__array__"):
        return _name(of) in ("int", "float", "bool", "str")
    listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    if not listed and group != "Iterable":
        return False
    return isinstance(value, Iterable) and (not isinstance(value, Sequence) or _all_of(value, of, space))


def _all_of(members: Iterable[Any], kind: ast.expr, space: Mapping[str, Any]) -> bool:
    kinds = _alternatives(ast.unparse(kind))
    return all(any(_is_kind(one, k, space) for k in kinds) for one in members)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):  # np.random.Generator
        return node.attr
    return node.id if isinstance(node, ast.Name) else str(getattr(node, "value", ast.unparse(node)))


def _words(kind: ast.expr, several: bool = False) -> str:
    if isinstance(kind, ast.Subscript) and _name(kind.value) in _LISTS:
        inner = kind.slice.elts[0] if isinstance(kind.slice, ast.Tuple) else kind.slice
        return f"a list of {' or '.join(_words(part, True) for part in _alternatives(ast.unparse(inner)))}"
    name = _name(kind.value if isinstance(kind, ast.Subscript) else kind)
    if isinstance(kind, ast.Subscript) and name == "Mapping" and isinstance(kind.slice, ast.Tuple):
        return f"a mapping of names to {_words(kind.slice.elts[1], True)}"
    if name in _WORDS:
        return _WORDS[name][several]
    if name == "None":
        return name
    return f"{name}s" if several else f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def _given(value: object) -> str:
    """What was given, in a few words."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type(value).__name__
    if isinstance(value, list | tuple | dict) and value:
        members = value.values() if isinstance(value, dict) else value
        return f"{name} of {' and '.join(dict.fromkeys(type(member).__name__ for member in members))}"
    return f"{name} {value!r}" if isinstance(value, str | int | float) and len(repr(value)) < 40 else name
