"""The disk cache of compiled kernels: machine code that only this user can have written.

What is read here is run. So the folder must be this user's own and closed to others, a file must be regular,
private and carry the right checksum, and links are not followed. Where such a folder cannot be had, there is
no cache, and kernels are compiled in memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import struct
from functools import cache
from pathlib import Path
from typing import Any

from dynid.core.disk import create_file, is_own, read_regular

_MAGIC = b"dynid-kernel-3\n"
_LARGEST = 1 << 28
"""Bytes of the largest file that is read; kernels of large robots have some megabytes."""


def folder() -> Path | None:
    """Where kernels are kept: $DYNID_CACHE, else the user's cache folder.

    None when switched off (``DYNID_CACHE=off``) or when the user has no home.
    """
    chosen = os.environ.get("DYNID_CACHE")
    if chosen == "off":
        return None
    if chosen:
        return Path(chosen)
    root = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return (Path(root) if root else Path.home() / ".cache") / "dynid" / "kernels"
    except RuntimeError:  # neither HOME nor an entry among the system's users
        return None


def private_folder() -> Path | None:
    """The folder, made if need be, when nobody else can write to it; None otherwise."""
    root = folder()
    if root is None:
        return None
    try:
        for place in (*reversed(root.parents), root):
            if not place.exists():
                place.mkdir(mode=0o700, exist_ok=True)
        status = os.lstat(root)
        if not stat.S_ISDIR(status.st_mode) or not is_own(status):
            return None
        if not is_own(status, closed=0o022):
            if os.environ.get("DYNID_CACHE"):
                return None  # the user's folder, shared on purpose perhaps
            os.chmod(root, 0o700)  # ours, made by an earlier version under a lax umask
    except OSError:
        return None
    return root


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
    """Facts and object code stored under a name; None when absent, damaged or not surely ours."""
    root = private_folder()
    if root is None:
        return None
    try:
        content = read_regular(root / f"{name}.bin", _LARGEST, private=True)
    except OSError:
        return None
    head = len(_MAGIC) + 32
    if content[:head] != _MAGIC + _checksum(name, content[head:]):
        return None
    (size,) = struct.unpack_from("<Q", content, head)
    facts = json.loads(content[head + 8 : head + 8 + size])
    return facts, content[head + 8 + size :]


def write(name: str, facts: dict[str, Any], object_code: bytes) -> None:
    """Store facts and object code; a folder that cannot be written only costs speed next time."""
    root = private_folder()
    if root is None:
        return
    text = json.dumps(facts).encode()
    payload = struct.pack("<Q", len(text)) + text + object_code
    # One fixed name per kernel, so that a killed process leaves at most one such file. Two writers at once
    # may mix them up; the checksum tells.
    part = root / f"{name}.part"
    with contextlib.suppress(OSError):
        part.unlink(missing_ok=True)
        create_file(part, _MAGIC + _checksum(name, payload) + payload, mode=0o600)
        os.replace(part, root / f"{name}.bin")


def _checksum(name: str, payload: bytes) -> bytes:
    """Hash of a file's content and of its name: no file can stand for another one."""
    return hashlib.sha256(name.encode() + payload).digest()
