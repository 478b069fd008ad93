"""A log: named channels over time, where they came from, and what was done to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from dynid.core.arrays import BoolArray, FloatArray, as_numbers
from dynid.core.errors import ShapeError, unknown_name
from dynid.core.kinds import require_field_kinds
from dynid.logs.spool import Samples, Spool, SpoolWriter, cut_rows

CHANNELS: Mapping[str, str] = MappingProxyType(
    {
        "position": "rad or m",
        "velocity": "rad/s or m/s",
        "acceleration": "rad/s² or m/s²",
        "torque": "N m or N",
        "reference": "rad or m",
    }
)
"""Channels a log may hold, with their units inside dynid."""
SIDES = ("joint", "motor")


@dataclass(frozen=True)
class Step:
    """One thing that was done to a log: a name, its options, and what it changed, in words."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Source:
    """A file a log came from.

    Args:
        path: as the user gave it.
        sha256: hash of its bytes.
        size: bytes.
    """

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """Samples of one experiment.

    Args:
        name: short name of the experiment.
        time: stamps [s], (samples,).
        channels: (samples, axes) by channel name, SI: arrays, or spools on disk where the log is long;
            "position" and "torque" are needed to fit.
        side: "joint", or "motor" when positions and torques are those of the motors.
        history: what was done, oldest first.
        sources: files it came from.
        made_up: rows whose torques a repair has interpolated, (samples,); a fit gives them no weight. None
            when all were measured.
        condition: name of the robot's condition that it was taken in; "" when none.
    """

    name: str
    time: FloatArray
    channels: Mapping[str, Samples]
    side: str = "joint"
    history: tuple[Step, ...] = ()
    sources: tuple[Source, ...] = ()
    made_up: BoolArray | None = None
    condition: str = ""

    def __post_init__(self) -> None:
        """Check shapes and names; values may still be anything, which is for the data check to say."""
        require_field_kinds(self)
        if self.side not in SIDES:
            raise unknown_name("side", self.side, SIDES)
        object.__setattr__(self, "time", as_numbers(self.time, f"time of log {self.name!r}"))
        arrays: dict[str, Samples] = {}
        for name, values in self.channels.items():
            if name not in CHANNELS:
                raise unknown_name("channel", name, CHANNELS)
            what = f"Channel {name!r} of log {self.name!r}"
            array = values if isinstance(values, Spool) else as_numbers(values, what)
            if array.ndim != 2 or array.shape[0] != len(self.time):
                raise ShapeError(f"{what} has shape {array.shape}; expected ({len(self.time)}, axes).")
            arrays[name] = array
        widths = {name: array.shape[1] for name, array in arrays.items()}
        if len(set(widths.values())) > 1:
            raise ShapeError(f"The channels of log {self.name!r} have different numbers of axes: {widths}.")
        object.__setattr__(self, "channels", MappingProxyType(arrays))
        if self.made_up is not None:
            object.__setattr__(self, "made_up", np.asarray(self.made_up, dtype=bool))
        if self.made_up is not None and self.made_up.shape != self.time.shape:
            raise ShapeError(
                f"made_up of log {self.name!r} has shape {self.made_up.shape}; expected ({len(self.time)},)."
            )

    def __getstate__(self) -> dict[str, Any]:
        """What goes to another process: arrays in memory; views and temporary files cannot be sent."""
        return {**vars(self), "channels": {name: np.asarray(own) for name, own in self.channels.items()}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """The log as it was."""
        vars(self).update({**state, "channels": MappingProxyType(state["channels"])})

    def __repr__(self) -> str:
        """Name, size, rate, channels and what was done."""
        lines = [
            f"Log {self.name!r}: {self.samples} samples of {self.axes} axes at {self.rate_hz:.6g} Hz, "
            f"{self.duration:.4g} s, {self.side} side" + (f", {self.condition}" if self.condition else ""),
            f"  channels: {', '.join(self.channels)}",
        ]
        return "\n".join([*lines, *(f"  {step.name}: {step.note}"[:200] for step in self.history[-8:])])

    @property
    def samples(self) -> int:
        """Number of samples."""
        return len(self.time)

    @property
    def axes(self) -> int:
        """Number of axes."""
        return next((array.shape[1] for array in self.channels.values()), 0)

    @property
    def on_disk(self) -> bool:
        """Whether its channels are kept on disk, because it is long."""
        return any(isinstance(values, Spool) for values in self.channels.values())

    @property
    def rate_hz(self) -> float:
        """Samples per second: the inverse of the median step; NaN with fewer than two samples."""
        return float(1.0 / np.median(np.diff(self.time))) if self.samples > 1 else float("nan")

    @property
    def duration(self) -> float:
        """Time from the first to the last stamp [s]."""
        return float(self.time[-1] - self.time[0]) if self.samples else 0.0

    def channel(self, name: str) -> Samples:
        """A channel that must be there, in memory or on disk."""
        if name not in self.channels:
            raise unknown_name(f"channel in log {self.name!r}", name, self.channels)
        return self.channels[name]

    def array(self, name: str) -> FloatArray:
        """A channel that must be there, (samples, axes), all of it in memory."""
        return np.asarray(self.channel(name))

    def column(self, name: str, axis: int) -> FloatArray:
        """One axis of a channel that must be there, (samples,).

        Args:
            name: of the channel.
            axis: number from 0.
        """
        return np.ascontiguousarray(self.channel(name)[:, axis])

    def part(self, rows: slice) -> Log:
        """Some of the samples: in memory, unless there are too many."""
        channels = {name: cut_rows(values, rows) for name, values in self.channels.items()}
        made_up = None if self.made_up is None else self.made_up[rows]
        return replace(self, time=self.time[rows], channels=channels, made_up=made_up)

    def with_step(self, step: Step, **fields: Any) -> Log:
        """The log with other fields and one more step in its history."""
        return replace(self, **fields, history=(*self.history, step))


def mend_axes(
    log: Log, channels: Iterable[str], mend: Callable[[str, int, FloatArray], tuple[FloatArray, int]]
) -> tuple[dict[str, Samples], dict[str, int]]:
    """Channels mended axis by axis, and how many samples changed, per axis where any did.

    Args:
        log: the log.
        channels: those to mend, where the log has them.
        mend: channel, axis and its samples to mended samples and the number of those that changed.
    """
    made, counts = dict(log.channels), dict[str, int]()
    for channel in channels:
        if channel not in log.channels:
            continue
        values = log.channels[channel]
        on_disk = SpoolWriter(log.axes) if isinstance(values, Spool) else None
        in_memory = np.empty(values.shape if on_disk is None else (0, 0))
        for axis in range(log.axes):
            x, count = mend(channel, axis, log.column(channel, axis))
            if count:
                counts[f"{channel} {axis + 1}"] = count
            if on_disk is None:
                in_memory[:, axis] = x
            else:
                on_disk.put(axis, x)
        made[channel] = in_memory if on_disk is None else on_disk.finish()
    return made, counts
