"""MAT files: ours against SciPy's reader and writer, on files that are sound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

from dynid.core.errors import FileError
from dynid.logs.mapping import mapping_from_table
from dynid.logs.read import read_log
from dynid.logs.readers.mat import read_mat
from support.datasets import dataset

TYPES = ("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "b1")


def arrays_of(path: Path) -> dict[str, Any]:
    table = read_mat(path)
    return {column.name: table.fetch(i) for i, column in enumerate(table.columns)}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", TYPES)
def test_every_type_and_shape(tmp_path: Path, kind: str, packed: bool) -> None:
    rng = np.random.default_rng(1)
    given = {
        f"m{i}": (rng.normal(size=shape) * 50).astype(kind)
        for i, shape in enumerate([(1, 1), (3, 4), (1, 7)])
    }
    scipy.io.savemat(tmp_path / "a.mat", given, do_compression=packed)
    found = arrays_of(tmp_path / "a.mat")
    assert set(found) == set(given)
    for name, array in given.items():
        assert found[name].shape == array.shape
        assert np.array_equal(found[name], array)


@pytest.mark.parametrize("packed", [False, True])
def test_what_is_no_real_matrix_is_passed_over(tmp_path: Path, packed: bool) -> None:
    given = {
        "text": "hello",
        "cell": np.array(["a", 1.0], dtype=object),
        "complex": np.array([[1j, 2.0]]),
        "cube": np.zeros((2, 2, 2)),
        "s": {"a": np.eye(2), "long_field_name": np.arange(3.0), "word": "x", "deep": {"b": 1.0}},
        "x": np.eye(3),
    }
    scipy.io.savemat(tmp_path / "a.mat", given, do_compression=packed)
    found = arrays_of(tmp_path / "a.mat")
    assert set(found) == {"s.a", "s.long_field_name", "x"}
    assert np.array_equal(found["s.a"], np.eye(2))
    assert np.array_equal(found["s.long_field_name"], [[0.0, 1.0, 2.0]])


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "a.mat").write_bytes(b"x" * 500)
    with pytest.raises(FileError, match=r"no MAT file of version 5 or 7\.3"):
        read_mat(tmp_path / "a.mat")
    scipy.io.savemat(tmp_path / "b.mat", {"text": "hello"})
    with pytest.raises(FileError, match="no numeric matrices"):
        read_mat(tmp_path / "b.mat")
    scipy.io.savemat(tmp_path / "c.mat", {"x": np.arange(1000.0)})
    (tmp_path / "c.mat").write_bytes((tmp_path / "c.mat").read_bytes()[:4000])
    with pytest.raises(FileError, match=r"is damaged: an element claims \d+ bytes where \d+ are left\."):
        read_mat(tmp_path / "c.mat")


def test_measured_files_read_as_scipy_reads_them() -> None:
    path = dataset("emps", "DATA_EMPS.mat")
    theirs = {name: array for name, array in scipy.io.loadmat(path).items() if not name.startswith("__")}
    ours = arrays_of(path)
    assert set(ours) == set(theirs)
    assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)


def test_objects_beside_the_data_are_passed_over() -> None:
    path = dataset("kr300", "trajectory_A.mat")
    theirs = scipy.io.loadmat(path)["rec"][0, 0]
    ours = arrays_of(path)
    for name in theirs.dtype.names:
        assert np.array_equal(ours[f"rec.{name}"], theirs[name])
    mapping = {
        "side": "motor",
        "time": {"column": "rec.time_cont", "unit": "s"},
        "position": {"columns": "rec.act_pos_mot_deg", "unit": "deg"},
        "torque": {"columns": "rec.act_torque_abs_nm"},
        "reference": {"columns": "rec.ref_pos_deg", "unit": "deg"},
    }
    log = read_log(path, mapping_from_table(mapping))
    assert (log.samples, log.axes, log.rate_hz) == (2501, 6, pytest.approx(250))
    assert np.allclose(log.array("position"), np.deg2rad(theirs["act_pos_mot_deg"].T))
