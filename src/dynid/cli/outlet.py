"""Standard output whose reader may leave: what is said after that is dropped, and nothing else changes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast


class Outlet:
    """A stream that takes a broken pipe for "enough", so that a command ends with its own exit code.

    Args:
        stream: the stream to write to.
    """

    def __init__(self, stream: Any) -> None:
        """Start with a reader."""
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, or drop the text when the reader has left."""
        try:
            self._stream.write(text)
        except BrokenPipeError:
            self._drain()
        return len(text)

    def flush(self) -> None:
        """Flush, or drop what is left when the reader has left."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._drain()

    def _drain(self) -> None:
        """Lead the stream nowhere; else Python would complain again while it shuts down."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        """Everything else is the stream's."""
        return getattr(self._stream, name)


@contextmanager
def patient_output() -> Iterator[None]:
    """Let standard output be an ``Outlet`` for a while."""
    stream = sys.stdout
    outlet = Outlet(stream)
    sys.stdout = cast(TextIO, outlet)
    try:
        yield
    finally:
        outlet.flush()
        sys.stdout = stream
