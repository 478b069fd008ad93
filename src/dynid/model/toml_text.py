"""Keys and values written as TOML, such that they are read back as they were."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def toml_key(name: str) -> str:
    """A key, in quotes where its characters need them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


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
        return _quoted(value)
    return repr(value) if isinstance(value, int) else repr(float(value))


def _quoted(text: str) -> str:
    # JSON leaves the delete character as it is, which TOML does not allow in a text.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
