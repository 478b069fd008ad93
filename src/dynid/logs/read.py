"""Read logs: one door for every format, with a mapping or by what is commonly understood."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from dynid.core.errors import DynidError, FileError
from dynid.core.lazy import later
from dynid.logs.assemble import build_log
from dynid.logs.clocks import Tables, clock_steps, other_clocks, with_stamps
from dynid.logs.grammar import FIT_CHANNELS, complete_mapping, guess_mapping, guess_parts
from dynid.logs.log import Log, Step
from dynid.logs.mapping import BagOptions, ChannelMap, LogMapping, TimeMap, load_mapping
from dynid.logs.readers.csv_text import read_csv
from dynid.logs.readers.table import Table, file_errors, source_of
from dynid.logs.save import is_saved_log, log_of_saved

Paths = str | Path | Sequence[str | Path]
MappingLike = LogMapping | str | Path | None
ENDINGS = {
    ".csv": "csv", ".txt": "csv", ".dat": "csv", ".tsv": "csv", ".asc": "csv",
    ".npz": "npz", ".npy": "npz", ".mat": "mat", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".feather": "arrow", ".h5": "hdf5", ".hdf5": "hdf5", ".hdf": "hdf5",
    ".db3": "bag", ".mcap": "bag", ".bag": "bag",
}  # fmt: skip
"""Formats by the file's ending."""
_MODULES = {"npz": "npz", "mat": "mat", "hdf5": "hdf5", "parquet": "columnar", "arrow": "columnar"}
_READERS: dict[str, Callable[[Path], Table]] = {
    kind: later(f"dynid.logs.readers.{module}", f"read_{kind}") for kind, module in _MODULES.items()
}
_read_bag: Callable[[Sequence[Path], BagOptions], Table] = later("dynid.logs.readers.bag", "read_bag")
_OF_ROS2 = re.compile(r"(\d*)(\.db3|\.mcap)(\.zstd)?$", re.IGNORECASE)
"""How the name of a file of a ROS 2 bag ends: perhaps its number, its format, perhaps compressed."""


def read_log(
    paths: Paths,
    mapping: MappingLike = None,
    *,
    name: str | None = None,
    needed: Sequence[str] = FIT_CHANNELS,
) -> Log:
    """Read the log of one experiment.

    Args:
        paths: a file, a bag's folder, a folder, or the files of one experiment (positions in one, torques
            in another).
        mapping: what the columns mean: a TOML file, a parsed mapping, or None to go by common names; what is
            guessed is noted in the log's history.
        name: name of the experiment; that of the file or folder when None.
        needed: channels that must be recognised when there is no mapping.

    Raises:
        FileError: when a file is missing, damaged, hostile, or not understood; the sentence says where.
    """
    given = as_mapping(mapping)
    places = _as_places(paths)
    if not places:
        raise FileError("No log was given.")
    if given is not None and given.files:
        return _from_parts(places, given, name)
    if len(places) == 1 and places[0].is_dir() and not bag_of(places[0]):
        places = list(logs_in(places[0]))
    if len(places) == 1:
        return _from_one(places[0], given, name, needed)
    log = None if given is not None else _guessed_parts(places, name)
    if log is None:
        raise FileError(
            f"{len(places)} files were given as one experiment ({', '.join(p.name for p in places[:5])}"
            f"{' …' if len(places) > 5 else ''}); read each as an experiment of its own, or say in a mapping "
            "which channel is in which file."
        )
    return log


def read_logs(paths: Paths, mapping: MappingLike = None) -> tuple[Log, ...]:
    """Read several experiments: one per file or folder, unless files are parts of one.

    Args:
        paths: files and folders. With a mapping that names files, each folder is an experiment.
        mapping: as in ``read_log``; the same for all.
    """
    given = as_mapping(mapping)
    places = _as_places(paths)
    if given is not None and given.files:
        folders = dict.fromkeys(place if place.is_dir() else place.parent for place in places)
        return tuple(read_log(folder, given) for folder in folders)
    files: list[Path] = []
    for place in places:
        files += [place] if not place.is_dir() or bag_of(place) else logs_in(place)
    if len(files) > 1 and given is None:
        log = _guessed_parts(files, None)
        if log is not None:
            return (log,)
    return tuple(read_log(file, given) for file in files)


