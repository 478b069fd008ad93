"""Logs saved as NPZ: plain arrays and JSON, never pickles, and read back as they were."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from dynid.errors import FileError
from dynid.signals.log import CHANNELS, SIDES, Log, Source, Step
from dynid.signals.readers.npz import texts_of
from dynid.signals.readers.table import Table

_MARK = "dynid_log"
_SCHEMA = 1


def save_log(log: Log, path: str | Path, *, force: bool = False) -> None:
    """Write a log as NPZ, whole or not at all.

    Args:
        log: the log.
        path: the file, ending in .npz.
        force: overwrite an existing file.
    """
    target = Path(path)
    if target.suffix.lower() != ".npz":
        raise FileError(f"{target} must end in .npz.", name="path", value=target.suffix, allowed=".npz")
    if target.exists() and not force:
        raise FileError(
            f"{target} exists already; add --force to overwrite it.", name="path", value=str(target)
        )
    facts = {
        "schema": _SCHEMA,
        "name": log.name,
        "side": log.side,
        "history": [asdict(step) for step in log.history],
        "sources": [asdict(source) for source in log.sources],
    }
    arrays: dict[str, Any] = {
        "time": log.time,
        **log.channels,
        _MARK: np.array(json.dumps(facts, default=str)),
    }
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".npz")
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, **arrays)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # a temporary file is private, the user's file is not
        os.replace(temporary, target)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise FileError(
            f"{target} cannot be written: {error.strerror or error}.", name="path", value=str(target)
        ) from None


def is_saved_log(table: Table) -> bool:
    """Whether an NPZ file was written by ``save_log``."""
    return table.kind == "npz" and _MARK in table.names


def restored(table: Table, name: str | None, sources: tuple[Source, ...]) -> Log:
    """The log that was saved; the file itself joins its sources."""
    try:
        facts = json.loads(texts_of(table)[_MARK])
        side, own_name = str(facts["side"]), str(facts["name"])
        history = tuple(Step(str(s["name"]), dict(s["options"]), str(s["note"])) for s in facts["history"])
        earlier = tuple(Source(str(s["path"]), str(s["sha256"]), int(s["size"])) for s in facts["sources"])
        schema = int(facts["schema"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise FileError(
            f"{table.path} is a damaged log of dynid ({error}); give a mapping to read its arrays.",
            name="path",
        ) from None
    if schema != _SCHEMA or side not in SIDES:
        raise FileError(
            f"{table.path} is a log of schema {schema} and side {side!r}; this version reads {_SCHEMA}.",
            name="path",
            value=schema,
        )
    channels = {c: np.asarray(table.array(c), dtype=float) for c in CHANNELS if c in table.names}
    stamps = np.asarray(table.array("time"), dtype=float)
    if stamps.ndim != 1:
        raise FileError(f"The stamps of {table.path} have shape {stamps.shape}.", name="time")
    return Log(name or own_name, stamps, channels, side, history, (*earlier, *sources))
