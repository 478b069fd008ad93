"""Whether a log is read whole or streamed."""

from __future__ import annotations

from pathlib import Path

from dynid.signals.chunks import iter_chunks
from dynid.signals.read import MappingLike

_STREAMED = (".parquet", ".csv")


def is_long(path: Path, mapping: MappingLike, samples: int) -> bool:
    """Whether a log has more samples than so many, and can be streamed.

    Args:
        path: a file or folder.
        mapping: what the columns are, or None.
        samples: the bound.
    """
    if path.suffix.lower() not in _STREAMED or not path.is_file():
        return False
    if path.suffix.lower() == ".csv":
        # A row takes some two hundred bytes; counting rows would mean reading the file.
        return path.stat().st_size > 200 * samples
    total = iter_chunks(path, mapping, 1).total
    return total is not None and total > samples
