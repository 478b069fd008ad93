"""Which topic of a bag holds the joint states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from dynid.core.errors import FileError, unknown_name

_USUAL = "/joint_states"


def chosen_topic(path: Path, wanted: str | None, found: Iterable[str], kinds: Mapping[str, str]) -> str:
    """The topic asked for, the only one, or the usual one.

    Args:
        path: the bag.
        wanted: topic asked for.
        found: topics of JointState messages.
        kinds: type of every topic of the bag.
    """
    names = sorted(found)
    if wanted is not None:
        if wanted in kinds and wanted not in names:
            raise FileError(
                f"Topic {wanted!r} of {path.name} holds {kinds[wanted]} messages; sensor_msgs/msg/JointState "
                "in CDR is read."
            )
        if wanted not in names:
            raise unknown_name(f"topic in {path.name}", wanted, names)
        return wanted
    if not names:
        listing = ", ".join(f"{name} ({kind})" for name, kind in sorted(kinds.items())[:20]) or "none"
        raise FileError(f"{path} has no topic of sensor_msgs/msg/JointState messages; its topics: {listing}.")
    if len(names) > 1 and _USUAL not in names:
        raise FileError(
            f"{path} has several topics of joint states: {', '.join(names)}; choose one in a mapping with "
            "topic in [bag]."
        )
    return _USUAL if _USUAL in names else names[0]
