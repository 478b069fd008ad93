"""From the columns of files to the channels of a log, as a mapping says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.errors import FileError, ShapeError
from dynid.signals.column_choice import MAX_AXES, expanded_columns
from dynid.signals.log import Log, Source, Step
from dynid.signals.mapping import ChannelMap, LogMapping
from dynid.signals.readers.table import RawArray, Table, rows_of
from dynid.signals.units import TIME_UNITS, is_signal, unit_factor

FloatArray = NDArray[np.float64]
_EPOCH = 1e8
"""Stamps [s] beyond this count from a calendar date; they are made to begin at zero."""
_CUT_TOGETHER = 5
"""Rows by which files of one experiment may differ in length."""


@dataclass(frozen=True, eq=False)
class Part:
    """A channel or the stamps of a log while it is put together."""

    values: FloatArray
    steps: tuple[Step, ...] = ()


def build_log(
    tables: Mapping[str | None, Table],
    mapping: LogMapping,
    name: str,
    *,
    steps: tuple[Step, ...] = (),
    sources: tuple[Source, ...] = (),
    first: int = 0,
    epoch: float | int | None = None,
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
    """
    done = [step for table in tables.values() for step in table.steps]
    stamps = raw_stamps(tables, mapping)
    samples = None if stamps is None else len(stamps)
    channels: dict[str, FloatArray] = {}
    for channel, part in mapping.channels.items():
        made = channel_values(tables[part.file], part, channel, mapping, samples)
        channels[channel] = made.values
        samples = len(made.values) if samples is None else samples
        done += made.steps
    lengths = {channel: len(values) for channel, values in channels.items()}
    if stamps is not None:
        lengths["time"] = len(stamps)
    kept, cut = _common_length(lengths, name)
    time = _time(stamps[:kept] if stamps is not None else None, mapping, kept, first, epoch)
    history = (*steps, *done, *cut, *time.steps)
    channels = {channel: values[:kept] for channel, values in channels.items()}
    return Log(name, time.values, channels, mapping.side, history, sources)


def raw_stamps(tables: Mapping[str | None, Table], mapping: LogMapping) -> RawArray | None:
    """Stamps as the file has them, or None when only the rate is known."""
    if mapping.time is None or mapping.time.column is None or mapping.time.ignored:
        if mapping.rate_hz is None:
            names = ", ".join(sorted({table.path.name for table in tables.values()}))
            raise FileError(
                f"{names}: no column of stamps was found; give rate_hz, or column in [time], in a mapping.",
                name="time",
            )
        return None
    stamps = tables[mapping.time.file].array(mapping.time.column)
    if stamps.ndim == 2 and 1 in stamps.shape:
        stamps = stamps.reshape(-1)
    if stamps.ndim != 1 or len(stamps) == 0:
        raise FileError(f"The stamps have shape {stamps.shape}; one per sample is expected.", name="time")
    return stamps


def channel_values(
    table: Table, part: ChannelMap, channel: str, mapping: LogMapping, samples: int | None
) -> Part:
    """A channel in SI, (samples, axes)."""
    columns = expanded_columns(part.columns, table, mapping.axes)
    raw, turned = _side_by_side(table, columns, samples, channel)
    axes = raw.shape[1]
    if axes > MAX_AXES or (mapping.axes is not None and axes != mapping.axes):
        raise ShapeError(
            f"{channel} of {table.path.name} has {axes} axes; "
            f"{'at most 1000 are read' if mapping.axes is None else f'the mapping says {mapping.axes}'}.",
            name=channel,
            value=axes,
        )
    steps = [
        Step("turned over", {"channel": channel}, f"{channel} was stored with time along its rows.")
    ] * turned
    factor, offset, noted = _meaning(part, channel, mapping.side, axes)
    if np.all(factor == 1) and np.all(offset == 0):
        return Part(raw, (*steps, *noted))
    with np.errstate(over="ignore", invalid="ignore"):  # garbage such as 1e308 is for the data check to say
        return Part(raw * factor + offset, (*steps, *noted))


