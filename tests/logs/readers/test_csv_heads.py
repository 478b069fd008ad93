"""What stands above the data of a CSV file and in its stamps: units, preambles, dates, names of joints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dynid.core.errors import FileError
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.logs.mapping import mapping_from_table
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from support.logs import csv_text, pendulum_log
from support.urdf_text import chain

LOG = pendulum_log(seconds=1.0)
Q, TAU = LOG.channels["position"], LOG.channels["torque"]
NAMES, *ROWS = csv_text(LOG).splitlines()


def read(folder: Path, lines: list[str], **mapping: object) -> Log:
    path = folder / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    return read_log(path, mapping_from_table(mapping) if mapping else None)


def note(log: Log, name: str) -> str:
    (found,) = [step.note for step in log.history if step.name == name]
    return found


@pytest.mark.parametrize(
    "units", ["s,rad,rad,Nm,Nm", "[s],[rad],[rad],[N m],[N·m]", "sec,Rad,RAD,nm,NM", "s,,,,", "(s),-,-,-,-"]
)
def test_a_row_of_units_in_si(tmp_path: Path, units: str) -> None:
    log = read(tmp_path, [NAMES, units, *ROWS])
    assert np.array_equal(log.channels["position"], Q)
    assert np.array_equal(log.channels["torque"], TAU)
    assert np.array_equal(log.time, LOG.time)
    assert "the row below the names gives units (" in note(log, "row of units")


def test_a_row_of_other_units_counts(tmp_path: Path) -> None:
    lines = [NAMES, "ms,deg,mm,Nm,A", *ROWS]
    log = read(tmp_path, lines)
    assert np.allclose(log.time, 1e-3 * LOG.time)
    assert np.allclose(log.channels["position"], Q * [np.pi / 180, 1e-3])
    assert "give its gain in a mapping" in note(log, "drive signal")
    assert "position was brought to SI: from deg, mm." in {step.note for step in log.history}
    said = read(
        tmp_path, lines, position={"columns": "q{axis}"}, torque={"columns": "tau{axis}", "unit": "Nm"}
    )
    assert np.allclose(said.channels["position"], Q * [np.pi / 180, 1e-3])
    assert np.array_equal(said.channels["torque"], TAU)  # the mapping goes first
    assert np.allclose(said.time, 1e-3 * LOG.time)


def test_an_unknown_unit_is_not_taken_for_si(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"The unit 'cnt' of column 'q1' in log\.csv is not known for a pos"):
        read(tmp_path, [NAMES, "s,cnt,cnt,Nm,Nm", *ROWS])


@pytest.mark.parametrize("ending", ["_ftlb", "_percent", " [%]", "_counts", " [kgf cm]", " (lbf ft)"])
def test_an_unknown_unit_behind_a_name_is_refused(tmp_path: Path, ending: str) -> None:
    names = f"t,q1,q2,tau1{ending},tau2{ending}"
    with pytest.raises(
        FileError, match=r"is not known for a torque .*; say unit, or scale to SI, in \[torque"
    ):
        read(tmp_path, [names, *ROWS])
    log = read_log(
        tmp_path / "log.csv",
        mapping_from_table({"torque": {"columns": "4-5", "scale": 2.0}}),
    )
    plain = read(tmp_path, [NAMES, *ROWS])
    assert np.allclose(log.array("torque"), 2.0 * plain.array("torque"))


def test_remarks_in_brackets_are_no_units(tmp_path: Path) -> None:
    log = read(tmp_path, ["t,q1 (measured),q2 (measured),tau1,tau2", *ROWS])
    assert np.array_equal(log.array("position"), read(tmp_path, [NAMES, *ROWS]).array("position"))


def test_a_mapped_column_keeps_the_unit_of_its_name(tmp_path: Path) -> None:
    names = "t,alpha 1 [deg],alpha 2 [deg],i1 [mA],i2 [mA]"
    plain = read(tmp_path, [NAMES, *ROWS])
    (tmp_path / "log.csv").write_text("\n".join([names, *ROWS]) + "\n")
    columns = {"position": {"columns": "2-3"}, "torque": {"columns": ["i1 [mA]", "i2 [mA]"], "gain": 3.0}}
    log = read_log(tmp_path / "log.csv", mapping_from_table(columns))
    assert np.allclose(log.array("position"), np.deg2rad(plain.array("position")))
    assert np.allclose(log.array("torque"), 3e-3 * plain.array("torque"))
    own = read_log(
        tmp_path / "log.csv", mapping_from_table({**columns, "position": {"columns": "2-3", "unit": "rad"}})
    )
    assert np.array_equal(own.array("position"), plain.array("position"))


PREAMBLES = {
    "words": ["Recorder v3", "Date: 2024-01-01", ""],
    "padded": ["Recorder v3,,,,", "Operator,A. Smith,,,"],
    "one line": ["exported on Monday, by hand"],
    "with numbers": ["rate;500", "serial 12345", "7"],
    "long": [f"key {i} = value" for i in range(30)],
}


@pytest.mark.parametrize("preamble", PREAMBLES.values(), ids=PREAMBLES)
@pytest.mark.parametrize("units", [[], ["s,rad,rad,Nm,Nm"]])
def test_a_preamble_is_passed_over_and_told(tmp_path: Path, preamble: list[str], units: list[str]) -> None:
    log = read(tmp_path, [*preamble, NAMES, *units, *ROWS])
    assert np.array_equal(log.channels["position"], Q)
    assert np.array_equal(log.channels["torque"], TAU)
    assert f"the names stand in line {len(preamble) + 1}; what is above" in note(log, "preamble")


def test_two_rows_of_names(tmp_path: Path) -> None:
    for lines in (
        [NAMES, "clock,first angle,second angle,first torque,second torque"],
        ["Time,Position,Position,Torque,Torque", NAMES],
    ):
        assert np.array_equal(read(tmp_path, [*lines, *ROWS]).channels["torque"], TAU)


def test_what_is_not_sure_names_the_key(tmp_path: Path) -> None:
    for lines in (
        [NAMES, "a,b,c,d,e", "f,g,h,i,j", *ROWS[:8]],
        [NAMES, "0,ERR,1,2,3", *ROWS[:8]],
        ["Recorder,v3", "1,2,3", *ROWS],
    ):
        with pytest.raises(FileError, match=r"give skip_lines in \[csv\] of a mapping"):
            read(tmp_path, lines)


def stamped(stamps: list[str]) -> list[str]:
    return [NAMES, *(f"{s},{row.split(',', 1)[1]}" for s, row in zip(stamps, ROWS, strict=True))]


def dates(form: str, zone: str = "", hours: int = 0, start: str = "2024-03-01T23:59:59.5") -> list[str]:
    first = np.datetime64(start, "us") + np.timedelta64(hours, "h")
    texts = [str(first + np.timedelta64(round(t * 1e6), "us")) for t in LOG.time]
    return [form.format(*text.replace("T", "-", 1).split("-")) + zone for text in texts]


@pytest.mark.parametrize("form", ["{}-{}-{}T{}", "{}-{}-{} {}", "{}/{}/{} {}", "{}{}{}T{}", '"{}-{}-{}T{}"'])
@pytest.mark.parametrize("zone", ["", "Z", "+02:00", "-0530", "+01"])
def test_dates_are_stamps(tmp_path: Path, form: str, zone: str) -> None:
    if '"' in form:
        form, zone = f'"{{}}-{{}}-{{}}T{{}}{zone}"', ""
    log = read(tmp_path, stamped(dates(form, zone)))
    assert np.allclose(log.time, LOG.time, rtol=0, atol=1e-9)  # past midnight
    assert np.array_equal(log.channels["torque"], TAU)
    assert "stamps from t [dates]" in log.history[0].note


def test_zones_may_change_but_not_be_left_out(tmp_path: Path) -> None:
    winter, summer = dates("{}-{}-{}T{}", "+01:00"), dates("{}-{}-{}T{}", "+02:00", hours=1)
    log = read(tmp_path, stamped([*winter[:100], *summer[100:]]))
    assert np.allclose(log.time, LOG.time, rtol=0, atol=1e-9)
    plain = dates("{}-{}-{}T{}")
    with pytest.raises(FileError, match=r"line 102: the stamp '2024.*' has no time zone, unlike the first"):
        read(tmp_path, stamped([*winter[:100], *plain[100:]]))


def test_a_column_of_dates_needs_no_name(tmp_path: Path) -> None:
    lines = stamped(dates("{}-{}-{}T{}"))
    lines[0] = lines[0].replace("t,", "recorded,", 1)
    assert np.allclose(read(tmp_path, lines).time, LOG.time, rtol=0, atol=1e-9)


def test_damaged_dates_and_dates_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stamps = dates("{}-{}-{}T{}")
    log = read(tmp_path, stamped([*stamps[:50], "2024-13-01T00:00:00", *stamps[51:]]))
    assert np.flatnonzero(np.isnan(log.time)).tolist() == [50]
    assert np.nanmax(log.time) < 2
    blank = read(tmp_path, stamped([*stamps[:50], "", *stamps[51:]]))
    assert np.flatnonzero(np.isnan(blank.time)).tolist() == [50]
    monkeypatch.setattr("dynid.logs.spool.LONG", 77)
    assert np.allclose(read(tmp_path, stamped(stamps)).time, LOG.time, rtol=0, atol=1e-9)


JOINT_HEADERS = {
    "prefix": "t,pos_J_turret,pos_J_elbow,trq_J_turret,trq_J_elbow",
    "suffix": "t,turret.position,elbow.position,turret.effort,elbow.effort",
    "topics": "t,/joint_states/turret/position,/joint_states/elbow/position,/joint_states/turret/effort,"
    "/joint_states/elbow/effort",
    "camel": "t,posTurret,posElbow,torqueTurret,torqueElbow",
    "units": "t,q_turret [rad],q_elbow [rad],tau_turret [Nm],tau_elbow [Nm]",
    "letters and numbers": "t,pos_J1,pos_J2,trq_J1,trq_J2",
    "other names of the same word": "t,q_turret,q_elbow,tau_turret,tau_elbow",
}


@pytest.mark.parametrize("header", JOINT_HEADERS.values(), ids=JOINT_HEADERS)
def test_columns_that_name_joints(tmp_path: Path, header: str) -> None:
    log = read(tmp_path, [header, *ROWS])
    assert np.array_equal(log.channels["position"], Q)
    assert np.array_equal(log.channels["torque"], TAU)
    assert "that the columns name, in the order of the file" in note(log, "joint order")


def test_names_pair_columns_and_put_axes_in_the_robots_order(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(chain().replace('"j1"', '"J_turret"').replace('"j2"', '"J_elbow"'))
    robot = load_robot(tmp_path / "arm.urdf")
    log = read(tmp_path, ["t,pos_J_elbow,pos_J_turret,trq_J_turret,trq_J_elbow", *ROWS])
    assert np.array_equal(log.channels["torque"], TAU[:, ::-1])
    turned = to_joint_side(log, robot)
    assert np.array_equal(turned.channels["position"], Q[:, ::-1])
    assert np.array_equal(turned.channels["torque"], TAU)


@pytest.mark.parametrize(
    "header",
    [
        "t,pos_turret,pos_elbow,trq_turret,trq_wrist",  # other axes
        "t,pos_x,pos_y,torque_x,torque_y",  # perhaps a tool's
        "t,pos_max,pos_min,torque_max,torque_min",  # no axes
        "t,pos_J1,pos_J3,trq_J1,trq_J3",  # one is missing
        "t,q1,q3,tau1,tau3",
        "t,q_turret,pos_turret,tau_turret,trq_turret",  # two of each
    ],
)
def test_names_that_are_not_sure_are_not_guessed(tmp_path: Path, header: str) -> None:
    with pytest.raises(FileError, match="No position and no torque was recognised"):
        read(tmp_path, [header, *ROWS])


def test_what_is_told(tmp_path: Path) -> None:
    rows = [",".join(["0.01"] * 13), ",".join(["0.02"] * 13)]
    for axes, shown in ((4, "q1, q2, q3, q4;"), (6, "q1, q2, q3 … q6;")):
        names = ["t", *(f"q{i + 1}" for i in range(axes)), *(f"tau{i + 1}" for i in range(axes))]
        log = read(tmp_path, [",".join(names), *(",".join(row.split(",")[: len(names)]) for row in rows)])
        assert f"position from {shown}" in log.history[0].note
    mapping = {
        "position": {"unit": "deg", "sign": [1, -1], "offset": 0.5},
        "torque": {"unit": "mA", "gain": 3},
    }
    notes = {step.note for step in read(tmp_path, [NAMES, *ROWS], **mapping).history}
    assert "position was brought to SI: from deg, times sign 1, -1, plus 0.5." in notes
    assert "torque was brought to SI: from mA, times gain 3." in notes


def test_a_cut_npz_file_is_called_so(tmp_path: Path) -> None:
    np.savez(tmp_path / "log.npz", t=LOG.time, q=Q, tau=TAU)
    whole = (tmp_path / "log.npz").read_bytes()
    (tmp_path / "log.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match=r"log\.npz is cut off or no NPZ file: .* Copy it again"):
        read_log(tmp_path / "log.npz")


@pytest.mark.parametrize("digits", [4, 6])
def test_a_number_that_is_cut_off_at_the_end_is_left_out(tmp_path: Path, digits: int) -> None:
    lines = [",".join(f"{float(cell):.{digits}f}" for cell in row.split(",")) for row in ROWS]
    text = "\n".join([NAMES, *lines])
    path = tmp_path / "log.csv"
    for cut in (1, 2, digits):
        path.write_text(text[:-cut])
        log = read_log(path)
        assert log.samples == len(ROWS) - 1
        assert f"The last line ({len(ROWS) + 1}) is cut off: its last number has" in note(
            log, "truncated row"
        )
    path.write_text(text)  # whole, without a line break at the end
    assert read_log(path).samples == len(ROWS)
    path.write_text("\n".join([NAMES, *ROWS]))  # as many digits as each number needs
    assert read_log(path).samples == len(ROWS)
