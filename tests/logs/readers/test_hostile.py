"""Damaged files of every format: a log or one sentence, never anything else."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from dynid.checks import check_log
from dynid.core.errors import DynidError
from dynid.logs.log import Log
from dynid.logs.read import read_log
from support.logs import csv_text, messages_of, pendulum_log, write_db3, write_mcap, write_ros1

LOG = pendulum_log(seconds=0.4)
ARRAYS = {"t": LOG.time, "q": LOG.channels["position"], "tau": LOG.channels["torque"]}


def write_csv(path: Path) -> None:
    path.write_text(csv_text(LOG))


def write_npz(path: Path) -> None:
    np.savez_compressed(path, **ARRAYS)  # type: ignore[arg-type]


def write_mat(path: Path) -> None:
    scipy.io.savemat(path, ARRAYS)


def write_packed_mat(path: Path) -> None:
    scipy.io.savemat(path, ARRAYS, do_compression=True)


def write_bag(path: Path) -> None:
    pytest.importorskip("rosbags", reason="rosbags reads bags; install the logs extra.")
    write_db3(path, {"/joint_states": messages_of(LOG, ("a", "b"))})


def write_mcap_bag(path: Path) -> None:
    pytest.importorskip("rosbags", reason="rosbags reads bags; install the logs extra.")
    write_mcap(path, {"/joint_states": messages_of(LOG, ("a", "b"))})


def write_old_bag(path: Path) -> None:
    pytest.importorskip("rosbags", reason="rosbags reads bags; install the logs extra.")
    write_ros1(path, LOG, ("a", "b"))


def write_parquet(path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; install the logs extra.")
    import pyarrow.parquet

    columns = {"t": LOG.time, "q1": ARRAYS["q"][:, 0], "tau1": ARRAYS["tau"][:, 0]}
    pyarrow.parquet.write_table(pa.table(columns), path)


def write_hdf5(path: Path) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py reads HDF5; install the logs extra.")
    with h5py.File(path, "w") as file:
        for name, array in ARRAYS.items():
            file.create_dataset(f"run/{name}", data=array, compression="gzip", chunks=True)


WRITERS: dict[str, Callable[[Path], None]] = {
    "log.csv": write_csv,
    "log.npz": write_npz,
    "log.mat": write_mat,
    "packed.mat": write_packed_mat,
    "log.db3": write_bag,
    "log.mcap": write_mcap_bag,
    "log.bag": write_old_bag,
    "log.parquet": write_parquet,
    "log.h5": write_hdf5,
}


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """Bytes changed, cut, doubled or filled, mostly near the beginning where headers are."""
    raw = bytearray(data)
    kind = rng.integers(5)
    place = (
        int(min(rng.exponential(len(raw) / 6), len(raw) - 1))
        if rng.random() < 0.7
        else int(rng.integers(len(raw)))
    )
    if kind == 0:
        for _ in range(int(rng.integers(1, 8))):
            raw[int(rng.integers(len(raw)))] = int(rng.integers(256))
    elif kind == 1:
        return bytes(raw[:place])
    elif kind == 2:
        raw[place : place + 8] = bytes([255]) * 8
    elif kind == 3:
        raw[place:place] = raw[place : place + int(rng.integers(1, 64))]
    else:
        raw[place : place + 4] = b"\0\0\0\0"
    return bytes(raw)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.filterwarnings("ignore")
def test_damaged_files_give_a_log_or_a_sentence(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    good = path.read_bytes()
    rng = np.random.default_rng(20)
    told = []
    for _ in range(150):
        path.write_bytes(mutated(good, rng))
        try:
            assert isinstance(read_log(path), Log)
        except DynidError as error:
            told.append(str(error))
    assert len(told) > 5
    assert [text for text in told if "\n" in text or not text.endswith((".", "?"))] == []


@pytest.mark.filterwarnings("ignore")
def test_damaged_text_is_read_or_told_and_what_is_read_can_be_checked(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    text = csv_text(LOG).encode()
    rng = np.random.default_rng(8)
    checked = 0
    for _ in range(60):
        path.write_bytes(mutated(text, rng))
        with contextlib.suppress(DynidError):
            check = check_log(read_log(path))
            checked += 1
            assert check.verdict in ("good", "usable with repairs", "not usable")
    assert checked > 5
