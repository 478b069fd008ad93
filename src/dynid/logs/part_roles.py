"""Files that are one experiment together, told by their names: positions in one, torques in another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

from dynid.logs.column_words import FILE_WORDS, TIME_WORDS
from dynid.logs.dialects import time_unit, word_of
from dynid.logs.mapping import ChannelMap, LogMapping, TimeMap
from dynid.logs.readers.table import Table


def guess_parts(tables: Sequence[Table]) -> LogMapping | None:
    """Positions in one file and torques in another, told by the files' names; None when they are not."""
    roles = {table.path.name: _role(table.path) for table in tables}
    if None in roles.values() or len(set(roles.values())) < len(tables):
        return None
    if not {"position", "torque"} <= set(roles.values()):
        return None
    channels, time = {}, None
    for table in sorted(tables, key=lambda table: roles[table.path.name] != "position"):
        words = [word_of(table, i) for i in range(len(table.columns))]
        named = [i for i, word in enumerate(words) if word.word in TIME_WORDS and word.number is None]
        stamps = named or [i for i, column in enumerate(table.columns) if column.dates]
        others = tuple(i + 1 for i in range(len(words)) if i not in stamps)
        role = roles[table.path.name]
        if role is None or not others:
            return None
        channels[role] = ChannelMap(others, file=table.path.name)
        if stamps and time is None:
            time = TimeMap(stamps[0] + 1, time_unit(table, stamps[0], words[stamps[0]]), table.path.name)
    return LogMapping(MappingProxyType(channels), time=time)


def _role(path: Path) -> str | None:
    """The channel that a file's name tells."""
    parts = [part for part in re.split(r"[^a-z]+", path.stem.lower()) if part]
    found = {channel for channel, words in FILE_WORDS.items() if any(part in words for part in parts)}
    return found.pop() if len(found) == 1 else None
