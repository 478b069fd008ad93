"""What is being done, on a line of standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from dynid.workflow.fit import Progress


@contextmanager
def progress_line(quiet: bool) -> Iterator[Progress]:
    """A line on standard error that says what is being done; nothing when output is for a machine."""
    screen = Console(stderr=True)
    if quiet or not screen.is_terminal:
        yield lambda text: None
        return
    with screen.status("") as status:
        yield lambda text: status.update(f"{text} …")
