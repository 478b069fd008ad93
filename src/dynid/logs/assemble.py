"""From the columns of files to the channels of a log, as a mapping says."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import FileError, ShapeError
from dynid.logs.channel_values import channel_values
from dynid.logs.file_times import in_other_unit, seconds_since, zero_of
from dynid.logs.log import Log, Source, Step
from dynid.logs.mapping import LogMapping, TimeMap
from dynid.logs.readers.table import RawArray, Table
from dynid.logs.retime import Timing, retimed, same_stamps
from dynid.logs.spool import Samples, cut_rows

__all__ = ["build_log", "raw_stamps", "zero_of"]
FloatArray = NDArray[np.float64]
Clocks = Mapping[str | None, TimeMap]
_CUT_TOGETHER = 5
"""Rows by which files of one experiment may differ in length."""


def build_log(
    tables: Mapping[str | None, Table],
    mapping: LogMapping,
    name: str,
    *,
    steps: tuple[Step, ...] = (),
    sources: tuple[Source, ...] = (),
    first: int = 0,
    epoch: float | int | None = None,
    clocks: Clocks = MappingProxyType({}),
) -> Log:
    """Put a log together.

    Args:
        tables: files by the name that the mapping gives them; None is the log's one file.
        mapping: which columns, in which units.
        name: of the experiment.
        steps: what was done before.
        sources: files it came from.
        first: number of samples before these, when this is a chunk of a longer log.
        epoch: stamp that is zero, in the unit of the file; found when None.
        clocks: stamps of files other than that of the log's stamps; rows of the rest are paired by number.
    """
    done = [step for table in tables.values() for step in table.steps]
    stamps = raw_stamps(tables, mapping)
    zero = zero_of(stamps, _unit_of(mapping)) if stamps is not None and epoch is None else epoch
    own = _other_clocks(tables, mapping, stamps, zero, clocks)
    samples = None if stamps is None else len(stamps)
    channels: dict[str, Samples] = {}
    for channel, part in mapping.channels.items():
        known = len(own[part.file]) if part.file in own else samples
        made = channel_values(tables[part.file], part, channel, mapping, known)
        channels[channel] = made.values
        samples = len(made.values) if samples is None else samples
        done += made.steps
    paired = {channel for channel in channels if mapping.channels[channel].file not in own}
    lengths = {channel: len(channels[channel]) for channel in channels if channel in paired}
    if stamps is not None:
        lengths["time"] = len(stamps)
    kept, cut = _common_length(lengths, name, mapping)
    time, counted = _time(stamps, mapping, kept, first, zero)
    channels |= {channel: cut_rows(channels[channel], slice(kept)) for channel in paired}
    history = (*steps, *done, *cut, *counted)
    timings = _timings(mapping, channels, time, own)
    if not timings:
        return Log(name, time, channels, mapping.side, history, sources)
    onto = tables[mapping.time.file if stamps is not None and mapping.time else _first_file(mapping)].path
    moved = retimed(time, channels, timings, onto.name)
    return Log(name, moved.time, moved.channels, mapping.side, (*history, *moved.steps), sources)


def _first_file(mapping: LogMapping) -> str | None:
    return next(part.file for part in mapping.channels.values())


def _other_clocks(
    tables: Mapping[str | None, Table],
    mapping: LogMapping,
    stamps: RawArray | None,
    zero: float | int | None,
    clocks: Clocks,
) -> dict[str | None, FloatArray]:
    """Stamps of the files that have other ones than the log's, in seconds from its zero."""
    if stamps is None or zero is None:
        return {}
    unit = "ns" if stamps.dtype.kind == "M" else _unit_of(mapping)
    time = seconds_since(stamps, unit, zero)
    found = {}
    for file, clock in clocks.items():
        raw = tables[file].array(clock.column or 1).reshape(-1)
        other = "ns" if raw.dtype.kind == "M" else clock.unit or "s"
        seconds = seconds_since(raw, other, in_other_unit(zero, unit, other))
        if not same_stamps(seconds, time):
            found[file] = seconds
    return found


def _timings(
    mapping: LogMapping,
    channels: Mapping[str, Samples],
    time: FloatArray,
    own: Mapping[str | None, FloatArray],
) -> dict[str, Timing]:
    """Channels that are to be moved in time."""
    timings = {}
    for channel, part in mapping.channels.items():
        file = part.file if part.file in own else None
        if part.file not in own and not part.moved:
            continue
        axes = channels[channel].shape[1]
        if len(part.delay_s) not in (1, axes):
            raise ShapeError(
                f"delay_s of {channel} has {len(part.delay_s)} values for {axes} axes; give one, or one per "
                "axis."
            )
        timings[channel] = Timing(own.get(part.file, time), part.delay_s, part.thin, file)
    return timings


def raw_stamps(tables: Mapping[str | None, Table], mapping: LogMapping) -> RawArray | None:
    """Stamps as the file has them, or None when only the rate is known."""
    if mapping.time is None or mapping.time.column is None or mapping.time.ignored:
        if mapping.rate_hz is None:
            names = ", ".join(sorted({table.path.name for table in tables.values()}))
            raise FileError(
                f"{names}: no column of stamps was found; give rate_hz, or column in [time], in a mapping."
            )
        return None
    stamps = tables[mapping.time.file].array(mapping.time.column)
    if stamps.ndim == 2 and 1 in stamps.shape:
        stamps = stamps.reshape(-1)
    if stamps.ndim != 1 or len(stamps) == 0:
        raise FileError(f"The stamps have shape {stamps.shape}; one per sample is expected.")
    return stamps


def _common_length(
    lengths: Mapping[str, int], name: str, mapping: LogMapping
) -> tuple[int, tuple[Step, ...]]:
    shortest, longest = min(lengths.values()), max(lengths.values())
    if shortest == longest:
        return shortest, ()
    files = {channel: part.file for channel, part in mapping.channels.items()}
    files["time"] = None if mapping.time is None else mapping.time.file
    said = ", ".join(f"{c} {n}{f' in {files[c]}' if files[c] else ''}" for c, n in lengths.items())
    if longest - shortest > _CUT_TOGETHER:
        raise ShapeError(
            f"The channels of log {name!r} have different numbers of samples ({said}), and without stamps of "
            "their own rows are paired by number. Give every file a column of stamps (t, time, stamp), or "
            "cut them to the same moments at one rate."
        )
    note = f"Channels differ in length ({said}); all were cut to {shortest} samples."
    return shortest, (Step("cut to common length", dict(lengths), note),)


def _time(
    stamps: RawArray | None, mapping: LogMapping, samples: int, first: int, zero: float | int | None
) -> tuple[FloatArray, tuple[Step, ...]]:
    """Seconds of every sample, and whether they were made to begin at zero."""
    if stamps is None or zero is None:
        assert mapping.rate_hz is not None
        return (first + np.arange(samples)) / mapping.rate_hz, ()
    unit = "ns" if stamps.dtype.kind == "M" else _unit_of(mapping)
    time = seconds_since(stamps[:samples], unit, zero)
    if not zero:
        return time, ()
    note = "Stamps count from the first sample."
    return time, (Step("time from first sample", {"first_stamp": zero, "unit": unit}, note),)


def _unit_of(mapping: LogMapping) -> str:
    return (mapping.time.unit if mapping.time is not None else None) or "s"
