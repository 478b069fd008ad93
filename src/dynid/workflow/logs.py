"""Whether a log is read whole or streamed, and the data check of one that is streamed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from dynid.checks.check import CheckedChunks, check_chunks
from dynid.logs.chunks import iter_chunks
from dynid.logs.read import MappingLike, as_mapping
from dynid.model.robot import Robot

LONG = 2_000_000
"""Logs of more samples than this are streamed."""
CHUNK = 100_000
"""Samples held at once."""
_STREAMED = (".parquet", ".csv")
_HEAD = 65_536
"""Bytes of a CSV file that tell how long its rows are."""


def is_long(path: Path, mapping: MappingLike, samples: int = LONG) -> bool:
    """Whether a log has more samples than so many, and can be streamed.

    Args:
        path: a file or folder.
        mapping: what the columns are, or None.
        samples: the bound.
    """
    if path.suffix.lower() not in _STREAMED or not path.is_file():
        return False
    if path.suffix.lower() == ".csv":
        # Counting rows would mean reading the file: its first rows tell how many bytes one takes.
        with path.open("rb") as file:
            head = file.read(_HEAD)
        return path.stat().st_size * head.count(b"\n") > samples * len(head) > 0
    total = iter_chunks(path, mapping, 1).total
    return total is not None and total > samples


def check_long(
    path: Path,
    mapping: MappingLike,
    robot: Robot | None = None,
    base: Sequence[int] | None = None,
    *,
    chunk: int = CHUNK,
    progress: Callable[[str], None] = lambda text: None,
) -> CheckedChunks:
    """Check a long log with memory that does not depend on its length; the file is read twice.

    Args:
        path: a Parquet or CSV file.
        mapping: what its columns are.
        robot: what was moved, as in ``check_log``.
        base: its base parameters, as in ``check_log``.
        chunk: samples held at once.
        progress: told how far it is.
    """
    given = as_mapping(mapping)
    total = iter_chunks(path, given, chunk).total

    def told(done: int) -> None:
        progress(f"{done:,} samples read" if total is None else f"{done / (2 * total):.0%} checked")

    return check_chunks(lambda: iter_chunks(path, given, chunk), robot, base, told)
