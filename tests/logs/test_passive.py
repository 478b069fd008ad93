"""Files with fewer torque columns than axes: joints without a motor, or motors that were off."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dynid.checks import check_log
from dynid.core.errors import ShapeError
from dynid.core.finding import Level, Name
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.logs.mapping import mapping_from_table
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from support.logs import pendulum_log

LOG, ROBOT = pendulum_log(seconds=6.0), load_robot("double_pendulum")


def written(path: Path, name: str) -> Path:
    table = np.column_stack([LOG.time, LOG.array("position"), LOG.column("torque", 0)])
    np.savetxt(path, table, delimiter=",", header=f"t,q1,q2,{name}", comments="", fmt="%.17g")
    return path


def driven_by(*motors: bool) -> Robot:
    joints = [replace(j, actuated=has) for j, has in zip(ROBOT.joints, motors, strict=True)]
    return replace(ROBOT, joints=tuple(joints))


def torque_axes(log: Log) -> list[bool]:
    return [bool(np.array_equal(log.column("torque", axis), LOG.column("torque", 0))) for axis in range(2)]


@pytest.mark.parametrize(("name", "axis"), [("tau1", 1), ("tau2", 2), ("tau", 1)])
def test_torques_stand_on_the_axes_of_their_numbers(tmp_path: Path, name: str, axis: int) -> None:
    log = read_log(written(tmp_path / "log.csv", name))
    assert torque_axes(log) == [axis == 1, axis == 2]
    assert not np.any(log.column("torque", 2 - axis))
    (step,) = [s for s in log.history if s.name == "undriven axes"]
    assert step.note == (
        f"The file has torques of 1 of 2 axes ({axis}); those of {3 - axis} are taken to be zero."
    )


@pytest.mark.parametrize("motors", [(True, False), (False, True)])
def test_a_robot_says_which_joints_are_driven(tmp_path: Path, motors: tuple[bool, bool]) -> None:
    log = to_joint_side(read_log(written(tmp_path / "log.csv", "tau")), driven_by(*motors))
    assert torque_axes(log) == list(motors)


def test_a_driven_joint_without_torque_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "log.csv", "tau1")
    with pytest.raises(
        ShapeError, match=r"has torques of 1 of its 2 axes \(1\), but robot .* has 2 driven joints"
    ):
        to_joint_side(read_log(path), ROBOT)
    said = mapping_from_table({"axes": 2, "torque": {"columns": "tau1", "axes": [2]}})
    assert torque_axes(to_joint_side(read_log(path, said), ROBOT)) == [False, True]
    wrong = mapping_from_table({"torque": {"columns": "tau1", "axes": [3]}})
    with pytest.raises(ShapeError, match=r"axes of torque is \[3\] for 1 columns of a log with 2 axes"):
        read_log(path, wrong)


def test_a_long_log_is_filled_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dynid.logs.spool.LONG", 100)
    log = to_joint_side(read_log(written(tmp_path / "log.csv", "tau")), driven_by(False, True))
    assert log.on_disk
    assert torque_axes(log) == [False, True]


def test_a_mapping_that_the_motion_contradicts_is_a_caution(tmp_path: Path) -> None:
    """The second joint was driven in truth; its user says that it was not, and is not refused."""
    said = mapping_from_table({"torque": {"columns": "tau1", "axes": [1]}})
    found = check_log(read_log(written(tmp_path / "log.csv", "tau1"), said), ROBOT).findings
    (undriven,) = [finding for finding in found if finding.name is Name.UNDRIVEN_AXIS]
    assert undriven.level is Level.CARE
    assert "as the mapping says, but the axis does not move as it would by itself" in undriven.sentence
    assert "Check axes under [torque] of the mapping" in undriven.remedy
