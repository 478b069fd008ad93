"""Reading small files with suspicion: existence, size and encoding are checked before any parser."""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dynid.core.errors import FileError, ModelError, UnknownNameError

MAX_BYTES = 20_000_000


def read_text(path: Path, what: str) -> str:
    """The text of a small UTF-8 file.

    Args:
        path: the file.
        what: what it should be, such as "robot file", for the error sentence.
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


@contextmanager
def naming_file(path: Path, what: str = "Robot file") -> Iterator[None]:
    """Put the file's name before the sentence of an error in the robot or the drives it describes."""
    try:
        yield
    except (ModelError, UnknownNameError) as error:
        raise type(error)(f"{what} {path.name}: {error}") from None
