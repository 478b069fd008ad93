"""``dynid map``: a mapping to start from, with what each column of a log was taken for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dynid.cli.command import JsonOption, command
from dynid.cli.output import TextFileOptions, print_json, require_free, write_file
from dynid.cli.robot_options import NamedRobotOptions
from dynid.core.errors import DynidError, FileError
from dynid.core.files import toml_value
from dynid.logs.assemble import torque_axes
from dynid.logs.grammar import FIT_CHANNELS, guess_parts
from dynid.logs.log import CHANNELS
from dynid.logs.mapping import ChannelMap, LogMapping
from dynid.logs.read import bag_of, logs_in, meaning_of, open_table
from dynid.logs.readers.table import Table
from dynid.logs.save import is_saved_log
from dynid.logs.words import TIME_UNITS, UNITS, is_signal
from dynid.model.load import load_robot
from dynid.model.robot import Robot

Tables = Mapping[str | None, Table]
"""Files of a log by the name that a mapping gives them; None is the log's one file."""
_WIDTH = 28
"""Characters before a comment on a line of the mapping."""


@command(
    examples=[
        "dynid map log.csv",
        "dynid map log.csv --robot tx40 --out map.toml",
        "dynid check log.csv --map map.toml --robot tx40",
    ],
    exit_0="A mapping was written, perhaps with gaps to fill.",
)
def map(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="A log file, a bag, or a folder of files.")],
    named: NamedRobotOptions,
    file: TextFileOptions,
    as_json: JsonOption = False,
) -> None:
    """Write a mapping of a log's columns to start from: what was taken for what, and what was not used.

    Units come from the columns' names (q1_deg, tau_Nm) or from a row of units. Edit the file and give it to
    check, fit or validate with --map.
    """
    out = file.out
    if out is not None:
        require_free(out, file.force)
    arm = None if named.robot is None else load_robot(named.robot)
    tables, mapping, notes = guessed_log(log)
    text = mapping_text(log, tables, mapping, notes, arm)
    if out is not None:
        write_file(out, text, file.force)
    if as_json:
        print_json(_document(tables, mapping, notes, out, text))
    else:
        typer.echo(text if out is None else f"wrote {out}", nl=out is not None)


def guessed_log(path: Path) -> tuple[Tables, LogMapping, tuple[str, ...]]:
    """The files of a log, what their columns are taken for, and what is to be said about it.

    Args:
        path: a file, a bag's folder, or a folder with the files of one experiment.
    """
    if path.is_dir() and not bag_of(path):
        tables = [open_table(file, None) for file in logs_in(path)]
        parts = guess_parts(tables) if len(tables) > 1 else None
        if parts is not None:
            return {table.path.name: table for table in tables}, parts, ()
        if len(tables) > 1:
            raise FileError(
                f"The folder {path} holds {len(tables)} logs, and their names do not say that they are parts "
                "of one; give one of them."
            )
        path = tables[0].path
    table = open_table(path, None)
    if is_saved_log(table):
        raise DynidError(f"{path} was written by dynid and says itself what its columns are.")
    mapping, notes = _guessed(table)
    return {None: table}, mapping, notes


def _guessed(table: Table) -> tuple[LogMapping, tuple[str, ...]]:
    """As much as can be told: all that a fit needs, else what numbered columns say, else nothing."""
    first: DynidError | None = None
    for needed in (FIT_CHANNELS, ()):
        try:
            mapping, steps = meaning_of(table, None, needed)
        except DynidError as error:
            first = first or error
        else:
            # The first step only says what the mapping says.
            return mapping, tuple(step.note for step in steps[1:] if step.note)
    return LogMapping(), (str(first),)


