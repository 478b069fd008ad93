"""The measured logs read, and are judged as one who knows them would."""

from __future__ import annotations

import numpy as np
import pytest

from dynid import check as check_with_robot
from dynid.checks import check_log, repair_log
from dynid.logs.convert import to_joint_side
from dynid.logs.mapping import mapping_from_table
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from support.datasets import dataset

EMPS = mapping_from_table(
    {
        "side": "motor",
        "time": {"column": "t"},
        "position": {"columns": "qm", "unit": "m"},
        "reference": {"columns": "qg", "unit": "m"},
        "torque": {"columns": "vir", "unit": "V"},
    }
)
TX40 = mapping_from_table(
    {
        "rate_hz": 5000,
        "side": "motor",
        "position": {"file": "pos_read_data.csv", "columns": "Joint_{axis}", "unit": "rad"},
        "torque": {"file": "curr_data.csv", "columns": "Joint_{axis}", "unit": "N m"},
    }
)


@pytest.mark.parametrize("name", ["DATA_EMPS.mat", "DATA_EMPS_PULSES.mat"])
def test_emps(name: str) -> None:
    robot = load_robot("emps")
    log = read_log(dataset("emps", name), EMPS)
    assert (log.samples, log.axes, log.side) == (24841, 1, "motor")
    assert log.rate_hz == pytest.approx(1000, rel=1e-4)
    joint = to_joint_side(log, robot)
    assert np.allclose(joint.channels["torque"], 35.1507 * log.channels["torque"])
    check = check_log(log, robot)
    assert (check.verdict, check.findings) == ("good", ())
    assert check.facts["unexplained_per_axis"][0] < 0.06


def test_tx40() -> None:
    robot = load_robot("tx40_log")
    log = read_log(dataset("tx40"), TX40)
    assert (log.samples, log.axes, log.side, log.rate_hz) == (45000, 6, "motor", pytest.approx(5000))
    check = check_log(log, robot)
    assert (check.verdict, check.findings) == ("good", ())
    assert check.facts["parameters"] == 61
    assert check.facts["condition"] < 100
    turned = robot.with_gravity(0.0, 0.0, 9.81)
    told = check_with_robot(log, turned).findings
    assert any(f.name == "gravity direction" and f.level.word == "fail" for f in told)


def test_ur10_and_panda() -> None:
    log = read_log(dataset("ur10", "ur10_exciting_trajectory.db3"))
    assert (log.samples, log.axes, log.rate_hz) == (3441, 6, pytest.approx(125))
    check = check_log(log, load_robot("ur10"))
    assert (check.verdict, check.findings) == ("good", ())
    assert check.facts["parameters"] == 58
    assert np.allclose(check.facts["speed_over_derivative"], 1.0, atol=0.01)
    panda = read_log(dataset("ur10", "panda_exciting_trajectory.db3"))
    assert (panda.samples, panda.axes, panda.rate_hz) == (727, 7, pytest.approx(30, rel=1e-3))
    # Its recorder was now and then faster than the arm: all channels repeat the row before.
    found = [f for f in check_log(panda).findings if f.name == "stale samples"]
    assert {f.where.channel: f.figures["rows"] for f in found} == {
        "position": 14,
        "torque": 14,
        "velocity": 14,
    }
    assert check_log(repair_log(panda)).verdict == "good"


@pytest.mark.parametrize("number", ["00", "01", "02", "03", "04", "05", "06", "12", "13"])
def test_double_pendulum(number: str) -> None:
    robot = load_robot("double_pendulum")
    path = dataset("double_pendulum", f"design_C.0__20220914__sys_id__trajectory_{number}.csv")
    log = read_log(path)
    assert log.axes == 2
    assert {"position", "velocity", "torque"} <= set(log.channels)
    check = check_log(log, robot)
    expected = "good" if number in ("04", "05") else "usable with repairs"
    assert check.verdict == expected
    assert ("jitter" in check.defects) == (number in ("12", "13"))
    # The encoders' grid is that of the makers' drives, and the torques' that of their current reading.
    assert check.facts["quantisation"]["position"] == pytest.approx([3.8148e-4] * 2, rel=1e-3)
    assert check.facts["quantisation"]["torque"] == pytest.approx([5.8608e-3] * 2, rel=1e-3)
    assert check_log(repair_log(log), robot).verdict == "good"
