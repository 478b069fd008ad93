"""Values of controller and reference files, checked one by one; shipped files found by name."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TypeVar

from dynid.core.errors import DynidError, FileError, unknown_name
from dynid.model.table_values import Table, check_keys, number_of

Made = TypeVar("Made")
_SHOWN = 60
_LARGEST = 1e300


def shown(value: object) -> str:
    """A value as it is told in a sentence; what is too long is cut."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def finite_number(value: object, where: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FileError(f"{where} is {shown(value)}; it must be a number.")
    number = number_of(value, where)
    if not abs(number) < _LARGEST:
        bound = f"between -{_LARGEST:g} and {_LARGEST:g}" if math.isfinite(number) else "finite"
        raise FileError(f"{where} is {number}; it must be {bound}.")
    return number


def numbers(row: Table, key: str) -> tuple[float, ...]:
    """One number or a list of numbers under a key that is there."""
    value = row[key]
    if not isinstance(value, list):
        return (finite_number(value, key),)
    if not value:
        raise FileError(f"{key} is an empty list; give one number per axis, or one for all.")
    return tuple(finite_number(item, f"an entry of {key}") for item in value)


def positive(row: Table, key: str) -> float:
    """A positive finite number under a key that is there."""
    number = finite_number(row[key], key)
    if number <= 0:
        raise FileError(f"{key} is {number:g}; it must be positive.")
    return number


def whole(row: Table, key: str, default: int, largest: int) -> int:
    """A whole number from 0."""
    value = row.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= largest:
        raise FileError(f"{key} is {shown(value)}; give a whole number from 0 to {largest}.")
    return value


def truth(row: Table, key: str) -> bool:
    """True or false; false when absent."""
    value = row.get(key, False)
    if not isinstance(value, bool):
        raise FileError(f"{key} is {shown(value)}; it must be true or false.")
    return value


def text(row: Table, key: str) -> str:
    """A text under a key; empty when absent."""
    value = row.get(key, "")
    if not isinstance(value, str):
        raise FileError(f"{key} is {shown(value)}; it must be text.")
    return value


def choice(row: Table, key: str, allowed: tuple[str, ...], default: str) -> str:
    """One of some words under a key."""
    value = text(row, key) if key in row else default
    if value not in allowed:
        raise unknown_name(key, value, allowed)
    return value


def one_of(row: Table, keys: tuple[str, ...], what: str) -> str:
    """The one key that is given among several of which exactly one is wanted."""
    given = [key for key in keys if key in row]
    if len(given) != 1:
        said = f"both {' and '.join(given)}" if given else "none of them"
        raise FileError(f"{what} is given by exactly one of {', '.join(keys)}, and there is {said}.")
    return given[0]


@contextmanager
def naming(what: str, file: Path) -> Iterator[None]:
    """Put the file's name before the sentence of an error in what it says."""
    try:
        yield
    except DynidError as error:
        raise FileError(f"{what} {file.name}: {error}") from None


def shipped(folder: str) -> tuple[str, ...]:
    """Names of the files that come with the package in a folder."""
    entries = (resources.files("dynid.simulation") / folder).iterdir()
    return tuple(sorted(Path(entry.name).stem for entry in entries if entry.name.endswith(".toml")))


def by_name_or_path(
    given: str | Path, folder: str, what: str, ending: str, read: Callable[[Path, bool], Made]
) -> Made:
    """What ``read(file, own)`` makes of a shipped file or of a user's own.

    Args:
        given: a name that ``shipped`` lists, or a path.
        folder: the shipped files' folder.
        what: the kind of thing, for sentences.
        ending: of paths, in words.
        read: from the file, and whether it is the user's own.
    """
    said, names = str(given), shipped(folder)
    if said in names:
        with resources.as_file(resources.files("dynid.simulation") / folder / f"{said}.toml") as path:
            return read(path, False)
    try:
        path = Path(said).expanduser()
    except RuntimeError:  # "~name" of a user who does not exist
        path = Path(said)
    if not path.suffix and not os.path.exists(path):
        raise unknown_name(what, said, names, f"Or give a path to a {ending}.")
    return read(path, True)


def beside(folder: Path | None, named: str, key: str) -> Path:
    """A file that a user's file names, relative to its own folder."""
    if folder is None:
        raise FileError(f"{key} names a file, which only a file given by its path may do.")
    return folder / named


def kind_of(content: Table, keys: Mapping[str, Sequence[str]], common: Sequence[str], what: str) -> str:
    """The kind a file names; keys must be its own or common to all kinds, title and source texts.

    Args:
        content: the tables and values.
        keys: keys of each kind.
        common: keys of every kind.
        what: what is described, such as "controller".
    """
    if "kind" not in content:
        raise FileError(f"It has no kind; give one of {', '.join(keys)}.")
    kind = choice(content, "kind", tuple(keys), "")
    check_keys(content, (*common, *keys[kind]), f"{kind} {what}")
    for name in ("title", "source"):
        text(content, name)
    return kind
