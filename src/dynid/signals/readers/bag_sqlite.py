"""Messages of a ROS 2 bag in sqlite (``.db3``), opened so that nothing can be written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from dynid.errors import FileError
from dynid.signals.readers.cdr import TYPES
from dynid.signals.readers.topics import chosen_topic

MAX_MESSAGE = 1_000_000
"""Bytes of the longest JointState message that is decoded."""


def sqlite_messages(path: Path, topic: str | None) -> Iterator[tuple[int, bytes]]:
    """Stamps of the recorder [ns] and bytes of the messages of one topic.

    Args:
        path: the file.
        topic: its JointState topic; found when None.
    """
    address = f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as database:
        # A file may bring views and triggers of its own; only plain tables are read.
        plain = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not {"topics", "messages"} <= plain:
            raise FileError(
                f"{path} is an sqlite file without the tables of a ROS 2 bag (topics, messages).",
                name="path",
                value=str(path),
            )
        rows = database.execute("SELECT id, name, type, serialization_format FROM topics").fetchall()
        found = {
            str(name): number for number, name, kind, coding in rows if kind in TYPES and coding == "cdr"
        }
        chosen = chosen_topic(path, topic, found, {str(row[1]): str(row[2]) for row in rows})
        query = "SELECT timestamp, data FROM messages WHERE topic_id = ? ORDER BY timestamp, id"
        for stamp, data in database.execute(query, (found[chosen],)):
            if not isinstance(stamp, int) or not isinstance(data, bytes) or len(data) > MAX_MESSAGE:
                raise FileError(
                    f"{path} holds a message that is no JointState.", name="path", value=str(path)
                )
            yield stamp, data
