"""How a CSV file is written: encoding, comments, delimiter, header, found from its first lines."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from dynid.core.errors import FileError
from dynid.logs.log import Step
from dynid.logs.mapping import CsvOptions
from dynid.logs.readers.csv_head import DECIMAL_COMMA, SKIP, Above, like_number, lines_above
from dynid.logs.readers.date_text import Dates, find_dates
from dynid.logs.readers.files import parsing, require_file
from dynid.logs.units import bare_unit, known_unit

_LOOKED_AT = 256_000
"""Bytes that the layout is found from."""
_ROWS = 50
"""Rows that it is found from, at most."""
_MAX_COLUMNS = 10_000
_CANDIDATES = (";", "\t", ",", " ")
"""Delimiters in the order in which they are tried: a comma may be a decimal sign, a space a filler."""


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
    with parsing(path, "CSV"), path.open("rb") as file:
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
        if len(rows) > _ROWS:
            break
    if not rows:
        raise FileError(f"{path} holds no rows of numbers.")
    delimiter = options.delimiter or _delimiter([line for _, line in rows[:_ROWS]])
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
    cells = split(data[0][1], delimiter)
    trailing = all(split(line, delimiter)[-1] == "" for _, line in rows[:_ROWS]) and len(cells) > 1
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
    steps = _told(path, rows[0][0], units, above)
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


def _told(path: Path, line: int, units: tuple[str, ...], above: Above) -> tuple[Step, ...]:
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


def _encoding(path: Path, head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in head:
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
