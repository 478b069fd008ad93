"""A run that is followed, as lines: NDJSON for programs, a sentence now and then without a terminal."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from dynid.cli.output import require_free
from dynid.core.errors import FileError
from dynid.core.plain import plain
from dynid.report.live_history import LiveHistory, LiveRecord


class RecordLines:
    """Live records as newline-delimited JSON: one line each, flushed, null for what is not a number.

    Args:
        stream: takes bytes.
        what: its name, for sentences.
    """

    def __init__(self, stream: IO[bytes], what: str = "The output") -> None:
        """Start with somebody reading."""
        self._stream, self._what = stream, what
        self.open = True

    def write(self, record: LiveRecord) -> bool:
        """Write one line; False when nobody reads any more, and from then on.

        Raises:
            FileError: when the disk is full, or whatever else keeps a line from being written.
        """
        if self.open:
            line = json.dumps(plain(record), separators=(",", ":"), allow_nan=False)
            try:
                self._stream.write(line.encode() + b"\n")
                self._stream.flush()
            except BrokenPipeError:
                self.open = False
            except OSError as error:
                raise FileError(f"{self._what} cannot be written: {error.strerror or error}.") from None
        return self.open


@contextmanager
def record_file(path: Path, force: bool) -> Iterator[RecordLines]:
    """A file of records, which can be read while it grows.

    Args:
        path: the file.
        force: whether an existing one is overwritten.
    """
    require_free(path, force)
    try:
        # "x" holds against a file that appears between the look and the opening.
        stream = path.open("wb" if force else "xb")
    except FileExistsError:
        raise FileError(f"{path} exists already; add --force to overwrite it.") from None
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}.") from None
    with stream:
        yield RecordLines(stream, str(path))


@contextmanager
def record_output() -> Iterator[RecordLines]:
    """Records to standard output; its reader may leave, which ends the command with its own exit code."""
    # The command's text stream takes a broken pipe for "enough" without a word; the bytes below it tell.
    lines = RecordLines(sys.stdout.buffer)
    try:
        yield lines
    finally:
        if not lines.open:  # what is still in the buffer goes nowhere, or Python would complain at its end
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)


def status_line(history: LiveHistory) -> str:
    """How a run goes, in one line.

    Args:
        history: with one record at least.
    """
    last, first = history.last, history.first
    if last is None or first is None:
        return "no record yet"
    parts = [
        f"{last['t'] - first['t']:.1f} s",
        f"rows used {last['used']}",
        f"χ² {three_digits(last['innovation'])}",
        f"torque errors [%] {' '.join(three_digits(percent) for _, percent in history.torque_errors())}",
    ]
    return ", ".join([*parts, *lost_counts(last["counts"]), f"events {history.event_count}"])


def event_line(event: LiveRecord, start: float) -> str:
    """An event in one line, with its number and its time since the start of the run [s]."""
    level = "" if event["level"] == "note" else f"{event['level']}: "
    return f"{level}event {event['number']} at {event['t'] - start:.1f} s, {event['name']}: {event['text']}"


def lost_counts(counts: LiveRecord) -> Sequence[str]:
    """The counts of samples that were not taken as they should come; those at zero are left out."""
    return [f"{key.replace('_', ' ')} {n}" for key, n in counts.items() if n and key != "received"]


def three_digits(value: float | None) -> str:
    """A number with three significant digits, – for none."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:.3g}".replace("-", "−")
