"""Files of a planned motion: read back as it was, by our own reader and by YAML's."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynid.core.errors import DynidError, FileError, ShapeError
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from dynid.simulation.reference_file import load_reference
from dynid.trajectories.files import (
    MOST_POINTS,
    PlannedMotion,
    csv_text,
    joint_trajectory,
    json_text,
    yaml_text,
)


def planned(axes: int, samples: int = 201, rate: float = 100.0) -> PlannedMotion:
    """Sines with values of all sizes, from 1e-9 to 1e9."""
    t = np.arange(samples) / rate
    w, a = 2 * np.pi * np.arange(1, axes + 1) * 0.3, 0.4 + 0.1 * np.arange(axes)
    q, qd = a * np.sin(np.outer(t, w)), a * w * np.cos(np.outer(t, w))
    torque = np.outer(np.geomspace(1e-9, 1e9, samples), (-1.0) ** np.arange(axes))
    return PlannedMotion(t, q, qd, -w * w * q, tuple(f"joint{j + 1}" for j in range(axes)), torque)


@pytest.mark.parametrize("name", ["tx40", "iiwa14", "scara", "emps"])
def test_the_csv_is_a_reference_without_a_mapping(name: str, tmp_path: Path) -> None:
    robot = load_robot(name)
    motion = planned(robot.n_coordinates)
    if name == "emps":
        motion = replace(motion, q=0.1 * motion.q)
    file = tmp_path / "motion.csv"
    file.write_text(csv_text(motion), encoding="utf-8")
    reference = load_reference(file, robot)
    np.testing.assert_array_equal(reference.q, motion.q)
    np.testing.assert_allclose(reference.time, motion.stamps, rtol=0, atol=1e-12)


@pytest.mark.parametrize("rate", [0.5, 10.0, 1e3, 2e4])
def test_stamps_are_seconds_at_any_rate(rate: float, tmp_path: Path) -> None:
    motion = planned(2, rate=rate)
    file = tmp_path / "motion.csv"
    file.write_text(csv_text(motion), encoding="utf-8")
    np.testing.assert_array_equal(read_log(file, needed=()).time, motion.stamps)


def test_the_plan_is_no_measurement(tmp_path: Path) -> None:
    file = tmp_path / "motion.csv"
    file.write_text(csv_text(planned(3)), encoding="utf-8")
    assert set(read_log(file, needed=()).channels) == {"reference"}
    with pytest.raises(FileError, match="No position and no torque was recognised"):
        read_log(file)


def test_columns_beside_those_of_a_logger_are_its_reference(tmp_path: Path) -> None:
    motion = planned(2)
    head, *rows = csv_text(motion).splitlines()
    measured = [f"{row},{k * 1e-3!r},0.5,{-k * 1e-3!r},1.5" for k, row in enumerate(rows)]
    file = tmp_path / "log.csv"
    file.write_text("\n".join([f"{head},q1,q2,tau1,tau2", *measured]), encoding="utf-8")
    log = read_log(file)
    np.testing.assert_array_equal(log.array("reference"), motion.q)
    np.testing.assert_array_equal(log.array("position")[:, 0], 1e-3 * np.arange(len(rows)))
    np.testing.assert_array_equal(log.array("torque")[:, 1], 1.5)


def test_every_column_keeps_all_digits() -> None:
    motion = planned(2)
    head, *rows = csv_text(motion).splitlines()
    assert head == "time_s,q_ref1,q_ref2,qd_ref1,qd_ref2,qdd_ref1,qdd_ref2,tau_ref1,tau_ref2"
    read = np.array([row.split(",") for row in rows], dtype=float)
    np.testing.assert_array_equal(
        read, np.column_stack([motion.stamps, motion.q, motion.qd, motion.qdd, motion.torque])
    )
    assert csv_text(replace(motion, torque=None)).splitlines()[0].endswith("qdd_ref1,qdd_ref2")


def assert_is_motion(message: dict[str, Any], motion: PlannedMotion) -> None:
    """The message has the motion's numbers, in the form of the ROS definition."""
    assert list(message) == ["header", "joint_names", "points"]
    assert message["header"] == {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": ""}
    assert message["joint_names"] == list(motion.joints)
    points = message["points"]
    assert {tuple(point) for point in points} == {
        ("positions", "velocities", "accelerations", "effort", "time_from_start")
    }
    for key, values in zip(points[0], (motion.q, motion.qd, motion.qdd, motion.torque), strict=False):
        np.testing.assert_array_equal([point[key] for point in points], values)
    moments = [point["time_from_start"] for point in points]
    assert all(0 <= moment["nanosec"] < 1_000_000_000 for moment in moments)
    since = np.array([moment["sec"] + 1e-9 * moment["nanosec"] for moment in moments])
    np.testing.assert_allclose(since, motion.stamps - motion.stamps[0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("start", [0.0, 12.75])
def test_json_and_yaml_hold_the_message(start: float) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML reads as ROS 2 does.")
    motion = planned(3, rate=62.5)
    motion = replace(motion, stamps=motion.stamps + start)
    message = joint_trajectory(motion, effort=True)
    assert_is_motion(message, motion)
    assert_is_motion(json.loads(json_text(message)), motion)
    assert_is_motion(yaml.safe_load(yaml_text(message)), motion)


@pytest.mark.parametrize(
    "value", [1e-5, -1e-5, 1e16, 1.5e-300, 5e-324, 0.1, -0.0, 3.0, 1.7976931348623157e308]
)
def test_yaml_reads_every_size_of_number_as_a_number(value: float) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML reads as ROS 2 does.")
    motion = PlannedMotion([0.0, 1.0], [[value], [0.0]], [[0.0], [0.0]], [[0.0], [0.0]], ("a",))
    (read,) = yaml.safe_load(yaml_text(joint_trajectory(motion)))["points"][0]["positions"]
    assert isinstance(read, float)
    assert read == value


@pytest.mark.parametrize(
    "name", ['"]}\npoints: [', "Gelenk ä", "关节 🤖", "\x7f\x00\t\u2028", "yes", "1e5", "- a: {b}", "\\", ""]
)
def test_names_of_joints_stay_text(name: str) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML reads as ROS 2 does.")
    message = joint_trajectory(replace(planned(1, 3), joints=(name,)))
    for read in (yaml.safe_load(yaml_text(message)), json.loads(json_text(message))):
        assert read == message
        assert read["joint_names"] == [name]


def test_torques_are_told_on_request_only() -> None:
    motion = planned(2, 5)
    assert all(point["effort"] == [] for point in joint_trajectory(motion)["points"])
    with pytest.raises(DynidError, match="no torques; give them, or write the message without effort"):
        joint_trajectory(replace(motion, torque=None), effort=True)


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"stamps": [0.0, 2.0, 1.0]}, ShapeError, "at least two times that increase"),
        ({"stamps": [0.0]}, ShapeError, r"stamps has shape \(1,\); give at least two times"),
        ({"q": np.zeros((3, 3))}, ShapeError, r"q has shape \(3, 3\); expected \(3, 2\)"),
        ({"qdd": [[0.0, np.nan]] * 3}, ShapeError, "qdd holds values that are not finite"),
        ({"torque": [[np.inf, 0.0]] * 3}, ShapeError, "torque holds values that are not finite"),
        ({"torque": np.zeros(3)}, ShapeError, r"torque has shape \(3,\)"),
        ({"q": [["a", "b"]] * 3}, ShapeError, "q must be an array of numbers"),
        ({"joints": ("a", "a")}, DynidError, "names that all differ"),
    ],
)
def test_bad_motions_are_refused_with_a_sentence(
    change: dict[str, Any], kind: type[DynidError], words: str
) -> None:
    with pytest.raises(kind, match=words):
        replace(planned(2, 3), **change)


def test_a_million_points_are_refused() -> None:
    flat = np.zeros((1_000_000, 1))
    with pytest.raises(DynidError, match=f"1,000,000 points; at most {MOST_POINTS:,} go into one file"):
        PlannedMotion(np.arange(1e6), flat, flat, flat, ("a",))


def test_stamps_that_the_message_cannot_tell_apart_are_refused() -> None:
    motion = replace(planned(1, 3), stamps=np.array([0.0, 1e-10, 1.0]))
    with pytest.raises(DynidError, match="less than a nanosecond apart"):
        joint_trajectory(motion)
