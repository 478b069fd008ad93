"""Stamps that are dates (ISO 8601), as seconds from the midnight before the first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import FileError

_DATE = re.compile(
    r"(\d{4})([-/]?)(\d\d)\2(\d\d)[T ](\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9})\d*)?)?"
    r"\s*(Z|z|[+-]\d\d(?::?\d\d)?)?"
)
_DAY_NS = 86_400_000_000_000
_1970 = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Dates:
    """The columns of a file that hold dates.

    Args:
        columns: their places.
        zero_ns: midnight before the first date, in nanoseconds since 1970.
        zoned: whether the first date has a time zone.
    """

    columns: tuple[int, ...]
    zero_ns: int
    zoned: bool


def is_date(cell: str) -> bool:
    """Whether a cell is a date with a time, such as 2024-01-31T12:00:00.250+01:00."""
    return len(cell) > 12 and read_date(cell) is not None


def read_date(cell: str) -> tuple[int, bool] | None:
    """Nanoseconds since 1970, in UTC where no time zone is said, and whether one is; None for other text.

    Args:
        cell: text of a cell.
    """
    found = _DATE.fullmatch(cell)
    if found is None:
        return None
    year, _, month, day, hour, minute, second, part, zone = found.groups()
    ahead = "+00:00" if zone is None or zone in "Zz" else zone
    try:
        moment = datetime.fromisoformat(f"{year}-{month}-{day}T{hour}:{minute}:{second or '00'}{ahead}")
    except ValueError:  # a thirteenth month
        return None
    seconds = (moment - _1970) // timedelta(seconds=1)
    return seconds * 10**9 + int((part or "0").ljust(9, "0")), zone is not None


def find_dates(cells: Sequence[str]) -> Dates | None:
    """The dates in a row, or None when it has none.

    Args:
        cells: the first row of data.
    """
    places = tuple(i for i, cell in enumerate(cells) if is_date(cell))
    if not places:
        return None
    first = read_date(cells[places[0]])
    assert first is not None
    return Dates(places, first[0] // _DAY_NS * _DAY_NS, first[1])


def dates_as_seconds(path: Path, number: int, lines: list[str], delimiter: str, dates: Dates) -> list[str]:
    """Lines with seconds in the place of dates; cells that are no dates stay as they are.

    Args:
        path: the file, for the error sentence.
        number: of the first line, from 1.
        lines: of the file.
        delimiter: between cells.
        dates: which columns.
    """
    return [_line(path, number + i, line, delimiter, dates) for i, line in enumerate(lines)]


def _line(path: Path, number: int, line: str, delimiter: str, dates: Dates) -> str:
    cells = line.split(delimiter)
    for place in dates.columns:
        cell = cells[place].strip().strip('"').strip() if place < len(cells) else ""
        read = read_date(cell)
        if read is None:
            continue
        ns, zoned = read
        if zoned != dates.zoned:
            raise FileError(
                f"{path}, line {number}: the stamp {cell!r} has {'a' if zoned else 'no'} time zone, "
                "unlike the first; write all stamps with their zone, or all without."
            )
        since = ns - dates.zero_ns
        sign, size = ("-", -since) if since < 0 else ("", since)
        cells[place] = f"{sign}{size // 10**9}.{size % 10**9:09d}"
    return delimiter.join(cells)


def dates_of(seconds: NDArray[np.float64], dates: Dates) -> NDArray[np.datetime64]:
    """Seconds of a column as dates again; missing ones are NaT.

    Args:
        seconds: from ``dates.zero_ns``.
        dates: of the file.
    """
    lost = ~np.isfinite(seconds)
    since = np.round(np.where(lost, 0.0, seconds) * 1e9).astype(np.int64)
    stamps = (since + dates.zero_ns).view("M8[ns]")
    stamps[lost] = np.datetime64("NaT")
    return stamps
