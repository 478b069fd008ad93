"""Logs of many samples: kept on disk, and the same as in memory whatever their format and stamps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dynid.logs.log import Log
from dynid.logs.mapping import mapping_from_table
from dynid.logs.read import read_log
from support.logs import csv_text, pendulum_log

LOG = pendulum_log(seconds=2.0)


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dynid.logs.spool.LONG", 200)
    monkeypatch.setattr("dynid.logs.spool.TILE", 64)
    monkeypatch.setattr("dynid.logs.readers.csv_text._BLOCK", 3000)


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


def assert_same(log: Log, atol: float = 1e-12) -> None:
    assert log.on_disk
    np.testing.assert_allclose(log.time, LOG.time, rtol=0, atol=atol)
    for channel in ("position", "torque"):
        assert np.array_equal(log.array(channel), LOG.channels[channel])


@pytest.mark.parametrize("name", ["log.csv", "log.parquet", "log.npz"])
def test_values_are_those_of_the_file(tmp_path: Path, name: str) -> None:
    assert_same(read_log(write(tmp_path / name, rows=130)))


def test_units_and_signs_count_on_disk_too(tmp_path: Path) -> None:
    mapping = mapping_from_table({"position": {"unit": "deg", "sign": [1, -1], "offset": 1.0}})
    log = read_log(write(tmp_path / "log.csv"), mapping)
    assert log.on_disk
    wanted = np.deg2rad(LOG.channels["position"]) * [1, -1] + 1.0
    np.testing.assert_allclose(log.array("position"), wanted, rtol=1e-14)


def test_stamps_by_a_rate_or_from_a_date(tmp_path: Path) -> None:
    mapping = {"rate_hz": 250, "position": {"columns": "q{axis}"}, "torque": {"columns": "tau{axis}"}}
    assert_same(read_log(write(tmp_path / "log.csv"), mapping_from_table(mapping)))
    table = np.column_stack([1.7e9 + LOG.time, LOG.channels["position"], LOG.channels["torque"]])
    path = tmp_path / "dated.csv"
    np.savetxt(path, table, fmt="%.17g", delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    assert_same(read_log(path), atol=1e-6)


def test_a_cut_off_end_and_damaged_lines_are_noted_once(tmp_path: Path) -> None:
    lines = csv_text(LOG)[:-40].splitlines()
    lines[30], lines[400] = "1,2", "a,b,c,d,e"
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines))
    log = read_log(path)
    assert log.samples == LOG.samples - 1
    assert [s.name for s in log.history if s.name in ("truncated row", "damaged lines")] == [
        "truncated row",
        "damaged lines",
    ]
    damaged = next(s for s in log.history if s.name == "damaged lines")
    assert damaged.options["lines"] == [31, 401]
    assert np.flatnonzero(np.isnan(log.time)).tolist() == [29, 399]


def test_channels_are_moved_on_disk_too(tmp_path: Path) -> None:
    path, mapping = write(tmp_path / "log.csv"), mapping_from_table({"torque": {"delay_s": 0.021}})
    long = read_log(path, mapping)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dynid.logs.spool.LONG", 10_000)
        short = read_log(path, mapping)
    assert (long.on_disk, short.on_disk) == (True, False)
    for channel in ("position", "torque"):
        assert np.array_equal(long.array(channel), short.array(channel))
