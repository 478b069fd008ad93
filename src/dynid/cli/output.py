"""What commands show and write: text, styled in a terminal; one JSON document; files written whole."""

from __future__ import annotations

import json
import math
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynid.cli.command import OptionGroup, option
from dynid.core.disk import replaced_file
from dynid.core.errors import FileError
from dynid.core.lazy import later
from dynid.core.text import TextTable

_console, _table, _text = (
    later("rich.console", "Console"),
    later("rich.table", "Table"),
    later("rich.text", "Text"),
)
STYLES = {"fail": "red", "care": "yellow", "note": "", "good": "dim"}
"""How a terminal shows findings, by level."""
_finding_line = later("dynid.core.finding", "finding_line")
_CLEAR_LINE = "\r\x1b[K"
"""Back to the beginning of a terminal's line, which is emptied."""


class Screen:
    """Standard output. Only a terminal needs Rich, which takes longer to load than a table to print."""

    def __init__(self) -> None:
        """Find out whether someone looks on, or FORCE_COLOR says so."""
        reconfigure = getattr(sys.stdout, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")  # an ASCII terminal shows "?" for what it lacks instead of failing
        self._terminal: Any = None
        if os.environ.get("FORCE_COLOR") or sys.stdout.isatty():
            self._terminal = _console(highlight=False, markup=False, emoji=False)

    def print(self, what: str | TextTable = "", style: str = "") -> None:
        """Show a line or a table; the style ("bold", "dim") is for terminals."""
        if self._terminal is None:
            print("\n".join(what.lines()) if isinstance(what, TextTable) else what)
        elif isinstance(what, TextTable):
            self._terminal.print(_rich_table(what))
        else:
            self._terminal.print(what, style=style or None)

    def findings(self, findings: Iterable[Mapping[str, Any]], *, named: bool = False) -> None:
        """Show all findings, one per line; they are dictionaries of ``Finding.to_dict``."""
        for finding in findings:
            self.print(_finding_line(finding, named=named), style=STYLES[finding["level"]])


def _rich_table(plain: TextTable) -> Any:
    made = _table(
        title=plain.title or None, title_justify="left", box=None, pad_edge=False, header_style="bold"
    )
    for column in plain.columns:
        made.add_column(_text(column), overflow="fold")
    for row in plain.rows:
        made.add_row(*(_text(cell) for cell in row))
    return made


@contextmanager
def progress_line(quiet: bool) -> Iterator[Callable[[str], None]]:
    """A line on standard error that says what is being done; nothing when output is for a machine."""
    if quiet or not sys.stderr.isatty():
        yield lambda text: None
        return

    def show(text: str) -> None:
        room = max(shutil.get_terminal_size().columns - 3, 10)
        sys.stderr.write(f"{_CLEAR_LINE}{text[:room]} …")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write(_CLEAR_LINE)
        sys.stderr.flush()


def print_json(document: Mapping[str, Any]) -> None:
    """Write one JSON document to standard output, and nothing else; numbers that JSON lacks become null."""
    # A stream that cannot hold ä or ² gets escapes, which are the same JSON.
    ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
    json.dump(_plain(document), sys.stdout, indent=2, ensure_ascii=ascii_only, allow_nan=False)
    sys.stdout.write("\n")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@dataclass(frozen=True)
class TextFileOptions(OptionGroup):
    """A file for what is printed otherwise."""

    out: Path | None = option(
        None, "FILE", "File to write, whole or not at all; standard output when absent."
    )
    force: bool = option(False, "", "Overwrite that file.")


def require_free(path: Path, force: bool) -> None:
    """Refuse before any work a file that could not be written after it."""
    if path.is_dir():
        raise FileError(f"{path} is a folder; give the file to write.")
    if path.exists() and not force:
        raise FileError(f"{path} exists already; add --force to overwrite it.")


def write_file(path: Path, text: str, force: bool) -> None:
    """Write a user's file whole or not at all; never over an existing one unless asked."""
    require_free(path, force)
    try:
        with replaced_file(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}.") from None


def require_free_folder(folder: Path, names: Sequence[str], force: bool) -> None:
    """Refuse before any work a folder that cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"The folder {folder} cannot be made: {error.strerror or error}.") from None
    for name in names:
        require_free(folder / name, force)


def write_files(folder: Path, texts: Mapping[str, str], force: bool) -> None:
    """Write files of a folder, each whole or not at all."""
    for name, text in texts.items():
        write_file(folder / name, text, force)


def document_text(document: Mapping[str, Any]) -> str:
    """The document as the text of a JSON file."""
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def typed_command(context: Any, groups: Sequence[OptionGroup]) -> dict[str, Any]:
    """The command line as it was typed, and the options that were given, as a document holds them."""
    options = {name: as_json_value(value) for group in groups for name, value in group.given.items()}
    return {"command": shlex.join(["dynid", *context.obj["typed"]]), "options": options}


def as_json_value(value: Any) -> Any:
    """A value of an option as JSON has it."""
    if isinstance(value, list | tuple):
        return [as_json_value(part) for part in value]
    return str(value) if isinstance(value, Path) else value
