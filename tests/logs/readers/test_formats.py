"""Every format gives back what was written to it, and refuses what could run code or reach other files."""

from __future__ import annotations

import os
import pickle
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

from dynid.core.errors import DynidError, FileError, ShapeError, UnknownNameError
from dynid.logs.log import Log, Step
from dynid.logs.mapping import mapping_from_table
from dynid.logs.read import read_log, read_logs
from dynid.logs.save import save_log
from support.logs import csv_text, pendulum_log

LOG = pendulum_log(seconds=1.0)
ARRAYS = {"t": LOG.time, "q": LOG.channels["position"], "tau": LOG.channels["torque"]}


def write_npz(path: Path, arrays: dict[str, Any]) -> None:
    np.savez(path, **arrays)


def write_mat(path: Path, arrays: dict[str, Any]) -> None:
    scipy.io.savemat(path, arrays)


def write_mat73(path: Path, arrays: dict[str, Any]) -> None:
    """MATLAB 7.3 is HDF5 with 512 bytes of text before it and every matrix turned over."""
    h5py = pytest.importorskip("h5py", reason="h5py reads HDF5; install the logs extra.")
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in arrays.items():
            file[name] = np.atleast_2d(np.asarray(array).T)
            file[name].attrs["MATLAB_class"] = np.bytes_(b"double")
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")


def write_hdf5(path: Path, arrays: dict[str, Any]) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py reads HDF5; install the logs extra.")
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[f"run/{name}"] = array


def write_parquet(path: Path, arrays: dict[str, Any]) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; install the logs extra.")
    import pyarrow.parquet

    columns = {}
    for name, array in arrays.items():
        if np.ndim(array) == 1:
            columns[name] = array
        else:
            columns |= {f"{name}{i + 1}": array[:, i] for i in range(array.shape[1])}
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pa.table(columns), path)
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, pa.table(columns).schema) as writer:
            writer.write_table(pa.table(columns), max_chunksize=100)


WRITERS = {
    "log.npz": write_npz,
    "log.mat": write_mat,
    "v73.mat": write_mat73,
    "log.h5": write_hdf5,
    "log.parquet": write_parquet,
    "log.arrow": write_parquet,
}


def assert_same(log: Log) -> None:
    assert np.allclose(log.time, LOG.time, rtol=0, atol=1e-12)
    for channel in ("position", "torque"):
        assert np.array_equal(log.channels[channel], LOG.channels[channel])


@pytest.mark.parametrize("name", WRITERS)
def test_round_trip_without_a_mapping(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](path, ARRAYS)
    log = read_log(path)
    assert_same(log)
    assert log.name == path.stem
    (source,) = log.sources
    assert (source.path, source.size) == (str(path), path.stat().st_size)
    assert len(source.sha256) == 64
    assert log.history[0].name == "guessed mapping"
    assert re.search(r"position from (run/)?q", log.history[0].note)


