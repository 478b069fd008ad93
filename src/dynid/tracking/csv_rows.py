"""Rows of a CSV stream to samples: names and units from its first lines, then numbers by their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dynid.core.errors import FileError
from dynid.logs.mapping import CsvOptions, LogMapping
from dynid.logs.readers.csv_layout import BLANK, DECIMAL_COMMA, is_number, like_number, lines_above, split
from dynid.logs.readers.table import Column, RawArray, Table
from dynid.logs.words import bare_unit, known_unit
from dynid.model.robot import Robot
from dynid.tracking.message import SampleReader
from dynid.tracking.refusals import Refusal, RefusedMessageError
from dynid.tracking.row_meaning import SANE, RowMeaning, row_meaning
from dynid.tracking.sample import Sample

Cells = list[str]
DELIMITERS = (";", "\t", ",", " ")
"""In the order in which they are tried: a comma may be a decimal sign, a space a filler."""


@dataclass(frozen=True)
class RowLayout:
    """How the rows of a stream are written.

    Args:
        names: one per column; their numbers where the stream has none.
        units: likewise, "" where none is given; () without a row of units.
        delimiter: between cells; " " stands for any run of spaces.
        header: cells of the line with the names, which may come again; () without any.
        data: the rows of numbers that were looked at.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    delimiter: str
    header: tuple[str, ...]
    data: tuple[str, ...]


class CsvReader(SampleReader[Cells]):
    """Rows of text, names in the first; what stands above them, comments and a row of units are understood.

    Args:
        robot: which the samples are for.
        mapping: what the columns mean, and how the text is written; None to find out.
        head: lines within which two rows of numbers must come.
        options: those of ``SampleReader``.
    """

    def __init__(
        self, robot: Robot, mapping: LogMapping | None = None, *, head: int = 50, **options: Any
    ) -> None:
        """Begin without any line."""
        super().__init__(robot, mapping, **options)
        self.layout: RowLayout | None = None
        self._csv = CsvOptions() if mapping is None else mapping.csv
        self._head, self._lines, self._skip = head, list[str](), self._csv.skip_lines

    def read(self, data: bytes, *, cut: bool = False) -> Sequence[Sample]:
        """Samples that a line adds; see ``SampleReader.read``."""
        if self.layout is not None:
            return super().read(data, cut=cut)
        try:
            line = data.decode("utf-8-sig").strip("\r\n")
        except UnicodeDecodeError:  # a degree sign of a Windows program, in a header
            line = data.decode("latin-1").strip("\r\n")
        if self._skip > 0:
            self._skip -= 1
        elif line.strip():
            self._lines.append(line)
            return self._begin(finished=False)
        return ()

    def finish(self) -> Sequence[Sample]:
        """Samples still held back at the end; see ``SampleReader.finish``."""
        early = list(self._begin(finished=True)) if self.layout is None and self._lines else []
        return [*early, *super().finish()]

    def unread_lines(self) -> int:
        """Lines that were taken before the layout was known."""
        return len(self._lines)

    def _begin(self, finished: bool) -> Sequence[Sample]:
        """Find the layout, and take the rows that were looked at for it."""
        self.layout = row_layout(self._lines, self._csv, self.name, finished)
        if self.layout is None:
            if len(self._lines) < self._head and not finished:
                return ()
            raise FileError(
                f"The first {len(self._lines)} lines of {self.name} hold no rows of numbers, beginning with "
                f"{self._lines[0][:60]!r}; send JSON objects, or CSV with names above numbers."
            )
        self._lines = []
        return [sample for row in self.layout.data for sample in super(CsvReader, self).read(row.encode())]

    def _message_of(self, data: bytes) -> Cells | None:
        assert self.layout is not None
        try:
            line = data.decode("utf-8-sig").strip()
        except UnicodeDecodeError:
            raise RefusedMessageError(Refusal.NOT_TEXT) from None
        if not line or line[0] in self._csv.comment:
            return None
        cells = _cells(line, self.layout.delimiter)
        if tuple(cells[: len(self.layout.names)]) == self.layout.header:
            raise RefusedMessageError(Refusal.HEADER)
        extra = len(cells) - len(self.layout.names)
        if extra != 0 and not (extra == 1 and cells[-1] == ""):
            raise RefusedMessageError(
                Refusal.WIDTH, f"{len(cells)} cells under {len(self.layout.names)} names"
            )
        return cells

    def _meaning_of(self, first: Sequence[Cells]) -> RowMeaning:
        assert self.layout is not None
        units = self.layout.units or ("",) * len(self.layout.names)
        columns = tuple(
            Column(name, (len(first),), known_unit(unit) or bare_unit(unit) or None)
            for name, unit in zip(self.layout.names, units, strict=True)
        )

        def fetch(i: int) -> RawArray:
            try:
                values = [self._stamp_in(cells[i]) for cells in first]
            except RefusedMessageError:
                values = [float(cells[i]) if is_number(cells[i]) else float("nan") for cells in first]
            return np.array(values)

        return row_meaning(Table(Path(self.name), "csv", columns, fetch), self.robot, self.mapping)

    def _sample(self, message: Cells, meaning: RowMeaning) -> Sample:
        cells = [message[i] for i in meaning.used]
        if self._csv.decimal == ",":
            cells = [cell.replace(",", ".") for cell in cells]
        try:
            numbers = list(map(float, cells))
        except ValueError:
            blank = any(cell.lower() in BLANK for cell in cells)
            raise RefusedMessageError(Refusal.NOT_FINITE if blank else Refusal.NOT_A_NUMBER) from None
        if "_" in "".join(cells):  # Python would take 1_000
            raise RefusedMessageError(Refusal.NOT_A_NUMBER)
        time = self.refusals.accepted / (meaning.rate_hz or 1.0)
        if meaning.stamp is not None:
            time = meaning.time(self._stamp_in(message[meaning.stamp]))
        return meaning.sample(time, numbers)

    def _stamp_in(self, cell: str) -> float | int:
        """The stamp of a cell, whole where it is written so: nanoseconds since 1970 do not fit a float."""
        text = cell.replace(",", ".") if self._csv.decimal == "," else cell
        if text.isascii() and text.isdigit() and len(text) < 20 and int(text) < SANE.longest_ns:
            return int(text)
        if not is_number(text):
            raise RefusedMessageError(Refusal.STAMP, text[:40])
        return float(text)


