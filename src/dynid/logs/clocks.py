"""Stamps of files: as seconds without loss of digits, the rate they say, and whose count in an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import FileError
from dynid.logs.grammar import find_stamps, time_unit
from dynid.logs.log import Step
from dynid.logs.mapping import LogMapping, TimeMap
from dynid.logs.readers.table import RawArray, Table
from dynid.logs.words import TIME_UNITS

Tables = Mapping[str | None, Table]
"""Files by the name that a mapping gives them; None is the log's one file."""
_EPOCH = 1e8
"""Stamps [s] beyond this count from a calendar date; they are made to begin at zero."""
_AGREE = 0.02
"""Share by which two rates may differ and still be the same."""
_STEADY = 0.8
"""Share of the stamps that must increase for them to say a rate."""
_APART = 1.5
"""Samples by which two files may begin apart when their rows are paired by number."""


@dataclass(frozen=True, eq=False)
class Stamps:
    """Stamps as a file has them.

    Args:
        raw: numbers, or dates, (samples,).
        unit: s, ms, us or ns; ns where they are dates.
    """

    raw: RawArray
    unit: str

    @classmethod
    def of(cls, table: Table, time: TimeMap) -> Stamps:
        """The stamps of a file, in the column that ``time`` says."""
        raw = table.array(time.column or 1)
        if raw.ndim == 2 and 1 in raw.shape:
            raw = raw.reshape(-1)
        if raw.ndim != 1 or len(raw) == 0:
            raise FileError(f"The stamps have shape {raw.shape}; one per sample is expected.")
        return cls(raw, "ns" if raw.dtype.kind == "M" else time.unit or "s")

    def zero(self) -> float | int:
        """The stamp that becomes zero: the first sane one, when stamps count from a calendar date; else 0."""
        if self.raw.dtype.kind == "M":
            known = self.raw[~np.isnat(self.raw)]
            return int(known[:1].astype("M8[ns]").astype(np.int64)[0]) if len(known) else 0
        rough = self.raw.astype(float)
        finite = rough[np.isfinite(rough)]
        low, median, high = np.quantile(finite, [0.05, 0.5, 0.95]) if len(finite) else (0.0, 0.0, 0.0)
        if abs(median) * TIME_UNITS[self.unit] <= _EPOCH:
            return 0
        # One stamp of garbage at the start would take the digits of all others.
        first = self.raw[np.argmax(np.abs(rough - median) <= 4 * (high - low))].item()
        return int(first) if self.raw.dtype.kind in "iu" else float(first)

    def seconds(self, zero: float | int, unit: str | None = None) -> FloatArray:
        """Seconds from a zero, (samples,); lost stamps are NaN.

        Args:
            zero: stamp that is zero.
            unit: of that stamp; that of these stamps when None.
        """
        stamps, lost = self.raw, None
        if stamps.dtype.kind == "M":
            lost = np.isnat(stamps)
            stamps = stamps.astype("M8[ns]").astype(np.int64)
        whole, rest = zero, 0.0
        if unit is not None and unit != self.unit:
            exact = Fraction(zero) * _per_second(self.unit) / _per_second(unit)
            whole = int(exact) if stamps.dtype.kind in "iu" else float(exact)
            rest = float(exact - Fraction(whole))
        # The difference is taken before the scaling: nanoseconds since 1970 do not fit a float.
        wide = stamps.astype(object) if stamps.dtype == np.uint64 else stamps
        since = np.asarray(wide - whole if whole else wide, dtype=float)
        with np.errstate(over="ignore", invalid="ignore"):
            seconds = np.asarray((since - rest if rest else since) * TIME_UNITS[self.unit])
        if lost is not None and lost.any():
            seconds[lost] = np.nan
        return seconds

    def rate_hz(self) -> float | None:
        """Samples per second that they say; None when most of them do not increase."""
        stamps = self.raw.astype("M8[ns]").astype(np.int64) if self.raw.dtype.kind == "M" else self.raw
        with np.errstate(all="ignore"):
            steps = np.diff(stamps.astype(float) if stamps.dtype.kind == "f" else stamps - stamps[:1])
        forward = steps[steps > 0]
        if len(forward) < 2 or len(forward) < _STEADY * len(steps):
            return None
        step = float(np.median(forward)) * TIME_UNITS[self.unit]
        return 1.0 / step if np.isfinite(step) else None


def _per_second(unit: str) -> int:
    return round(1 / TIME_UNITS[unit])


def log_stamps(tables: Tables, mapping: LogMapping) -> Stamps | None:
    """The stamps that count, or None when only the rate is known."""
    if mapping.time is None or mapping.time.column is None or mapping.time.ignored:
        if mapping.rate_hz is None:
            names = ", ".join(sorted({table.path.name for table in tables.values()}))
            raise FileError(
                f"{names}: no column of stamps was found; give rate_hz, or column in [time], in a mapping."
            )
        return None
    return Stamps.of(tables[mapping.time.file], mapping.time)


