"""How the columns of a log file become channels: a small TOML file, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dynid.core.errors import DynidError, FileError
from dynid.logs.file_options import BagOptions, CsvOptions, bag_options, choice_of, csv_options, text_of
from dynid.logs.log import CHANNELS, SIDES
from dynid.logs.units import TIME_UNITS, is_signal, unit_factor
from dynid.model.files import read_toml
from dynid.model.table_values import Table, check_keys, number_of, table_of

FORMATS = ("csv", "npz", "mat", "hdf5", "parquet", "bag")
_KEYS = ("format", "rate_hz", "side", "axes", "time", "csv", "bag", *CHANNELS)
_CHANNEL_KEYS = ("columns", "file", "unit", "scale", "sign", "offset", "gain", "delay_s", "thin")
_LONGEST_DELAY_S = 60.0
Columns = str | int | tuple[str | int, ...]


@dataclass(frozen=True)
class ChannelMap:
    """Where a channel stands and what its numbers mean: value = offset + sign · scale · gain · unit · raw.

    Args:
        columns: a name (of a column or of a whole array), a pattern such as "pos{axis}", a range such as
            "2-7", a number from 1, or a tuple of names and numbers; None to recognise them by name.
        file: file relative to the log's folder; None when the log is one file.
        unit: one unit, or one per axis.
        scale: factor, one or one per axis.
        sign: +1 or −1, one or one per axis.
        offset: added at the end, in SI, one or one per axis.
        gain: torque per ampere or volt, when the unit is a drive signal; () leaves the signal as it is.
        delay_s: how much later than it happened the channel was logged [s], one or one per axis.
        thin: samples for which the log holds each value of the channel; 1 when every sample is fresh.
    """

    columns: Columns | None = None
    file: str | None = None
    unit: tuple[str, ...] = ()
    scale: tuple[float, ...] = (1.0,)
    sign: tuple[float, ...] = (1.0,)
    offset: tuple[float, ...] = (0.0,)
    gain: tuple[float, ...] = ()
    delay_s: tuple[float, ...] = (0.0,)
    thin: int = 1

    @property
    def moved(self) -> bool:
        """Whether its values are to be read between samples."""
        return self.thin > 1 or any(self.delay_s)


@dataclass(frozen=True)
class TimeMap:
    """The column of the stamps and its unit (s, ms, us, ns); None where the file tells them.

    Args:
        column: a name, or a number from 1.
        unit: of the stamps.
        file: file relative to the log's folder.
        ignored: the stamps count for nothing, not even against ``rate_hz``.
    """

    column: str | int | None = None
    unit: str | None = None
    file: str | None = None
    ignored: bool = False


@dataclass(frozen=True)
class LogMapping:
    """The meaning of a log's columns.

    Args:
        channels: one map per channel.
        time: the stamps; None with ``rate_hz``, or where the format has stamps of its own.
        rate_hz: samples per second, instead of stamps.
        side: "joint", or "motor" when positions and torques are those of the motors.
        axes: number of axes; counted when None.
        format: file format; by the file's ending when None.
        csv: how CSV is written.
        bag: which messages of a bag.
    """

    channels: Mapping[str, ChannelMap] = field(default_factory=dict)
    time: TimeMap | None = None
    rate_hz: float | None = None
    side: str = "joint"
    axes: int | None = None
    format: str | None = None
    csv: CsvOptions = field(default_factory=CsvOptions)
    bag: BagOptions = field(default_factory=BagOptions)

    @property
    def files(self) -> tuple[str, ...]:
        """Files that the mapping names, each once."""
        named = [self.time.file] if self.time is not None else []
        named += [channel.file for channel in self.channels.values()]
        return tuple(dict.fromkeys(name for name in named if name is not None))


def load_mapping(path: str | Path) -> LogMapping:
    """Load a mapping from a TOML file; its keys are described in ``docs/logs.md``."""
    file = Path(path)
    content = read_toml(file, "mapping")
    try:
        return mapping_from_table(content)
    except DynidError as error:
        raise FileError(f"Mapping {file.name}: {error}") from None


def mapping_from_table(content: Table) -> LogMapping:
    """Build a mapping from the parsed content of a mapping file."""
    check_keys(content, _KEYS, "mapping")
    rate = content.get("rate_hz")
    if rate is not None and not 0 < number_of(rate, "rate_hz") < 1e9:
        raise FileError(f"rate_hz is {rate}; it must be positive and finite.")
    time = _time(table_of(content, "time")) if "time" in content else None
    if rate is not None and time is not None and not time.ignored:
        raise FileError("The mapping gives both rate_hz and [time]; keep one.")
    if rate is None and time is not None and time.ignored:
        raise FileError("[time] says ignore; give rate_hz instead of the stamps.")
    side = choice_of(content, "side", SIDES, "joint")
    axes = content.get("axes")
    if axes is not None and (isinstance(axes, bool) or not isinstance(axes, int) or not 1 <= axes <= 1000):
        raise FileError(f"axes is {axes!r}; give a number from 1 to 1000.")
    channels = {name: _channel(table_of(content, name), name) for name in CHANNELS if name in content}
    return LogMapping(
        channels=MappingProxyType(channels),
        time=time,
        rate_hz=None if rate is None else float(rate),
        side=side,
        axes=axes,
        format=choice_of(content, "format", FORMATS, None) if "format" in content else None,
        csv=csv_options(table_of(content, "csv")),
        bag=bag_options(table_of(content, "bag")),
    )


def _time(row: Table) -> TimeMap:
    check_keys(row, ("column", "unit", "file", "ignore"), "[time] table")
    column, ignored = row.get("column"), row.get("ignore", False)
    if isinstance(column, bool) or not isinstance(column, str | int | None):
        raise FileError(f"column of [time] is {column!r}; give a name, or a number from 1.")
    if not isinstance(ignored, bool):
        raise FileError(f"ignore is {ignored!r}; it must be true or false.")
    unit = choice_of(row, "unit", tuple(TIME_UNITS), None) if "unit" in row else None
    return TimeMap(column, unit, _needs_columns(row, "column", "[time]"), ignored)


def _needs_columns(row: Table, key: str, where: str) -> str | None:
    """The file that a table names; its columns are not guessed then."""
    file = text_of(row, "file")
    if file is not None and key not in row:
        raise FileError(f"{where} names the file {file!r} but no {key}; give both.")
    return file


def _channel(row: Table, name: str) -> ChannelMap:
    where = f"[{name}]"
    check_keys(row, _CHANNEL_KEYS, f"{where} table")
    units = row.get("unit", [])
    units = tuple(units) if isinstance(units, list) else (units,)
    for unit in units:
        unit_factor(name, unit)
    signs = _numbers(row, "sign", where, (1.0,))
    if any(abs(sign) != 1 for sign in signs):
        raise FileError(f"sign of {where} is {row['sign']!r}; it must be 1 or -1.")
    gain = _numbers(row, "gain", where, ())
    if gain and not any(is_signal(unit) for unit in units):
        raise FileError(f"gain of {where} needs the unit A, mA or V; for others use scale.")
    scale, offset = _numbers(row, "scale", where, (1.0,)), _numbers(row, "offset", where, (0.0,))
    columns = _columns(row["columns"], where) if "columns" in row else None
    file = _needs_columns(row, "columns", where)
    delay, thin = _numbers(row, "delay_s", where, (0.0,)), row.get("thin", 1)
    if any(abs(seconds) > _LONGEST_DELAY_S for seconds in delay):
        raise FileError(
            f"delay_s of {where} is {row['delay_s']!r}; give seconds, at most {_LONGEST_DELAY_S:g}."
        )
    if isinstance(thin, bool) or not isinstance(thin, int) or not 1 <= thin <= 10_000:
        raise FileError(f"thin of {where} is {thin!r}; give the number of samples for which a value is held.")
    return ChannelMap(columns, file, units, scale, signs, offset, gain, delay, thin)


def _columns(value: Any, where: str) -> Columns:
    entries: list[Any] = value if isinstance(value, list) else [value]
    good = all(isinstance(entry, str | int) and not isinstance(entry, bool) for entry in entries)
    if not entries or not good:
        raise FileError(
            f"columns of {where} is {value!r}; give names, numbers from 1, a range such as '2-7' or a "
            "pattern such as 'pos{axis}'."
        )
    made: Columns = tuple(entries) if isinstance(value, list) else entries[0]
    return made


def _numbers(row: Table, key: str, where: str, default: tuple[float, ...]) -> tuple[float, ...]:
    if key not in row:
        return default
    values = row[key] if isinstance(row[key], list) else [row[key]]
    numbers = tuple(number_of(value, f"{key} of {where}") for value in values)
    if not numbers or not all(abs(number) < 1e300 for number in numbers):
        raise FileError(f"{key} of {where} is {row[key]!r}; give finite numbers.")
    return numbers
