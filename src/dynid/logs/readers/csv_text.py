"""CSV logs: text parsed in blocks, kept on disk when the rows are many.

Blocks of plain numbers go through pyarrow where the file is large and the package installed, which is twice
as fast, else through NumPy. Where a cell is quoted or a line is damaged, a block is read line by line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import FileError
from dynid.logs import spool
from dynid.logs.log import Step
from dynid.logs.mapping import CsvOptions
from dynid.logs.readers.csv_layout import (
    BLANK,
    LAYOUT_ROWS,
    SKIP,
    Layout,
    are_most_lines,
    find_layout,
    is_number,
    split,
)
from dynid.logs.readers.dates import dates_as_seconds, dates_of
from dynid.logs.readers.table import Column, RawArray, Table, file_errors
from dynid.logs.spool import Samples, SpoolWriter

_BLOCK = 4_000_000
"""Characters read at once; also the longest line."""
_LARGE = 8_000_000
"""Bytes of a file from which loading pyarrow costs less than it saves."""
_LINES_TOLD = 20
"""Damaged lines whose numbers are kept."""


@dataclass(frozen=True, eq=False)
class _Block:
    """Some rows of a file.

    Args:
        values: (rows, columns).
        faults: what is wrong with damaged lines, by their numbers.
        cut_off: the last line, where it is not whole.
    """

    values: FloatArray
    faults: Mapping[int, str] = field(default_factory=dict)
    cut_off: tuple[Step, ...] = ()


def read_csv(path: Path, options: CsvOptions) -> Table:
    """All columns of a CSV file.

    Args:
        path: the file.
        options: what the user says about it; the rest is found from its first lines.
    """
    layout = find_layout(path, options)
    arrow = _arrow_csv() if path.stat().st_size > _LARGE else None
    parts: list[FloatArray] = []
    faults: dict[int, str] = {}
    steps, damaged, rows, disk = layout.steps, 0, 0, None
    for number, text, last in _texts(path, layout):
        cut = _cut_number(text, layout) if last else None
        if cut is not None:
            line = number + text.count("\n")
            note = f"The last line ({line}) is cut off: {cut}; it was left out."
            steps = (*steps, Step("truncated row", {"file": path.name, "line": line}, note))
            text = text[: text.rfind("\n") + 1]
        block = _rows_of_text(path, layout, number, text, last, arrow)
        rows += len(block.values)
        parts.append(block.values)
        damaged += len(block.faults)
        faults |= dict(islice(block.faults.items(), _LINES_TOLD - len(faults)))
        steps = (*steps, *block.cut_off)
        if rows > spool.LONG:
            disk = SpoolWriter(len(layout.names)) if disk is None else disk
            for part in parts:
                disk.append(part)
            parts.clear()
    if rows == 0:
        raise FileError(f"{path} holds no complete row of numbers.")
    if damaged:
        steps = (*steps, _damage(path.name, faults, damaged))
    values = np.concatenate(parts) if disk is None else disk.finish()
    return _table(path, layout, values, steps)


def _table(path: Path, layout: Layout, values: Samples, steps: tuple[Step, ...]) -> Table:
    dates = layout.dates
    dated = () if dates is None else dates.columns
    units = layout.units or ("",) * len(layout.names)
    columns = tuple(
        Column(name, (len(values),), unit or None, i in dated)
        for i, (name, unit) in enumerate(zip(layout.names, units, strict=True))
    )

    def fetch(i: int) -> RawArray:
        return values[:, i] if dates is None or i not in dated else dates_of(values[:, i], dates)

    return Table(path, "csv", columns, fetch, steps)


def _texts(path: Path, layout: Layout) -> Iterator[tuple[int, str, bool]]:
    """Whole lines below the names: number of the first, their text, and whether they end the file."""
    with file_errors(path, "CSV"), path.open(encoding=layout.encoding, newline=None) as file:
        for _ in range(layout.first_line - 1):
            file.readline()
        number, held = layout.first_line, file.read(_BLOCK)
        while text := file.read(_BLOCK):
            cut = held.rfind("\n") + 1
            if cut:
                yield number, held[:cut], False
                number += held.count("\n", 0, cut)
            held = held[cut:] + text
            if len(held) > 2 * _BLOCK:
                raise FileError(
                    f"{path}, line {number} is longer than {_BLOCK // 10**6} million characters; this is no "
                    "CSV log."
                )
        yield number, held, True


def _cut_number(text: str, layout: Layout) -> str | None:
    """Why the last number of a file is not whole: it has fewer decimals than those above; None when it is.

    Only a file that does not end with a line break can be cut within a number.
    """
    *above, last = text.split("\n")[-_LINES_TOLD - 1 :]
    if not last.strip() or len(above) < _LINES_TOLD:
        return None
    usual = [_decimals(line, layout) for line in above]
    own, least = _decimals(last, layout), min(usual)
    # Writers that leave trailing zeros out vary by a few digits.
    if own >= least - (0 if least == max(usual) else 3):
        return None
    return f"its last number has {own} decimals, those above have {least} and more"


def _decimals(line: str, layout: Layout) -> int:
    """Digits behind the point of a line's last number, with its exponent."""
    cell = line.rstrip().rstrip(layout.delimiter if layout.trailing else "").rpartition(layout.delimiter)[2]
    return len(cell.rpartition(layout.decimal)[2].strip()) if layout.decimal in cell else 0


