"""Logs of torques alone, which only some methods can use."""

from __future__ import annotations

from pathlib import Path

from dynid.core.errors import DynidError
from dynid.logs.read import MappingLike, read_log


def torques_alone(path: Path, mapping: MappingLike) -> bool:
    """Whether a log can be read, but has no positions.

    Args:
        path: a file or folder.
        mapping: what the columns are, or None.
    """
    try:
        return "position" not in read_log(path, mapping, needed=("torque",)).channels
    except DynidError:
        return False
