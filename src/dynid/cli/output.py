"""What commands write: one JSON document, files written whole."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dynid.core.disk import replaced_file
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
    try:
        with replaced_file(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}.") from None
