"""Bags of ROS 1 and ROS 2, by rosbags: JointState messages of sqlite, MCAP and ``.bag`` files, as columns.

Messages are decoded by the definition of JointState that the library brings, never by one from the file.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import FileError, unknown_name
from dynid.logs.log import Step
from dynid.logs.mapping import BagOptions
from dynid.logs.readers.table import Column, RawArray, Table, file_errors, library, require_file

IntArray = NDArray[np.int64]
_PACKED = ".zstd"
_JOINT_STATE = "sensor_msgs/msg/JointState"
_USUAL_TOPIC = "/joint_states"
_CHANNELS = ("position", "velocity", "effort")
_MAX_MESSAGE = 1_000_000
"""Bytes of the longest JointState message that is decoded."""
_MAX_JOINTS = 1000
_EQUALS = 0.5
"""Share of the messages of the busiest publisher that another must have to count beside it."""
_TOGETHER_S = 1e-6
"""Stamps closer than this are of one moment [s]."""


def read_bag(files: Sequence[Path], options: BagOptions) -> Table:
    """Joint states of a bag.

    Args:
        files: its files, in the order of recording.
        options: topic, joints in the order wanted, and which stamps to use.
    """
    for file in files:
        require_file(file)
    with ExitStack() as stack:
        with file_errors(files[0], "a ROS bag"):
            readers = _open_readers(files, stack)
        topic, steps = _chosen_topic(files[0], readers, options.topic)
        publishers, count = _publishers(files, readers, topic)
    groups = _publishers_of_one_robot(publishers)
    if groups and not any(set(options.joints) <= set(group.joints) for group in groups if options.joints):
        header = options.stamp == "header" and len({int(s) for g in publishers for s in g.stamps}) > 1
        merged, step = _merge_publishers(groups, header)
        publishers, count = [merged], len(merged.number)
        steps.append(step)
    joints, order = _chosen_joints(files[0], publishers, options)
    kept = [_of_joints(group, joints) for group in publishers if set(joints) <= set(group.joints)]
    taken = _in_bag_order(kept)
    left_out = count - len(taken.number)
    if left_out:
        other = sorted({name for group in publishers for name in group.joints} - set(joints))
        note = f"{left_out} of {count} messages have other joints and were left out"
        note += f" ({', '.join(other[:5])}{' …' if len(other) > 5 else ''})." if other else "."
        steps.append(Step("messages left out", {"left_out": left_out}, note))
    stamps, stamp_steps = _stamps(taken, options)
    arrays: dict[str, RawArray] = {"time": stamps}
    arrays |= {what: x for what, x in taken.values.items() if not np.all(np.isnan(x))}
    held = list(arrays.values())
    columns = tuple(Column(name, array.shape) for name, array in arrays.items())
    return Table(files[0], "bag", columns, lambda i: held[i], (order, *steps, *stamp_steps), joints)


def _open_readers(files: Sequence[Path], stack: ExitStack) -> list[Any]:
    """Readers of the folder as a whole where its list of files is whole, else of each file."""
    ros = 1 if files[0].suffix.lower() == ".bag" else 2
    module = library(f"rosbags.rosbag{ros}", files[0])
    folder = files[0].parent
    if ros == 2 and (folder / "metadata.yaml").is_file():
        try:
            return [stack.enter_context(module.Reader(folder))]
        except Exception:  # a recording that was not ended has a list that is not whole
            if any(file.suffix.lower() == _PACKED for file in files):
                raise
    return [stack.enter_context(module.Reader(file)) for file in files]


def _chosen_topic(path: Path, readers: Sequence[Any], wanted: str | None) -> tuple[str, list[Step]]:
    """The topic asked for, the only one, or the usual one; and what else could have been read."""
    kinds = {c.topic: c.msgtype for reader in readers for c in reader.connections}
    names = sorted(topic for topic, kind in kinds.items() if kind == _JOINT_STATE)
    if wanted is not None:
        if wanted in kinds and wanted not in names:
            raise FileError(
                f"Topic {wanted!r} of {path.name} holds {kinds[wanted]} messages; {_JOINT_STATE} is read."
            )
        if wanted not in names:
            raise unknown_name(f"topic in {path.name}", wanted, names)
        return wanted, []
    if not names:
        listing = ", ".join(f"{name} ({kind})" for name, kind in sorted(kinds.items())[:20]) or "none"
        raise FileError(f"{path} has no topic of {_JOINT_STATE} messages; its topics: {listing}.")
    if len(names) > 1 and _USUAL_TOPIC not in names:
        raise FileError(
            f"{path} has several topics of joint states: {', '.join(names)}; choose one in a mapping with "
            "topic in [bag]."
        )
    topic = _USUAL_TOPIC if _USUAL_TOPIC in names else names[0]
    others = [name for name in names if name != topic]
    if not others:
        return topic, []
    note = (
        f"Joint states were read from {topic}; {', '.join(others)} hold{'s' * (len(others) == 1)} some too: "
        "choose with topic in [bag] of a mapping."
    )
    return topic, [Step("topic chosen", {"topic": topic, "others": others}, note)]


@dataclass(frozen=True, eq=False)
class _Publisher:
    """Messages about the same joints.

    Args:
        joints: their names.
        number: of each message in the bag.
        received: stamps of the recorder [ns].
        stamps: stamps of the messages [ns].
        values: by channel (messages, joints); NaN where a message does not have it.
    """

    joints: tuple[str, ...]
    number: IntArray
    received: IntArray
    stamps: IntArray
    values: Mapping[str, FloatArray]


def _messages(files: Sequence[Path], readers: Sequence[Any], topic: str) -> Iterator[tuple[int, Any]]:
    """Stamps of the recorder [ns] and messages of a topic."""
    stores = library("rosbags.typesys", files[0])
    for k, reader in enumerate(readers):
        path = files[min(k, len(files) - 1)]
        first = path.suffix.lower() == ".bag"
        store = stores.get_typestore(stores.Stores.ROS1_NOETIC if first else stores.Stores.ROS2_HUMBLE)
        decode = store.deserialize_ros1 if first else store.deserialize_cdr
        chosen = [c for c in reader.connections if c.topic == topic]
        if not chosen:  # a file of a split bag may be without it
            continue
        with file_errors(path, "a ROS bag"):
            for _, received, data in reader.messages(chosen):
                try:
                    if not isinstance(data, bytes | memoryview) or len(data) > _MAX_MESSAGE:
                        raise ValueError("too long, or no bytes")
                    message = decode(bytes(data), _JOINT_STATE)
                    _require_state(message)
                except Exception as error:
                    reason = " ".join(str(error).split())[:100] or type(error).__name__
                    raise FileError(
                        f"{path}: a message of {len(data)} bytes is no JointState ({reason})."
                    ) from None
                yield int(received), message


def _require_state(message: Any) -> None:
    joints = len(message.name)
    if joints > _MAX_JOINTS:
        raise ValueError(f"it claims {joints} joints")
    for what in _CHANNELS:
        if len(getattr(message, what)) not in (0, joints):
            raise ValueError(f"it holds {len(getattr(message, what))} values of {what} for {joints} joints")


def _publishers(files: Sequence[Path], readers: Sequence[Any], topic: str) -> tuple[list[_Publisher], int]:
    """Messages by the joints they are about, the most frequent order of the names first; and their number."""
    sent: dict[frozenset[str], list[tuple[int, int, Any]]] = defaultdict(list)
    orders: dict[frozenset[str], Counter[tuple[str, ...]]] = defaultdict(Counter)
    count = 0
    for received, message in _messages(files, readers, topic):
        names = tuple(message.name)
        sent[frozenset(names)].append((count, received, message))
        orders[frozenset(names)][names] += 1
        count += 1
    if not count:
        raise FileError(f"{files[0]} holds no JointState messages of the topic.")
    groups = [_publisher(orders[key].most_common(1)[0][0], rows) for key, rows in sent.items()]
    return sorted(groups, key=lambda group: -len(group.number)), count


def _publisher(joints: tuple[str, ...], rows: Sequence[tuple[int, int, Any]]) -> _Publisher:
    values = {what: np.full((len(rows), len(joints)), np.nan) for what in _CHANNELS}
    places: dict[tuple[str, ...], list[int]] = {}
    for i, (_, _, message) in enumerate(rows):
        names = tuple(message.name)
        if names not in places:
            places[names] = [names.index(joint) for joint in joints]
        for what in _CHANNELS:
            if len(sent := getattr(message, what)):
                values[what][i] = sent[places[names]]
    headers = (message.header for _, _, message in rows)
    stamps = np.array([header.stamp.sec * 10**9 + header.stamp.nanosec for header in headers], dtype=np.int64)
    number, received = (np.array([row[k] for row in rows], dtype=np.int64) for k in range(2))
    return _Publisher(joints, number, received, stamps, values)


def _publishers_of_one_robot(publishers: Sequence[_Publisher]) -> list[_Publisher]:
    """Publishers that share a topic: without a common joint, about equally busy; none otherwise."""
    busy = [g for g in publishers if g.joints and len(g.number) >= _EQUALS * len(publishers[0].number)]
    names = [name for group in busy for name in group.joints]
    return sorted(busy, key=lambda g: g.joints) if len(busy) > 1 and len(set(names)) == len(names) else []


def _merge_publishers(groups: Sequence[_Publisher], header: bool) -> tuple[_Publisher, Step]:
    """Messages with all joints, at the stamps of the busiest publisher; whether its own or the recorder's."""
    base = max(groups, key=lambda group: len(group.number))
    zero = int((base.stamps if header else base.received)[0])

    def seconds(group: _Publisher) -> FloatArray:
        return np.asarray((group.stamps if header else group.received) - zero, dtype=float) * 1e-9

    at = seconds(base)
    inside = np.ones(len(at), dtype=bool)
    for group in groups:
        own = seconds(group)
        inside &= (at >= own.min() - _TOGETHER_S) & (at <= own.max() + _TOGETHER_S)
    values = {}
    for what in _CHANNELS:
        columns = []
        for group in groups:
            own = seconds(group)
            order = np.argsort(own, kind="stable")
            columns += [np.interp(at, own[order], x[order])[inside] for x in group.values[what].T]
        missing = any(np.isnan(group.values[what]).any() for group in groups)
        values[what] = np.full((int(inside.sum()), len(columns)), np.nan) if missing else np.stack(columns, 1)
    names = tuple(name for group in groups for name in group.joints)
    shown = " and ".join(f"{', '.join(g.joints)} ({len(g.number)} messages)" for g in groups)
    note = (
        f"Messages of {len(groups)} publishers were merged: {shown}; values were read between messages at "
        f"the stamps of {', '.join(base.joints)}. Choose some with joints in [bag] of a mapping."
    )
    step = Step("publishers merged", {"joints": [list(group.joints) for group in groups]}, note)
    number, received, stamps = (x[inside] for x in (base.number, base.received, base.stamps))
    return _Publisher(names, number, received, stamps, values), step


