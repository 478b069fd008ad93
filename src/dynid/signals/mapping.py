"""How the columns of a log file become channels: a small TOML file, as data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dynid.errors import DynidError, FileError, unknown_name
from dynid.model.files import read_text
from dynid.model.table_values import Table, check_keys, number_of, table_of
from dynid.signals.log import CHANNELS, SIDES
from dynid.signals.units import TIME_UNITS, is_signal, unit_factor

FORMATS = ("csv", "npz", "mat", "hdf5", "parquet", "bag")
DELIMITERS: Mapping[str, str] = MappingProxyType(
    {"comma": ",", "semicolon": ";", "tab": "\t", "space": " ", ",": ",", ";": ";", "\t": "\t", " ": " "}
)
_KEYS = ("format", "rate_hz", "side", "axes", "time", "csv", "bag", *CHANNELS)
_CHANNEL_KEYS = ("columns", "file", "unit", "scale", "sign", "offset", "gain")
Columns = str | int | tuple[str | int, ...]


@dataclass(frozen=True)
class ChannelMap:
    """Where a channel stands and what its numbers mean: value = offset + sign · scale · gain · unit · raw.

    Args:
        columns: a name (of a column or of a whole array), a pattern such as "pos{axis}", a range such as
            "2-7", a number from 1, or a tuple of names and numbers.
        file: file relative to the log's folder; None when the log is one file.
        unit: one unit, or one per axis.
        scale: factor, one or one per axis.
        sign: +1 or −1, one or one per axis.
        offset: added at the end, in SI, one or one per axis.
        gain: torque per ampere or volt, when the unit is a drive signal; () leaves the signal as it is.
    """

    columns: Columns
    file: str | None = None
    unit: tuple[str, ...] = ()
    scale: tuple[float, ...] = (1.0,)
    sign: tuple[float, ...] = (1.0,)
    offset: tuple[float, ...] = (0.0,)
    gain: tuple[float, ...] = ()


@dataclass(frozen=True)
class TimeMap:
    """The column of the stamps and its unit (s, ms, us, ns)."""

    column: str | int
    unit: str = "s"
    file: str | None = None


@dataclass(frozen=True)
class CsvOptions:
    """How a CSV file is written; None means that it is looked at."""

    delimiter: str | None = None
    decimal: str = "."
    header: bool | None = None
    comment: str = "#%"
    skip_lines: int = 0


@dataclass(frozen=True)
class BagOptions:
    """Which messages of a ROS 2 bag: topic, joints in the order wanted, and whose stamps."""

    topic: str | None = None
    joints: tuple[str, ...] = ()
    stamp: str = "header"


@dataclass(frozen=True)
class LogMapping:
    """The meaning of a log's columns.

    Args:
        channels: one map per channel.
        time: the stamps; None with ``rate_hz``, or where the format has stamps of its own.
        rate_hz: samples per second when there are no stamps.
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
    csv: CsvOptions = CsvOptions()
    bag: BagOptions = BagOptions()

    @property
    def files(self) -> tuple[str, ...]:
        """Files that the mapping names, each once."""
        named = [self.time.file] if self.time is not None else []
        named += [channel.file for channel in self.channels.values()]
        return tuple(dict.fromkeys(name for name in named if name is not None))


def load_mapping(path: str | Path) -> LogMapping:
    """Load a mapping from a TOML file; its keys are described in ``docs/logs.md``."""
    file = Path(path)
    text = read_text(file, "mapping")
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"The mapping {file} is not TOML: {error}.", name="path", value=str(file)) from None
    try:
        return mapping_from_table(content)
    except DynidError as error:
        raise FileError(f"Mapping {file.name}: {error}", name=error.name, value=error.value) from None


def mapping_from_table(content: Table) -> LogMapping:
    """Build a mapping from the parsed content of a mapping file."""
    check_keys(content, _KEYS, "mapping")
    rate = content.get("rate_hz")
    if rate is not None and not 0 < number_of(rate, "rate_hz") < 1e9:
        raise FileError(f"rate_hz is {rate}; it must be positive and finite.", name="rate_hz", value=rate)
    time = _time(table_of(content, "time")) if "time" in content else None
    if rate is not None and time is not None:
        raise FileError("The mapping gives both rate_hz and [time]; keep one.", name="rate_hz", value=rate)
    side = _choice(content, "side", SIDES, "joint")
    axes = content.get("axes")
    if axes is not None and (isinstance(axes, bool) or not isinstance(axes, int) or not 1 <= axes <= 1000):
        raise FileError(f"axes is {axes!r}; give a number from 1 to 1000.", name="axes", value=axes)
    channels = {name: _channel(table_of(content, name), name) for name in CHANNELS if name in content}
    return LogMapping(
        channels=MappingProxyType(channels),
        time=time,
        rate_hz=None if rate is None else float(rate),
        side=side,
        axes=axes,
        format=_choice(content, "format", FORMATS, None) if "format" in content else None,
        csv=_csv(table_of(content, "csv")),
        bag=_bag(table_of(content, "bag")),
    )