def row_layout(lines: Sequence[str], options: CsvOptions, name: str, finished: bool) -> RowLayout | None:
    """The layout of a stream from its first lines; None while two rows of numbers have not come.

    Args:
        lines: those that came so far, without empty ones.
        options: what the user says of the text.
        name: of the stream, for sentences.
        finished: whether no more will come: one row of numbers is then enough.

    Raises:
        FileError: when names and numbers do not match, or numbers seem to have a decimal comma.
    """
    rows = [line for line in lines if line.lstrip()[:1] not in tuple(options.comment)]
    wanted = DELIMITERS if options.delimiter is None else (options.delimiter,)
    for delimiter in wanted:
        cells = [_cells(line.strip() if delimiter == " " else line, delimiter) for line in rows]
        last = cells[-1 if finished else -2 :] if len(cells) > (not finished) else []
        if last and len(last[-1]) > 1 and all(_is_row(row, len(last[-1])) for row in last):
            break
    else:
        return None
    _require_points(last[-1], delimiter, options, name)
    width = len(last[-1]) - (last[-1][-1] == "")
    above = 0 if options.header is False else [_is_row(row, len(last[-1])) for row in cells].index(True)
    header, units = _names_and_units(cells, above, width)
    names = header or _names_in_comment(lines, delimiter, options)
    if header and len(names) != width:
        raise FileError(
            f"{name} has rows of {width} numbers under {len(names)} names; give skip_lines, delimiter or "
            "header in [csv] of a mapping."
        )
    if len(names) != width:
        names = [str(i + 1) for i in range(width)]
    return RowLayout(tuple(names), units, delimiter, tuple(header), tuple(rows[above:]))


def _names_and_units(cells: list[Cells], above: int, width: int) -> tuple[Cells, tuple[str, ...]]:
    """Cells of the row of names and of units, of those ``above`` the numbers; none where there are none."""
    if not above:
        return [], ()
    found = lines_above(cells)
    at = found.preamble if found.preamble or found.below else above - 1
    header = cells[at][:-1] if cells[at][-1] == "" else cells[at]
    return header, tuple(cells[at + 1][:width]) if found.units else ()


def _names_in_comment(lines: Sequence[str], delimiter: str, options: CsvOptions) -> Cells:
    """Names in the last comment, as NumPy's savetxt writes them above its numbers."""
    signs = tuple(options.comment)
    comments = [line.lstrip().lstrip(options.comment) for line in lines if line.lstrip().startswith(signs)]
    return _cells(comments[-1].strip(), delimiter) if comments else []


def _require_points(cells: Cells, delimiter: str, options: CsvOptions, name: str) -> None:
    """Refuse numbers with a comma where the user does not say that they have one."""
    found = next(filter(DECIMAL_COMMA.fullmatch, cells), None)
    if options.decimal == "." and delimiter != "," and found is not None:
        raise FileError(
            f"{name}: {found!r} seems to have a decimal comma; say so in a mapping with "
            'decimal = "," in [csv].'
        )


def _is_row(cells: Cells, width: int) -> bool:
    return len(cells) == width and all(map(like_number, cells)) and any(cells)


def _cells(line: str, delimiter: str) -> Cells:
    """Cells of a line; quotes cost time and are looked for only where there are some."""
    if '"' in line or delimiter == " ":
        return split(line, delimiter)
    return [cell.strip() for cell in line.split(delimiter)]
