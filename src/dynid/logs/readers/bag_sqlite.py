"""Messages of a ROS 2 bag in sqlite (``.db3``), opened so that nothing can be written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from dynid.core.errors import FileError
from dynid.logs.readers.cdr import TYPES

MAX_MESSAGE = 1_000_000
"""Bytes of the longest JointState message that is decoded."""


def sqlite_topics(path: Path) -> tuple[tuple[str, ...], dict[str, str]]:
    """Topics of JointState messages, and the type of every topic."""
    with closing(_opened(path)) as database:
        found, kinds = _topics(path, database)
    return tuple(found), kinds


def sqlite_messages(path: Path, topic: str) -> Iterator[tuple[int, bytes]]:
    """Stamps of the recorder [ns] and bytes of the messages of one topic.

    Args:
        path: the file.
        topic: one of its JointState topics; a file of a split bag may be without it.
    """
    with closing(_opened(path)) as database:
        found, _ = _topics(path, database)
        query = "SELECT timestamp, data FROM messages WHERE topic_id = ? ORDER BY timestamp, id"
        for stamp, data in database.execute(query, (found.get(topic),)):
            if not isinstance(stamp, int) or not isinstance(data, bytes) or len(data) > MAX_MESSAGE:
                raise FileError(f"{path} holds a message that is no JointState.")
            yield stamp, data


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True)


def _topics(path: Path, database: sqlite3.Connection) -> tuple[dict[str, int], dict[str, str]]:
    # A file may bring views and triggers of its own; only plain tables are read.
    plain = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not {"topics", "messages"} <= plain:
        raise FileError(f"{path} is an sqlite file without the tables of a ROS 2 bag (topics, messages).")
    rows = database.execute("SELECT id, name, type, serialization_format FROM topics").fetchall()
    found = {str(name): number for number, name, kind, coding in rows if kind in TYPES and coding == "cdr"}
    return found, {str(row[1]): str(row[2]) for row in rows}
