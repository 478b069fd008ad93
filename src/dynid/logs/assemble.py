"""From the columns of files to the channels of a log, in SI, as a mapping says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import FileError, ShapeError
from dynid.logs import spool
from dynid.logs.clocks import Stamps, Tables, log_stamps
from dynid.logs.log import Log, Source, Step
from dynid.logs.mapping import ChannelMap, LogMapping
from dynid.logs.passive import axes_with_torque, with_undriven_axes
from dynid.logs.readers.table import MAX_AXES, Table, rows_of, units_of, word_of
from dynid.logs.retime import Timing, channels_at_stamps, same_stamps
from dynid.logs.spool import Samples, cut_rows, writer_of
from dynid.logs.words import is_signal, unit_factor

_CUT_TOGETHER = 5
"""Rows by which files of one experiment may differ in length."""


def build_log(
    tables: Tables,
    mapping: LogMapping,
    name: str,
    *,
    steps: tuple[Step, ...] = (),
    sources: tuple[Source, ...] = (),
    clocks: Mapping[str | None, Stamps] = MappingProxyType({}),
) -> Log:
    """Put a log together.

    Args:
        tables: files by the name that the mapping gives them; None is the log's one file.
        mapping: which columns, in which units.
        name: of the experiment.
        steps: what was done before.
        sources: files it came from.
        clocks: stamps of files other than that of the log's stamps; rows of the rest are paired by number.
    """
    history = [*steps, *(step for table in tables.values() for step in table.steps)]
    stamps = log_stamps(tables, mapping)
    zero = 0 if stamps is None else stamps.zero()
    time = None if stamps is None else stamps.seconds(zero)
    own = {} if stamps is None else {f: s.seconds(zero, stamps.unit) for f, s in clocks.items()}
    own = {file: seconds for file, seconds in own.items() if time is None or not same_stamps(seconds, time)}
    samples = None if time is None else len(time)
    channels: dict[str, Samples] = {}
    for channel, part in mapping.channels.items():
        known = len(own[part.file]) if part.file in own else samples
        channels[channel], done = channel_values(tables[part.file], part, channel, mapping, known)
        samples = len(channels[channel]) if samples is None else samples
        history += done
    lengths = {c: len(x) for c, x in channels.items() if mapping.channels[c].file not in own}
    if time is not None:
        lengths["time"] = len(time)
    if not lengths:
        seen = ", ".join(repr(column) for table in tables.values() for column in table.names[:10])
        raise FileError(
            f"No channel was recognised among the columns {seen}; say in a mapping which they are."
        )
    kept, cut = _common_length(lengths, name, mapping)
    history += cut
    channels |= {c: cut_rows(channels[c], slice(kept)) for c in lengths if c != "time"}
    if stamps is None or time is None:
        assert mapping.rate_hz is not None
        time = np.arange(kept) / mapping.rate_hz
    elif zero:
        options = {"first_stamp": zero, "unit": stamps.unit}
        history.append(Step("time from first sample", options, "Stamps count from the first sample."))
    channels, undriven = _with_all_torques(tables, mapping, channels)
    history += undriven
    time = time[:kept]
    timings = _timings(mapping, channels, time, own)
    if timings:
        first = next(part.file for part in mapping.channels.values())
        onto = tables[mapping.time.file if stamps is not None and mapping.time else first].path.name
        moved = channels_at_stamps(time, channels, timings, onto)
        time, channels, history = moved.time, dict(moved.channels), [*history, *moved.steps]
    return Log(name, time, channels, mapping.side, tuple(history), sources, condition=mapping.condition)


def _with_all_torques(
    tables: Tables, mapping: LogMapping, channels: dict[str, Samples]
) -> tuple[dict[str, Samples], list[Step]]:
    """Channels with a torque for every axis: zero where the file has no column."""
    if not {"position", "torque"} <= set(channels):
        return channels, []
    axes, count = channels["position"].shape[1], channels["torque"].shape[1]
    if count >= axes:
        return channels, []
    given, said = torque_axes(tables, mapping, count, axes), bool(mapping.channels["torque"].axes)
    torque, step = with_undriven_axes(channels["torque"], axes, given, said)
    return {**channels, "torque": torque}, [step]


def torque_axes(tables: Tables, mapping: LogMapping, count: int, axes: int) -> list[int]:
    """Axes, from 1, of the torques of a log that has fewer of them than positions.

    Args:
        tables: files by the name that the mapping gives them.
        mapping: which columns are positions and torques.
        count: torques.
        axes: positions.
    """

    def numbers(channel: str) -> list[int | None]:
        table = tables[mapping.channels[channel].file]
        places = table.places(mapping.channels[channel].columns)
        return [word_of(table, place).number for place in places]

    first = min((number for number in numbers("position") if number is not None), default=1)
    return axes_with_torque(count, axes, mapping.channels["torque"], numbers("torque"), first)


def _timings(
    mapping: LogMapping,
    channels: Mapping[str, Samples],
    time: FloatArray,
    own: Mapping[str | None, FloatArray],
) -> dict[str, Timing]:
    """Channels that are to be moved in time."""
    timings = {}
    for channel, part in mapping.channels.items():
        if part.file not in own and not part.moved:
            continue
        axes = channels[channel].shape[1]
        if len(part.delay_s) not in (1, axes):
            raise ShapeError(
                f"delay_s of {channel} has {len(part.delay_s)} values for {axes} axes; give one, or one per "
                "axis."
            )
        file = part.file if part.file in own else None
        timings[channel] = Timing(own.get(part.file, time), part.delay_s, part.thin, file)
    return timings


def _common_length(lengths: Mapping[str, int], name: str, mapping: LogMapping) -> tuple[int, list[Step]]:
    shortest, longest = min(lengths.values()), max(lengths.values())
    if shortest == longest:
        return shortest, []
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
    return shortest, [Step("cut to common length", dict(lengths), note)]


def channel_values(
    table: Table, part: ChannelMap, channel: str, mapping: LogMapping, samples: int | None
) -> tuple[Samples, list[Step]]:
    """A channel in SI, (samples, axes), on disk when the samples are many; and what was done to it.

    Args:
        table: the file.
        part: its columns and what their numbers mean.
        channel: its name.
        mapping: the whole mapping.
        samples: number of samples when known.
    """
    places = table.places(part.columns, mapping.axes)
    part = _with_units_of_file(part, channel, table, places)
    part.require_signal()
    first, turned = _rows(table, places[0], samples)
    each = first.shape[1]
    axes = each * len(places)
    fewer = channel == "torque" and axes < (mapping.axes or 0)  # joints without a motor
    if axes > MAX_AXES or (mapping.axes is not None and axes != mapping.axes and not fewer):
        raise ShapeError(
            f"{channel} of {table.path.name} has {axes} axes; "
            f"{'at most 1000 are read' if mapping.axes is None else f'the mapping says {mapping.axes}'}."
        )
    factor, offset, noted = _meaning(part, channel, mapping.side, axes)
    # Filled column by column: two copies of a long log need not fit in memory.
    made = writer_of(len(first), axes, on_disk=len(first) > spool.LONG)
    for k, place in enumerate(places):
        rows, over = (first, turned) if k == 0 else _rows(table, place, len(first))
        if rows.shape != first.shape:
            raise ShapeError(
                f"The columns of {channel} in {table.path.name} differ in shape: {table.names[places[0]]!r} "
                f"is {first.shape}, {table.names[place]!r} {rows.shape}."
            )
        turned = turned or over
        for axis in range(each * k, each * (k + 1)):
            x = rows[:, axis - each * k]
            if factor[axis] != 1 or offset[axis] != 0:
                with np.errstate(over="ignore", invalid="ignore"):  # 1e308 is for the data check to say
                    x = x * factor[axis] + offset[axis]
            made.put(axis, x)
    if turned:
        note = f"{channel} was stored with time along its rows."
        noted.insert(0, Step("turned over", {"channel": channel}, note))
    return made.finish(), noted


def _rows(table: Table, place: int, samples: int | None) -> tuple[FloatArray, bool]:
    """A column as (samples, axes), and whether it had to be turned over."""
    return rows_of(table.array(place + 1), samples, f"{table.names[place]!r} of {table.path.name}")


def _with_units_of_file(part: ChannelMap, channel: str, table: Table, places: Sequence[int]) -> ChannelMap:
    """The units that names or a row of the file say, where the mapping says neither unit nor scale."""
    if part.unit or part.scale != (1.0,):
        return part
    return replace(part, unit=units_of(table, channel, places))


def _meaning(
    part: ChannelMap, channel: str, side: str, axes: int
) -> tuple[FloatArray, FloatArray, list[Step]]:
    """Factor and offset of each axis, and what must be known about them."""
    factor = np.ones(axes)
    for name, values in (
        ("unit", tuple(unit_factor(channel, unit) for unit in part.unit) or (1.0,)),
        ("scale", part.scale),
        ("sign", part.sign),
        ("gain", part.gain or (1.0,)),
    ):
        factor = factor * _per_axis(values, axes, f"{name} of {channel}")
    offset = _per_axis(part.offset, axes, f"offset of {channel}")
    steps = []
    signals = sorted({unit for unit in part.unit if is_signal(unit)})
    if signals and not part.gain:
        motor = "the robot's drive gain makes it a torque"
        note = f"{channel} holds the drive signal in {', '.join(signals)}; "
        note += f"{motor if side == 'motor' else 'give its gain in a mapping'}."
        steps.append(Step("drive signal", {"channel": channel, "unit": signals[0]}, note))
    if np.any(factor != 1) or np.any(offset != 0):
        options = {"channel": channel, "factor": factor.tolist(), "offset": offset.tolist()}
        note = f"{channel} was brought to SI: {_conversion(part, channel)}."
        steps.append(Step("units", options, note))
    return factor, offset, steps


def _conversion(part: ChannelMap, channel: str) -> str:
    """What was done to the numbers of a channel, such as "from deg, times sign 1, -1"."""
    changed = any(unit_factor(channel, unit) != 1 or is_signal(unit) for unit in part.unit)
    said = [f"from {_one_or_list(part.unit)}"] if changed else []
    for name, values in (("scale", part.scale), ("sign", part.sign), ("gain", part.gain)):
        if any(value != 1 for value in values):
            said.append(f"times {name} {_one_or_list([f'{value:.6g}' for value in values])}")
    if any(part.offset):
        said.append(f"plus {_one_or_list([f'{value:.6g}' for value in part.offset])}")
    return ", ".join(said)


def _one_or_list(values: Sequence[str]) -> str:
    """Values that are alike once, others one by one."""
    return values[0] if len(set(values)) == 1 else ", ".join(values)


def _per_axis(values: tuple[float, ...], axes: int, what: str) -> FloatArray:
    if len(values) not in (1, axes):
        raise ShapeError(f"The {what} has {len(values)} values for {axes} axes; give one, or one per axis.")
    return np.broadcast_to(np.array(values, dtype=float), (axes,)).copy()
