"""CSV logs: text read in blocks, so that a log of any length needs little memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import FileError
from dynid.logs import spool
from dynid.logs.log import Step
from dynid.logs.mapping import CsvOptions
from dynid.logs.readers.csv_head import BLANK, SKIP, is_number
from dynid.logs.readers.csv_layout import Layout, find_layout, split
from dynid.logs.readers.date_text import dates_as_seconds, dates_of
from dynid.logs.readers.files import parsing
from dynid.logs.readers.number_text import plain_numbers
from dynid.logs.readers.table import Column, RawArray, Table
from dynid.logs.spool import Samples, SpoolWriter

FloatArray = NDArray[np.float64]
_BLOCK = 4_000_000
"""Characters read at once; also the longest line."""
_LINES_TOLD = 20
"""Damaged lines whose numbers are kept."""
DAMAGED = "damaged lines"
"""Name of the step that tells them."""


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of a file, and what had to be done to read them."""

    values: FloatArray
    steps: tuple[Step, ...] = ()


def read_csv(path: Path, options: CsvOptions) -> Table:
    """All columns of a CSV file.

    Args:
        path: the file.
        options: what the user says about it; the rest is found from its first lines.
    """
    layout = find_layout(path, options)
    parts: list[FloatArray] = []
    steps: list[Step] = []
    held, disk = 0, None
    for block in csv_blocks(path, layout):
        held += len(block.values)
        parts.append(block.values)
        steps += block.steps
        if held > spool.LONG:
            disk = SpoolWriter(len(layout.names)) if disk is None else disk
            for part in parts:
                disk.append(part)
            parts.clear()
    values: Samples = np.concatenate([np.empty((0, len(layout.names))), *parts])
    if disk is not None:
        values = disk.finish()
    if len(values) == 0:
        raise FileError(f"{path} holds no complete row of numbers.")
    return csv_table(path, layout, values, told_once(steps))


def csv_table(path: Path, layout: Layout, values: Samples, steps: tuple[Step, ...]) -> Table:
    """Rows of a CSV file as a table of columns."""
    dates = layout.dates
    dated = () if dates is None else dates.columns
    units = layout.units or ("",) * len(layout.names)
    columns = tuple(
        Column(name, (len(values),), unit or None, i in dated)
        for i, (name, unit) in enumerate(zip(layout.names, units, strict=True))
    )

    def fetch(i: int) -> RawArray:
        return values[:, i] if dates is None or i not in dated else dates_of(values[:, i], dates)

    return Table(path, "csv", columns, fetch, (*layout.steps, *steps))


def csv_blocks(path: Path, layout: Layout) -> Iterator[Block]:
    """The rows of a CSV file, some at a time."""
    for number, lines, last in _line_blocks(path, layout):
        block = _parse(path, layout, number, lines, last)
        if len(block.values) or block.steps:
            yield block


def _line_blocks(path: Path, layout: Layout) -> Iterator[tuple[int, list[str], bool]]:
    """Whole lines, some at a time: number of the first, the lines, and whether they end the file."""
    with parsing(path, "CSV"), path.open(encoding=layout.encoding, newline=None) as file:
        number, rest, held = 1, "", list[str]()
        while text := file.read(_BLOCK):
            if held:
                yield from _wanted(number, held, layout.first_line, False)
                number += len(held)
            held = (rest + text).split("\n")
            rest = held.pop()
            if len(rest) > _BLOCK:
                raise FileError(
                    f"{path}, line {number + len(held)} is longer than {_BLOCK // 10**6} million characters; "
                    "this is no CSV log."
                )
        yield from _wanted(number, [*held, rest], layout.first_line, True)


def _wanted(number: int, lines: list[str], first: int, last: bool) -> Iterator[tuple[int, list[str], bool]]:
    """Lines without those above the data."""
    above = max(0, min(first - number, len(lines)))
    yield number + above, lines[above:], last