@pytest.mark.parametrize("name", WRITERS)
def test_round_trip_with_a_mapping(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    arrays = {
        "clock": LOG.time * 1e3,
        "a": np.degrees(LOG.channels["position"]),
        "b": -LOG.channels["torque"],
    }
    WRITERS[name](path, arrays)
    pattern = "{axis}" if name in ("log.parquet", "log.arrow") else ""
    mapping = {
        "time": {"column": "clock", "unit": "ms"},
        "position": {"columns": f"a{pattern}", "unit": "deg", "offset": 0.5},
        "torque": {"columns": f"b{pattern}", "unit": "N m", "sign": [-1, -1]},
    }
    log = read_log(path, mapping_from_table(mapping))
    assert np.allclose(log.time, LOG.time)
    assert np.allclose(log.channels["position"], LOG.channels["position"] + 0.5)
    assert np.allclose(log.channels["torque"], LOG.channels["torque"])
    assert [s.name for s in log.history].count("units") == 2


@pytest.mark.parametrize("name", ["log.npz", "log.mat", "v73.mat", "log.h5"])
def test_arrays_stored_with_time_along_rows_are_turned(tmp_path: Path, name: str) -> None:
    WRITERS[name](tmp_path / name, {key: array.T for key, array in ARRAYS.items()})
    log = read_log(tmp_path / name)
    assert_same(log)
    assert sum(step.name == "turned over" for step in log.history) == 2


def test_the_rate_may_stand_in_the_file(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", q=ARRAYS["q"], tau=ARRAYS["tau"], fs=250.0)
    np.savez(tmp_path / "b.npz", q=ARRAYS["q"], tau=ARRAYS["tau"], dt=np.array([[0.004]]))
    assert_same(read_log(tmp_path / "a.npz"))
    assert_same(read_log(tmp_path / "b.npz"))


def test_fields_of_a_structure(tmp_path: Path) -> None:
    scipy.io.savemat(
        tmp_path / "s.mat", {"data": ARRAYS, "note": "text", "cells": np.array([1, "a"], object)}
    )
    assert_same(read_log(tmp_path / "s.mat"))


def test_integer_stamps_keep_their_nanoseconds(tmp_path: Path) -> None:
    stamps = 1_700_000_000_000_000_123 + np.round(LOG.time * 1e9).astype(np.int64)
    np.savez(tmp_path / "a.npz", time=stamps, q=ARRAYS["q"], tau=ARRAYS["tau"])
    log = read_log(tmp_path / "a.npz")
    assert_same(log)
    (step,) = [s for s in log.history if s.name == "time from first sample"]
    assert step.options["first_stamp"] == 1_700_000_000_000_000_123


def test_parquet_of_lists_and_timestamps(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet; install the logs extra.")
    import pyarrow.parquet

    stamps = np.round(LOG.time * 1e9).astype(np.int64).view("M8[ns]") + np.timedelta64(1_700_000_000, "s")
    lists = {name: pa.array(ARRAYS[name].tolist()) for name in ("q", "tau")}
    pyarrow.parquet.write_table(pa.table({"time": stamps, **lists}), tmp_path / "l.parquet")
    assert_same(read_log(tmp_path / "l.parquet"))
    ragged = pa.array([[1.0, 2.0], [3.0]] * (LOG.samples // 2))
    pyarrow.parquet.write_table(
        pa.table({"time": stamps, "q": ragged, "tau": lists["tau"]}), tmp_path / "r.pq"
    )
    with pytest.raises(FileError, match=r"Column 'q' of .* holds lists of different lengths"):
        read_log(tmp_path / "r.pq")


def test_saved_logs_come_back_whole(tmp_path: Path) -> None:
    log = LOG.with_step(Step("something", {"n": 1}, "A note."), side="motor")
    save_log(log, tmp_path / "s.npz")
    back = read_log(tmp_path / "s.npz")
    assert (back.name, back.side, back.history) == (log.name, "motor", log.history)
    assert all(np.array_equal(back.channels[c], log.channels[c]) for c in log.channels)
    with pytest.raises(FileError, match="exists already; add --force"):
        save_log(log, tmp_path / "s.npz")
    with pytest.raises(FileError, match=r"must end in \.npz, \.csv or \.parquet"):
        save_log(log, tmp_path / "s.mat")
    with pytest.raises(FileError, match=r"would not say that the log is on the motor side; save it as \.npz"):
        save_log(log, tmp_path / "s.csv")
    with pytest.raises(FileError, match="There is no folder"):
        save_log(log, tmp_path / "nowhere" / "s.npz")
    assert [file.name for file in tmp_path.iterdir()] == ["s.npz"]


@pytest.mark.parametrize("name", ["s.csv", "s.parquet"])
def test_saved_samples_need_no_mapping(tmp_path: Path, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow.")
    save_log(LOG, tmp_path / name)
    back = read_log(tmp_path / name)
    assert set(back.channels) == set(LOG.channels)
    assert all(np.allclose(back.channels[c], LOG.channels[c], rtol=1e-14, atol=0) for c in LOG.channels)
    assert np.allclose(back.time, LOG.time, rtol=1e-14, atol=0)


class Bomb:
    """A pickle that would run code."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("pwned",)


def test_pickles_are_refused_and_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("p.npz", t=LOG.time, q=np.array([Bomb()], dtype=object), tau=ARRAYS["tau"])
    Path("raw.npz").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(FileError, match="is a pickle of Python objects, which is not read"):
        read_log("p.npz")
    with pytest.raises(FileError, match="is cut off or no NPZ file"):
        read_log("raw.npz")
    Path("raw.npy").write_bytes(pickle.dumps(Bomb()))
    np.save("object.npy", np.array([Bomb()], dtype=object))
    with zipfile.ZipFile("inside.npz", "w") as archive:
        archive.writestr("q.npy", b"no array at all")
    for name, sentence in {
        "raw.npy": r"raw\.npy is no NumPy array: it does not begin with NumPy's mark; save it again",
        "inside.npz": r"q\.npy in inside\.npz is no NumPy array",
        "object.npy": r"object\.npy is a pickle of Python objects, which is not read",
    }.items():
        with pytest.raises(FileError, match=sentence) as caught:
            read_log(name)
        assert "allow_pickle" not in str(caught.value)
    assert not Path("pwned").exists()


def test_links_out_of_an_hdf5_file_are_refused(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py reads HDF5; install the logs extra.")
    write_hdf5(tmp_path / "other.h5", ARRAYS)
    with h5py.File(tmp_path / "link.h5", "w") as file:
        file["q"] = h5py.ExternalLink("other.h5", "/run/q")
    with pytest.raises(FileError, match="link to another file, which is not followed"):
        read_log(tmp_path / "link.h5")
    (tmp_path / "raw.bin").write_bytes(bytes(800))
    with h5py.File(tmp_path / "stored.h5", "w") as file:
        file.create_dataset("q", (100,), "f8", external=[(str(tmp_path / "raw.bin"), 0, 800)])
    with pytest.raises(FileError, match="is stored in another file, which is not read"):
        read_log(tmp_path / "stored.h5")


@pytest.mark.parametrize(
    ("name", "package"),
    [("a.parquet", "pyarrow"), ("a.feather", "pyarrow"), ("a.h5", "h5py"), ("a.db3", "rosbags")],
)
def test_a_missing_package_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    for module in ("", ".parquet", ".ipc", ".rosbag2", ".typesys"):
        monkeypatch.setitem(sys.modules, package + module, None)
    (tmp_path / name).write_bytes(b"some bytes")
    sentence = rf"Reading {name} needs the package '{package}'; .* pip install 'dynid\[logs\]'"
    with pytest.raises(FileError, match=sentence):
        read_log(tmp_path / name)


def test_files_that_are_not_there_or_not_logs(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_text("1")
    (tmp_path / "void").mkdir()
    cases = {
        tmp_path / "none.csv": "There is no log at",
        tmp_path / "a.xyz": r"ends in '\.xyz'; a log ends in",
        tmp_path / "void": "holds no logs",
        "a\0b.csv": "cannot be read",
    }
    for path, sentence in cases.items():
        with pytest.raises(FileError, match=sentence):
            read_log(path)


def test_parts_of_an_experiment_by_mapping_and_by_name(tmp_path: Path) -> None:
    for name, channel in (("pos_data.csv", "position"), ("torque_data.csv", "torque")):
        np.savetxt(
            tmp_path / name, LOG.channels[channel], fmt="%.17g", delimiter=",", header="J1,J2", comments=""
        )
    parts = {
        "rate_hz": 250,
        "side": "motor",
        "position": {"file": "pos_data.csv", "columns": "J{axis}"},
        "torque": {"file": "torque_data.csv", "columns": "1-2"},
    }
    mapping = mapping_from_table(parts)
    for given in (tmp_path, tmp_path / "pos_data.csv", sorted(tmp_path.iterdir())):
        log = read_log(given, mapping)
        assert_same(log)
        assert (log.side, log.name, len(log.sources)) == ("motor", tmp_path.name, 2)
    assert len(read_logs([tmp_path / "pos_data.csv", tmp_path / "torque_data.csv"], mapping)) == 1
    with pytest.raises(FileError, match="no column of stamps was found; give rate_hz"):
        read_log(sorted(tmp_path.iterdir()))
    stamped = np.column_stack([LOG.time, LOG.channels["position"]])
    np.savetxt(tmp_path / "pos_data.csv", stamped, fmt="%.17g", delimiter=",", header="t,J1,J2", comments="")
    assert_same(read_log(tmp_path))
    (log,) = read_logs(sorted(tmp_path.iterdir()))
    assert_same(log)


def test_several_experiments(tmp_path: Path) -> None:
    for name in ("run1.csv", "run2.csv"):
        (tmp_path / name).write_text(csv_text(LOG))
    assert [log.name for log in read_logs(tmp_path)] == ["run1", "run2"]
    with pytest.raises(FileError, match="2 files were given as one experiment"):
        read_log(tmp_path)


def test_parts_of_different_lengths(tmp_path: Path) -> None:
    parts = {
        "rate_hz": 250,
        "position": {"file": "a.npz", "columns": "q"},
        "torque": {"file": "b.npz", "columns": "tau"},
    }
    mapping = mapping_from_table(parts)
    np.savez(tmp_path / "a.npz", q=ARRAYS["q"])
    np.savez(tmp_path / "b.npz", tau=ARRAYS["tau"][:-2])
    log = read_log(tmp_path, mapping)
    assert log.samples == LOG.samples - 2
    assert "cut to" in log.history[-1].note
    np.savez(tmp_path / "b.npz", tau=ARRAYS["tau"][:-50])
    with pytest.raises(ShapeError, match="different numbers of samples"):
        read_log(tmp_path, mapping)


@pytest.mark.parametrize("file", ["../secret.csv", "/etc/passwd", "sub/../../secret.csv", "link.csv"])
def test_a_mapping_cannot_reach_out_of_the_folder(tmp_path: Path, file: str) -> None:
    home = tmp_path / "logs"
    home.mkdir()
    (tmp_path / "secret.csv").write_text(csv_text(LOG))
    (home / "link.csv").symlink_to(tmp_path / "secret.csv")
    mapping = {
        "time": {"column": "t", "file": file},
        "position": {"columns": "q{axis}", "file": file},
        "torque": {"columns": "tau{axis}", "file": file},
    }
    with pytest.raises(FileError, match="outside the log's folder"):
        read_log(home, mapping_from_table(mapping))


BAD_MAPPINGS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": ({"rates": 5}, "Unknown key 'rates'. Did you mean 'rate_hz'"),
    "unknown unit": ({"position": {"columns": "q", "unit": "grad"}}, "Unknown unit of position 'grad'"),
    "both clocks": ({"rate_hz": 5, "time": {"column": "t"}}, "rate_hz and [time] are both given; keep one"),
    "rate": ({"rate_hz": -5}, "rate_hz is -5; it must be a number above 0"),
    "side": ({"side": "left"}, "Unknown side 'left'"),
    "sign": ({"torque": {"columns": "tau", "sign": 2}}, "[torque]: sign is 2; it must be 1 or -1"),
    "gain": ({"torque": {"columns": "tau", "unit": "Nm", "gain": 2}}, "needs the unit A, mA or V"),
    "columns": (
        {"torque": {"unit": "Nm", "file": "a.csv"}},
        "names the file 'a.csv' but no columns; give both",
    ),
    "columns kind": (
        {"torque": {"columns": 1.5}},
        "[torque]: columns is 1.5; it must be names, numbers from 1",
    ),
    "no column": ({"time": {"column": "t"}, "position": {"columns": "qq"}}, "Unknown column in log.csv 'qq'"),
    "number": ({"time": {"column": "t"}, "position": {"columns": 99}}, "column 99 does not exist"),
    "range": ({"time": {"column": "t"}, "position": {"columns": "2-99"}}, "does not fit log.csv"),
    "axes": ({"axes": 3, "time": {"column": "t"}, "position": {"columns": "2-3"}}, "the mapping says 3"),
    "per axis": (
        {"time": {"column": "t"}, "position": {"columns": "2-3", "scale": [1, 2, 3]}},
        "3 values for 2",
    ),
    "same sign": (
        {"csv": {"delimiter": ",", "decimal": ","}},
        "[csv]: a comma is given as delimiter and as decimal sign",
    ),
}


@pytest.mark.parametrize(("content", "sentence"), BAD_MAPPINGS.values(), ids=BAD_MAPPINGS)
def test_bad_mappings_are_told(tmp_path: Path, content: dict[str, Any], sentence: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(csv_text(LOG))
    with pytest.raises(DynidError) as caught:
        read_log(path, mapping_from_table(content))
    assert sentence in str(caught.value)


def test_mapping_files(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(csv_text(LOG))
    good, bad, worse = (tmp_path / name for name in ("good.toml", "bad.toml", "worse.toml"))
    good.write_text(
        '[time]\ncolumn = "t"\n[position]\ncolumns = "q{axis}"\n[torque]\ncolumns = "tau{axis}"\n'
    )
    bad.write_text('[position]\ncolumn = "q"\n')
    worse.write_text("[[[")
    assert_same(read_log(tmp_path / "log.csv", good))
    with pytest.raises(FileError, match=r"Mapping bad\.toml: \[position\]: Unknown key 'column'"):
        read_log(tmp_path / "log.csv", bad)
    with pytest.raises(FileError, match="is not TOML"):
        read_log(tmp_path / "log.csv", worse)
    with pytest.raises(FileError, match="There is no mapping at"):
        read_log(tmp_path / "log.csv", tmp_path / "none.toml")


def test_a_mapping_may_say_only_what_the_file_does_not(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", q=ARRAYS["q"], tau=ARRAYS["tau"])
    log = read_log(tmp_path / "a.npz", mapping_from_table({"rate_hz": 250, "side": "motor"}))
    assert_same(log)
    assert log.side == "motor"


def test_currents_need_a_gain_or_drives(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(csv_text(LOG).replace("tau", "current_"))
    guessed = read_log(path)
    assert any(step.name == "drive signal" and "give its gain" in step.note for step in guessed.history)
    mapping = {
        "time": {"column": "t"},
        "position": {"columns": "q{axis}"},
        "torque": {"columns": "current_{axis}", "unit": "A", "gain": [10, 20]},
    }
    log = read_log(path, mapping_from_table(mapping))
    assert np.allclose(log.channels["torque"], LOG.channels["torque"] * [10, 20])
    with pytest.raises(UnknownNameError, match="Unknown unit of torque 'W'"):
        mapping_from_table({"torque": {"columns": "x", "unit": "W"}})
