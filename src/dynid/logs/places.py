"""Where logs lie: formats by ending, bags and folders, and files that a mapping may name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from dynid.core.errors import FileError
from dynid.logs.mapping import LogMapping
from dynid.logs.readers.table import parsing

ENDINGS = {
    ".csv": "csv", ".txt": "csv", ".dat": "csv", ".tsv": "csv", ".asc": "csv",
    ".npz": "npz", ".npy": "npz", ".mat": "mat", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".feather": "arrow",
    ".h5": "hdf5", ".hdf5": "hdf5", ".hdf": "hdf5", ".db3": "bag", ".mcap": "bag", ".bag": "bag",
}  # fmt: skip
"""Formats by the file's ending."""
_OF_ROS2 = (".db3", ".mcap")
_PACKED = ".zstd"


def format_of(path: Path, mapping: LogMapping | None) -> str:
    """The format that the mapping says, else that of the file's ending."""
    if mapping is not None and mapping.format is not None:
        return mapping.format
    kind = ENDINGS.get(path.suffix.lower())
    if kind is None:
        raise FileError(
            f"{path} ends in {path.suffix!r}; a log ends in {', '.join(sorted(ENDINGS))}, or say its "
            "format in a mapping."
        )
    return kind


def bag_of(path: Path) -> tuple[Path, ...]:
    """Files of a bag's folder; none when the path is no bag's folder."""
    with parsing(path, "a folder of logs"):
        return _bag_files(path) if path.is_dir() else ()


def _bag_files(folder: Path) -> tuple[Path, ...]:
    """Files of a bag's folder, in the order in which they were recorded; none when it is no bag."""
    known = {ending + packed for ending in _OF_ROS2 for packed in ("", _PACKED)}
    files = [file for file in folder.iterdir() if "".join(file.suffixes[-2:]).lower() in known]
    files += [file for file in folder.iterdir() if file.suffix.lower() in _OF_ROS2 and file not in files]
    if not (folder / "metadata.yaml").is_file() and len(files) != 1:
        return ()
    if len({file.name.lower().removesuffix(_PACKED)[-4:] for file in files}) > 1:
        raise FileError(f"{folder} holds sqlite and MCAP files; give one of them.")

    def number(file: Path) -> tuple[int, str]:
        digits = re.search(r"(\d+)\.\w+$", file.name.removesuffix(_PACKED))  # bag_10 comes after bag_9
        return (int(digits[1]) if digits else -1, file.name)

    return tuple(sorted(files, key=number))


def logs_in(folder: Path) -> tuple[Path, ...]:
    """Files in a folder that end like logs, sorted."""
    with parsing(folder, "a folder of logs"):
        found = sorted(file for file in folder.iterdir() if file.is_file() and file.suffix.lower() in ENDINGS)
    if not found:
        raise FileError(f"The folder {folder} holds no logs ({', '.join(sorted(ENDINGS))}).")
    return tuple(found)


def inside(path: Path, folder: Path) -> Path | None:
    """The path with its links followed, or None when it leads out of the folder."""
    try:
        resolved, home = path.resolve(), folder.resolve()
    except (OSError, RuntimeError, ValueError):
        return None
    return resolved if resolved.is_relative_to(home) else None


def placed(file: str, folder: Path, given: Sequence[Path]) -> Path:
    """The file that a mapping names: one of those given, else inside the log's folder.

    Args:
        file: as the mapping has it.
        folder: the log's folder.
        given: files the user gave.
    """
    for path in given:
        if path.is_file() and path.name == file:
            return path
    path = folder / file
    if inside(path, folder) is None:
        raise FileError(
            f"The mapping names the file {file!r}, which is outside the log's folder {folder}; only files in "
            "it are read."
        )
    return path
