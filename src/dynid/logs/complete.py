"""What a mapping leaves unsaid: completed by what the file's names tell, and rates held against stamps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from dynid.logs.dialects import Guess, described, find_stamps, guess_mapping, time_unit, word_of
from dynid.logs.log import Step
from dynid.logs.mapping import ChannelMap, LogMapping, TimeMap
from dynid.logs.readers.table import Table
from dynid.logs.units import TIME_UNITS

_AGREE = 0.02
"""Share by which a given rate may differ from that of the stamps."""
_STEADY = 0.8
"""Share of the stamps that must increase for them to say a rate."""


def complete_mapping(
    table: Table, mapping: LogMapping, sizes: Mapping[str, float], needed: Sequence[str]
) -> tuple[LogMapping, tuple[Step, ...]]:
    """A mapping with columns for everything that it does not say, and what was guessed.

    Args:
        table: the file.
        mapping: what the user says; it always goes first.
        sizes: variables of one number, which may say the rate.
        needed: channels without which the file is refused.
    """
    said = {name: part for name, part in mapping.channels.items() if part.columns is not None}
    steps: list[Step] = []
    channels: dict[str, ChannelMap] = dict(mapping.channels)
    time, rate = mapping.time, mapping.rate_hz
    if not set(needed) <= set(said) or len(said) < len(mapping.channels):
        guess = guess_mapping(table, sizes, needed, said, mapping.axes)
        channels = {**guess.mapping.channels}
        channels |= {name: _joined(part, channels.get(name)) for name, part in mapping.channels.items()}
        steps += _guesses(table, guess, mapping, channels)
    if rate is None:
        time, rate = _clock(table, time, sizes)
    elif time is not None:  # it says only that the stamps count for nothing
        time = None
    complete = replace(mapping, channels=MappingProxyType(channels), time=time, rate_hz=rate)
    return complete, (*steps, *clock_steps({None: table}, complete, mapping))


def clock_steps(
    tables: Mapping[str | None, Table], complete: LogMapping, given: LogMapping
) -> tuple[Step, ...]:
    """What time is counted by, where a mapping has a say in it.

    A rate that the stamps of the file deny is recorded for the data check.

    Args:
        tables: files by the name that the mapping gives them; None is the log's one file.
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


def _joined(part: ChannelMap, guess: ChannelMap | None) -> ChannelMap:
    """What the user says of a channel, with the columns and the unit that were guessed."""
    if part.columns is not None or guess is None:
        return part
    return replace(part, columns=guess.columns, unit=part.unit or guess.unit)


def _guesses(
    table: Table, guess: Guess, mapping: LogMapping, channels: Mapping[str, ChannelMap]
) -> tuple[Step, ...]:
    """The steps of a guess, told with what the mapping says beside it."""
    guessed = {name: channels[name] for name in guess.mapping.channels if name in channels}
    if not guessed:
        return guess.steps[1:]
    shown = replace(guess.mapping, channels=guessed, time=None, rate_hz=None)
    step = described(shown, table, "What the mapping leaves open was guessed")
    return (step, *guess.steps[1:])


def _clock(
    table: Table, time: TimeMap | None, sizes: Mapping[str, float]
) -> tuple[TimeMap | None, float | None]:
    """Column and unit of the stamps, or a rate that the file itself says."""
    if time is None or time.column is None:
        found, rate = find_stamps(table, sizes)
        if found is None:
            return time if time is not None and time.column is not None else None, rate
        return found if time is None else replace(found, unit=time.unit or found.unit), None
    if time.unit is not None or time.file is not None:
        return time, None
    i = table.index(time.column)
    return replace(time, unit=time_unit(table, i, word_of(table, i))), None


def _against_stamps(tables: Iterable[Table], rate_hz: float) -> Step:
    """A given rate, and whether the stamps of the file agree with it."""
    for table in tables:
        time, _ = find_stamps(table, {})
        measured = None if time is None else rate_of(table, time)
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


def rate_of(table: Table, time: TimeMap) -> float | None:
    """Samples per second that stamps say; None when most of them do not increase.

    Args:
        table: the file.
        time: the column of its stamps, and their unit.
    """
    stamps = table.array(time.column or 1).reshape(-1)
    if stamps.dtype.kind == "M":
        stamps, unit = stamps.astype("M8[ns]").astype(np.int64), 1e-9
    else:
        unit = TIME_UNITS[time.unit or "s"]
    with np.errstate(all="ignore"):
        steps = np.diff(stamps.astype(float) if stamps.dtype.kind == "f" else stamps - stamps[:1])
    forward = steps[steps > 0]
    if len(forward) < 2 or len(forward) < _STEADY * len(steps):
        return None
    step = float(np.median(forward)) * unit
    return 1.0 / step if np.isfinite(step) else None
