"""ROS 2 bags: JointState messages of sqlite and MCAP files, as columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from dynid.core.errors import FileError, unknown_name
from dynid.logs.log import Step
from dynid.logs.mapping import BagOptions
from dynid.logs.readers.bag_mcap import mcap_messages, mcap_topics
from dynid.logs.readers.bag_merge import merged, publishers
from dynid.logs.readers.bag_sqlite import sqlite_messages, sqlite_topics
from dynid.logs.readers.cdr import JointState, JointStateDecoder
from dynid.logs.readers.files import parsing, require_file
from dynid.logs.readers.table import Column, RawArray, Table
from dynid.logs.readers.topics import chosen_topic

_CHANNELS = ("position", "velocity", "effort")


def read_bag(files: Sequence[Path], options: BagOptions) -> Table:
    """Joint states of a bag.

    Args:
        files: its files, in the order of recording.
        options: topic, joints in the order wanted, and which stamps to use.
    """
    for file in files:
        require_file(file)
    topic, steps = _topic(files, options)
    pairs: Sequence[tuple[int, JointState]] = [pair for file in files for pair in _states(file, topic)]
    groups = publishers(pairs)
    if groups and not any(set(options.joints) <= set(group) for group in groups if options.joints):
        header = options.stamp == "header" and len({state.stamp for _, state in pairs}) > 1
        pairs, step = merged(pairs, groups, header)
        steps.append(step)
    received = [stamp for stamp, _ in pairs]
    states = [state for _, state in pairs]
    joints, order = _chosen_joints(files[0], states, options)
    steps += order
    kept = [i for i, state in enumerate(states) if set(joints) <= set(state.names)]
    if len(kept) < len(states):
        other = sorted({name for state in states for name in state.names} - set(joints))
        note = f"{len(states) - len(kept)} of {len(states)} messages have other joints and were left out"
        note += f" ({', '.join(other[:5])}{' …' if len(other) > 5 else ''})." if other else "."
        steps.append(Step("messages left out", {"left_out": len(states) - len(kept)}, note))
    arrays: dict[str, RawArray] = {}
    stamps, stamp_steps = _stamps([received[i] for i in kept], [states[i].stamp for i in kept], options)
    arrays["time"] = stamps
    for what in _CHANNELS:
        values = _values([states[i] for i in kept], what, joints, files[0])
        if values is not None:
            arrays[what] = values
    columns = tuple(Column(name, array.shape) for name, array in arrays.items())
    held = list(arrays.values())
    return Table(files[0], "bag", columns, lambda i: held[i], (*steps, *stamp_steps), joints)


def _topic(files: Sequence[Path], options: BagOptions) -> tuple[str, list[Step]]:
    """The topic to read, and what else could have been read."""
    found, kinds = list[str](), dict[str, str]()
    for file in files:
        topics = sqlite_topics if file.suffix.lower() == ".db3" else mcap_topics
        with parsing(file, "a ROS 2 bag"):
            here, types = topics(file)
        found += here
        kinds |= types
    topic = chosen_topic(files[0], options.topic, found, kinds)
    others = sorted(set(found) - {topic})
    if not others or options.topic is not None:
        return topic, []
    note = (
        f"Joint states were read from {topic}; {', '.join(others)} hold{'s' * (len(others) == 1)} some too: "
        "choose with topic in [bag] of a mapping."
    )
    return topic, [Step("topic chosen", {"topic": topic, "others": others}, note)]


def _states(file: Path, topic: str) -> Iterator[tuple[int, JointState]]:
    messages = sqlite_messages if file.suffix.lower() == ".db3" else mcap_messages
    decoder = JointStateDecoder()
    with parsing(file, "a ROS 2 bag"):
        for stamp, data in messages(file, topic):
            try:
                state = decoder.decode(data)
            except FileError as error:
                raise FileError(f"{file}: {error}.") from None
            yield stamp, state


def _chosen_joints(
    file: Path, states: Sequence[JointState], options: BagOptions
) -> tuple[tuple[str, ...], list[Step]]:
    """The joints asked for, else those of most messages in their own order."""
    counts = Counter(state.names for state in states)
    if not counts:
        raise FileError(f"{file} holds no JointState messages of the topic.")
    (usual, _), *_others = counts.most_common()
    if not usual or len(set(usual)) != len(usual):
        raise FileError(f"The messages of {file} do not name their joints, each once.")
    if not options.joints:
        note = f"Axes are the joints {', '.join(usual)}, in the order of the messages."
        return usual, [Step("joint order", {"joints": list(usual)}, note)]
    known = {name for names in counts for name in names}
    for joint in options.joints:
        if joint not in known:
            raise unknown_name(f"joint in {file.name}", joint, known)
    if not any(set(options.joints) <= set(names) for names in counts):
        raise FileError(f"No message of {file} holds all of the joints {', '.join(options.joints)}.")
    return options.joints, [Step("joint order", {"joints": list(options.joints)}, "As the mapping says.")]


def _stamps(
    received: list[int], measured: list[int], options: BagOptions
) -> tuple[RawArray, tuple[Step, ...]]:
    """Stamps as datetime64[ns]: those of the messages unless they stand still."""
    own = np.array(measured, dtype=np.int64)
    if options.stamp == "header" and (len(own) < 2 or np.ptp(own) > 0):
        return own.view("M8[ns]"), ()
    note = "Stamps are those of the recorder" + (
        "." if options.stamp == "bag" else ", because the messages' own stand still."
    )
    return np.array(received, dtype=np.int64).view("M8[ns]"), (Step("bag stamps", {}, note),)


def _values(states: Sequence[JointState], what: str, joints: Sequence[str], file: Path) -> RawArray | None:
    """A channel (messages, joints), or None when no message has it."""
    orders: dict[tuple[str, ...], list[int]] = {}
    result = np.full((len(states), len(joints)), np.nan)
    missing = 0
    for row, state in enumerate(states):
        values = getattr(state, what)
        if not values:
            missing += 1
            continue
        if state.names not in orders:
            orders[state.names] = [state.names.index(joint) for joint in joints]
        result[row] = [values[i] for i in orders[state.names]]
    return None if missing == len(states) else result
