"""How the columns of a log file become channels: a small TOML file, declared key by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dynid.core.errors import DynidError
from dynid.core.files import naming_file, read_toml
from dynid.core.keys import key
from dynid.core.tables import table_from
from dynid.logs.log import CHANNELS, SIDES
from dynid.logs.words import TIME_UNITS, is_signal, unit_factor

FORMATS = ("csv", "npz", "mat", "hdf5", "parquet", "arrow", "bag")
DELIMITERS: Mapping[str, str] = MappingProxyType(
    {"comma": ",", "semicolon": ";", "tab": "\t", "space": " ", ",": ",", ";": ";", "\t": "\t", " ": " "}
)
Columns = str | int | tuple[str | int, ...]


@dataclass(frozen=True)
class CsvOptions:
    """How a CSV file is written: the table ``[csv]``."""

    delimiter: str | None = key("sign between cells", None, choices=DELIMITERS, absent="found in the file")
    decimal: str = key("decimal sign", ".", choices=(".", ","))
    header: bool | None = key("whether names stand above the columns", None, absent="found in the file")
    comment: str = key("signs that begin a comment", "#%")
    skip_lines: int = key("lines above the names", 0, least=0, most=10_000)

    def __post_init__(self) -> None:
        """Refuse one sign for two things."""
        if self.delimiter == self.decimal == ",":
            raise DynidError("a comma is given as delimiter and as decimal sign; keep one.")


@dataclass(frozen=True)
class BagOptions:
    """Which messages of a bag: the table ``[bag]``."""

    topic: str | None = key("topic of the joint states", None, absent="the one that holds them")
    joints: tuple[str, ...] = key("names of joints, in the order wanted", (), absent="as in the bag")
    stamp: str = key(
        "whose stamps: the message's header or the recorder's", "header", choices=("header", "bag")
    )

    def __post_init__(self) -> None:
        """Refuse a joint that stands twice."""
        if len(set(self.joints)) != len(self.joints):
            raise DynidError("joints names a joint twice; name each once.")


@dataclass(frozen=True)
class TimeMap:
    """The column of the stamps: the table ``[time]``."""

    column: str | int | None = key(
        "the stamps", None, allowed="a name, or a number from 1", absent="found by name"
    )
    unit: str | None = key(
        "unit of the stamps", None, choices=tuple(TIME_UNITS), absent="that of a usual rate"
    )
    file: str | None = key("file in the log's folder; needs column", None, absent="the log")
    ignored: bool = key(
        "the stamps count for nothing, not even against rate_hz, which is needed", False, name="ignore"
    )

    def __post_init__(self) -> None:
        """The column of a file that is named is not guessed."""
        _need_columns(self.file, self.column, "column")


@dataclass(frozen=True)
class ChannelMap:
    """Where a channel stands and what its numbers mean: value = offset + sign · scale · gain · unit · raw."""

    columns: Columns | None = key(
        "the columns of the axes, or an array that holds all of them",
        None,
        allowed='names, numbers from 1, a range such as "2-7" or a pattern such as "pos{axis}"',
        rule=lambda entry: entry != (),
        absent="found by name",
    )
    file: str | None = key(
        "file in the log's folder, when channels are in several; nothing outside the folder is read; "
        "needs columns",
        None,
        absent="the log",
    )
    unit: tuple[str, ...] = key("see below", (), per_axis=True, absent="told by the file, or SI")
    scale: tuple[float, ...] = key("factor", (1.0,), per_axis=True)
    sign: tuple[float, ...] = key("direction", (1.0,), choices=(1, -1), per_axis=True)
    offset: tuple[float, ...] = key("added at the end, in SI", (0.0,), per_axis=True)
    gain: tuple[float, ...] = key(
        "torque per ampere or volt, for drive signals",
        (),
        per_axis=True,
        absent="none: the signal stays as it is",
    )
    delay_s: tuple[float, ...] = key(
        "how much later than it happened the channel was logged",
        (0.0,),
        unit="s",
        least=-60,
        most=60,
        per_axis=True,
    )
    axes: tuple[int, ...] = key(
        "axes of the columns, where the torques have fewer columns than the log has axes: the others are "
        "zero, their motors off",
        (),
        least=1,
        most=1000,
        absent="by their numbers, or the robot's driven joints",
    )
    thin: int = key("samples for which the log holds each value of the channel", 1, least=1, most=10_000)

    def __post_init__(self) -> None:
        """Refuse a file without columns, and a gain of what is no drive signal."""
        _need_columns(self.file, self.columns, "columns")
        if self.unit:
            self.require_signal()

    def require_signal(self) -> None:
        """Refuse a gain of what is no drive signal; the file may name the unit where the mapping does not."""
        if self.gain and not any(is_signal(unit) for unit in self.unit):
            raise DynidError("gain needs the unit A, mA or V; for others use scale.")

    @property
    def moved(self) -> bool:
        """Whether its values are to be read between samples."""
        return self.thin > 1 or any(self.delay_s)


@dataclass(frozen=True)
class LogMapping:
    """The meaning of a log's columns: a mapping file."""

    channels: Mapping[str, ChannelMap] = key(
        "the channels", factory=dict, choices=tuple(CHANNELS), spread=True
    )
    time: TimeMap | None = key("the stamps", None, absent="found by name")
    rate_hz: float | None = key(
        "samples per second, instead of stamps; the data check holds it against stamps in the file",
        None,
        unit="Hz",
        above=0,
        most=1e9,
        absent="by the stamps",
    )
    side: str = key("motor when positions and torques are those of the motors", "joint", choices=SIDES)
    condition: str = key("the robot's condition in which the logs were taken", "", absent="none")
    axes: int | None = key("number of axes", None, least=1, most=1000, absent="counted")
    format: str | None = key("format of the file", None, choices=FORMATS, absent="by the file's ending")
    csv: CsvOptions = key("how text is written", factory=CsvOptions)
    bag: BagOptions = key("which messages of a bag", factory=BagOptions)

    def __post_init__(self) -> None:
        """Refuse two clocks or none, and units of something else."""
        ignored = self.time is not None and self.time.ignored
        if self.rate_hz is None and ignored:
            raise DynidError("[time] says ignore; give rate_hz instead of the stamps.")
        for name, channel in self.channels.items():
            for unit in channel.unit:
                unit_factor(name, unit)

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
    with naming_file(file, "Mapping"):
        return mapping_from_table(content)


def mapping_from_table(content: Mapping[str, Any]) -> LogMapping:
    """Build a mapping from the parsed content of a mapping file."""
    mapping = table_from(content, LogMapping)
    if mapping.rate_hz is not None and mapping.time is not None and not mapping.time.ignored:
        raise DynidError("rate_hz and [time] are both given; keep one.")
    return mapping


def _need_columns(file: str | None, columns: Columns | None, key: str) -> None:
    if file is not None and columns is None:
        raise DynidError(f"it names the file {file!r} but no {key}; give both.")
