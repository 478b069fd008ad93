"""The result folder as a place: one writer at a time, and a whole result at every moment.

A save writes its files beside the old ones under names of their own (``.dynid-…-arrays.npz``), forces them to
disk, and then replaces ``result.json`` in one step. That file names the others with size and SHA-256, so from
that step on the new result counts. Only then do the new files take the place of the old ones. Who reads
follows ``result.json`` and so gets the old result or the new one, also after a crash at any point; what a
crash leaves behind is settled by the next save. Nothing else in the folder is ever touched.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dynid.core.disk import (
    close_locked,
    create_file,
    lock_file,
    new_token,
    open_to_lock,
    part_name,
    read_regular,
    sync_folder,
)
from dynid.core.errors import FileError

SCHEMA = 2
READABLE = (1, 2)
"""Schemas of ``result.json`` that are read; files of schema 1 name no other files."""
RESULT, ARRAYS, REPORT, PARAMETERS = "result.json", "arrays.npz", "report.html", "parameters.csv"
ROBOT_FILES = {"urdf": "robot.urdf", "mjcf": "robot.xml"}
"""The user's robot file as it was read, by its form."""
NAMES = (RESULT, ARRAYS, REPORT, PARAMETERS)
"""The files that every result has."""
OUR_NAMES = (*NAMES, *ROBOT_FILES.values())
"""The files that belong to a result; all other files of the folder are the user's."""
LARGEST = 1 << 28
"""Bytes of the largest file that is read, and of all arrays unpacked: a hundred times what fits have."""
_LOCK = ".dynid-lock"
_PART = re.compile(rf"\.dynid-[0-9a-f]{{16}}-({'|'.join(map(re.escape, OUR_NAMES))})")
_OUR_START = re.compile(rb'\{\s*"schema": \d+,\s*"save": "[0-9a-f]{16}",\s*"files": \{')
_ATTEMPTS = 100
"""Looks at a folder that other processes change in between."""


@contextlib.contextmanager
def reserved_folder(folder: Path, *, force: bool = False, inputs: Iterable[Path] = ()) -> Iterator[None]:
    """Keep other writers out of a result folder; taken before the work starts, so that none is lost.

    The folder is made if need be, and taken away again when nothing was saved.

    Args:
        folder: where a result shall be saved; a link to a folder is followed.
        force: whether a result in it may be replaced.
        inputs: files that the work reads and that must not be replaced.

    Raises:
        FileError: when it is taken, is no result folder, holds an input under one of our names, or cannot be
            written.
    """
    try:
        _refuse_occupied(folder, force)  # before anything is made in a folder of somebody else
        made = [place for place in (folder, *folder.parents) if not place.exists()]
        handle = _lock(folder)
    except OSError as error:
        raise _write_error(folder, error) from None
    try:
        _refuse_occupied(folder, force)
        _refuse_foreign(folder)
        _refuse_inputs(folder, inputs)
        yield
    finally:
        with contextlib.suppress(OSError):
            _settle(folder)
        _unlock(folder, handle)
        with contextlib.suppress(OSError):
            for place in made:
                place.rmdir()  # only if it is empty


