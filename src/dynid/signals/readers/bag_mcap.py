"""Messages of a ROS 2 bag in MCAP."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from dynid.errors import FileError
from dynid.signals.readers.bag_sqlite import MAX_MESSAGE
from dynid.signals.readers.cdr import TYPES
from dynid.signals.readers.topics import chosen_topic


def mcap_messages(path: Path, topic: str | None) -> Iterator[tuple[int, bytes]]:
    """Stamps of the recorder [ns] and bytes of the messages of one topic.

    Args:
        path: the file.
        topic: its JointState topic; found when None.
    """
    make_reader: Any = import_module("mcap.reader").make_reader

    with path.open("rb") as file:
        summary = make_reader(file, validate_crcs=True).get_summary()
        if summary is None:
            raise FileError(
                f"{path} has no summary: its recording was not ended; mend it with `mcap recover`.",
                name="path",
                value=str(path),
            )
        schemas = summary.schemas
        kinds, found = {}, set()
        for channel in summary.channels.values():
            schema = schemas.get(channel.schema_id)
            kinds[channel.topic] = schema.name if schema is not None else "unknown"
            if kinds[channel.topic] in TYPES and channel.message_encoding == "cdr":
                found.add(channel.topic)
        chosen = chosen_topic(path, topic, found, kinds)
        file.seek(0)
        reader = make_reader(file, validate_crcs=True)
        for _, _, message in reader.iter_messages(topics=[chosen]):
            if len(message.data) > MAX_MESSAGE:
                raise FileError(
                    f"{path} holds a message that is no JointState.", name="path", value=str(path)
                )
            yield message.log_time, message.data
