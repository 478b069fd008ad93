"""Samples on disk: what is read is what was written, whatever the tiles, and nothing else is held."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dynid.core.errors import FileError, ShapeError
from dynid.logs import spool as spools
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.logs.spool import Spool, SpoolWriter, by_columns, by_rows
from dynid.model.load import load_robot

RNG = np.random.default_rng(3)
VALUES = RNG.normal(size=(1000, 3))


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spools, "TILE", 64)


def spooled(values: np.ndarray, *cuts: int) -> Spool:
    writer = SpoolWriter(values.shape[1])
    for part in np.split(values, cuts):
        writer.append(part)
    return writer.finish()


def test_rows_and_columns_are_read_as_they_were_written() -> None:
    kept = spooled(VALUES, 1, 63, 64, 65, 500)
    assert (kept.shape, kept.ndim, len(kept), kept.nbytes) == ((1000, 3), 2, 1000, VALUES.nbytes)
    assert np.array_equal(np.asarray(kept), VALUES)
    for axis in (0, 2, -1):
        assert np.array_equal(kept[:, axis], VALUES[:, axis])
    for rows in (
        slice(10, 20),
        slice(60, 200),
        slice(-5, None),
        slice(5, 5),
        slice(0, None, 7),
        slice(3, 900, 200),
    ):
        assert np.array_equal(kept[rows], VALUES[rows]), rows
        assert np.array_equal(kept[rows, 1], VALUES[rows, 1]), rows
        assert np.array_equal(kept[rows, 1:], VALUES[rows, 1:]), rows
    assert np.array_equal(kept[-1], VALUES[-1])
    assert kept[7, 2] == VALUES[7, 2]
    mask = VALUES[:, 0] > 0
    assert np.array_equal(kept[mask], VALUES[mask])
    assert np.array_equal(kept[np.array([5, 3, 900]), 1], VALUES[[5, 3, 900], 1])
    with pytest.raises(ShapeError, match="read forward"):
        kept[::-1]


def test_whole_columns_in_any_order_are_the_same_as_rows() -> None:
    writer = SpoolWriter(3)
    for axis in (2, 0, 1):
        writer.put(axis, VALUES[:, axis])
    assert np.array_equal(np.asarray(writer.finish()), VALUES)
    with pytest.raises(ShapeError, match="expected"):
        writer.append(VALUES[:, :2])


def test_views_share_the_file_and_functions_keep_the_place() -> None:
    kept = spooled(VALUES)
    part = kept.view(slice(100, 900), axes=(2, 0))
    assert np.array_equal(np.asarray(part), VALUES[100:900, [2, 0]])
    assert np.array_equal(np.asarray(part.view(slice(1, 5))), VALUES[101:105, [2, 0]])
    doubled = by_rows(lambda rows: rows[:, :2] * 2, kept)
    assert isinstance(doubled, Spool)
    assert np.array_equal(np.asarray(doubled), VALUES[:, :2] * 2)
    assert np.array_equal(by_rows(lambda rows: rows[:, :2] * 2, VALUES), VALUES[:, :2] * 2)
    thinned = by_columns(lambda x: x[::3], kept)
    assert isinstance(thinned, Spool)
    assert np.array_equal(np.asarray(thinned), VALUES[::3])


def test_a_log_on_disk_answers_as_one_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    time = np.arange(1000) / 100.0
    monkeypatch.setattr("dynid.logs.spool.LONG", 500)
    plain = Log("a", time, {"position": VALUES, "torque": -VALUES})
    log = Log("a", time, {"position": spooled(VALUES), "torque": spooled(-VALUES)})
    assert (log.axes, log.samples, log.duration) == (plain.axes, plain.samples, plain.duration)
    assert np.array_equal(log.column("torque", 1), plain.column("torque", 1))
    assert np.array_equal(log.array("position"), VALUES)
    short, long = log.part(slice(10, 200)), log.part(slice(10, 700))
    assert isinstance(short.channels["position"], np.ndarray)
    assert isinstance(long.channels["position"], Spool)
    assert np.array_equal(long.array("torque"), plain.part(slice(10, 700)).array("torque"))
    with pytest.raises(ShapeError, match="shape"):
        Log("a", time[:-1], {"position": spooled(VALUES)})


def test_a_log_on_disk_is_brought_to_the_joint_side() -> None:
    robot = load_robot("tx40")
    values = np.concatenate([VALUES, VALUES + 1], axis=1)
    time = np.arange(1000) / 100.0
    plain = to_joint_side(Log("a", time, {"position": values, "torque": values}, "motor"), robot)
    log = to_joint_side(
        Log("a", time, {"position": spooled(values), "torque": spooled(values)}, "motor"), robot
    )
    for name in ("position", "torque"):
        assert isinstance(log.channels[name], Spool)
        assert np.allclose(log.array(name), plain.array(name), rtol=1e-15, atol=0)


def test_a_folder_without_room_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(FileError, match=r"temporary file in .*missing.*TMPDIR"):
        SpoolWriter(2)


def test_the_file_is_gone_with_its_spool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    kept = spooled(VALUES)
    assert kept[3, 1] == VALUES[3, 1]
    assert list(tmp_path.iterdir()) == []  # it never has a name