def mapping_text(
    log: Path, tables: Tables, mapping: LogMapping, notes: Sequence[str], robot: Robot | None
) -> str:
    """A mapping file with comments.

    Args:
        log: as the user gave it.
        tables: its files.
        mapping: what was guessed; its columns are numbers or names.
        notes: sentences about the guess.
        robot: whose joints the axes are, or None.
    """
    lines = [f"# What the columns of {log.name} mean, as `dynid map` takes them; edit what is wrong."]
    lines += ["# Keys and units are described on the documentation's page on logs."]
    lines += [f"# {note}" for note in notes]
    if robot is not None:
        lines += [f"# {robot.name} has {len(_joints(robot))} axes: {', '.join(_joints(robot))}."]
    lines += ["", _line('side = "joint"', '"motor" when positions and torques are those of the motors')]
    lines += _clock_lines(tables, mapping)
    for channel in CHANNELS:
        part = mapping.channels.get(channel)
        if part is not None:
            given = _driven_axes(tables, mapping, robot) if channel == "torque" else []
            lines += ["", *_channel_lines(channel, part, tables[part.file], robot, given)]
        elif channel in FIT_CHANNELS:
            unit = next(iter(UNITS[channel]))
            lines += ["", f"# [{channel}]    not recognised: name its columns, one per axis"]
            lines += ["# columns = []", f'# unit = "{unit}"']
    for file, table in tables.items():
        lines += _unused_lines(file, table, mapping)
    # Names come from the log: a comment must stay one, whatever they hold.
    return "".join(f"{''.join(c if c.isprintable() else ' ' for c in line)}\n" for line in lines)


def _clock_lines(tables: Tables, mapping: LogMapping) -> list[str]:
    time = mapping.time
    if mapping.rate_hz is not None:
        return [_line(f"rate_hz = {mapping.rate_hz:g}", "samples per second, as the file says")]
    if time is None or time.column is None:
        return [_line("# rate_hz = 1000", "no stamps were recognised: give the rate, or their column below")]
    table = tables[time.file]
    place = table.index(time.column)
    lines = ["", "[time]", _line(f"column = {_column(table, place)}", _facts(table, place))]
    lines += [] if time.file is None else [f"file = {toml_value(time.file)}"]
    if table.columns[place].dates:
        return [*lines, "# dates need no unit"]
    return [*lines, _line(f'unit = "{time.unit or "s"}"', f"one of {', '.join(TIME_UNITS)}")]


def _channel_lines(
    channel: str, part: ChannelMap, table: Table, robot: Robot | None, given: Sequence[int]
) -> list[str]:
    """The table of a channel; ``given`` are the axes of its columns where these are fewer than the axes."""
    lines = [f"[{channel}]"] + ([] if part.file is None else [f"file = {toml_value(part.file)}"])
    places = _places(part, table)
    names = table.joints or (() if robot is None else _joints(robot))
    several = _axes_of_columns(part, table)
    if several == [1] * len(places):
        for axis, i in zip(given or range(1, len(places) + 1), places, strict=True):
            joint = f" {names[axis - 1]}" if axis <= len(names) else ""
            lines.append(f"# axis {axis}{joint}: {table.names[i]}, {_facts(table, i)}")
        columns = f"[{', '.join(_column(table, i) for i in places)}]"
    else:
        lines += [
            f"# {table.names[i]} holds {n} axes, {_facts(table, i)}"
            for i, n in zip(places, several, strict=True)
        ]
        lines += [f"# axis {axis + 1} is {name}" for axis, name in enumerate(names)]
        columns = _column(table, places[0]) if len(places) == 1 else str([i + 1 for i in places])
    axes = sum(several)
    if robot is not None and axes != len(_joints(robot)) and not given:
        lines.append(f"# take care: {axes} axes, and the robot has {len(_joints(robot))}")
    lines.append(f"columns = {columns}")
    if given:
        lines.append(
            _line(f"axes = {list(given)}", "torques of other axes are zero: no motor, or it was off")
        )
    known = ", ".join(UNITS[channel])
    if part.unit:
        unit = toml_value(part.unit[0] if len(part.unit) == 1 else list(part.unit))
        lines.append(_line(f"unit = {unit}", f"as the file says; one of {known}"))
    else:
        usual = toml_value(next(iter(UNITS[channel])))
        lines.append(_line(f"# unit = {usual}", f"the file does not say; one of {known}"))
    if any(is_signal(unit) for unit in part.unit):
        lines.append(
            _line(f"# gain = {[1.0] * axes}", "torque per ampere or volt, unless the drives have it")
        )
    return lines


