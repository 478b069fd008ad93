"""What is being done, on a line of standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from dynid.cli.screen import is_terminal, rich_console
from dynid.workflow.fit import Progress


@contextmanager
def progress_line(quiet: bool) -> Iterator[Progress]:
    """A line on standard error that says what is being done; nothing when output is for a machine."""
    if quiet or not is_terminal(sys.stderr):
        yield lambda text: None
        return
    with rich_console(stderr=True).status("") as status:
        yield lambda text: status.update(f"{text} …")
