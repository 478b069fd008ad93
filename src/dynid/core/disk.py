"""Files written whole or not at all, and read without surprises from links, pipes or other users."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_BINARY = getattr(os, "O_BINARY", 0)  # Windows would translate line ends
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # opening a pipe must not wait for its writer
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)
"""What file systems without locks answer; there, writers are not kept apart."""
_LOCKED_BY_OTHERS = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
_held: set[int] = set()


def _close_in_child() -> None:
    """A worker process must not keep the lock of its parent after the parent's death."""
    for handle in _held:
        os.close(handle)
    _held.clear()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_close_in_child)


def part_name(token: str, name: str) -> str:
    """What a file is called until it takes its place: hidden, and recognisable as ours.

    Args:
        token: 16 hexadecimal digits of ``new_token``.
        name: what it will be called.
    """
    return f".dynid-{token}-{name}"


def new_token() -> str:
    """16 hexadecimal digits that no other process has."""
    return secrets.token_hex(8)


def create_file(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a new file and force it to disk.

    Args:
        path: a name that is free; a file or link there is neither followed nor changed.
        content: all of it.
        mode: permissions, which the process's umask may lessen.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def replaced_file(path: Path) -> Iterator[BinaryIO]:
    """A new file, open for writing, that takes the place of an old one in one step once all is written.

    Readers see the old content or the new one, never a part; when writing fails, the old file stays.

    Args:
        path: the file; a link keeps leading to the file that is replaced.
    """
    target = Path(os.path.realpath(path))
    part = target.with_name(part_name(new_token(), target.name))
    try:
        with open(part, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(part)


def sync_folder(folder: Path) -> None:
    """Force the names in a folder to disk, where the system can (not on Windows)."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_regular(path: Path, largest: int, *, private: bool = False) -> bytes:
    """The content of a regular file; never waits, as it would for a pipe or a device.

    Args:
        path: the file.
        largest: size above which it is refused [bytes].
        private: also refuse links, and files that another user owns or has any right to (POSIX).

    Raises:
        OSError: when it cannot be read or is refused.
    """
    handle = os.open(path, os.O_RDONLY | _BINARY | _NO_WAIT | (_NO_LINK if private else 0))
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path} is not a regular file")
        if status.st_size > largest:
            raise OSError(f"{path} has {status.st_size} bytes, more than the {largest} allowed")
        if private and not is_own(status, closed=0o077):
            raise OSError(f"{path} is not private to this user")
        with open(handle, "rb", closefd=False) as file:
            return file.read(largest)
    finally:
        os.close(handle)


def is_own(status: os.stat_result, *, closed: int = 0) -> bool:
    """Whether this user owns a file or folder and others lack some rights.

    Windows has neither numbers of owners nor such rights; there the user's folders are private anyway.

    Args:
        status: of the file or folder.
        closed: bits of the mode that must not be set, such as 0o022: writing by others.
    """
    return not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & closed)


def open_to_lock(path: Path) -> int:
    """A handle of a file for reading and writing, made if need be; a link or a pipe is not followed.

    Args:
        path: the file; its folder must be there.
    """
    return os.open(path, os.O_RDWR | os.O_CREAT | _BINARY | _NO_WAIT | _NO_LINK, 0o666)


def lock_file(handle: int) -> bool:
    """Keep other processes away from a file until ``close_locked``, or until this process dies.

    Args:
        handle: of the file, from ``open_to_lock``; stays open also when it cannot be locked.

    Returns:
        False when another process has it. Where the file system knows no locks, always True.
    """
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _LOCKED_BY_OTHERS:
            return False
        if error.errno not in _NO_LOCKS:
            raise
    _held.add(handle)
    return True


def close_locked(handle: int) -> None:
    """Close a file of ``open_to_lock`` and give it free for others."""
    _held.discard(handle)
    os.close(handle)
