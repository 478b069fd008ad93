"""Stamps of files that are one experiment together: whose stamps count, and which files have other ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dynid.core.errors import FileError
from dynid.logs.column_choice import expanded_columns
from dynid.logs.complete import rate_of
from dynid.logs.dialects import find_stamps, time_unit, word_of
from dynid.logs.file_times import in_other_unit, seconds_since, zero_of
from dynid.logs.mapping import LogMapping, TimeMap
from dynid.logs.readers.table import Table

Tables = Mapping[str | None, Table]
_AGREE = 0.02
"""Share by which the rates of two files may differ when rows are paired by number."""
_APART = 1.5
"""Samples by which they may begin apart."""


def with_stamps(tables: Tables, mapping: LogMapping) -> LogMapping:
    """The mapping with stamps of its files, where it gives neither a rate nor a column or unit of stamps.

    Args:
        tables: files by the name that the mapping gives them.
        mapping: what the user says.
    """
    if mapping.rate_hz is not None:
        return mapping
    time = mapping.time
    if time is not None and time.column is not None:
        table = tables[time.file]
        place = table.index(time.column)
        unit = time.unit or time_unit(table, place, word_of(table, place))
        return replace(mapping, time=replace(time, unit=unit))
    # Positions go first: they are what is differentiated, and are best left as they were sampled.
    order = sorted(mapping.channels.items(), key=lambda item: item[0] != "position")
    for file in dict.fromkeys(part.file for _, part in order):
        found = _stamps_of(tables[file], file, mapping)
        if found is not None:
            said = None if time is None else time.unit
            return replace(mapping, time=replace(found, unit=said or found.unit))
    return mapping


def other_clocks(tables: Tables, mapping: LogMapping, given: LogMapping | None) -> dict[str | None, TimeMap]:
    """Stamps of every file that holds channels and is not the one whose stamps count.

    Args:
        tables: files by the name that the mapping gives them.
        mapping: as ``with_stamps`` gives it.
        given: as the user gave it, whose unit of stamps is meant for columns of the same name.

    Raises:
        FileError: when a rate is given, by which rows of all files are paired, and the stamps deny it.
    """
    files = dict.fromkeys(part.file for part in mapping.channels.values())
    if mapping.time is not None and mapping.time.ignored:
        return {}
    if mapping.rate_hz is not None:
        clocks = {file: _stamps_of(tables[file], file, mapping) for file in files}
        _require_together(tables, {f: clock for f, clock in clocks.items() if clock is not None})
        return {}
    if mapping.time is None or mapping.time.column is None:
        return {}
    own = mapping.time.file
    unit = None if given is None or given.time is None else given.time.unit
    named = replace(mapping, time=replace(mapping.time, unit=unit))
    found = {file: _stamps_of(tables[file], file, named) for file in files if file != own}
    return {file: clock for file, clock in found.items() if clock is not None}


def _stamps_of(table: Table, file: str | None, mapping: LogMapping) -> TimeMap | None:
    """The stamps of a file: its column of the name that the mapping gives, else by name; None without any."""
    used = {
        table.index(column)
        for part in mapping.channels.values()
        if part.file == file
        for column in expanded_columns(part.columns, table, mapping.axes)
    }
    time, found = mapping.time, find_stamps(table, {})[0]
    if time is not None and time.column is not None:
        named = isinstance(time.column, str) and table.has(time.column)
        # A number is the same column in every file only where no file names its columns.
        numbered = isinstance(time.column, int) and found is None and time.column <= len(table.columns)
        if named or numbered:
            place = table.index(time.column)
            found = TimeMap(place + 1, time.unit or time_unit(table, place, word_of(table, place)))
    if found is None or found.column is None or table.index(found.column) in used:
        return None
    # Stamps that stand still or run back and forth say nothing.
    return None if rate_of(table, found) is None else replace(found, file=file)


def _require_together(tables: Tables, clocks: Mapping[str | None, TimeMap]) -> None:
    """Refuse a given rate where the stamps say that rows of the same number are of other moments."""
    if len(clocks) < 2:
        return
    (one, base), *others = clocks.items()
    first = tables[one].array(base.column or 1).reshape(-1)
    rate, unit = rate_of(tables[one], base), "ns" if first.dtype.kind == "M" else base.unit or "s"
    zero = zero_of(first, unit)
    start = seconds_since(first[:1], unit, zero)[0]
    for file, clock in others:
        stamps = tables[file].array(clock.column or 1).reshape(-1)
        other = "ns" if stamps.dtype.kind == "M" else clock.unit or "s"
        offset = seconds_since(stamps[:1], other, in_other_unit(zero, unit, other))[0] - start
        own = rate_of(tables[file], clock)
        if rate is None or own is None or not np.isfinite(offset):
            continue
        if abs(offset) * rate <= _APART and abs(own / rate - 1) <= _AGREE:
            continue
        raise FileError(
            f"rate_hz pairs rows by number, but the stamps of {tables[file].path.name} ({own:.6g} Hz) begin "
            f"{abs(offset):.6g} s {'after' if offset > 0 else 'before'} those of {tables[one].path.name} "
            f"({rate:.6g} Hz). Leave rate_hz out to align the files by their stamps, or give ignore = true "
            "in [time] when the stamps are worth nothing."
        )
