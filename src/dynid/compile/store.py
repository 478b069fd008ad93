"""The disk cache of compiled kernels: one checked file per kernel, written atomically."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

_MAGIC = b"dynid-kernel-2\n"


def folder() -> Path | None:
    """Where kernels are kept: $DYNID_CACHE, else the user's cache folder; None when switched off ("off")."""
    chosen = os.environ.get("DYNID_CACHE")
    if chosen == "off":
        return None
    if chosen:
        return Path(chosen)
    root = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(root) if root else Path.home() / ".cache") / "dynid" / "kernels"


@cache
def source_digest() -> str:
    """Hash of the code that shapes kernels, so that a changed kernel never meets an old object."""
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for part in ("model", "dynamics", "compile"):
        for file in sorted((package / part).glob("*.py")):
            digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()


def full_key(key: str, host: str) -> str:
    """Name of the file for a program on a machine."""
    return hashlib.sha256(f"{source_digest()}\n{host}\n{key}".encode()).hexdigest()


def read(name: str) -> tuple[dict[str, Any], bytes] | None:
    """Facts and object code stored under a name; None when absent or damaged."""
    root = folder()
    if root is None:
        return None
    try:
        content = (root / f"{name}.bin").read_bytes()
    except OSError:
        return None
    head = len(_MAGIC) + 32
    if (
        content[: len(_MAGIC)] != _MAGIC
        or hashlib.sha256(content[head:]).digest() != content[len(_MAGIC) : head]
    ):
        return None
    (size,) = struct.unpack_from("<Q", content, head)
    facts = json.loads(content[head + 8 : head + 8 + size])
    return facts, content[head + 8 + size :]


def write(name: str, facts: dict[str, Any], object_code: bytes) -> None:
    """Store facts and object code; a folder that cannot be written only costs speed next time."""
    root = folder()
    if root is None:
        return
    text = json.dumps(facts).encode()
    payload = struct.pack("<Q", len(text)) + text + object_code
    content = _MAGIC + hashlib.sha256(payload).digest() + payload
    with contextlib.suppress(OSError):
        root.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=root, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(temporary, root / f"{name}.bin")
        except OSError:
            os.unlink(temporary)
            raise
