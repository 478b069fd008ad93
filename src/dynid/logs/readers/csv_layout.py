"""How a CSV file is written: encoding, comments, delimiter, preamble, names and units, found from its first
lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dynid.core.errors import FileError
from dynid.logs.log import Step
from dynid.logs.mapping import CsvOptions
from dynid.logs.readers.dates import Dates, find_dates, is_date
from dynid.logs.readers.table import file_errors, require_file
from dynid.logs.words import bare_unit, known_unit

_NOT_TEXT = bytes({*range(1, 32)} - {*b"\t\n\f\r"})
"""Bytes that no text holds."""
_LOOKED_AT = 256_000
"""Bytes that the layout is found from."""
LAYOUT_ROWS, FEWEST_SOUND = 50, 10
"""Rows that it is found from, at most; and sound ones that show that another is damaged, at least."""
_MAX_COLUMNS = 10_000
_CANDIDATES = (";", "\t", ",", " ")
"""Delimiters in the order in which they are tried: a comma may be a decimal sign, a space a filler."""
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
BLANK = frozenset({"", "nan", "na", "n/a", "null", "none", "-nan", "nan(ind)", "-nan(ind)"})
"""Cells that stand for a missing value."""
SKIP = "Should the names stand further down, give skip_lines in [csv] of a mapping."


@dataclass(frozen=True)
class Above:
    """Rows above the data: how many before the names and after them, and whether those after are units."""

    preamble: int
    below: int = 0
    units: bool = False


@dataclass(frozen=True)
class Layout:
    """How a CSV file is written.

    Args:
        names: one name per column; their numbers where the file has no header.
        delimiter: between cells; " " stands for any run of spaces.
        decimal: "." or ",".
        comment: characters that make a line a comment when they begin it.
        first_line: number, from 1, of the first line that is data.
        trailing: every line ends with a delimiter that has nothing behind it.
        named: whether the names come from the file.
        encoding: of the text.
        units: one per column where a row below the names gives them, "" where it gives none.
        dates: the columns that hold dates.
        steps: what was made of the lines above the data.
    """

    names: tuple[str, ...]
    delimiter: str
    decimal: str
    comment: str
    first_line: int
    trailing: bool
    named: bool
    encoding: str
    units: tuple[str, ...] = ()
    dates: Dates | None = None
    steps: tuple[Step, ...] = ()


def find_layout(path: Path, options: CsvOptions) -> Layout:
    """Look at the first lines of a file.

    Args:
        path: the file.
        options: what the user says about it; the rest is found.
    """
    size = require_file(path)
    with file_errors(path, "CSV"), path.open("rb") as file:
        head = file.read(_LOOKED_AT)
    encoding = _encoding(path, head)
    text = head.decode(encoding, errors="replace")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if size > len(head):
        if len(lines) < 2:
            raise FileError(
                f"The first line of {path} is longer than {_LOOKED_AT // 1000} kB; this is no CSV log."
            )
        lines.pop()  # it may be cut
    comments = tuple(options.comment)
    numbered, rows = list[tuple[int, str]](), list[tuple[int, str]]()
    for i, line in enumerate(lines[options.skip_lines :], options.skip_lines + 1):
        numbered.append((i, line.strip("\ufeff")))
        if numbered[-1][1].strip() and not numbered[-1][1].lstrip().startswith(comments):
            rows.append(numbered[-1])
        if len(rows) > LAYOUT_ROWS:
            break
    if not rows:
        raise FileError(f"{path} holds no rows of numbers.")
    delimiter = options.delimiter or _delimiter([line for _, line in rows[:LAYOUT_ROWS]])
    return _layout(path, options, rows, numbered, delimiter, encoding)


def _layout(
    path: Path,
    options: CsvOptions,
    rows: list[tuple[int, str]],
    numbered: list[tuple[int, str]],
    delimiter: str,
    encoding: str,
) -> Layout:
    above = Above(0) if options.header is False else lines_above([split(r, delimiter) for _, r in rows])
    rows = rows[above.preamble :]
    first = split(rows[0][1], delimiter)
    header = options.header if options.header is not None else not all(like_number(c) for c in first)
    data = rows[1 + above.below :] if header else rows
    if not data:
        raise FileError(f"{path} has a header but no rows of numbers.")
    cells = split(_first_sound_line(data, len(first), delimiter) if header else data[0][1], delimiter)
    trailing = all(split(line, delimiter)[-1] == "" for _, line in rows[:LAYOUT_ROWS]) and len(cells) > 1
    width = len(cells) - trailing
    names = first[: len(first) - trailing] if header else _names_in_comment(options, numbered, data[0][0])
    named = header or len(names) == width
    if header and len(names) != width:
        raise FileError(
            f"{path}, line {data[0][0]}: {width} cells under a header of {len(names)} names "
            f"{_hint(delimiter)}. {SKIP}"
        )
    if width > _MAX_COLUMNS:
        raise FileError(f"{path} has {width} columns; at most {_MAX_COLUMNS} are read.")
    if options.decimal == "." and delimiter != "," and any(map(DECIMAL_COMMA.fullmatch, cells)):
        raise FileError(
            f"{path}, line {data[0][0]}: {next(filter(DECIMAL_COMMA.fullmatch, cells))!r} seems to have a "
            "decimal comma; "
            'say so in a mapping with decimal = "," in [csv].'
        )
    chosen = tuple(names) if named else tuple(str(i + 1) for i in range(width))
    units = tuple(split(rows[above.below][1], delimiter)[:width]) if above.units else ()
    steps = _head_steps(path, rows[0][0], units, above)
    return Layout(
        chosen,
        delimiter,
        options.decimal,
        options.comment,
        data[0][0],
        trailing,
        named,
        encoding,
        tuple(known_unit(unit) or bare_unit(unit) for unit in units),
        find_dates(cells),
        steps,
    )


def _first_sound_line(data: list[tuple[int, str]], width: int, delimiter: str) -> str:
    """The first line with a number below every name, where most lines are such; else the first line.

    Damaged lines right below the names then do not pass for the layout of the file.
    """
    sound = [line for _, line in data if _is_row(split(line, delimiter), width)]
    return sound[0] if are_most_lines(len(sound), len(data)) else data[0][1]


def are_most_lines(sound: int, looked_at: int) -> bool:
    """Whether sound lines show what the others should have been: ten at least, and more than half."""
    return sound >= FEWEST_SOUND and 2 * sound > looked_at


def _is_row(cells: list[str], width: int) -> bool:
    return len(cells) == width and all(like_number(cell) or not cell for cell in cells)


def _head_steps(path: Path, line: int, units: tuple[str, ...], above: Above) -> tuple[Step, ...]:
    """What was made of the lines above the data."""
    steps = []
    if above.preamble:
        note = f"{path.name}: the names stand in line {line}; what is above them was left out."
        steps.append(Step("preamble", {"file": path.name, "header_line": line}, note))
    if units:
        said = ", ".join(dict.fromkeys(unit for unit in units if unit))
        note = f"{path.name}: the row below the names gives units ({said})."
        steps.append(Step("row of units", {"file": path.name, "units": list(units)}, note))
    return tuple(steps)


def split(line: str, delimiter: str) -> list[str]:
    """Cells of a line, without quotes and spaces around them."""
    if delimiter == " ":
        line = " ".join(line.split())
    try:
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:  # a NUL, or a cell beyond the parser's bound
        cells = line.split(delimiter)
    return [cell.strip() for cell in cells]


def lines_above(rows: Sequence[Sequence[str]]) -> Above:
    """Tell a preamble and a row of units from names and data; whatever is not sure is left as it is.

    Args:
        rows: cells of the first rows.
    """
    if len(rows) < 3 or _is_data(rows[0]) or (_is_data(rows[1]) and len(rows[0]) == len(rows[1])):
        return Above(0)
    width = 0
    for at in range(1, len(rows) - 1):
        width = len(rows[at])
        if _is_data(rows[at]) and _is_data(rows[at + 1]) and len(rows[at + 1]) == width > 1:
            break
    else:
        return Above(0)
    units = at > 1 and len(rows[at - 1]) == width and _are_units(rows[at - 1])
    last = at - 1 - units
    first = last
    while first > 0 and len(rows[first - 1]) == width and _are_names(rows[first - 1]):
        first -= 1
    if last < 0 or len(rows[last]) != width or not _are_names(rows[last]) or last - first > 1:
        return Above(0)
    # Damaged data above the first good row is no preamble.
    if any(len(row) > 1 and _is_data(row) for row in rows[:first]):
        return Above(0)
    # Of two rows of names the upper one counts, unless it is a heading over several columns.
    header = first if len(set(rows[first])) == width else last
    return Above(header, at - 1 - header, units)


def is_number(cell: str) -> bool:
    """Whether a cell is a plain number (Python would also take 1_000)."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def like_number(cell: str) -> bool:
    """Whether a cell is a number, a missing one, or one with a decimal comma."""
    return cell.lower() in BLANK or is_number(cell) or bool(DECIMAL_COMMA.fullmatch(cell)) or is_date(cell)