def clock_steps(tables: Tables, complete: LogMapping, given: LogMapping) -> tuple[Step, ...]:
    """What time is counted by, where a mapping has a say in it.

    A rate that the stamps of the file deny is recorded for the data check.

    Args:
        tables: the files.
        complete: the mapping in use.
        given: the mapping as the user gave it.
    """
    if given.rate_hz is not None:
        ignored = given.time is not None and given.time.ignored
        return (_against_stamps(() if ignored else tables.values(), given.rate_hz),)
    if complete.time is None or complete.time.column is None:
        return ()
    table = tables[complete.time.file]
    name = table.names[table.index(complete.time.column)]
    unit = complete.time.unit or "s"
    told = "as the mapping says" if given.time is not None and given.time.unit else "by their rate or name"
    options = {"column": name, "unit": unit}
    return (Step("stamps", options, f"Stamps from column {name!r} in {unit}, {told}."),)


def _against_stamps(tables: Iterable[Table], rate_hz: float) -> Step:
    """A given rate, and whether the stamps of the file agree with it."""
    for table in tables:
        time, _ = find_stamps(table)
        measured = None if time is None else Stamps.of(table, time).rate_hz()
        if time is None or measured is None:
            continue
        name = table.names[table.index(time.column or 1)]
        options = {"rate_hz": rate_hz, "stamps_hz": measured, "column": name}
        differ = abs(measured / rate_hz - 1) > _AGREE
        seen = f"the stamps in column {name!r} of {table.path.name} say {measured:.6g} Hz"
        note = f"The rate is {rate_hz:g} Hz, as the mapping says; {seen} and are not used."
        return Step("rate against stamps" if differ else "given rate", options, note)
    note = f"The rate is {rate_hz:g} Hz, as the mapping says; stamps are not used."
    return Step("given rate", {"rate_hz": rate_hz}, note)


def with_stamps(tables: Tables, mapping: LogMapping) -> LogMapping:
    """The mapping with stamps of its files, where it gives neither a rate nor a column or unit of stamps.

    Args:
        tables: the files.
        mapping: what the user says.
    """
    if mapping.rate_hz is not None:
        return mapping
    time = mapping.time
    if time is not None and time.column is not None:
        table = tables[time.file]
        unit = time.unit or time_unit(table, table.index(time.column))
        return replace(mapping, time=replace(time, unit=unit))
    # Positions go first: they are what is differentiated, and are best left as they were sampled.
    order = sorted(mapping.channels.items(), key=lambda item: item[0] != "position")
    for file in dict.fromkeys(part.file for _, part in order):
        found = _stamps_of(tables[file], file, mapping)
        if found is not None:
            said = None if time is None else time.unit
            return replace(mapping, time=replace(found, unit=said or found.unit))
    return mapping


def other_clocks(tables: Tables, mapping: LogMapping, given: LogMapping | None) -> dict[str | None, Stamps]:
    """Stamps of every file that holds channels and is not the one whose stamps count.

    Args:
        tables: the files.
        mapping: as ``with_stamps`` gives it.
        given: as the user gave it, whose unit of stamps is meant for columns of the same name.

    Raises:
        FileError: when a rate is given, by which rows of all files are paired, and the stamps deny it.
    """
    files = dict.fromkeys(part.file for part in mapping.channels.values())
    if mapping.time is not None and mapping.time.ignored:
        return {}
    named = mapping
    if mapping.rate_hz is None:
        if mapping.time is None or mapping.time.column is None:
            return {}
        files.pop(mapping.time.file, None)
        unit = None if given is None or given.time is None else given.time.unit
        named = replace(mapping, time=replace(mapping.time, unit=unit))
    clocks = {file: _stamps_of(tables[file], file, named) for file in files}
    found = {file: Stamps.of(tables[file], clock) for file, clock in clocks.items() if clock is not None}
    if mapping.rate_hz is None:
        return found
    _require_together(tables, found)
    return {}


def _stamps_of(table: Table, file: str | None, mapping: LogMapping) -> TimeMap | None:
    """The stamps of a file: its column of the name that the mapping gives, else by name; None without any."""
    used = {
        place
        for part in mapping.channels.values()
        if part.file == file
        for place in table.places(part.columns, mapping.axes)
    }
    time, found = mapping.time, find_stamps(table)[0]
    if time is not None and time.column is not None:
        named = isinstance(time.column, str) and table.has(time.column)
        # A number is the same column in every file only where no file names its columns.
        numbered = isinstance(time.column, int) and found is None and time.column <= len(table.columns)
        if named or numbered:
            place = table.index(time.column)
            found = TimeMap(place + 1, time.unit or time_unit(table, place))
    if found is None or found.column is None or table.index(found.column) in used:
        return None
    # Stamps that stand still or run back and forth say nothing.
    return None if Stamps.of(table, found).rate_hz() is None else replace(found, file=file)


def _require_together(tables: Tables, clocks: Mapping[str | None, Stamps]) -> None:
    """Refuse a given rate where the stamps say that rows of the same number are of other moments."""
    if len(clocks) < 2:
        return
    (one, base), *others = clocks.items()
    rate, zero = base.rate_hz(), base.zero()
    start = Stamps(base.raw[:1], base.unit).seconds(zero)[0]
    for file, clock in others:
        offset = Stamps(clock.raw[:1], clock.unit).seconds(zero, base.unit)[0] - start
        own = clock.rate_hz()
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