def _rows_of_text(path: Path, layout: Layout, number: int, text: str, last: bool, arrow: Any) -> _Block:
    """Rows of some lines, by the fastest way that reads all of them."""
    width = len(layout.names)
    plain = layout.dates is None and layout.decimal == "."
    if plain and not any(mark in text for mark in layout.comment):
        values = None if arrow is None else _by_arrow(arrow, text, layout)
        values = _by_numpy(text, layout) if values is None else values
        if values is not None:
            return _Block(values)
        return _rows_cell_by_cell(path, layout, number, text.split("\n"), last)
    lines = text.split("\n")
    read = lines
    if layout.dates is not None:
        read = dates_as_seconds(path, number, lines, layout.delimiter, layout.dates)
    kept = [line for line in read if line.strip() and not line.lstrip().startswith(tuple(layout.comment))]
    if layout.decimal == ",":
        kept = [line.replace(",", ".") for line in kept]
    values = _by_numpy("\n".join(kept), layout)
    if values is None or values.shape != (len(kept), width):  # also quoted line breaks
        return _rows_cell_by_cell(path, layout, number, read, last)
    return _Block(values)


def _arrow_csv() -> Any:
    """pyarrow's reader, or None where it is not installed."""
    try:
        return import_module("pyarrow.csv")
    except ImportError:
        return None


def _by_arrow(arrow: Any, text: str, layout: Layout) -> FloatArray | None:
    """Rows of plain or missing numbers (rows, columns); None when a line holds anything else."""
    if layout.delimiter == " " or '"' in text:
        return None
    names = [str(i) for i in range(len(layout.names) + layout.trailing)]
    buffers = import_module("pyarrow")
    data = text.encode()
    read = arrow.ReadOptions(column_names=names, use_threads=False, block_size=len(data) + 1)
    missing = [*BLANK, *(cell.upper() for cell in BLANK), "NaN", "Null", "None"]
    numbers = {name: buffers.float64() for name in names[: len(layout.names)]}
    convert = arrow.ConvertOptions(
        column_types=numbers, null_values=missing, include_columns=list(numbers), check_utf8=False
    )
    parse = arrow.ParseOptions(delimiter=layout.delimiter, quote_char=False)
    try:
        table = arrow.read_csv(buffers.BufferReader(data), read, parse, convert)
    except (buffers.ArrowInvalid, buffers.ArrowKeyError):
        return None
    return np.column_stack([column.to_numpy() for column in table.columns])


def _by_numpy(text: str, layout: Layout) -> FloatArray | None:
    """Rows of plain numbers (rows, columns); None when a line holds anything else."""
    width = len(layout.names)
    if not text.strip():
        return np.empty((0, width))
    delimiter = None if layout.delimiter == " " else layout.delimiter
    used = range(width) if layout.trailing else None
    try:
        values = np.loadtxt(
            StringIO(text), delimiter=delimiter, ndmin=2, comments=None, quotechar='"', usecols=used
        )
    except ValueError:
        return None
    return values if values.shape[1] == width else None


def _rows_cell_by_cell(path: Path, layout: Layout, number: int, lines: Sequence[str], last: bool) -> _Block:
    """Cell by cell: missing values become NaN, damaged lines rows of NaN, and a cut-off end is left out."""
    comments = tuple(layout.comment)
    kept = [i for i, line in enumerate(lines) if line.strip() and not line.lstrip().startswith(comments)]
    width = len(layout.names)
    rows: list[list[float]] = []
    faults: dict[int, str] = {}
    cut_off: tuple[Step, ...] = ()
    for i in kept:
        cells = _cells(lines[i], layout)
        fault = _fault(cells, layout)
        if fault is None:
            rows.append([float("nan") if cell.lower() in BLANK else float(cell) for cell in cells])
        elif number + i == layout.first_line and not _is_mostly_sound(lines, kept, layout):
            # More likely a second header, or another layout.
            raise FileError(f"{path}, line {number + i}: {fault}. {SKIP}")
        elif last and i == kept[-1]:
            note = f"The last line ({number + i}) is cut off: {fault}; it was left out."
            cut_off = (Step("truncated row", {"file": path.name, "line": number + i}, note),)
        else:
            rows.append([float("nan")] * width)
            faults[number + i] = fault
    return _Block(np.array(rows, dtype=float).reshape(-1, width), faults, cut_off)


def _cells(line: str, layout: Layout) -> list[str]:
    cells = split(line, layout.delimiter)
    if layout.trailing and cells[-1] == "":
        cells.pop()
    return [cell.replace(",", ".") for cell in cells] if layout.decimal == "," else cells


def _is_mostly_sound(lines: Sequence[str], kept: Sequence[int], layout: Layout) -> bool:
    """Whether most of the first lines are rows of numbers: then the others are damaged."""
    seen = kept[:LAYOUT_ROWS]
    sound = sum(_fault(_cells(lines[i], layout), layout) is None for i in seen)
    return are_most_lines(sound, len(seen))


def _fault(cells: list[str], layout: Layout) -> str | None:
    """Why a line is no row of numbers; None when it is one."""
    width = len(layout.names)
    if len(cells) != width:
        return f"{len(cells)} cell{'s' * (len(cells) != 1)} where {width} are expected"
    for cell, name in zip(cells, layout.names, strict=True):
        if cell.lower() not in BLANK and not is_number(cell):
            return f"column {name!r} holds {cell[:40]!r}, which is no number"
    return None


def _damage(file: str, faults: Mapping[int, str], count: int) -> Step:
    """The step that names damaged lines, the first of so many; their samples hold NaN."""
    shown = "; ".join(f"line {line}: {fault}" for line, fault in islice(faults.items(), 3))
    more = " …" if count > 3 else ""
    are = "line is" if count == 1 else "lines are"
    note = f"{count} {are} damaged in {file} ({shown}{more}); no values were read there."
    options = {"file": file, "count": count, "lines": list(faults), "faults": list(faults.values())}
    return Step("damaged lines", options, note)