def _side_by_side(
    table: Table, columns: Sequence[str | int], samples: int | None, channel: str
) -> tuple[FloatArray, bool]:
    """Columns as one array (samples, axes), and whether any had to be turned over."""
    first, turned = rows_of(table.array(columns[0]), samples, f"{columns[0]!r} of {table.path.name}")
    if len(columns) == 1:
        return first, turned
    # Filled column by column: two copies of a long log need not fit in memory.
    values = np.empty((len(first), first.shape[1] * len(columns)))
    values[:, : first.shape[1]] = first
    at = first.shape[1]
    for column in columns[1:]:
        rows, over = rows_of(table.array(column), len(first), f"{column!r} of {table.path.name}")
        if len(rows) != len(first) or at + rows.shape[1] > values.shape[1]:
            raise ShapeError(
                f"The columns of {channel} in {table.path.name} differ in shape: {columns[0]!r} is "
                f"{first.shape}, {column!r} {rows.shape}.",
                name=channel,
            )
        values[:, at : at + rows.shape[1]] = rows
        at += rows.shape[1]
        turned = turned or over
    return values[:, :at], turned


def _meaning(
    part: ChannelMap, channel: str, side: str, axes: int
) -> tuple[FloatArray, FloatArray, tuple[Step, ...]]:
    """Factor and offset of each axis, and what must be known about them."""
    units = part.unit or ("",)
    factors = tuple(unit_factor(channel, unit) if unit else 1.0 for unit in units)
    factor = np.ones(axes)
    for name, values in (
        ("unit", factors),
        ("scale", part.scale),
        ("sign", part.sign),
        ("gain", part.gain or (1.0,)),
    ):
        factor = factor * _per_axis(values, axes, f"{name} of {channel}")
    offset = _per_axis(part.offset, axes, f"offset of {channel}")
    steps = []
    signals = sorted({unit for unit in units if unit and is_signal(unit)})
    if signals and not part.gain:
        side_note = (
            "the robot's drive gain makes it a torque" if side == "motor" else "give its gain in a mapping"
        )
        note = f"{channel} holds the drive signal in {', '.join(signals)}; {side_note}."
        steps.append(Step("drive signal", {"channel": channel, "unit": signals[0]}, note))
    if np.any(factor != 1) or np.any(offset != 0):
        options = {"channel": channel, "factor": factor.tolist(), "offset": offset.tolist()}
        steps.append(Step("units", options, f"{channel} was brought to SI."))
    return factor, offset, tuple(steps)


def _per_axis(values: tuple[float, ...], axes: int, what: str) -> FloatArray:
    if len(values) not in (1, axes):
        raise ShapeError(
            f"The {what} has {len(values)} values for {axes} axes; give one, or one per axis.",
            name=what,
            value=len(values),
            allowed=f"1 or {axes}",
        )
    return np.broadcast_to(np.array(values, dtype=float), (axes,)).copy()


def _common_length(lengths: Mapping[str, int], name: str) -> tuple[int, tuple[Step, ...]]:
    shortest, longest = min(lengths.values()), max(lengths.values())
    if shortest == longest:
        return shortest, ()
    if longest - shortest > _CUT_TOGETHER:
        raise ShapeError(
            f"The channels of log {name!r} have different numbers of samples: {dict(lengths)}; they must be "
            "of one experiment at one rate.",
            name="samples",
            value=dict(lengths),
        )
    note = f"Channels differ in length {dict(lengths)}; all were cut to {shortest} samples."
    return shortest, (Step("cut to common length", dict(lengths), note),)


def zero_of(stamps: RawArray, unit: str) -> float | int:
    """The stamp that becomes zero: the first, when stamps count from a calendar date; else 0."""
    if stamps.dtype.kind == "M":
        return int(stamps[:1].astype("M8[ns]").astype(np.int64)[0])
    first = stamps[0].item()
    counted = stamps.dtype.kind in "iu" or not np.isfinite(first)
    far = np.isfinite(first) and abs(first) * TIME_UNITS[unit] > _EPOCH
    return (int(first) if counted else float(first)) if far else 0


def _time(
    stamps: RawArray | None, mapping: LogMapping, samples: int, first: int, epoch: float | int | None
) -> Part:
    if stamps is None:
        assert mapping.rate_hz is not None
        return Part((first + np.arange(samples)) / mapping.rate_hz)
    unit = (mapping.time.unit if mapping.time is not None else None) or "s"
    zero = zero_of(stamps, unit) if epoch is None else epoch
    if stamps.dtype.kind == "M":
        stamps, unit = stamps.astype("M8[ns]").astype(np.int64), "ns"
    # The difference is taken before the scaling: nanoseconds since 1970 do not fit a float.
    exact = stamps.astype(object) if stamps.dtype == np.uint64 else stamps
    since = np.asarray(exact - zero if zero else exact, dtype=float)
    with np.errstate(over="ignore", invalid="ignore"):
        time = since * TIME_UNITS[unit]
    if not zero:
        return Part(time)
    note = "Stamps count from the first sample."
    return Part(time, (Step("time from first sample", {"first_stamp": zero, "unit": unit}, note),))
