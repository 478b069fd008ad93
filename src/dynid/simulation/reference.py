"""References of logs: what a controller was told to follow, on a regular clock."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dynid.core.errors import DynidError, FileError
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.logs.read import MappingLike, read_log
from dynid.model.robot import Robot
from dynid.trajectories.reference import Reference, require_size

CHANNELS = ("reference", "position")
_REGULAR = 1e-3
"""Share of a step by which stamps may be off before a log is put on a regular clock."""


def reference_from_log(file: Path, robot: Robot, mapping: MappingLike, channel: str = "") -> Reference:
    """The reference columns of a log file, else its positions, on the joint side.

    Args:
        file: in any format that ``read_log`` reads; torques are not needed.
        robot: whose joints they are.
        mapping: what the columns mean; guessed when None.
        channel: "reference" or "position"; the first that is there when empty.
    """
    log = read_log(file, mapping, needed=())
    found = _channel(log, channel)
    return log_reference(to_joint_side(log, robot), found)


def _channel(log: Log, wanted: str) -> str:
    names = [wanted] if wanted else list(CHANNELS)
    found = next((name for name in names if name in log.channels), None)
    if found is None:
        has = ", ".join(sorted(log.channels)) or "none that are understood"
        raise FileError(
            f"The log has no {' and no '.join(names)} columns (it has {has}); name them in a mapping."
        )
    return found


def log_reference(log: Log, channel: str = "", sample_time: float | None = None) -> Reference:
    """The reference or the positions of a log, on a regular clock.

    Between uneven stamps it runs along monotone cubics, which do not swing where a reference jumps.

    Args:
        log: joint side.
        channel: "reference" or "position"; the first that is there when empty.
        sample_time: step of that clock [s]; the log's own when None, and where its stamps are even.
    """
    from scipy.interpolate import PchipInterpolator

    values, stamps = log.array(_channel(log, channel)), log.time
    steps = np.diff(stamps)
    if len(stamps) < 2 or not np.all(np.isfinite(stamps)) or np.any(steps <= 0):
        raise FileError(
            f"The stamps of log {log.name!r} do not increase from each to the next; repair it first."
        )
    step = float(np.median(steps))
    if np.max(np.abs(steps - step)) <= _REGULAR * step:
        step = float((stamps[-1] - stamps[0]) / (len(stamps) - 1))
        return Reference(step, values, start=float(stamps[0]))
    step = sample_time or step
    count = (stamps[-1] - stamps[0]) / step
    require_size(count, log.axes)
    grid = stamps[0] + step * np.arange(int(count * (1 + 1e-12)) + 1)
    return Reference(step, PchipInterpolator(stamps, values, axis=0)(grid), start=float(stamps[0]))


def reference_of_log(log: Log, sample_time: float | None = None) -> Reference:
    """The reference channel of a log, at the log's rate or at a controller's.

    Raises:
        DynidError: when the log has no reference.
    """
    if "reference" not in log.channels:
        raise DynidError(
            f"Log {log.name!r} has no reference channel (it has {', '.join(sorted(log.channels))}); map the "
            "reference columns, or give the reference in a file of its own."
        )
    own = log_reference(log, "reference", sample_time)
    return own if sample_time is None else own.resampled(sample_time)
