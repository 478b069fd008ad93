"""Bags: messages by the standard, both byte orders, all containers and compressions, other topics between."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from dynid.checks import check_log
from dynid.core.errors import DynidError, FileError
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.logs.mapping import mapping_from_table
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from support.logs import (
    joint_state,
    messages_of,
    pendulum_log,
    write_db3,
    write_mcap,
    write_ros1,
    write_ros2,
)

pytest.importorskip("rosbags", reason="rosbags reads bags; install the logs extra.")
LOG = pendulum_log(seconds=1.0)
NAMES = ("joint1", "joint2")


def assert_same(log: Log) -> None:
    assert np.allclose(log.time, LOG.time, rtol=0, atol=1e-9)
    for channel in ("position", "velocity", "torque"):
        assert np.array_equal(log.channels[channel], LOG.channels[channel])


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("container", ["db3", "mcap"])
def test_round_trip(tmp_path: Path, order: str, container: str) -> None:
    path = tmp_path / f"run.{container}"
    messages = messages_of(LOG, NAMES, order)
    (write_db3 if container == "db3" else write_mcap)(path, {"/joint_states": messages})
    assert_same(read_log(path))


@pytest.mark.parametrize("storage", ["sqlite3", "mcap"])
@pytest.mark.parametrize("compression", ["none", "message", "file", "storage"])
def test_folders_and_their_compression(tmp_path: Path, storage: str, compression: str) -> None:
    if (storage, compression) == ("sqlite3", "storage"):
        pytest.skip("sqlite compresses nothing by itself")
    messages = {"/joint_states": messages_of(LOG, NAMES)}
    assert_same(read_log(write_ros2(tmp_path / "run", messages, storage, compression)))


@pytest.mark.parametrize("compression", [None, "BZ2", "LZ4"])
def test_bags_of_ros_1(tmp_path: Path, compression: str | None) -> None:
    log = read_log(write_ros1(tmp_path / "run.bag", LOG, NAMES, compression))
    assert_same(log)
    assert any("Axes are the joints joint1, joint2" in step.note for step in log.history)


@pytest.mark.parametrize("names", [("a", "bb"), ("ccc", "dddd"), ("joint_five", "j")])
@pytest.mark.parametrize("frame", ["", "b", "base", "world_1"])
def test_alignment_of_every_length(tmp_path: Path, names: tuple[str, str], frame: str) -> None:
    sent = [(i, joint_state(i + 7, names, [i, 2.0], [], [3.0, 4.0], frame=frame)) for i in range(3)]
    log = read_log(write_db3(tmp_path / "run.db3", {"/joint_states": sent}))
    assert log.history[0].options == {"position": list(names)} or names[0] in str(log.history)
    assert np.array_equal(log.channels["position"], [[0.0, 2.0], [1.0, 2.0], [2.0, 2.0]])
    assert np.array_equal(log.channels["torque"], [[3.0, 4.0]] * 3)
    assert "velocity" not in log.channels


def test_a_folder_of_split_files_is_one_log(tmp_path: Path) -> None:
    messages = messages_of(LOG, NAMES)
    pieces = [messages[:100], messages[100:180], messages[180:]]
    for number, piece in zip((0, 1, 10), pieces, strict=True):
        write_db3(tmp_path / f"run_{number}.db3", {"/joint_states": piece})
    (tmp_path / "metadata.yaml").write_text("rosbag2_bagfile_information:\n  version: 5\n")
    log = read_log(tmp_path)
    assert_same(log)
    assert [Path(s.path).name for s in log.sources] == ["run_0.db3", "run_1.db3", "run_10.db3"]


def test_joints_and_topics_are_chosen(tmp_path: Path) -> None:
    stamp = 1_700_000_000_000_000_000
    gripper = [(stamp + i, joint_state(stamp + i, ["finger"], [0.1], [0.0], [0.0])) for i in range(40)]
    mixed = sorted([*messages_of(LOG, NAMES), *gripper])
    path = write_db3(
        tmp_path / "run.db3", {"/other": gripper, "/arm": mixed, "/image": []}, {"/image": "x/msg/I"}
    )
    with pytest.raises(FileError, match="several topics of joint states: /arm, /other"):
        read_log(path)
    log = read_log(path, mapping_from_table({"bag": {"topic": "/arm"}}))
    assert_same(log)
    assert any("40 of 290 messages have other joints" in step.note for step in log.history)
    turned = read_log(path, mapping_from_table({"bag": {"topic": "/arm", "joints": ["joint2", "joint1"]}}))
    assert np.array_equal(turned.channels["position"], LOG.channels["position"][:, ::-1])
    for content, sentence in (
        ({"topic": "/arms"}, "Unknown topic in run.db3 '/arms'. Did you mean '/arm'"),
        ({"topic": "/image"}, "holds x/msg/I messages"),
        ({"topic": "/arm", "joints": ["joint3"]}, "Unknown joint in run.db3 'joint3'"),
        ({"topic": "/arm", "joints": ["joint1", "finger"]}, "holds all of the joints"),
        ({"stamps": "bag"}, "Did you mean 'stamp'"),
    ):
        with pytest.raises(DynidError) as caught:
            read_log(path, mapping_from_table({"bag": content}))
        assert sentence in str(caught.value)


@pytest.mark.parametrize("container", ["db3", "mcap"])
def test_a_topic_that_was_chosen_among_several_is_told(tmp_path: Path, container: str) -> None:
    topics = {"/joint_states": messages_of(LOG, NAMES), "/arm/joint_states": messages_of(LOG, NAMES)[:30]}
    path = (write_db3 if container == "db3" else write_mcap)(tmp_path / f"run.{container}", topics)
    log = read_log(path)
    assert_same(log)
    (finding,) = [f for f in check_log(log).findings if f.name == "topic chosen"]
    assert finding.level.word == "note"
    assert (
        finding.sentence
        == "Joint states were read from /joint_states; /arm/joint_states holds some too: choose "
        "with topic in [bag] of a mapping."
    )
    other = read_log(path, mapping_from_table({"bag": {"topic": "/arm/joint_states"}}))
    assert other.samples == 30
    assert not any(step.name == "topic chosen" for step in other.history)


def test_two_publishers_on_one_topic_are_merged_by_name(tmp_path: Path) -> None:
    """Each sends its own joint, half a step apart."""
    q, tau = LOG.channels["position"], LOG.channels["torque"]
    start, late = 1_700_000_000_000_000_000, 2_000_000
    messages = []
    for i, t in enumerate(np.round(LOG.time * 1e9).astype(int)):
        for joint, shift in ((0, 0), (1, late)):
            stamp = start + int(t) + shift
            x = np.interp(LOG.time[i] + 1e-9 * shift, LOG.time, q[:, joint])
            u = np.interp(LOG.time[i] + 1e-9 * shift, LOG.time, tau[:, joint])
            messages.append((stamp, joint_state(stamp, [NAMES[joint]], [x], [], [u])))
    path = write_db3(tmp_path / "run.db3", {"/joint_states": sorted(messages)})
    log = read_log(path)
    assert (log.axes, log.rate_hz) == (2, pytest.approx(250))
    assert log.samples == LOG.samples - 1  # the second publisher began half a step later
    assert np.array_equal(log.channels["position"][:, 0], q[1:, 0])
    assert np.abs(log.channels["position"][:-1] - q[1:-1]).max() < 1e-4
    (finding,) = [f for f in check_log(log).findings if f.name == "publishers merged"]
    assert (
        "Messages of 2 publishers were merged: joint1 (250 messages) and joint2 (250 messages)"
        in finding.sentence
    )
    one = read_log(path, mapping_from_table({"bag": {"joints": ["joint2"]}}))
    assert (one.axes, one.samples) == (1, 250)
    turned = read_log(path, mapping_from_table({"bag": {"joints": ["joint2", "joint1"]}}))
    assert np.array_equal(turned.channels["torque"], log.channels["torque"][:, ::-1])


def test_axes_are_put_in_the_robot_s_order(tmp_path: Path) -> None:
    messages = messages_of(LOG, ("joint2", "joint1"))
    log = read_log(write_db3(tmp_path / "run.db3", {"/joint_states": messages}))
    joint = to_joint_side(log, load_robot("double_pendulum"))
    assert np.array_equal(joint.channels["torque"], LOG.channels["torque"][:, ::-1])
    assert joint.history[-1].note == "Axes were put in the order of robot double_pendulum."


def test_stamps_that_stand_still_are_the_recorder_s(tmp_path: Path) -> None:
    messages = [(stamp, joint_state(0, NAMES, [0.0, i], [], [1.0, 2.0])) for i, (stamp, _) in
                enumerate(messages_of(LOG, NAMES))]  # fmt: skip
    log = read_log(write_db3(tmp_path / "run.db3", {"/joint_states": messages}))
    assert np.allclose(log.time, LOG.time, atol=1e-9)
    assert any(step.name == "bag stamps" and "stand still" in step.note for step in log.history)


def test_messages_without_effort(tmp_path: Path) -> None:
    messages = [(i, joint_state(i * 10**6, NAMES, [0.0, float(i)])) for i in range(30)]
    with pytest.raises(FileError, match=r"hold position; positions and efforts are needed"):
        read_log(write_db3(tmp_path / "run.db3", {"/joint_states": messages}))


def patched(data: bytes, place: int, value: int) -> bytes:
    return data[:place] + struct.pack("<I", value) + data[place + 4 :]


GOOD = joint_state(5, NAMES, [1.0, 2.0], [3.0, 4.0], [5.0, 6.0])
HOSTILE = {
    "nothing": b"",
    "compressed": b"\x28\xb5\x2f\xfd" + GOOD,
    "cut": GOOD[:-9],
    "endless frame": patched(GOOD, 12, 0xFFFFFFFF),
    "endless names": patched(GOOD, 24, 0xFFFFFFFF),
    "endless name": patched(GOOD, 28, 0x7FFFFFFF),
    "bad text": GOOD.replace(b"joint1", b"\xff\xfe\xff\xfe\xff\xfe"),
    "other count": joint_state(5, NAMES, [1.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_hostile_messages_are_told(tmp_path: Path, data: bytes) -> None:
    path = write_db3(tmp_path / "run.db3", {"/joint_states": [(1, GOOD), (2, data)]})
    with pytest.raises(FileError, match=r"run\.db3: a message .*\.$"):
        read_log(path)


def test_sqlite_files_that_are_no_bags(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db3")) as database:
        database.execute("CREATE TABLE x(a)")
    (tmp_path / "text.db3").write_text("hello" * 1000)
    write_db3(tmp_path / "none.db3", {"/tf": []}, {"/tf": "tf2_msgs/msg/TFMessage"})
    write_db3(tmp_path / "silent.db3", {"/joint_states": []})
    write_db3(tmp_path / "typed.db3", {"/joint_states": [(1, "text")]})  # type: ignore[list-item]
    for name, sentence in {
        "other": "cannot be read as a ROS bag",
        "text": "file is not a database",
        "none": r"no topic of sensor_msgs/msg/JointState messages; its topics: /tf \(tf2_msgs",
        "silent": "holds no JointState messages",
        "typed": "a message of 4 bytes is no JointState",
    }.items():
        with pytest.raises(FileError, match=sentence):
            read_log(tmp_path / f"{name}.db3")


def test_a_bag_is_opened_for_reading_only(tmp_path: Path) -> None:
    path = write_db3(tmp_path / "run.db3", {"/joint_states": messages_of(LOG, NAMES)})
    before = path.read_bytes()
    read_log(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["run.db3"]
