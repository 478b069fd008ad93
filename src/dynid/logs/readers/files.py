"""Files of logs, looked at with suspicion before any parser sees a byte."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dynid.core.errors import DynidError, FileError
from dynid.logs.log import Source

MAX_BYTES = 50_000_000_000
"""Size of the largest file that is opened."""
MAX_VALUES = 1_000_000_000
"""Numbers of the largest array that is held in memory at once."""
_HASHED_AT_ONCE = 1 << 20


def require_file(path: Path) -> int:
    """Refuse what is no readable, regular, non-empty file of a sane size; returns its size in bytes."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise FileError(f"There is no log at {path}.") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
        raise FileError(f"The log {str(path)!r} cannot be read: {error}.") from None
    if stat.S_ISDIR(status.st_mode):
        raise FileError(f"{path} is a folder; give the log file itself.")
    if not stat.S_ISREG(status.st_mode):  # reading a pipe or a device may never end
        raise FileError(f"{path} is not a regular file; give the log file itself.")
    if status.st_size == 0:
        raise FileError(f"The log {path} is empty.")
    if status.st_size > MAX_BYTES:
        raise FileError(
            f"The log {path} has {status.st_size / 1e9:.0f} GB; at most {MAX_BYTES / 1e9:.0f} GB are read."
        )
    return status.st_size


def require_memory(values: int, what: str) -> None:
    """Refuse arrays that would not fit, before they are made."""
    if values > MAX_VALUES:
        raise FileError(
            f"{what} holds {values:.3g} numbers; at most {MAX_VALUES:.0e} are read at once, so read it in "
            "chunks."
        )


def source_of(path: Path) -> Source:
    """The file with its hash, for the record."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_HASHED_AT_ONCE):
            digest.update(block)
    return Source(str(path), digest.hexdigest(), path.stat().st_size)


@contextmanager
def parsing(path: Path, what: str) -> Iterator[None]:
    """Turn whatever a parser throws at a damaged or hostile file into one sentence.

    Args:
        path: the file being parsed.
        what: what it should be, such as "an NPZ file".
    """
    try:
        yield
    except DynidError:
        raise
    except ImportError as error:
        raise FileError(
            f"Reading {path.name} needs the package {error.name!r}; install dynid with its logs extra."
        ) from None
    except Exception as error:  # parsers of third parties throw anything at damaged files
        reason = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        raise FileError(f"{path} cannot be read as {what}: {reason}.") from None