def _choice(row: Table, key: str, allowed: tuple[str, ...], default: Any) -> Any:
    value = row.get(key, default)
    if value not in allowed:
        raise unknown_name(key, str(value), allowed)
    return value


def _time(row: Table) -> TimeMap:
    check_keys(row, ("column", "unit", "file"), "[time] table")
    column = row.get("column")
    if isinstance(column, bool) or not isinstance(column, str | int):
        raise FileError("[time] needs column: a name, or a number from 1.", name="column", value=column)
    return TimeMap(column, _choice(row, "unit", tuple(TIME_UNITS), "s"), _text(row, "file"))


def _channel(row: Table, name: str) -> ChannelMap:
    where = f"[{name}]"
    check_keys(row, _CHANNEL_KEYS, f"{where} table")
    if "columns" not in row:
        raise FileError(f"{where} has no columns.", name="columns")
    units = row.get("unit", [])
    units = tuple(units) if isinstance(units, list) else (units,)
    for unit in units:
        unit_factor(name, unit)
    signs = _numbers(row, "sign", where, (1.0,))
    if any(abs(sign) != 1 for sign in signs):
        raise FileError(f"sign of {where} is {row['sign']!r}; it must be 1 or -1.", name="sign")
    gain = _numbers(row, "gain", where, ())
    if gain and not any(is_signal(unit) for unit in units):
        raise FileError(f"gain of {where} needs the unit A, mA or V; for others use scale.", name="gain")
    scale, offset = _numbers(row, "scale", where, (1.0,)), _numbers(row, "offset", where, (0.0,))
    return ChannelMap(_columns(row["columns"], where), _text(row, "file"), units, scale, signs, offset, gain)


def _columns(value: Any, where: str) -> Columns:
    entries: list[Any] = value if isinstance(value, list) else [value]
    good = all(isinstance(entry, str | int) and not isinstance(entry, bool) for entry in entries)
    if not entries or not good:
        raise FileError(
            f"columns of {where} is {value!r}; give names, numbers from 1, a range such as '2-7' or a "
            "pattern such as 'pos{axis}'.",
            name="columns",
            value=value,
        )
    made: Columns = tuple(entries) if isinstance(value, list) else entries[0]
    return made


def _numbers(row: Table, key: str, where: str, default: tuple[float, ...]) -> tuple[float, ...]:
    if key not in row:
        return default
    values = row[key] if isinstance(row[key], list) else [row[key]]
    numbers = tuple(number_of(value, f"{key} of {where}") for value in values)
    if not numbers or not all(abs(number) < 1e300 for number in numbers):
        raise FileError(f"{key} of {where} is {row[key]!r}; give finite numbers.", name=key, value=row[key])
    return numbers


def _text(row: Table, key: str) -> str | None:
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise FileError(f"{key} is {value!r}; it must be text.", name=key, value=value)
    return value


def _csv(row: Table) -> CsvOptions:
    check_keys(row, ("delimiter", "decimal", "header", "comment", "skip_lines"), "[csv] table")
    delimiter = _choice(row, "delimiter", tuple(DELIMITERS), None) if "delimiter" in row else None
    decimal = _choice(row, "decimal", (".", ","), ".")
    if decimal == "," and delimiter is not None and DELIMITERS[delimiter] == ",":
        raise FileError("[csv] gives a comma as delimiter and as decimal sign.", name="decimal", value=",")
    header, skip = row.get("header"), row.get("skip_lines", 0)
    if header is not None and not isinstance(header, bool):
        raise FileError(f"header is {header!r}; it must be true or false.", name="header", value=header)
    if isinstance(skip, bool) or not isinstance(skip, int) or not 0 <= skip <= 10_000:
        raise FileError(f"skip_lines is {skip!r}; give a number from 0.", name="skip_lines", value=skip)
    comment = _text(row, "comment")
    chosen = None if delimiter is None else DELIMITERS[delimiter]
    return CsvOptions(chosen, decimal, header, "#%" if comment is None else comment, skip)


def _bag(row: Table) -> BagOptions:
    check_keys(row, ("topic", "joints", "stamp"), "[bag] table")
    joints = row.get("joints", [])
    if not isinstance(joints, list) or not all(isinstance(joint, str) for joint in joints):
        raise FileError(f"joints is {joints!r}; give a list of joint names.", name="joints", value=joints)
    if len(set(joints)) != len(joints):
        raise FileError("joints of [bag] names a joint twice.", name="joints", value=joints)
    return BagOptions(_text(row, "topic"), tuple(joints), _choice(row, "stamp", ("header", "bag"), "header"))
