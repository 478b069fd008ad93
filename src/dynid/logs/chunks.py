"""Logs in chunks: as many samples at a time as asked for, whatever the length of the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dynid.core.errors import DynidError
from dynid.logs.assemble import build_log, raw_stamps, zero_of
from dynid.logs.log import Log, Source, Step
from dynid.logs.mapping import LogMapping
from dynid.logs.places import bag_of, format_of
from dynid.logs.read import MappingLike, as_mapping, meaning_of, read_log
from dynid.logs.readers.csv_layout import Layout, find_layout
from dynid.logs.readers.csv_text import Block, csv_blocks, csv_table, told_once
from dynid.logs.readers.files import source_of
from dynid.logs.readers.parquet import parquet_batches
from dynid.logs.readers.table import Table

_STREAMED = ("csv", "parquet")


@dataclass
class Chunks(Iterator[Log]):
    """The chunks of a log, each a log of its own whose stamps go on from the one before.

    Args:
        total: number of samples in all; None when the file must be read to know.
        logs: the chunks.
    """

    total: int | None
    logs: Iterator[Log] = field(repr=False)

    def __next__(self) -> Log:
        """The next chunk."""
        return next(self.logs)


def iter_chunks(path: str | Path, mapping: MappingLike = None, samples: int = 100_000) -> Chunks:
    """Read a log in chunks.

    Parquet and CSV files are never held whole; other formats are read once and cut.

    Args:
        path: a file, or whatever ``read_log`` takes.
        mapping: as in ``read_log``.
        samples: samples of a chunk; the last may be shorter.
    """
    if samples < 1:
        raise DynidError(f"samples is {samples}; a chunk has at least 1.")
    given, place = as_mapping(mapping), Path(path)
    parts = given is not None and bool(given.files)
    kind = None if parts or place.is_dir() or bag_of(place) else format_of(place, given)
    if kind not in _STREAMED:
        log = read_log(path, given)
        return Chunks(log.samples, _slices(log, samples))
    if kind == "parquet":
        total, tables = parquet_batches(place, samples)
        return Chunks(total, _logs(place, tables, given))
    layout = find_layout(place, (given or LogMapping()).csv)
    return Chunks(None, _logs(place, _csv_tables(place, layout, samples), given))


def _logs(path: Path, tables: Iterator[Table], given: LogMapping | None) -> Iterator[Log]:
    source: tuple[Source, ...] = (source_of(path),)
    first, epoch = 0, None
    chosen: LogMapping | None = None
    steps: tuple[Step, ...] = ()
    for table in tables:
        if chosen is None:
            chosen, steps = meaning_of(table, given)
            stamps = raw_stamps({None: table}, chosen)
            if stamps is not None and chosen.time is not None:
                epoch = zero_of(stamps, chosen.time.unit or "s")
        log = build_log(
            {None: table}, chosen, path.stem, steps=steps, sources=source, first=first, epoch=epoch
        )
        yield log
        first += log.samples


def _csv_tables(path: Path, layout: Layout, samples: int) -> Iterator[Table]:
    """Rows of a CSV file, cut anew into chunks of equal length."""
    held: list[Block] = []
    count = 0
    for block in csv_blocks(path, layout):
        held.append(block)
        count += len(block.values)
        if count <= samples:
            continue
        # The last rows stay, with what was noted about them, until it is known whether more follow.
        rows, steps = _joined(held)
        while len(rows) > samples:
            yield csv_table(path, layout, rows[:samples], ())
            rows = rows[samples:]
        held, count = [Block(rows, steps)], len(rows)
    rows, steps = _joined(held) if held else (np.empty((0, 0)), ())
    if len(rows):
        yield csv_table(path, layout, rows, told_once(steps))


def _joined(blocks: Sequence[Block]) -> tuple[np.ndarray, tuple[Step, ...]]:
    steps = tuple(step for block in blocks for step in block.steps)
    return np.concatenate([block.values for block in blocks]), steps


def _slices(log: Log, samples: int) -> Iterator[Log]:
    for start in range(0, log.samples, samples):
        yield log.part(slice(start, start + samples))