def _is_data(cells: Sequence[str]) -> bool:
    return all(like_number(cell) for cell in cells) and any(cell.lower() not in BLANK for cell in cells)


def _are_names(cells: Sequence[str]) -> bool:
    # A column of numbers may have no name; of a line padded with delimiters most are missing.
    return cells.count("") <= 1 < len(cells) and not any(cell and like_number(cell) for cell in cells)


def _are_units(cells: Sequence[str]) -> bool:
    said = [cell for cell in cells if bare_unit(cell)]
    known = sum(known_unit(cell) is not None for cell in said)
    return 2 * known >= len(said) > 0 and not any(like_number(cell) for cell in said)


def _encoding(path: Path, head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    first, _, rest = head.partition(b"\n")
    if b"\0" in first or not rest.translate(None, _NOT_TEXT) == rest:  # a row of NUL bytes is a damaged line
        raise FileError(f"{path} is not text; give its format in a mapping, or its usual ending.")
    try:
        head[:-4].decode("utf-8") if len(head) == _LOOKED_AT else head.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"  # a degree sign of a Windows program, in a header
    return "utf-8-sig"


def _delimiter(lines: list[str]) -> str:
    """The delimiter that cuts the rows into equally many cells, more than one."""
    body = lines[max(1, len(lines) // 2) :] or lines  # below what may stand above the data
    best, best_score = ",", 0.0
    for delimiter in _CANDIDATES:
        counts = [len(split(line.strip() if delimiter == " " else line, delimiter)) for line in body]
        usual = max(set(counts), key=counts.count)
        score = counts.count(usual) / len(counts) if usual > 1 else 0.0
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _names_in_comment(options: CsvOptions, numbered: list[tuple[int, str]], first: int) -> list[str]:
    """Names in the comment just above the data, as NumPy's savetxt writes them."""
    above = [line for i, line in numbered if i < first and line.strip()]
    if options.header is False or not above:
        return []
    text = above[-1].lstrip().lstrip(options.comment).strip()
    return split(text, _delimiter([text]))


def _hint(delimiter: str) -> str:
    return "(a decimal comma? then the delimiter must be another sign)" if delimiter == "," else "(cut off?)"