def _parse(path: Path, layout: Layout, number: int, lines: list[str], last: bool) -> Block:
    if layout.dates is not None:
        lines = dates_as_seconds(path, number, lines, layout.delimiter, layout.dates)
    rows = [line for line in lines if line.strip()]
    comments = tuple(layout.comment)
    if any(mark in "\n".join(rows) for mark in comments):
        rows = [line for line in rows if not line.lstrip().startswith(comments)]
    width = len(layout.names)
    if not rows:
        return Block(np.empty((0, width)))
    if layout.decimal == ",":
        rows = [row.replace(",", ".") for row in rows]
    known = None if layout.trailing else plain_numbers(rows, layout.delimiter, width)
    if known is not None:
        return Block(known)
    delimiter = None if layout.delimiter == " " else layout.delimiter
    try:
        used = range(width) if layout.trailing else None
        values = np.loadtxt(rows, delimiter=delimiter, ndmin=2, comments=None, quotechar='"', usecols=used)
    except ValueError:
        return _parse_slowly(path, layout, number, lines, last)
    if values.shape != (len(rows), width):  # also quoted line breaks
        return _parse_slowly(path, layout, number, lines, last)
    return Block(values)


def _parse_slowly(path: Path, layout: Layout, number: int, lines: list[str], last: bool) -> Block:
    """Cell by cell: missing values become NaN, damaged lines rows of NaN, and a cut-off end is left out."""
    comments = tuple(layout.comment)
    kept = [i for i, line in enumerate(lines) if line.strip() and not line.lstrip().startswith(comments)]
    width = len(layout.names)
    rows: list[list[float]] = []
    faults: dict[int, str] = {}
    steps: list[Step] = []
    for i in kept:
        cells = split(lines[i], layout.delimiter)
        if layout.trailing and cells[-1] == "":
            cells.pop()
        fault = _fault(cells, layout)
        if fault is None:
            rows.append([_value(cell, layout) for cell in cells])
        elif number + i == layout.first_line:  # more likely a second header, or another layout
            raise FileError(f"{path}, line {number + i}: {fault}. {SKIP}")
        elif last and i == kept[-1]:
            note = f"The last line ({number + i}) is cut off: {fault}; it was left out."
            steps.append(Step("truncated row", {"file": path.name, "line": number + i}, note))
        else:
            rows.append([float("nan")] * width)
            faults[number + i] = fault
    if faults:
        steps.append(_damaged(path.name, faults, len(faults)))
    return Block(np.array(rows, dtype=float).reshape(-1, width), tuple(steps))


def _damaged(file: str, faults: Mapping[int, str], count: int) -> Step:
    """The step that names damaged lines; their samples hold NaN."""
    lines, words = list(faults)[:_LINES_TOLD], list(faults.values())[:_LINES_TOLD]
    shown = "; ".join(f"line {line}: {fault}" for line, fault in zip(lines[:3], words, strict=False))
    more = " …" if count > 3 else ""
    are = "line is" if count == 1 else "lines are"
    note = f"{count} {are} damaged in {file} ({shown}{more}); no values were read there."
    return Step(DAMAGED, {"file": file, "count": count, "lines": lines, "faults": words}, note)


def told_once(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Steps with the damaged lines of all blocks in one."""
    damaged = [step for step in steps if step.name == DAMAGED]
    if len(damaged) < 2:
        return tuple(steps)
    faults: dict[int, str] = {}
    for step in damaged:
        faults |= zip(step.options["lines"], step.options["faults"], strict=True)
    count = sum(int(step.options["count"]) for step in damaged)
    others = [step for step in steps if step.name != DAMAGED]
    return (*others, _damaged(str(damaged[0].options["file"]), faults, count))


def _fault(cells: list[str], layout: Layout) -> str | None:
    width = len(layout.names)
    if len(cells) != width:
        return f"{len(cells)} cell{'s' * (len(cells) != 1)} where {width} are expected"
    for cell, name in zip(cells, layout.names, strict=True):
        text = cell.replace(",", ".") if layout.decimal == "," else cell
        if text.lower() not in BLANK and not is_number(text):
            return f"column {name!r} holds {cell[:40]!r}, which is no number"
    return None


def _value(cell: str, layout: Layout) -> float:
    text = cell.replace(",", ".") if layout.decimal == "," else cell
    return float("nan") if text.lower() in BLANK else float(text)
