"""What the numbers of a message mean: the columns of a log file, understood once, then a product per message.

Mappings and the grammar of names are those of logs. All that they do to a row is affine,

    [q; τ; q̇; q_ref] = A x + b,    A = [f(e₁·s) − f(0), …] / s,    b = f(0),

so A and b are read off the path that a log takes: a table of probes goes through ``build_log`` and
``to_joint_side`` instead of measured rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.logs.assemble import build_log
from dynid.logs.clocks import log_stamps
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Step
from dynid.logs.mapping import LogMapping
from dynid.logs.read import meaning_of
from dynid.logs.readers.table import RawArray, Table
from dynid.logs.words import TIME_UNITS
from dynid.model.robot import Robot
from dynid.tracking.refusals import Refusal, RefusedMessageError
from dynid.tracking.sample import Sample

CHANNELS = ("position", "torque", "velocity", "reference")
"""Channels of a sample, in the order of the rows of A."""


@dataclass(frozen=True)
class Sane:
    """What a number of a message may be. Chosen by hand, far from what any robot says.

    Args:
        largest: root of the sum of squares of a message's numbers, in the units of the message: counts of an
            encoder of 50 bits pass.
        latest: magnitude of a stamp, counted from the first one where these count from a calendar date [s].
        longest_ns: magnitude of a stamp that is an integer, so that it fits 64 bits.
    """

    largest: float = 1e15
    latest: float = 1e11
    longest_ns: int = 1 << 62


SANE = Sane()


@dataclass(frozen=True, eq=False)
class RowMeaning:
    """How the numbers of a message become a sample.

    Args:
        used: columns whose numbers are taken, in this order, each with all of its numbers.
        matrix: A, (channels · n, numbers).
        offset: b, (channels · n,).
        axes: n, coordinates of the robot.
        channels: which of ``CHANNELS`` there are, in this order.
        stamp: column of the stamps; None when messages are counted at ``rate_hz``.
        second: unit of the stamps [s].
        zero: stamp that is zero, in that unit.
        rate_hz: messages per second where no stamps count.
        steps: what was understood and done, as in the history of a log.
    """

    used: tuple[int, ...]
    matrix: FloatArray
    offset: FloatArray
    axes: int
    channels: tuple[str, ...]
    stamp: int | None
    second: float
    zero: float | int
    rate_hz: float | None
    steps: tuple[Step, ...]

    def time(self, stamp: float | int) -> float:
        """Seconds of a stamp."""
        try:
            seconds = (stamp - self.zero) * self.second
        except OverflowError:
            seconds = math.inf
        if not -SANE.latest < seconds < SANE.latest:
            raise RefusedMessageError(Refusal.STAMP, f"{stamp!r}"[:40])
        return float(seconds)

    def sample(self, time: float, numbers: Sequence[float]) -> Sample:
        """The sample of a message.

        Args:
            time: its stamp [s].
            numbers: of the columns ``used``.
        """
        if len(numbers) != self.matrix.shape[1]:
            raise RefusedMessageError(Refusal.WIDTH, f"{len(numbers)} for {self.matrix.shape[1]}")
        try:
            sane = math.hypot(*numbers) < SANE.largest  # False for NaN
        except OverflowError:
            sane = False
        if not sane:
            raise RefusedMessageError(Refusal.NOT_FINITE)
        x = self.matrix @ np.array(numbers, dtype=float) + self.offset
        n = self.axes
        if len(self.channels) == 2:
            return Sample(time, x[:n], x[n:])
        parts = {channel: x[k * n : (k + 1) * n] for k, channel in enumerate(self.channels)}
        return Sample(time, x[:n], x[n : 2 * n], parts.get("velocity"), parts.get("reference"))


def row_meaning(table: Table, robot: Robot, mapping: LogMapping | None = None) -> RowMeaning:
    """Understand the columns of a stream.

    Args:
        table: its first messages as a table; from them come the unit and the zero of the stamps.
        robot: which the samples are for.
        mapping: what the user says of the columns; None to go by common names.

    Raises:
        DynidError: when positions, torques or stamps are not understood, or do not fit the robot.
    """
    complete, steps = meaning_of(table, mapping)
    parts = {channel: complete.channels[channel] for channel in CHANNELS if channel in complete.channels}
    complete = replace(complete, channels=MappingProxyType(parts))
    _require_one_message(complete)
    stamps = log_stamps({None: table}, complete)
    places = [table.places(part.columns, complete.axes) for part in parts.values()]
    used = tuple(dict.fromkeys(place for row in places for place in row))
    stamp = None if stamps is None or complete.time is None else table.index(complete.time.column or 1)
    scale = 2.0**40  # a power of two, large beside offsets: A then keeps all its digits
    probes = _probes(table, used, scale)
    counted = replace(complete, time=None, rate_hz=1.0)
    log = to_joint_side(build_log({None: probes}, counted, table.path.name, steps=steps), robot)
    channels = tuple(channel for channel in CHANNELS if channel in log.channels)
    values = np.hstack([log.array(channel) for channel in channels])
    return RowMeaning(
        used,
        np.ascontiguousarray((values[1:] - values[0]).T / scale),
        values[0],
        robot.n_coordinates,
        channels,
        stamp,
        1.0 if stamps is None else TIME_UNITS[stamps.unit],
        0 if stamps is None else stamps.zero(),
        complete.rate_hz,
        log.history,
    )


def _probes(table: Table, used: Sequence[int], scale: float) -> Table:
    """A table with the same columns: a row of zeros, then one row for each number of the columns used."""
    widths = [table.columns[i].shape[1] if len(table.columns[i].shape) == 2 else 1 for i in used]
    rows = np.vstack([np.zeros(sum(widths)), scale * np.eye(sum(widths))])
    ends = np.cumsum(widths)
    parts = {i: rows[:, end - width : end] for i, width, end in zip(used, widths, ends, strict=True)}

    def fetch(i: int) -> RawArray:
        return parts.get(i, rows[:, :1])

    return replace(table, fetch=fetch)


def _require_one_message(mapping: LogMapping) -> None:
    """Refuse mappings that need more than the message itself."""
    files = [part.file for part in mapping.channels.values()]
    files += [] if mapping.time is None else [mapping.time.file]
    moved = [channel for channel, part in mapping.channels.items() if part.moved]
    if any(files):
        raise DynidError(
            f"The mapping names the file {next(filter(None, files))!r}; a message of a stream holds all "
            "channels, so leave file out."
        )
    if moved:
        raise DynidError(
            f"The mapping moves {' and '.join(moved)} in time (delay_s, thin), which needs a whole log; "
            "leave them out for a stream, or replay a log."
        )