def _chosen_joints(
    path: Path, publishers: Sequence[_Publisher], options: BagOptions
) -> tuple[tuple[str, ...], Step]:
    """The joints asked for, else those of most messages in their own order."""
    usual = publishers[0].joints
    if not usual or len(set(usual)) != len(usual):
        raise FileError(f"The messages of {path} do not name their joints, each once.")
    if not options.joints:
        note = f"Axes are the joints {', '.join(usual)}, in the order of the messages."
        return usual, Step("joint order", {"joints": list(usual)}, note)
    known = {name for group in publishers for name in group.joints}
    for joint in options.joints:
        if joint not in known:
            raise unknown_name(f"joint in {path.name}", joint, known)
    if not any(set(options.joints) <= set(group.joints) for group in publishers):
        raise FileError(f"No message of {path} holds all of the joints {', '.join(options.joints)}.")
    return options.joints, Step("joint order", {"joints": list(options.joints)}, "As the mapping says.")


def _of_joints(group: _Publisher, joints: tuple[str, ...]) -> _Publisher:
    order = [group.joints.index(joint) for joint in joints]
    return replace(group, joints=joints, values={what: x[:, order] for what, x in group.values.items()})


def _in_bag_order(groups: Sequence[_Publisher]) -> _Publisher:
    """Messages of several publishers about the same joints, in the order of the bag."""
    order = np.argsort(np.concatenate([group.number for group in groups]))
    number, received, stamps = (
        np.concatenate([getattr(group, what) for group in groups])[order]
        for what in ("number", "received", "stamps")
    )
    values = {what: np.concatenate([group.values[what] for group in groups])[order] for what in _CHANNELS}
    return _Publisher(groups[0].joints, number, received, stamps, values)


def _stamps(taken: _Publisher, options: BagOptions) -> tuple[RawArray, tuple[Step, ...]]:
    """Stamps as datetime64[ns]: those of the messages unless they stand still."""
    if options.stamp == "header" and (len(taken.stamps) < 2 or np.ptp(taken.stamps) > 0):
        return taken.stamps.view("M8[ns]"), ()
    note = "Stamps are those of the recorder" + (
        "." if options.stamp == "bag" else ", because the messages' own stand still."
    )
    return taken.received.view("M8[ns]"), (Step("bag stamps", {}, note),)
