"""How a command was run, for the result folder: what was typed, and the files it read beside the logs."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from dynid.core.files import read_text


def as_typed(context: typer.Context) -> str:
    """The command line as it was typed."""
    typed = (context.find_root().obj or {}).get("typed", [])
    return shlex.join(["dynid", *typed])


def run_facts(context: typer.Context, robot: str, mapping: Path | None) -> dict[str, Any]:
    """Command, options, and the robot and mapping files with their hashes; the mapping with its text too.

    Args:
        context: the command's context.
        robot: a name of the catalog or a file.
        mapping: what the columns of the logs are, or None.
    """
    return {
        "command": as_typed(context),
        "options": {name: _plain(value) for name, value in context.params.items()},
        "robot_source": {"given": robot, "sha256": _file_hash(Path(robot))},
        "mapping": None if mapping is None else _text_file(mapping, "mapping"),
    }


_MAY_BE_FOLDERS = ("logs", "validate", "prior")
"""Options that name a file or a folder; any other text may only happen to be the name of a folder."""


def input_paths(context: typer.Context) -> list[Path]:
    """Files and folders that a command reads, as far as its options name them."""
    found: list[Path] = []
    for name, value in context.params.items():
        for item in value if isinstance(value, list | tuple) else [value]:
            path = Path(item) if isinstance(item, str | Path) and name != "out" else None
            if path is not None and (path.is_file() or name in _MAY_BE_FOLDERS):
                found.append(path)
    return found


def _file_hash(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def _text_file(path: Path, what: str) -> Mapping[str, str | None]:
    return {"path": str(path), "sha256": _file_hash(path), "text": read_text(path, what)}


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value
