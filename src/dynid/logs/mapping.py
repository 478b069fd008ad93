"""How the columns of a log file become channels: a small TOML file, declared key by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from dynid.core.errors import DynidError
from dynid.core.files import naming_file, read_toml
from dynid.core.keys import Key
from dynid.core.tables import table_from
from dynid.logs.log import CHANNELS, SIDES
from dynid.logs.units import TIME_UNITS, is_signal, unit_factor

FORMATS = ("csv", "npz", "mat", "hdf5", "parquet", "arrow", "bag")
DELIMITERS: Mapping[str, str] = MappingProxyType(
    {"comma": ",", "semicolon": ";", "tab": "\t", "space": " ", ",": ",", ";": ";", "\t": "\t", " ": " "}
)
Columns = str | int | tuple[str | int, ...]


@dataclass(frozen=True)
class CsvOptions:
    """How a CSV file is written: the table ``[csv]``."""

    delimiter: Annotated[
        str | None, Key("sign between cells", choices=DELIMITERS, default="found in the file")
    ] = None
    decimal: Annotated[str, Key("decimal sign", choices=(".", ","))] = "."
    header: Annotated[
        bool | None, Key("whether names stand above the columns", default="found in the file")
    ] = None
    comment: Annotated[str, Key("signs that begin a comment")] = "#%"
    skip_lines: Annotated[int, Key("lines above the names", least=0, most=10_000)] = 0

    def __post_init__(self) -> None:
        """Refuse one sign for two things."""
        if self.delimiter == self.decimal == ",":
            raise DynidError("a comma is given as delimiter and as decimal sign; keep one.")


@dataclass(frozen=True)
class BagOptions:
    """Which messages of a bag: the table ``[bag]``."""

    topic: Annotated[str | None, Key("topic of the joint states", default="the one that holds them")] = None
    joints: Annotated[
        tuple[str, ...], Key("names of joints, in the order wanted", default="as in the bag")
    ] = ()
    stamp: Annotated[
        str, Key("whose stamps: the message's header or the recorder's", choices=("header", "bag"))
    ] = "header"

    def __post_init__(self) -> None:
        """Refuse a joint that stands twice."""
        if len(set(self.joints)) != len(self.joints):
            raise DynidError("joints names a joint twice; name each once.")


@dataclass(frozen=True)
class TimeMap:
    """The column of the stamps: the table ``[time]``."""

    column: Annotated[
        str | int | None, Key("the stamps", allowed="a name, or a number from 1", default="found by name")
    ] = None
    unit: Annotated[
        str | None, Key("unit of the stamps", choices=tuple(TIME_UNITS), default="that of a usual rate")
    ] = None
    file: Annotated[str | None, Key("file in the log's folder; needs column", default="the log")] = None
    ignored: Annotated[
        bool, Key("the stamps count for nothing, not even against rate_hz, which is needed", name="ignore")
    ] = False

    def __post_init__(self) -> None:
        """The column of a file that is named is not guessed."""
        _need_columns(self.file, self.column, "column")


@dataclass(frozen=True)
class ChannelMap:
    """Where a channel stands and what its numbers mean: value = offset + sign · scale · gain · unit · raw."""

    columns: Annotated[
        Columns | None,
        Key(
            "the columns of the axes, or an array that holds all of them",
            allowed='names, numbers from 1, a range such as "2-7" or a pattern such as "pos{axis}"',
            rule=lambda entry: entry != (),
            default="found by name",
        ),
    ] = None
    file: Annotated[
        str | None,
        Key(
            "file in the log's folder, when channels are in several; nothing outside the folder is read; "
            "needs columns",
            default="the log",
        ),
    ] = None
    unit: Annotated[
        tuple[str, ...],
        Key("see below", per_axis=True, default="told by the file, or SI"),
    ] = ()
    scale: Annotated[tuple[float, ...], Key("factor", per_axis=True)] = (1.0,)
    sign: Annotated[tuple[float, ...], Key("direction", choices=(1, -1), per_axis=True)] = (1.0,)
    offset: Annotated[tuple[float, ...], Key("added at the end, in SI", per_axis=True)] = (0.0,)
    gain: Annotated[
        tuple[float, ...],
        Key(
            "torque per ampere or volt, for drive signals",
            per_axis=True,
            default="none: the signal stays as it is",
        ),
    ] = ()
    delay_s: Annotated[
        tuple[float, ...],
        Key(
            "how much later than it happened the channel was logged",
            unit="s", least=-60, most=60, per_axis=True,
        ),
    ] = (0.0,)  # fmt: skip
    thin: Annotated[
        int, Key("samples for which the log holds each value of the channel", least=1, most=10_000)
    ] = 1

    def __post_init__(self) -> None:
        """Refuse a file without columns, and a gain of what is no drive signal."""
        _need_columns(self.file, self.columns, "columns")
        if self.gain and not any(is_signal(unit) for unit in self.unit):
            raise DynidError("gain needs the unit A, mA or V; for others use scale.")

    @property
    def moved(self) -> bool:
        """Whether its values are to be read between samples."""
        return self.thin > 1 or any(self.delay_s)


@dataclass(frozen=True)
class LogMapping:
    """The meaning of a log's columns: a mapping file."""

    channels: Annotated[
        Mapping[str, ChannelMap], Key("the channels", choices=tuple(CHANNELS), spread=True)
    ] = field(default_factory=dict)
    time: Annotated[TimeMap | None, Key("the stamps", default="found by name")] = None
    rate_hz: Annotated[
        float | None,
        Key(
            "samples per second, instead of stamps; the data check holds it against stamps in the file",
            unit="Hz", above=0, most=1e9, default="by the stamps",
        ),
    ] = None  # fmt: skip
    side: Annotated[str, Key("motor when positions and torques are those of the motors", choices=SIDES)] = (
        "joint"
    )
    axes: Annotated[int | None, Key("number of axes", least=1, most=1000, default="counted")] = None
    format: Annotated[
        str | None, Key("format of the file", choices=FORMATS, default="by the file's ending")
    ] = None
    csv: Annotated[CsvOptions, Key("how text is written")] = field(default_factory=CsvOptions)
    bag: Annotated[BagOptions, Key("which messages of a bag")] = field(default_factory=BagOptions)

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
