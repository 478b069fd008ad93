"""What commands write: one JSON document, files written whole."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dynid.core.errors import FileError


def print_json(document: Mapping[str, Any]) -> None:
    """Write one JSON document to standard output, and nothing else; numbers that JSON lacks become null."""
    # A stream that cannot hold ä or ² gets escapes, which are the same JSON.
    ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
    json.dump(_plain(document), sys.stdout, indent=2, ensure_ascii=ascii_only, allow_nan=False)
    sys.stdout.write("\n")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def write_file(path: Path, text: str, force: bool) -> None:
    """Write a user's file whole or not at all; never over an existing one unless asked."""
    if path.is_dir():
        raise FileError(f"{path} is a folder; give the file to write.")
    if path.exists() and not force:
        raise FileError(f"{path} exists already; add --force to overwrite it.")
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o666 & ~_umask())  # a temporary file is private, the user's file is not
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        reason = error.strerror or error
        raise FileError(f"{path} cannot be written: {reason}.") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