def as_mapping(mapping: MappingLike) -> LogMapping | None:
    """A mapping from whatever stands for one."""
    if mapping is None or isinstance(mapping, LogMapping):
        return mapping
    if not isinstance(mapping, str | Path):
        raise DynidError(f"A mapping is a TOML file or a LogMapping, not {type(mapping).__name__}.")
    return load_mapping(mapping)


def _as_places(paths: Paths) -> list[Path]:
    """Paths from one or several."""
    every = [paths] if isinstance(paths, str | Path) else paths
    if not isinstance(every, Sequence) or not all(isinstance(path, str | Path) for path in every):
        raise DynidError(
            f"A log is read from a file or folder, or several of them, not {type(paths).__name__}."
        )
    return [Path(path) for path in every]


def open_table(path: Path, mapping: LogMapping | None) -> Table:
    """The columns of a file, by its format.

    Args:
        path: a file or a bag's folder.
        mapping: its format, CSV and bag options, where given.
    """
    bag = bag_of(path)
    options = mapping or LogMapping()
    kind = "bag" if bag else options.format or ENDINGS.get(path.suffix.lower())
    if kind is None:
        raise FileError(
            f"{path} ends in {path.suffix!r}; a log ends in {', '.join(sorted(ENDINGS))}, or say its "
            "format in a mapping."
        )
    if kind == "bag":
        return _read_bag(bag or (path,), options.bag)
    return read_csv(path, options.csv) if kind == "csv" else _READERS[kind](path)


def meaning_of(
    table: Table, mapping: LogMapping | None, needed: Sequence[str] = FIT_CHANNELS
) -> tuple[LogMapping, tuple[Step, ...]]:
    """What the columns of a file are taken for, and the steps that say what was guessed.

    Args:
        table: the file.
        mapping: what the user says; None to go by common names.
        needed: channels that must be recognised.
    """
    if table.kind == "bag":
        complete = _bag_mapping(table, mapping)
        told = mapping is not None and (mapping.rate_hz or mapping.time)
        return complete, clock_steps({None: table}, complete, mapping) if mapping and told else ()
    if mapping is None:
        guess = guess_mapping(table, needed)
        return guess.mapping, guess.steps
    complete, steps = complete_mapping(table, mapping, needed)
    return complete, (*steps, *clock_steps({None: table}, complete, mapping))


def _bag_mapping(table: Table, mapping: LogMapping | None) -> LogMapping:
    """Joint states need no mapping; one may still say units, signs and the side."""
    if not {"position", "effort"} <= set(table.names):
        raise FileError(
            f"The joint states of {table.path.name} hold {', '.join(table.names[1:]) or 'nothing'}; "
            "positions and efforts are needed."
        )
    usual = {"position": "position", "velocity": "velocity", "torque": "effort"}
    channels: dict[str, ChannelMap] = {c: ChannelMap(name) for c, name in usual.items() if table.has(name)}
    if mapping is None:
        return LogMapping(channels, TimeMap("time"))
    for channel, part in mapping.channels.items():
        usual_columns = channels[channel].columns if channel in channels else None
        channels[channel] = part if part.columns is not None else replace(part, columns=usual_columns)
    time = mapping.time if mapping.time is not None and mapping.time.column else TimeMap("time")
    return replace(mapping, channels=channels, time=None if mapping.rate_hz else time)


def _from_one(path: Path, mapping: LogMapping | None, name: str | None, needed: Sequence[str]) -> Log:
    table = open_table(path, mapping)
    sources = tuple(source_of(file) for file in bag_of(path) or (path,))
    if mapping is None and is_saved_log(table):
        return log_of_saved(table, name, sources)
    chosen, steps = meaning_of(table, mapping, needed)
    return build_log({None: table}, chosen, name or path.stem, steps=steps, sources=sources)


