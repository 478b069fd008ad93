"""The process of one command: interruptions while it loads, settings before NumPy, output that may close.

Imported before anything heavy.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO, cast

INTERRUPTED = "Interrupted."
_INTERRUPTED_CODE = 1
_YOUNG = 100_000
"""Objects made before the garbage collector looks for cycles: commands make few of them and end soon."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Options of glibc's ``mallopt``."""
_KEPT_BYTES = 32_000_000
"""Arrays up to this size are taken from the heap, and as much freed memory stays with the process."""


def settle() -> None:
    """Take what one command on one log needs: one BLAS thread, rare collections, memory used again."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        # Our dense problems are small: BLAS's threads would spend their time waiting for each other.
        os.environ.setdefault(name, "1")
    gc.set_threshold(_YOUNG, 20, 100)
    _keep_memory()


def _keep_memory() -> None:
    """Do not hand arrays of some megabytes back and forth: every first touch of a page costs a fault."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, TypeError, AttributeError):  # not glibc
        return
    mallopt(_MMAP_THRESHOLD, _KEPT_BYTES)
    mallopt(_TRIM_THRESHOLD, 2 * _KEPT_BYTES)


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


def _interrupted_while_loading(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """One sentence instead of a traceback; once a command runs, ``dynid.cli.main`` sees to Ctrl-C itself."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    if "--json" in sys.argv:
        sys.stdout.write(f'{{"error": "{INTERRUPTED}", "exit_code": {_INTERRUPTED_CODE}}}\n')
        sys.stdout.flush()
    sys.stderr.write(f"dynid: {INTERRUPTED}\n")
    sys.stderr.flush()
    os._exit(_INTERRUPTED_CODE)  # Python would leave with a code of its own


_program = Path(sys.argv[0]) if sys.argv else Path()
if _program.stem == "dynid" or _program.parts[-3:] == ("dynid", "cli", "main.py"):
    # Only where dynid is the program: others who import it keep their own ways.
    sys.excepthook = _interrupted_while_loading
