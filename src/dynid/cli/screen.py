"""What commands show to people: styled in a terminal, plain text elsewhere."""

from __future__ import annotations

import os
import sys
from typing import Any, TextIO

from dynid.core.lazy import later
from dynid.core.text import TextTable

rich_console = later("rich.console", "Console")
_table, _text = later("rich.table", "Table"), later("rich.text", "Text")


class Screen:
    """Standard output. Only a terminal needs Rich, which takes longer to load than a table to print."""

    def __init__(self) -> None:
        """Find out whether it is a terminal."""
        reconfigure = getattr(sys.stdout, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")  # an ASCII terminal shows "?" for what it lacks instead of failing
        self._terminal: Any = None
        if is_terminal(sys.stdout):
            self._terminal = rich_console(highlight=False, markup=False, emoji=False)

    def print(self, what: str | TextTable = "", style: str = "") -> None:
        """Show a line or a table; the style ("bold", "dim") is for terminals."""
        if self._terminal is None:
            print("\n".join(what.lines()) if isinstance(what, TextTable) else what)
        elif isinstance(what, TextTable):
            self._terminal.print(_rich_table(what))
        else:
            self._terminal.print(what, style=style or None)


def is_terminal(stream: TextIO) -> bool:
    """Whether someone looks on, or FORCE_COLOR says so."""
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def _rich_table(plain: TextTable) -> Any:
    made = _table(
        title=plain.title or None, title_justify="left", box=None, pad_edge=False, header_style="bold"
    )
    for column in plain.columns:
        made.add_column(_text(column), overflow="fold")
    for row in plain.rows:
        made.add_row(*(_text(cell) for cell in row))
    return made
