"""Logs in chunks: the same samples, whatever the size of a chunk, and little memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from dynid.core.errors import DynidError
from dynid.logs.chunks import iter_chunks
from dynid.logs.mapping import mapping_from_table
from dynid.logs.read import read_log
from support.logs import csv_text, pendulum_log

LOG = pendulum_log(seconds=2.0)


def write(path: Path, rows: int | None = None) -> Path:
    if path.suffix == ".csv":
        path.write_text(csv_text(LOG))
    elif path.suffix == ".npz":
        np.savez(path, t=LOG.time, q=LOG.channels["position"], tau=LOG.channels["torque"])
    else:
        pa = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; install the logs extra.")
        import pyarrow.parquet

        columns = {"t": LOG.time}
        for name, channel in (("q", "position"), ("tau", "torque")):
            columns |= {f"{name}{i + 1}": LOG.channels[channel][:, i] for i in range(2)}
        pyarrow.parquet.write_table(pa.table(columns), path, row_group_size=rows)
    return path


@pytest.mark.parametrize("name", ["log.csv", "log.parquet", "log.npz"])
@pytest.mark.parametrize("samples", [1, 7, 100, 500, 10_000])
def test_chunks_join_to_the_whole(tmp_path: Path, name: str, samples: int) -> None:
    path = write(tmp_path / name, rows=130)
    chunks = iter_chunks(path, None, samples)
    assert chunks.total == (None if name == "log.csv" else LOG.samples)
    logs = list(chunks)
    assert np.allclose(np.concatenate([log.time for log in logs]), LOG.time, atol=1e-12)
    for channel in ("position", "torque"):
        assert np.array_equal(np.concatenate([log.channels[channel] for log in logs]), LOG.channels[channel])
    assert max(log.samples for log in logs) <= samples
    if name == "log.csv":
        assert all(log.samples == samples for log in logs[:-1])
    assert all(log.sources == logs[0].sources for log in logs)


def test_time_goes_on_where_only_the_rate_is_known(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv")
    mapping = {"rate_hz": 250, "position": {"columns": "q{axis}"}, "torque": {"columns": "tau{axis}"}}
    logs = list(iter_chunks(path, mapping_from_table(mapping), 130))
    assert np.allclose(np.concatenate([log.time for log in logs]), LOG.time)


def test_time_goes_on_where_stamps_count_from_a_date(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    table = np.column_stack([1.7e9 + LOG.time, LOG.channels["position"], LOG.channels["torque"]])
    np.savetxt(path, table, fmt="%.17g", delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    logs = list(iter_chunks(path, None, 130))
    assert np.allclose(np.concatenate([log.time for log in logs]), LOG.time, atol=1e-6)
    assert np.allclose(read_log(path).time, LOG.time, atol=1e-6)


def test_a_cut_off_end_is_noted_in_the_last_chunk(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(csv_text(LOG)[:-40])
    logs = list(iter_chunks(path, None, 100))
    assert sum(log.samples for log in logs) == LOG.samples - 1
    assert [any(s.name == "truncated row" for s in log.history) for log in logs] == [*[False] * 4, True]


def test_a_chunk_has_samples(tmp_path: Path) -> None:
    with pytest.raises(DynidError, match="a chunk has at least 1"):
        iter_chunks(write(tmp_path / "log.csv"), None, 0)


@pytest.mark.parametrize("name", ["log.csv", "log.parquet"])
def test_memory_does_not_grow_with_the_log(tmp_path: Path, name: str) -> None:
    """Forty times the rows in at most twice the memory."""
    peaks = []
    for repeats in (1, 40):
        path = tmp_path / f"{repeats}_{name}"
        rows = np.tile(np.column_stack([LOG.channels["position"], LOG.channels["torque"]]), (10 * repeats, 1))
        if name == "log.csv":
            np.savetxt(path, rows, fmt="%.3f", delimiter=",", header="q1,q2,tau1,tau2", comments="")
        else:
            pa = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; install the logs extra.")
            import pyarrow.parquet

            columns = dict(zip(("q1", "q2", "tau1", "tau2"), rows.T, strict=True))
            pyarrow.parquet.write_table(pa.table(columns), path, row_group_size=5000)
        chunks = iter_chunks(path, mapping_from_table({"rate_hz": 100}), 1000)
        next(chunks)  # what is loaded once does not count
        tracemalloc.start()
        assert sum(log.samples for log in chunks) == len(rows) - 1000
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    allowed = 2 * peaks[0] if name == "log.parquet" else max(2 * peaks[0], 60e6)
    assert peaks[1] <= allowed