def replace_result(folder: Path, content: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
    """Replace the result of a reserved folder.

    Args:
        folder: inside ``reserved_folder``.
        content: what ``result.json`` shall say beside the table of files.
        files: content of the other files by their names.

    Raises:
        FileError: when it failed; the sentence says which result counts.
    """
    token = new_token()
    table = {name: {"size": len(c), "sha256": hashlib.sha256(c).hexdigest()} for name, c in files.items()}
    text = _lines({"schema": SCHEMA, "save": token, "files": table, **content}, levels=3)
    try:
        _settle(folder)
        for name, data in {**files, RESULT: text.encode()}.items():
            create_file(folder / part_name(token, name), data)
        sync_folder(folder)
        os.replace(folder / part_name(token, RESULT), folder / RESULT)  # from here on, the new result counts
    except OSError as error:
        raise _write_error(folder, error) from None
    try:
        sync_folder(folder)
        for name in files:
            os.replace(folder / part_name(token, name), folder / name)
    except OSError as error:
        raise FileError(
            f"The result is saved in {folder}, but not all of {', '.join(files)} could be replaced "
            f"({error.strerror or error}); close them where they are open, and run it again with "
            "--force (force=True)."
        ) from None


def read_result(folder: Path) -> tuple[dict[str, Any], bytes]:
    """Content of ``result.json`` and of the arrays that belong to it.

    Raises:
        FileError: when it is no result folder, damaged, or of another schema.
    """
    text = b""
    for _ in range(_ATTEMPTS):
        before, text = text, _read(folder, RESULT)
        content = _json_content(folder, text)
        arrays = file_of_result(folder, content, ARRAYS)
        if arrays is not None:
            return content, arrays
        if text == before:  # otherwise another process has just saved a new result
            break
    raise damaged_result(folder, f"{ARRAYS} was changed or removed since it was saved")


def damaged_result(folder: Path, reason: str) -> FileError:
    """The error for a result that cannot be used."""
    return FileError(f"The result in {folder} is damaged ({reason.rstrip('.')}); fit again.")


def _read(folder: Path, name: str) -> bytes:
    try:
        return read_regular(folder / name, LARGEST)
    except (FileNotFoundError, NotADirectoryError):
        reason = "it is a file" if folder.is_file() else f"it has no {name}"
        raise FileError(f"{folder} is not a dynid result folder: {reason}.") from None
    except OSError as error:
        raise damaged_result(folder, f"{name}: {error.strerror or error}") from None


def _json_content(folder: Path, text: bytes) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged_result(folder, f"{RESULT}: {error}") from None
    given = content.get("schema") if isinstance(content, dict) else None
    if given not in READABLE:
        known = " and ".join(map(str, READABLE))
        raise FileError(f"The result in {folder} has schema {given}; this version reads schemas {known}.")
    assert isinstance(content, dict)
    return content


def file_of_result(folder: Path, content: Mapping[str, Any], name: str) -> bytes | None:
    """The content of a file that ``result.json`` names; None when there is only another one.

    A save may have been cut short, or go on right now, so that it does not have its final name yet.

    Args:
        folder: the result folder.
        content: of ``result.json``.
        name: one of ``OUR_NAMES``.
    """
    if content["schema"] == 1:
        return _read(folder, name)
    try:
        token, facts = str(content["save"]), content["files"][name]
        size, digest = facts["size"], facts["sha256"]
    except (KeyError, TypeError):
        raise damaged_result(folder, f"{RESULT} does not name its files") from None
    part = part_name(token, name)
    for place in (part, name) if _PART.fullmatch(part) else (name,):
        with contextlib.suppress(OSError):
            found = read_regular(folder / place, LARGEST)
            if len(found) == size and hashlib.sha256(found).hexdigest() == digest:
                return found
    return None


def _refuse_occupied(folder: Path, force: bool) -> None:
    """Stop unless the folder is free, or holds a result that may be replaced."""
    try:
        names = [name for name in os.listdir(folder) if name != _LOCK and not _PART.fullmatch(name)]
    except (FileNotFoundError, NotADirectoryError):
        names = [folder.name] if folder.is_file() else []
        if not names and folder.is_symlink():
            raise FileError(
                f"{folder} is a link that leads nowhere; remove it or choose another folder (--out)."
            ) from None
    if names and not force:
        raise FileError(
            f"{folder} exists already; choose another folder (--out), or add --force (force=True) to "
            "replace it."
        )
    if names and RESULT not in names:
        raise FileError(
            f"{folder} is not a dynid result folder, so --force (force=True) does not replace it."
        )


def _refuse_foreign(folder: Path) -> None:
    """Stop where a name of ours belongs to something else: a link, a folder, another program's file."""
    for place in (folder / name for name in OUR_NAMES):
        if place.is_symlink() or (place.exists() and not place.is_file()):
            raise FileError(
                f"{place} is not a regular file, so --force (force=True) does not replace it; move it away."
            )
    if (folder / RESULT).exists() and not _is_ours(_read(folder, RESULT)):
        raise FileError(
            f"The {RESULT} in {folder} is damaged or not written by dynid, so --force (force=True) does not "
            "replace it; remove it or choose another folder (--out)."
        )


def _is_ours(text: bytes) -> bool:
    """Whether a ``result.json`` is one of dynid: by its first lines, or by its keys where it was edited."""
    if _OUR_START.match(text):
        return True
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and {"schema", "robot_file", "document"} <= content.keys()


def _refuse_inputs(folder: Path, inputs: Iterable[Path]) -> None:
    ours = [place for place in (folder, *(folder / name for name in OUR_NAMES)) if place.exists()]
    for given in inputs:
        if given.exists() and any(os.path.samefile(given, place) for place in ours):
            raise FileError(
                f"{given} is read here and would be replaced by the result in {folder}; choose another "
                "folder (--out)."
            )


def _settle(folder: Path) -> None:
    """Finish or undo what a save that was cut short has left: files of the result take their places.

    Args:
        folder: reserved.
    """
    with os.scandir(folder) as entries:
        parts = [e.name for e in entries if _PART.fullmatch(e.name) and e.is_file(follow_symlinks=False)]
    if not parts:
        return
    content: dict[str, Any] = {}
    with contextlib.suppress(FileError):
        content = _json_content(folder, _read(folder, RESULT))
    token, table = str(content.get("save")), content.get("files")
    named = [name for name in OUR_NAMES if isinstance(table, dict) and name in table]
    places = {part_name(token, name): name for name in named}
    for part in parts:
        if part in places:
            os.replace(folder / part, folder / places[part])
        else:
            os.unlink(folder / part)


def _lock(folder: Path) -> int:
    """A handle that keeps other writers out until it is closed, or until this process dies."""
    for _ in range(_ATTEMPTS):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle = open_to_lock(folder / _LOCK)
        except (FileNotFoundError, FileExistsError):  # another process has just taken the empty folder away
            continue
        try:
            if not lock_file(handle):
                raise FileError(
                    f"Another dynid process is writing to {folder}; wait for its end or choose another "
                    "folder (--out)."
                )
            if os.path.samestat(os.fstat(handle), os.stat(folder / _LOCK)):
                return handle
        except FileNotFoundError:  # the one who had the lock has just removed its file
            pass
        except BaseException:
            close_locked(handle)
            raise
        close_locked(handle)
    raise OSError(errno.EAGAIN, "other processes keep changing it")


def _unlock(folder: Path, handle: int) -> None:
    with contextlib.suppress(OSError):
        os.unlink(folder / _LOCK)  # while it is held: who opened it before finds out that it is gone
    close_locked(handle)
    if sys.platform == "win32":  # where a file that is open cannot be removed
        with contextlib.suppress(OSError):
            os.unlink(folder / _LOCK)


def _write_error(folder: Path, error: OSError) -> FileError:
    return FileError(f"The result cannot be written to {folder}: {error.strerror or error}.")


def _lines(value: Any, levels: int, indent: str = "") -> str:
    """JSON with entries on lines of their own down to a level; below it, such as a curve, all on one line."""
    if not levels or not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    inner = indent + " "
    if isinstance(value, dict):
        entries = [
            f"{json.dumps(k, ensure_ascii=False)}: {_lines(v, levels - 1, inner)}" for k, v in value.items()
        ]
    else:
        entries = [_lines(v, levels - 1, inner) for v in value]
    left, right = "{}" if isinstance(value, dict) else "[]"
    body = f",\n{inner}".join(entries)
    return f"{left}\n{inner}{body}\n{indent}{right}"
