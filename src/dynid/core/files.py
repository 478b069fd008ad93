"""Small files: read with suspicion (existence, size, encoding come before any parser), and TOML written."""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from dynid.core.errors import DynidError, FileError, unknown_name

MAX_BYTES = 20_000_000
"""Largest file that is read at once."""


@dataclass(frozen=True)
class NamedFile:
    """A file, and whether it is the user's own or came with the package."""

    path: Path
    own: bool


def read_text(path: Path, what: str, *, as_it_is: bool = False) -> str:
    """The text of a small UTF-8 file.

    Args:
        path: the file.
        what: what it should be, such as "robot file", for the error sentence.
        as_it_is: whether line ends and a byte order mark stay, so that the text has the file's bytes.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise FileError(f"{path} is a folder; give the {what} itself.")
        if not stat.S_ISREG(status.st_mode):  # reading a pipe or a device may never end
            raise FileError(f"{path} is not a regular file; give the {what} itself.")
        size = status.st_size
        if size > MAX_BYTES:
            raise FileError(
                f"The {what} {path} has {size / 1e6:.0f} MB; at most {MAX_BYTES / 1e6:.0f} MB are read."
            )
        if as_it_is:
            return path.read_bytes().decode()
        return path.read_text(encoding="utf-8-sig")  # editors on Windows put a mark before the first byte
    except UnicodeDecodeError as error:
        raise FileError(f"The {what} {path} is not UTF-8 text (byte {error.start}).") from None
    except FileNotFoundError:
        raise FileError(f"There is no {what} at {path}.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise FileError(f"The {what} {str(path)!r} cannot be read: {reason}.") from None


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """The content of a TOML file.

    Args:
        path: the file.
        what: what it should be, for the error sentence.
    """
    text = read_text(path, what)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers and nesting beyond all bounds
        raise FileError(f"The {what} {path} is not TOML: {error}.") from None


def shipped_names(package: str, folder: str) -> tuple[str, ...]:
    """Names of the TOML files that a package carries in a folder, without their ending."""
    entries = (resources.files(package) / folder).iterdir()
    return tuple(sorted(Path(entry.name).stem for entry in entries if entry.name.endswith(".toml")))


@contextmanager
def named_file(given: str | Path, package: str, folder: str, what: str, hint: str) -> Iterator[NamedFile]:
    """A shipped file by its name, or the user's own by its path.

    Args:
        given: a name that ``shipped_names`` lists, or a path.
        package: that carries the shipped files.
        folder: of the package.
        what: what the file describes, for sentences.
        hint: what to do about a name that is not known.
    """
    text = str(given)
    if text in shipped_names(package, folder):
        with resources.as_file(resources.files(package) / folder / f"{text}.toml") as path:
            yield NamedFile(path, own=False)
        return
    try:
        path = Path(text).expanduser()
    except RuntimeError:  # "~name" of a user who does not exist
        path = Path(text)
    if not path.suffix and not os.path.exists(path):  # unlike Path.exists, says False to names that cannot be
        raise unknown_name(what, text, shipped_names(package, folder), hint)
    yield NamedFile(path, own=True)


@contextmanager
def naming_file(path: Path, what: str) -> Iterator[None]:
    """Put the file's name before the sentence of an error in what it says.

    Args:
        path: the file.
        what: what it is, such as "Robot file".
    """
    try:
        yield
    except DynidError as error:
        raise FileError(f"{what} {path.name}: {error}") from None


def toml_text(content: Mapping[str, Any]) -> str:
    """A file's text: plain values first, then a ``[table]`` per mapping and ``[[table]]`` per list of them.

    Args:
        content: keys and values; tables inside tables stand on one line, matrices have a line per row.
    """
    lines, tables = [], []
    for key, value in content.items():
        if isinstance(value, Mapping):
            tables += ["", f"[{toml_key(key)}]", *_lines(value)] if value else []
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            tables += [line for row in value for line in ("", f"[[{toml_key(key)}]]", *_lines(row))]
        else:
            lines += _lines({key: value})
    return "\n".join([*lines, *tables]).lstrip("\n") + "\n"


def _lines(row: Mapping[str, Any]) -> list[str]:
    lines = []
    for key, value in row.items():
        if isinstance(value, list) and value and isinstance(value[0], list):
            lines += [f"{toml_key(key)} = [", *(f"  {toml_value(part)}," for part in value), "]"]
        else:
            lines.append(f"{toml_key(key)} = {toml_value(value)}")
    return lines


def toml_key(name: str) -> str:
    """A key, in quotes where its characters need them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted_text(name)


def toml_value(value: Any) -> str:
    """A truth value, text, number, list or table on one line; numbers keep all their digits."""
    if isinstance(value, Mapping):
        entries = ", ".join(f"{toml_key(key)} = {toml_value(item)}" for key, item in value.items())
        return f"{{ {entries} }}" if entries else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted_text(value)
    return repr(value) if isinstance(value, int) else repr(float(value))


def _quoted_text(text: str) -> str:
    # JSON leaves the delete character as it is, which TOML does not allow in a text.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
