"""Finished answers of a long study on disk, so that a study that was cut short goes on where it stopped.

The file has one JSON value per line: a header that names the study, then a line per answer. Lines are only
appended, so that a process killed at any moment loses no more than the line it was writing.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dynid.core.disk import close_locked, lock_file, open_to_lock, sync_folder
from dynid.core.errors import DynidError, FileError

SCHEMA = "dynid.answers/1"
_SYNC_S = 1.0
"""Time between two forced writes to the disk [s]: a power cut loses at most the answers of that time."""


def json_key(task: Any) -> str:
    """A task as JSON, the usual key of its answer.

    Raises:
        DynidError: when JSON cannot hold the task.
    """
    return _text(task, "The task")


class AnswerStore:
    """The answers of one study in one file, for one process at a time; a context that closes the file.

    Args:
        path: the file; it and its folder are made if need be.
        study: digest of all that the answers depend on beside their tasks: data, options, versions.
        key: makes the key of a task, different for different tasks; JSON if none is given.
        fresh: whether to begin anew, whatever answers of this or another study are there.
        worth: whether an answer is kept, or believed when read; others, such as failures, are asked again.

    Raises:
        FileError: when the file is of another study, not ours, damaged, in use, or cannot be written.
    """

    def __init__(
        self,
        path: Path | str,
        study: str,
        *,
        key: Callable[[Any], str] = json_key,
        fresh: bool = False,
        worth: Callable[[Any], bool] = lambda answer: True,
    ) -> None:
        """Open and lock the file, and read the answers in it."""
        self.path, self.study, self.key, self.worth = Path(path), study, key, worth
        self._answers: dict[str, Any] = {}
        self._synced = time.monotonic()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._handle: int | None = open_to_lock(self.path)
        except OSError as error:
            raise self._failure(error) from None
        try:
            self._begin(self._handle, fresh)
        except OSError as error:
            self._release()
            raise self._failure(error) from None
        except BaseException:
            self._release()
            raise

    def _begin(self, handle: int, fresh: bool) -> None:
        """Lock the file, read what is there and cut off a line that was not finished."""
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise FileError(f"{self.path} is not a regular file; give another one for the answers.")
        if not lock_file(handle):
            raise FileError(
                f"Another dynid process is using {self.path}; wait for its end or choose another folder."
            )
        header = _line({"schema": SCHEMA, "study": self.study})
        with open(handle, "rb", closefd=False) as file:
            content = file.read()
        whole = 0 if header.startswith(content) and content != header else self._read(content, fresh)
        os.ftruncate(handle, whole)
        os.lseek(handle, whole, os.SEEK_SET)
        if not whole:
            self._write(header)
            os.fsync(handle)
            sync_folder(self.path.parent)

    def _read(self, content: bytes, fresh: bool) -> int:
        """Take the answers of a file; returns the bytes that stay."""
        first, *lines = content.splitlines(keepends=True)
        header = _value(first)
        if not isinstance(header, dict) or header.get("schema") != SCHEMA:
            raise FileError(
                f"{self.path} is not a file of answers ({SCHEMA}), so nothing is written to it; move it "
                "away or choose another folder."
            )
        if fresh:
            return 0
        if header.get("study") != self.study:
            raise FileError(
                f"{self.path} holds answers of another study (other data, options or version); add --force "
                "to begin anew, or choose another folder."
            )
        whole = len(first)
        for number, line in enumerate(lines, 2):
            entry = _value(line)
            if not (isinstance(entry, dict) and isinstance(entry.get("task"), str) and "answer" in entry):
                if number == len(lines) + 1:
                    break  # the process was killed while it wrote this line
                raise FileError(
                    f"Line {number} of {self.path} is damaged; add --force to begin anew, or remove the line."
                )
            if self.worth(entry["answer"]):
                self._answers[entry["task"]] = entry["answer"]
            whole += len(line)
        return whole

    def __len__(self) -> int:
        """Number of answers kept."""
        return len(self._answers)

    def __contains__(self, key: str) -> bool:
        """Whether the answer with a key is kept."""
        return key in self._answers

    def __getitem__(self, key: str) -> Any:
        """The answer with a key."""
        return self._answers[key]

    def keep(self, key: str, answer: Any) -> Any:
        """Append an answer to the file.

        Args:
            key: of its task.
            answer: numbers, texts, lists and tables of them; arrays become lists. NaN and infinity stay.

        Returns:
            The answer as it will be read again.

        Raises:
            DynidError: when JSON cannot hold the answer.
            FileError: when the file cannot be written.
        """
        text = _text(answer, f"The answer to {key}")
        if not self.worth(answer):
            return json.loads(text)
        try:
            self._write(f'{{"task": {json.dumps(key)}, "answer": {text}}}\n'.encode())
            if time.monotonic() - self._synced >= _SYNC_S:
                self._sync()
        except OSError as error:
            raise self._failure(error) from None
        self._answers[key] = json.loads(text)
        return self._answers[key]

    def forget(self, key: str) -> None:
        """Ask again for the answer with a key."""
        self._answers.pop(key, None)

    def close(self) -> None:
        """Force all answers to disk and let other processes use the file."""
        if self._handle is None:
            return
        try:
            self._sync()
        except OSError as error:
            raise self._failure(error) from None
        finally:
            self._release()

    def __enter__(self) -> Self:
        """The store itself; the file is open since it was made."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file; an error on the way out does not hide the one that led here."""
        with contextlib.suppress(FileError) if error else contextlib.nullcontext():
            self.close()

    def _write(self, line: bytes) -> None:
        if self._handle is None:
            raise DynidError(f"The answers in {self.path} are closed; open them again to keep another one.")
        end = os.lseek(self._handle, 0, os.SEEK_CUR)
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._handle, rest) :]
        except BaseException:  # a full disk or Ctrl-C: no later line may follow a part of this one
            os.ftruncate(self._handle, end)
            os.lseek(self._handle, end, os.SEEK_SET)
            raise

    def _sync(self) -> None:
        if self._handle is not None:
            os.fsync(self._handle)
        self._synced = time.monotonic()

    def _release(self) -> None:
        if self._handle is not None:
            close_locked(self._handle)
        self._handle = None

    def _failure(self, error: OSError) -> FileError:
        return FileError(f"Answers cannot be kept in {self.path}: {error.strerror or error}.")


def _value(line: bytes) -> Any:
    """What a line says; None when it is not whole."""
    if not line.endswith(b"\n"):
        return None
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _line(entry: Any) -> bytes:
    return f"{json.dumps(entry)}\n".encode()


def _text(value: Any, what: str) -> str:
    try:
        return json.dumps(value, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise DynidError(f"{what} cannot be kept as JSON: {error}.") from None


def _plain(value: Any) -> Any:
    """Arrays and numbers of NumPy, which need not be loaded for that."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is neither a number, a text, a list nor a table")
