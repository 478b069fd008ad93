"""Logs saved: NPZ keeps all (plain arrays and JSON, never pickles), CSV and Parquet keep the samples."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.disk import replaced_file
from dynid.core.errors import FileError
from dynid.core.kinds import require_kinds
from dynid.logs.log import CHANNELS, SIDES, Log, Source, Step
from dynid.logs.readers.npz import texts_of
from dynid.logs.readers.table import Table
from dynid.logs.spool import blocks, kept_samples

_MARK = "dynid_log"
_SCHEMA = 1
_NAMES: Mapping[str, str] = MappingProxyType(
    {"position": "q", "velocity": "qd", "acceleration": "qdd", "torque": "tau", "reference": "q_ref"}
)
"""What columns are called in CSV and Parquet."""


def save_log(log: Log, path: str | Path, *, force: bool = False) -> None:
    """Write a log, whole or not at all; ``read_log`` needs no mapping for it.

    NPZ keeps everything. CSV and Parquet keep the joint side's samples, in columns t, q1 …, tau1 …, q_ref1 ….

    Args:
        log: the log.
        path: the file, ending in .npz, .csv or .parquet.
        force: overwrite an existing file.
    """
    require_kinds(save_log, locals())
    target = Path(path)
    check_target(target, force)
    kind = target.suffix.lower()
    if kind != ".npz" and log.side != "joint":
        raise FileError(f"{target} would not say that the log is on the {log.side} side; save it as .npz.")
    try:
        with replaced_file(target) as file:
            _WRITERS[kind](log, file)
    except OSError as error:
        raise FileError(f"{target} cannot be written: {error.strerror or error}.") from None


def check_target(target: Path, force: bool) -> None:
    """Refuse a file that cannot become a log: before the work starts, so that none is lost."""
    if target.suffix.lower() not in _WRITERS:
        raise FileError(f"{target} must end in .npz, .csv or .parquet.")
    if target.is_dir():
        raise FileError(f"{target} is a folder; give the file to write.")
    if target.exists() and not force:
        raise FileError(f"{target} exists already; add --force (force=True) to overwrite it.")
    if not target.parent.is_dir():
        raise FileError(f"There is no folder {target.parent} to write to.")


def _write_npz(log: Log, file: BinaryIO) -> None:
    facts = {
        "schema": _SCHEMA,
        "name": log.name,
        "side": log.side,
        "condition": log.condition,
        "history": [asdict(step) for step in log.history],
        "sources": [asdict(source) for source in log.sources],
    }
    arrays: dict[str, Any] = {
        "time": log.time,
        **log.channels,
        **({} if log.made_up is None else {"made_up": log.made_up}),
        _MARK: np.array(json.dumps(facts, default=str)),
    }
    np.savez_compressed(file, **arrays)


def _columns(log: Log) -> Iterator[dict[str, FloatArray]]:
    """The samples by names that are understood without a mapping, some rows at a time."""
    for rows in blocks(log.samples):
        columns = {"t": log.time[rows]}
        for channel, name in _NAMES.items():
            if channel in log.channels:
                values = log.channels[channel][rows]
                columns |= {f"{name}{j + 1}": values[:, j] for j in range(values.shape[1])}
        yield columns


def _write_csv(log: Log, file: BinaryIO) -> None:
    for k, columns in enumerate(_columns(log)):
        header = "" if k else ",".join(columns)
        table = np.column_stack(list(columns.values()))
        np.savetxt(file, table, fmt="%.15g", delimiter=",", header=header, comments="")


def _write_parquet(log: Log, file: BinaryIO) -> None:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise FileError(
            "Parquet needs pyarrow; install the extra dynid[logs], or save as .npz or .csv."
        ) from None
    writer = None
    for columns in _columns(log):
        table = arrow.table(columns)
        writer = parquet.ParquetWriter(file, table.schema) if writer is None else writer
        writer.write_table(table)
    if writer is not None:
        writer.close()


_WRITERS: dict[str, Callable[[Log, BinaryIO], None]] = {
    ".npz": _write_npz,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}


def is_saved_log(table: Table) -> bool:
    """Whether an NPZ file was written by ``save_log``."""
    return table.kind == "npz" and _MARK in table.names


def log_of_saved(table: Table, name: str | None, sources: tuple[Source, ...]) -> Log:
    """The log that was saved; the file itself joins its sources."""
    try:
        facts = json.loads(texts_of(table)[_MARK])
        side, own_name = str(facts["side"]), str(facts["name"])
        condition = str(facts.get("condition", ""))
        history = tuple(Step(str(s["name"]), dict(s["options"]), str(s["note"])) for s in facts["history"])
        earlier = tuple(Source(str(s["path"]), str(s["sha256"]), int(s["size"])) for s in facts["sources"])
        schema = int(facts["schema"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise FileError(
            f"{table.path} is a damaged log of dynid ({error}); give a mapping to read its arrays."
        ) from None
    if schema != _SCHEMA or side not in SIDES:
        raise FileError(
            f"{table.path} is a log of schema {schema} and side {side!r}; this version reads {_SCHEMA}."
        )
    arrays = {c: np.asarray(table.array(c), dtype=float) for c in CHANNELS if c in table.names}
    channels = {c: kept_samples(array) if array.ndim == 2 else array for c, array in arrays.items()}
    stamps = np.asarray(table.array("time"), dtype=float)
    if stamps.ndim != 1:
        raise FileError(f"The stamps of {table.path} have shape {stamps.shape}.")
    made_up = np.asarray(table.array("made_up"), dtype=bool) if "made_up" in table.names else None
    return Log(name or own_name, stamps, channels, side, history, (*earlier, *sources), made_up, condition)
