"""Logs as columns: readers, mappings, units, joint side."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.logs.convert import to_joint_side as to_joint_side
    from dynid.logs.log import Log as Log
    from dynid.logs.read import read_log as read_log, read_logs as read_logs
    from dynid.logs.save import save_log as save_log
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "convert": ("to_joint_side",),
        "log": ("Log",),
        "read": ("read_log", "read_logs"),
        "save": ("save_log",),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