def _from_parts(places: Sequence[Path], mapping: LogMapping, name: str | None) -> Log:
    """Channels from the files that a mapping names."""
    folder = places[0] if places[0].is_dir() else places[0].parent
    files = {file: _file_of_mapping(file, folder, places) for file in mapping.files}
    tables: dict[str | None, Table] = {file: open_table(path, mapping) for file, path in files.items()}
    time = mapping.time
    stamps = time is not None and not time.ignored and time.column is not None and time.file is None
    if stamps or any(part.file is None for part in mapping.channels.values()):
        alone = [place for place in places if place.is_file()]
        if len(alone) != 1:
            raise FileError(
                "The mapping names files for some channels only; name one for each, or give one log file."
            )
        tables[None] = open_table(alone[0], mapping)
    complete = with_stamps(tables, mapping)
    steps = clock_steps(tables, complete, mapping)
    return _of_parts(tables, complete, mapping, name or folder.resolve().name, steps)


def _guessed_parts(files: Sequence[Path], name: str | None) -> Log | None:
    """Files that are one experiment by their names, as pos.csv and torque.csv; None when they are not."""
    folder = files[0].parent
    if any(not _is_inside(file, folder) or file.is_dir() for file in files):
        return None
    tables = [open_table(file, None) for file in files]
    mapping = guess_parts(tables)
    if mapping is None:
        return None
    said = "; ".join(f"{channel} from {part.file}" for channel, part in mapping.channels.items())
    said += "" if mapping.time is None else f"; stamps from {mapping.time.file}"
    options = {channel: part.file for channel, part in mapping.channels.items()}
    step = Step("guessed mapping", options, f"Without a mapping: {said}.")
    by_name: dict[str | None, Table] = {table.path.name: table for table in tables}
    return _of_parts(by_name, mapping, None, name or folder.resolve().name, (step,))


def _of_parts(
    tables: Tables, mapping: LogMapping, given: LogMapping | None, name: str, steps: tuple[Step, ...]
) -> Log:
    """One log of several files, aligned by their stamps where they have other ones."""
    sources = tuple(source_of(table.path) for table in tables.values())
    clocks = other_clocks(tables, mapping, given)
    return build_log(tables, mapping, name, steps=steps, sources=sources, clocks=clocks)


def bag_of(path: Path) -> tuple[Path, ...]:
    """Files of a ROS 2 bag's folder in the order of recording; none when the path is no such folder."""
    with file_errors(path, "a folder of logs"):
        if not path.is_dir():
            return ()
        ends = {file: match for file in path.iterdir() if (match := _OF_ROS2.search(file.name))}
        if not ends or (len(ends) > 1 and not (path / "metadata.yaml").is_file()):
            return ()
        if len({match[2].lower() for match in ends.values()}) > 1:
            raise FileError(f"{path} holds sqlite and MCAP files; give one of them.")
        # bag_10 comes after bag_9
        return tuple(sorted(ends, key=lambda file: (int(ends[file][1] or -1), file.name)))


def logs_in(folder: Path) -> tuple[Path, ...]:
    """Files in a folder that end like logs, sorted."""
    with file_errors(folder, "a folder of logs"):
        found = sorted(file for file in folder.iterdir() if file.is_file() and file.suffix.lower() in ENDINGS)
    if not found:
        raise FileError(f"The folder {folder} holds no logs ({', '.join(sorted(ENDINGS))}).")
    return tuple(found)


def _file_of_mapping(file: str, folder: Path, given: Sequence[Path]) -> Path:
    """The file that a mapping names: one of those given, else inside the log's folder."""
    for path in given:
        if path.is_file() and path.name == file:
            return path
    if not _is_inside(folder / file, folder):
        raise FileError(
            f"The mapping names the file {file!r}, which is outside the log's folder {folder}; only files in "
            "it are read."
        )
    return folder / file


def _is_inside(path: Path, folder: Path) -> bool:
    """Whether a path, with its links followed, stays in a folder."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):
        return False
