"""Messages of a ROS 2 bag in MCAP."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from dynid.core.errors import FileError
from dynid.logs.readers.bag_sqlite import MAX_MESSAGE
from dynid.logs.readers.cdr import TYPES


def mcap_topics(path: Path) -> tuple[tuple[str, ...], dict[str, str]]:
    """Topics of JointState messages, and the type of every topic."""
    with path.open("rb") as file:
        summary = _reader(file).get_summary()
    if summary is None:
        raise FileError(f"{path} has no summary: its recording was not ended; mend it with `mcap recover`.")
    kinds, found = {}, []
    for channel in summary.channels.values():
        schema = summary.schemas.get(channel.schema_id)
        kinds[channel.topic] = schema.name if schema is not None else "unknown"
        if kinds[channel.topic] in TYPES and channel.message_encoding == "cdr":
            found.append(channel.topic)
    return tuple(dict.fromkeys(found)), kinds


def mcap_messages(path: Path, topic: str) -> Iterator[tuple[int, bytes]]:
    """Stamps of the recorder [ns] and bytes of the messages of one topic.

    Args:
        path: the file.
        topic: one of its JointState topics; a file of a split bag may be without it.
    """
    if topic not in mcap_topics(path)[0]:
        return
    with path.open("rb") as file:
        for _, _, message in _reader(file).iter_messages(topics=[topic]):
            if len(message.data) > MAX_MESSAGE:
                raise FileError(f"{path} holds a message that is no JointState.")
            yield message.log_time, message.data


def _reader(file: BinaryIO) -> Any:
    return import_module("mcap.reader").make_reader(file, validate_crcs=True)
