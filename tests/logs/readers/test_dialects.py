"""Names of columns that are understood without a mapping."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dynid.core.errors import FileError
from dynid.logs.read import read_log
from dynid.logs.words import Word, taken_apart

NAMES = {
    "q1": Word("q", 1, None),
    "Joint_1_pos [deg]": Word("joint_pos", 1, "deg"),
    "joint1Position": Word("joint_position", 1, None),
    "actual_q_0": Word("actual_q", 0, None),
    "tau[2]": Word("tau", 2, None),
    "pos_meas1": Word("pos_meas", 1, None),
    "time_ms": Word("time", None, "ms"),
    "Torque 3 (N m)": Word("torque", 3, "Nm"),
    "run/q": Word("q", None, None),
    "data.tau": Word("tau", None, None),
}


@pytest.mark.parametrize(("name", "word"), NAMES.items())
def test_names_are_taken_apart(name: str, word: Word) -> None:
    assert taken_apart(name) == word


HEADERS = [
    "t,q1,q2,tau1,tau2",
    "time,pos1,pos2,torque1,torque2",
    "stamp,position_1,position_2,effort_1,effort_2",
    "timestamp,Joint_1_pos,Joint_2_pos,Joint_1_torque,Joint_2_torque",
    "time,joint_1,joint_2,tau_meas1,tau_meas2",
    "t,actual_q_0,actual_q_1,actual_current_0,actual_current_1",
    "t,q[0],q[1],tau[0],tau[1]",
]


@pytest.mark.parametrize("header", HEADERS)
def test_headers_are_understood(tmp_path: Path, header: str) -> None:
    rows = np.column_stack([np.arange(50) * 0.01, np.random.default_rng(0).normal(size=(50, 4))])
    path = tmp_path / "log.csv"
    np.savetxt(path, rows, delimiter=",", header=header, comments="", fmt="%.17g")
    log = read_log(path)
    assert np.array_equal(log.time, rows[:, 0])
    assert np.array_equal(log.channels["position"], rows[:, 1:3])
    assert np.array_equal(log.channels["torque"], rows[:, 3:])
    assert "Without a mapping" in log.history[0].note


def test_axes_are_ordered_by_their_numbers_not_by_their_columns(tmp_path: Path) -> None:
    rows = np.column_stack([np.arange(50) * 0.01, np.random.default_rng(0).normal(size=(50, 4))])
    path = tmp_path / "log.csv"
    np.savetxt(path, rows, delimiter=",", header="t,q2,tau2,q1,tau1", comments="", fmt="%.17g")
    log = read_log(path)
    assert np.array_equal(log.channels["position"], rows[:, [3, 1]])
    assert np.array_equal(log.channels["torque"], rows[:, [4, 2]])


def test_a_missing_axis_is_not_guessed_over(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("t,q1,q3,tau1,tau3\n0,1,2,3,4\n1,2,3,4,5\n")
    with pytest.raises(FileError, match="No position and no torque was recognised"):
        read_log(path)


@pytest.mark.parametrize(
    ("step", "seconds"), [(0.002, 0.002), (2.0, 0.002), (2000.0, 0.002), (2_000_000.0, 0.002)]
)
def test_the_unit_of_stamps_is_guessed_from_the_rate_and_told(
    tmp_path: Path, step: float, seconds: float
) -> None:
    rows = np.column_stack([np.arange(50) * step, np.random.default_rng(0).normal(size=(50, 2))])
    path = tmp_path / "log.csv"
    np.savetxt(path, rows, delimiter=",", header="time,q1,tau1", comments="", fmt="%.17g")
    log = read_log(path)
    assert log.rate_hz == pytest.approx(1 / seconds)
    assert "stamps from time [" in log.history[0].note


@pytest.mark.parametrize(
    ("suffix", "factor"),
    [("mNm", 1e-3), ("kNm", 1e3), ("Ncm", 1e-2), ("Nm", 1.0), ("kN", 1e3), ("mN", 1e-3)],
)
def test_units_behind_a_name_keep_their_prefix(tmp_path: Path, suffix: str, factor: float) -> None:
    path = tmp_path / "run.csv"
    rows = "".join(f"{0.01 * k},{10.0 * k},{2.0}\n" for k in range(20))
    path.write_text(f"t_s,q1_mrad,tau1_{suffix}\n{rows}")
    log = read_log(path)
    assert log.channels["torque"][0, 0] == pytest.approx(2.0 * factor)
    assert log.channels["position"][1, 0] == pytest.approx(0.01)
