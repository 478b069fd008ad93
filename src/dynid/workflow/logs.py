"""The logs of a command: one experiment per path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dynid.signals.chunks import iter_chunks
from dynid.signals.log import Log
from dynid.signals.read import read_log

_STREAMED = (".parquet", ".csv")


def read_logs(paths: Sequence[Path], mapping: Path | None) -> list[Log]:
    """Read each path as one experiment.

    Args:
        paths: files, or folders that the mapping describes.
        mapping: TOML file that says what the columns are; dialects are recognised when None.
    """
    return [read_log(path, mapping) for path in paths]


def is_long(path: Path, mapping: Path | None, samples: int) -> bool:
    """Whether a log has more samples than so many, and can be streamed.

    Args:
        path: a file or folder.
        mapping: as for ``read_logs``.
        samples: the bound.
    """
    if path.suffix.lower() not in _STREAMED or not path.is_file():
        return False
    if path.suffix.lower() == ".csv":
        # A row takes some two hundred bytes; counting rows would mean reading the file.
        return path.stat().st_size > 200 * samples
    total = iter_chunks(path, mapping, 1).total
    return total is not None and total > samples