def _driven_axes(tables: Tables, mapping: LogMapping, robot: Robot | None) -> list[int]:
    """The axes of the torques, from 1, where some axes have none; none when all of them have."""
    parts = [mapping.channels.get(channel) for channel in FIT_CHANNELS]
    axes, count = (0 if p is None else sum(_axes_of_columns(p, tables[p.file])) for p in parts)
    if not 0 < count < axes:
        return []
    if robot is not None and len(robot.driven) == axes and sum(robot.driven) == count:
        return [axis + 1 for axis, has_motor in enumerate(robot.driven) if has_motor]
    return torque_axes(tables, mapping, count, axes)


def _axes_of_columns(part: ChannelMap, table: Table) -> list[int]:
    """Axes that each column of a channel holds; the longer side of an array is time."""
    shapes = [table.columns[i].shape for i in _places(part, table)]
    return [min(shape[:2]) if len(shape) > 1 else 1 for shape in shapes]


def _unused_lines(file: str | None, table: Table, mapping: LogMapping) -> list[str]:
    """Columns of a file that the mapping does not use, as comments."""
    parts = [part for part in mapping.channels.values() if part.file == file]
    used = {i for part in parts for i in _places(part, table)}
    time = mapping.time
    if time is not None and time.column is not None and time.file == file:
        used.add(table.index(time.column))
    rest = [i for i in range(len(table.columns)) if i not in used]
    if not rest:
        return []
    return ["", f"# Columns of {table.path.name} that are not used:"] + [
        f"#   {table.names[i]}, {_facts(table, i)}" for i in rest
    ]


def _joints(robot: Robot) -> list[str]:
    return [robot.joints[j].name for j in robot.coordinates]


def _places(part: ChannelMap, table: Table) -> list[int]:
    columns = part.columns if isinstance(part.columns, tuple) else (part.columns,)
    return [table.index(column) for column in columns if column is not None]


def _column(table: Table, place: int) -> str:
    """A column as a mapping names it: by its name, or by its number where the name stands twice."""
    name = table.names[place]
    return toml_value(name if table.names.count(name) == 1 and name else place + 1)


def _facts(table: Table, place: int) -> str:
    """Number, shape and range of a column, which help to see what it is and in which unit."""
    facts = f"column {place + 1}"
    if len(table.columns[place].shape) > 1:
        facts += f", {' × '.join(str(size) for size in table.columns[place].shape)}"
    if table.columns[place].dates:
        return f"{facts}, dates"
    values = table.fetch(place)
    if values.dtype.kind not in "iufb" or not values.size:
        return facts
    with np.errstate(all="ignore"):
        finite = values[np.isfinite(values)]
    return (
        f"{facts}, from {finite.min():.4g} to {finite.max():.4g}" if finite.size else f"{facts}, no numbers"
    )


def _line(text: str, comment: str) -> str:
    return f"{text.ljust(_WIDTH)}# {comment}"


def _document(
    tables: Tables, mapping: LogMapping, notes: Sequence[str], out: Path | None, text: str
) -> dict[str, Any]:
    channels = {
        channel: {
            "columns": [tables[part.file].names[i] for i in _places(part, tables[part.file])],
            "unit": list(part.unit),
            "file": part.file,
        }
        for channel, part in mapping.channels.items()
    }
    return {
        "channels": channels,
        "notes": list(notes),
        "file": None if out is None else str(out),
        "mapping": text,
    }
