"""The values of a channel: columns side by side, in SI, and what was done to them in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import ShapeError
from dynid.logs import spool
from dynid.logs.column_choice import MAX_AXES, expanded_columns
from dynid.logs.log import Step
from dynid.logs.mapping import ChannelMap, LogMapping
from dynid.logs.readers.table import Table, rows_of
from dynid.logs.spool import Samples, writer_of
from dynid.logs.units import UNITS, is_signal, plain_unit, unit_factor

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Part:
    """A channel or the stamps of a log while it is put together."""

    values: Samples
    steps: tuple[Step, ...] = ()


def channel_values(
    table: Table, part: ChannelMap, channel: str, mapping: LogMapping, samples: int | None
) -> Part:
    """A channel in SI, (samples, axes).

    Args:
        table: the file.
        part: its columns and what their numbers mean.
        channel: its name.
        mapping: the whole mapping.
        samples: number of samples when known.
    """
    columns = expanded_columns(part.columns, table, mapping.axes)
    part = _with_units_of_file(part, channel, table, columns)
    first, turned = rows_of(table.array(columns[0]), samples, f"{columns[0]!r} of {table.path.name}")
    each = first.shape[1]
    axes = each * len(columns)
    if axes > MAX_AXES or (mapping.axes is not None and axes != mapping.axes):
        raise ShapeError(
            f"{channel} of {table.path.name} has {axes} axes; "
            f"{'at most 1000 are read' if mapping.axes is None else f'the mapping says {mapping.axes}'}."
        )
    factor, offset, noted = _meaning(part, channel, mapping.side, axes)
    # Filled column by column: two copies of a long log need not fit in memory.
    made = writer_of(len(first), axes, on_disk=len(first) > spool.LONG)
    for k, column in enumerate(columns):
        rows, over = (first, turned) if k == 0 else _rows(table, column, len(first))
        if rows.shape != first.shape:
            raise ShapeError(
                f"The columns of {channel} in {table.path.name} differ in shape: {columns[0]!r} is "
                f"{first.shape}, {column!r} {rows.shape}."
            )
        turned = turned or over
        for axis in range(each * k, each * (k + 1)):
            x = rows[:, axis - each * k]
            if factor[axis] != 1 or offset[axis] != 0:
                with np.errstate(over="ignore", invalid="ignore"):  # 1e308 is for the data check to say
                    x = x * factor[axis] + offset[axis]
            made.put(axis, x)
    note = f"{channel} was stored with time along its rows."
    steps = (Step("turned over", {"channel": channel}, note),) if turned else ()
    return Part(made.finish(), (*steps, *noted))


def _rows(table: Table, column: str | int, samples: int) -> tuple[FloatArray, bool]:
    return rows_of(table.array(column), samples, f"{column!r} of {table.path.name}")


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
        steps.append(Step("units", options, f"{channel} was brought to SI: {_told(part, channel)}."))
    return factor, offset, tuple(steps)


def _told(part: ChannelMap, channel: str) -> str:
    """What was done to the numbers of a channel, such as "from deg, times sign 1, -1"."""
    unit = part.unit if any(unit_factor(channel, unit) != 1 or is_signal(unit) for unit in part.unit) else ()
    said = [f"from {_listed(unit)}"] if unit else []
    for name, values in (("scale", part.scale), ("sign", part.sign), ("gain", part.gain)):
        if any(value != 1 for value in values):
            said.append(f"times {name} {_listed([f'{value:.6g}' for value in values])}")
    if any(part.offset):
        said.append(f"plus {_listed([f'{value:.6g}' for value in part.offset])}")
    return ", ".join(said)


def _listed(values: Sequence[str]) -> str:
    """Values that are alike once, others one by one."""
    return values[0] if len(set(values)) == 1 else ", ".join(values)


def _with_units_of_file(
    part: ChannelMap, channel: str, table: Table, columns: Sequence[str | int]
) -> ChannelMap:
    """The units that a row of the file says, where the mapping says none and all are known."""
    if part.unit:
        return part
    units = [table.columns[table.index(column)].unit for column in columns]
    known = [unit for unit in units if unit is not None and plain_unit(unit) in UNITS[channel]]
    if len(known) < len(units):
        return part
    return replace(part, unit=tuple(known) if len(set(known)) > 1 else (known[0],))


def _per_axis(values: tuple[float, ...], axes: int, what: str) -> FloatArray:
    if len(values) not in (1, axes):
        raise ShapeError(f"The {what} has {len(values)} values for {axes} axes; give one, or one per axis.")
    return np.broadcast_to(np.array(values, dtype=float), (axes,)).copy()
