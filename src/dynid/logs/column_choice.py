"""Columns that a mapping stands for: names, numbers, ranges, patterns."""

from __future__ import annotations

import re

from dynid.core.errors import FileError
from dynid.logs.mapping import Columns
from dynid.logs.readers.table import Table

MAX_AXES = 1000
"""Axes of the largest robot."""


def expanded_columns(columns: Columns | None, table: Table, axes: int | None) -> list[str | int]:
    """Every column that a name, number, range or pattern stands for.

    Args:
        columns: as in ``ChannelMap``.
        table: the file.
        axes: number of axes; counted when None.
    """
    if columns is None:
        raise FileError(
            f"The mapping gives a channel without columns, and none was recognised in {table.path.name}."
        )
    entries = columns if isinstance(columns, tuple) else (columns,)
    found: list[str | int] = []
    for entry in entries:
        span = re.fullmatch(r"\s*(\d+)\s*[-:–]\s*(\d+)\s*", entry) if isinstance(entry, str) else None
        if isinstance(entry, str) and "{axis}" in entry:
            found += _pattern(entry, table, axes)
        elif span and not table.has(str(entry)):
            low, high = int(span[1][:9]), int(span[2][:9])
            if not 1 <= low <= high <= len(table.columns):
                raise FileError(
                    f"columns {entry!r} does not fit {table.path.name}, of {len(table.columns)} columns."
                )
            found += range(low, high + 1)
        else:
            found.append(entry)
    return found


def _pattern(pattern: str, table: Table, axes: int | None) -> list[str | int]:
    first = 0 if table.has(pattern.replace("{axis}", "0")) else 1
    names = []
    for axis in range(first, first + (axes or MAX_AXES)):
        name = pattern.replace("{axis}", str(axis))
        if axes is None and not table.has(name):
            break
        names.append(name)
    if not names:
        table.index(pattern.replace("{axis}", "1"))  # says which columns there are
    return list(names)
