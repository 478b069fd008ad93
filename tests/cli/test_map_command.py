"""``dynid map``: a mapping that reads the log as it is read without one, and says what it does."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.logs.log import Log
from dynid.logs.mapping import LogMapping, load_mapping
from dynid.logs.read import read_log

Capsys = pytest.CaptureFixture[str]
TIME = np.arange(200) / 100.0
SIGNALS = np.column_stack([np.sin(3 * TIME), np.cos(2 * TIME), 5 * np.cos(3 * TIME), np.sin(TIME)])


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, head: str, *more: object) -> str:
    columns = [TIME, *SIGNALS.T, *(np.full_like(TIME, value) for value in more)]
    np.savetxt(name, np.column_stack(columns), delimiter=",", header=head, comments="")
    return name


def assert_same(one: Log, other: Log) -> None:
    assert set(one.channels) == set(other.channels)
    assert np.array_equal(one.time, other.time)
    for name in one.channels:
        assert np.array_equal(one.channels[name], other.channels[name])


HEADS = {
    "units in names": "t,q1_deg,q2_deg,tau1_Nm,tau2_Nm",
    "brackets and milliseconds": "time [ms],pos1 [deg],pos2 [deg],cur1_mA,cur2_mA",
    "names of joints": "t,pos_shoulder,pos_elbow,trq_shoulder,trq_elbow",
    "a comment in a name": 't,q1 # "a",q2 # "a",tau1,tau2',
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_the_mapping_reads_the_log_as_it_is_read_without(capsys: Capsys, head: str) -> None:
    log = write("log.csv", head)
    assert dynid(capsys, "map", log, "--out", "map.toml").out == "wrote map.toml\n"
    assert_same(read_log(log, "map.toml"), read_log(log))


def test_arrays_of_all_axes(capsys: Capsys) -> None:
    np.savez("log.npz", q=SIGNALS[:, :2], tau=SIGNALS[:, 2:].T, fs=100.0, note=np.ones(3))
    said = dynid(capsys, "map", "log.npz", "--robot", "scara", "--out", "map.toml")
    assert said.code == 0
    text = Path("map.toml").read_text()
    assert 'columns = "q"\n' in text
    assert "# axis 2 is joint2" in text
    assert "# tau holds 2 axes, column 2, 2 × 200, from -5" in text
    assert tomllib.loads(text)["rate_hz"] == 100
    assert_same(read_log("log.npz", "map.toml"), read_log("log.npz"))


def test_what_was_taken_for_what_is_told(capsys: Capsys) -> None:
    log = write("log.csv", "t,q1_deg,q2_deg,tau1,tau2,temp", 21.5)
    text = dynid(capsys, "map", log, "--robot", "scara").out
    assert "# scara has 2 axes: joint1, joint2.\n" in text
    assert "# axis 1 joint1: q1_deg, column 2, from -1 to 0.9999\n" in text
    assert 'unit = "deg"                # as the file says; one of rad, mrad, deg' in text
    assert '# unit = "Nm"               # the file does not say; one of Nm, mNm' in text
    assert "# Columns of log.csv that are not used:\n#   temp, column 6, from 21.5 to 21.5\n" in text
    assert load_mapping_text(text).channels["position"].unit == ("deg",)
    other = dynid(capsys, "map", log, "--robot", "tx40").out
    assert "# take care: 2 axes, and the robot has 6\n" in other


def load_mapping_text(text: str) -> LogMapping:
    Path("given.toml").write_text(text)
    return load_mapping("given.toml")


def test_columns_that_nobody_knows_are_listed(capsys: Capsys) -> None:
    log = write("log.csv", "a,b,c,d,e")
    text = dynid(capsys, "map", log).out
    assert "# [position]    not recognised: name its columns, one per axis\n" in text
    assert "#   e, column 5, from 0 to" in text
    assert load_mapping_text(text).channels == {}


def test_json_and_refusals(capsys: Capsys) -> None:
    log = write("log.csv", "t,q1_deg,q2_deg,tau1,tau2")
    document = dynid(capsys, "map", log, "--json").document
    assert document["channels"]["position"] == {
        "columns": ["q1_deg", "q2_deg"],
        "unit": ["deg"],
        "file": None,
    }
    assert tomllib.loads(document["mapping"])["torque"]["columns"] == ["tau1", "tau2"]
    Path("map.toml").touch()
    cases = {
        ("map", log, "--out", "map.toml"): "map.toml exists already; add --force to overwrite it.",
        ("map", "none.csv"): "There is no log at none.csv",
        ("map", log, "--robot", "tx4O"): "Unknown robot 'tx4O'.",
    }
    for arguments, sentence in cases.items():
        assert sentence in assert_one_sentence(dynid(capsys, *arguments))
    assert dynid(capsys, "map", log, "--out", "map.toml", "--force").code == 0


def test_files_of_one_experiment(capsys: Capsys) -> None:
    Path("run").mkdir()
    for name, columns in (("pos.csv", SIGNALS[:, :2]), ("torque.csv", SIGNALS[:, 2:])):
        table = np.column_stack([TIME, columns])
        np.savetxt(f"run/{name}", table, delimiter=",", header="t,a,b", comments="")
    assert dynid(capsys, "map", "run", "--out", "map.toml").code == 0
    text = Path("map.toml").read_text()
    assert 'file = "torque.csv"' in text
    assert "# Columns of torque.csv that are not used:\n#   t, column 1" in text
    assert "# Columns of pos.csv" not in text
    assert_same(read_log("run", "map.toml"), read_log("run"))
