"""Logs whose truth is known, the files they would be written to, and messages as ROS 2 would send them."""

from __future__ import annotations

import shutil
import sqlite3
import struct
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynid.dynamics.operations import NUMERIC
from dynid.dynamics.regressor import regressor
from dynid.logs.log import Log
from dynid.model.load import load_robot
from dynid.model.robot import Robot

FloatArray = NDArray[np.float64]
JOINT_STATE = "sensor_msgs/msg/JointState"


def torques(robot: Robot, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
    """Joint torques of a robot with its own parameters."""
    columns = regressor(robot, list(q.T), list(qd.T), list(qdd.T), NUMERIC)
    values = [robot.parameters.get(name, 0.0) for name in robot.table.names]
    tau = np.zeros_like(q)
    for value, column in zip(values, columns, strict=True):
        for j in range(q.shape[1]):
            tau[:, j] += value * column[j]
    return tau


def pendulum_log(seconds: float = 10.0, rate_hz: float = 250.0, noise: float = 0.01, seed: int = 3) -> Log:
    """A driven double pendulum: sums of sines on both axes, a little noise on the torques."""
    return robot_log(load_robot("double_pendulum"), seconds, rate_hz, noise, seed)


def robot_log(
    robot: Robot, seconds: float = 10.0, rate_hz: float = 250.0, noise: float = 0.01, seed: int = 3
) -> Log:
    """A robot with known parameters, moved along sums of sines."""
    rng = np.random.default_rng(seed)
    n = robot.n_coordinates
    t = np.arange(int(seconds * rate_hz)) / rate_hz
    q, qd, qdd = (np.zeros((len(t), n)) for _ in range(3))
    for k in range(1, 6):
        w = 2 * np.pi * 0.2 * k
        a, b = rng.normal(0, 0.5 / np.sqrt(k), (2, n))
        s, c = np.sin(w * t)[:, None], np.cos(w * t)[:, None]
        q, qd, qdd = q + a * s + b * c, qd + w * (a * c - b * s), qdd - w**2 * (a * s + b * c)
    tau = torques(robot, q, qd, qdd)
    tau += noise * np.std(tau, axis=0) * rng.standard_normal(tau.shape)
    return Log("made", t, {"position": q, "velocity": qd, "torque": tau})


def with_channel(log: Log, **channels: FloatArray) -> Log:
    return replace(log, channels={**log.channels, **channels})


def with_rows(log: Log, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Log:
    channels = {name: values[rows] for name, values in log.channels.items()}
    return replace(log, time=log.time[rows], channels=channels)


def csv_text(log: Log, delimiter: str = ",", decimal: str = ".") -> str:
    """A header and rows: t, q1 …, tau1 …, with all digits."""
    axes = range(1, log.axes + 1)
    names = ["t", *(f"q{i}" for i in axes), *(f"tau{i}" for i in axes)]
    table = np.column_stack([log.time, log.channels["position"], log.channels["torque"]])
    rows = [delimiter.join(repr(float(value)).replace(".", decimal) for value in row) for row in table]
    return "\n".join([delimiter.join(names), *rows]) + "\n"


def joint_state(
    stamp_ns: int,
    names: Sequence[str],
    position: Sequence[float],
    velocity: Sequence[float] = (),
    effort: Sequence[float] = (),
    *,
    order: str = "<",
    frame: str = "base",
) -> bytes:
    """A JointState message in CDR, written by the rules of the standard and not by the reader's code."""
    body = bytearray(struct.pack(f"{order}iI", stamp_ns // 10**9, stamp_ns % 10**9))

    def align(size: int) -> None:
        body.extend(b"\0" * (-len(body) % size))

    def text(value: str) -> None:
        align(4)
        raw = value.encode() + b"\0"
        body.extend(struct.pack(f"{order}I", len(raw)) + raw)

    text(frame)
    align(4)
    body.extend(struct.pack(f"{order}I", len(names)))
    for name in names:
        text(name)
    for values in (position, velocity, effort):
        align(4)
        body.extend(struct.pack(f"{order}I", len(values)))
        if len(values):
            align(8)
            body.extend(struct.pack(f"{order}{len(values)}d", *values))
    return (b"\x00\x01" if order == "<" else b"\x00\x00") + b"\0\0" + bytes(body)


def messages_of(log: Log, names: Sequence[str], order: str = "<") -> list[tuple[int, bytes]]:
    """The log as stamped messages."""
    q, qd, tau = (log.channels[c] for c in ("position", "velocity", "torque"))
    stamps = np.round(log.time * 1e9).astype(np.int64) + 1_700_000_000_000_000_000
    return [
        (int(s) + 5000, joint_state(int(s), names, a.tolist(), b.tolist(), c.tolist(), order=order))
        for s, a, b, c in zip(stamps, q, qd, tau, strict=True)
    ]


def write_db3(
    path: Path, topics: Mapping[str, Sequence[tuple[int, bytes]]], kinds: Mapping[str, str] | None = None
) -> Path:
    """A ROS 2 bag in sqlite, as rosbag2 lays it out."""
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, "
            "serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL)"
        )
        database.execute(
            "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, "
            "timestamp INTEGER NOT NULL, data BLOB NOT NULL)"
        )
        for number, (topic, messages) in enumerate(topics.items(), start=1):
            kind = (kinds or {}).get(topic, JOINT_STATE)
            database.execute("INSERT INTO topics VALUES (?, ?, ?, 'cdr', '')", (number, topic, kind))
            rows = [(number, stamp, data) for stamp, data in messages]
            database.executemany("INSERT INTO messages(topic_id, timestamp, data) VALUES (?, ?, ?)", rows)
        database.commit()
    return path


def write_ros2(
    folder: Path,
    topics: Mapping[str, Sequence[tuple[int, bytes]]],
    storage: str = "mcap",
    compression: str = "none",
) -> Path:
    """A folder as rosbag2 leaves it: sqlite3 or mcap files, compressed by message, file, storage, or not."""
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    writer = Writer(folder, version=9, storage_plugin=StoragePlugin[storage.upper()])
    writer.set_compression(CompressionMode[compression.upper()], CompressionFormat.ZSTD)
    with writer:
        for topic, messages in topics.items():
            connection = writer.add_connection(topic, JOINT_STATE, typestore=store)
            for stamp, data in messages:
                writer.write(connection, stamp, data)
    return folder


def write_mcap(path: Path, topics: Mapping[str, Sequence[tuple[int, bytes]]]) -> Path:
    """One MCAP file, taken out of its folder."""
    folder = write_ros2(path.with_suffix(".folder"), topics)
    (made,) = folder.glob("*.mcap")
    made.rename(path)
    shutil.rmtree(folder)
    return path


def write_ros1(path: Path, log: Log, names: Sequence[str], compression: str | None = None) -> Path:
    """A bag of ROS 1 with the log as joint states, its chunks packed by "BZ2", "LZ4" or not."""
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    kinds = ("builtin_interfaces/msg/Time", "std_msgs/msg/Header", JOINT_STATE)
    stamp, header, state = (store.types[kind] for kind in kinds)
    writer = Writer(path)
    if compression is not None:
        writer.set_compression(Writer.CompressionFormat[compression])
    with writer:
        connection = writer.add_connection("/joint_states", JOINT_STATE, typestore=store)
        values = [log.channels[c] for c in ("position", "velocity", "torque")]
        for i, t in enumerate(np.round(log.time * 1e9).astype(np.int64) + 1_700_000_000_000_000_000):
            sent = header(i, stamp(int(t) // 10**9, int(t) % 10**9), "base")
            message = state(sent, list(names), *(np.array(x[i]) for x in values))
            writer.write(connection, int(t) + 5000, store.serialize_ros1(message, JOINT_STATE))
    return path
