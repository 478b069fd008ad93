"""Channels that were sampled at other moments than the log: read at its stamps, between their own samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import BoolArray, FloatArray
from dynid.core.errors import FileError
from dynid.logs import spool
from dynid.logs.log import Step
from dynid.logs.resample import interpolate
from dynid.logs.spool import Samples, by_columns, writer_of

IndexArray = NDArray[np.intp]
_SAME = 1e-3
"""Share of a step by which stamps may differ and still be the same."""
_LONGEST_GAP = 20
"""Steps without a sample that interpolation may bridge."""
_FEWEST = 4
"""Samples that a cubic needs."""
_TOO_OFTEN = 0.75
"""Share of the samples for which a value is said to be held, between which it may change."""
_MOST_BAD = 0.2
"""Share of stamps that may be lost, repeated or backward, for the rest to be relied on."""

_GARBAGE = 1e100
"""Values that a spline could not be put through; like missing ones they leave holes."""


@dataclass(frozen=True, eq=False)
class Timing:
    """When the samples of a channel were taken.

    Args:
        own: their stamps [s], as the log counts time, (samples,).
        delay_s: how much later than it happened it was logged [s], one or one per axis.
        thin: samples for which each value is held; 1 when every sample is fresh.
        file: file that has these stamps, when it is another than that of the log's stamps.
    """

    own: FloatArray
    delay_s: tuple[float, ...] = (0.0,)
    thin: int = 1
    file: str | None = None


@dataclass(frozen=True, eq=False)
class RetimedChannels:
    """Stamps and channels of a log after channels were moved in time, and the steps that say so."""

    time: FloatArray
    channels: Mapping[str, Samples]
    steps: tuple[Step, ...]


def same_stamps(own: FloatArray, time: FloatArray) -> bool:
    """Whether two files have the same stamps, but for rounding.

    Args:
        own: stamps of one [s].
        time: stamps of the other [s].
    """
    if len(own) != len(time):
        return False
    if len(time) < 2:
        return True
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(own - time)
        return bool(np.all((apart <= _SAME * _median_step(time)) | (np.isnan(own) & np.isnan(time))))


def channels_at_stamps(
    time: FloatArray, channels: Mapping[str, Samples], timings: Mapping[str, Timing], onto: str
) -> RetimedChannels:
    """Read channels at the log's stamps by cubic splines; samples where one has no values are left out.

    A sample stamped s of a channel that was logged d late happened at s − d. Nothing is extrapolated, and
    nothing is read across more than 20 steps without samples.

    Args:
        time: stamps of the log [s], (samples,).
        channels: (samples, axes) each; those with a timing have as many samples as its stamps.
        timings: when the samples of some channels were taken.
        onto: file that the log's stamps are of.

    Raises:
        FileError: when the stamps cannot be related.
    """
    _require_order(time, onto)
    made, steps = dict(channels), list[Step]()
    inside = np.isfinite(time)
    for channel, timing in timings.items():
        _require_order(timing.own, timing.file or onto)
        values, here = _read_at(time, channels[channel], timing, channel)
        if not here.any():
            raise _never_together(time, timing, channel, onto)
        made[channel] = values
        inside &= here
        steps += _steps(time, timing, channel, onto)
    kept = int(np.sum(inside))
    if kept < _FEWEST:
        raise FileError(
            f"Only {kept} samples are left where all of {', '.join(made)} have values; look at the stamps of "
            "the files and at delay_s in the mapping."
        )
    if kept < len(time):
        lacking = f"{' or '.join(timings)} {'has' if len(timings) == 1 else 'have'}"
        note = f"{len(time) - kept} of {len(time)} samples were left out, where {lacking} no values."
        steps.append(Step("cut to overlap", {"left_out": len(time) - kept, "kept": kept}, note))
        made = {name: by_columns(lambda x: x[inside], values) for name, values in made.items()}
    return RetimedChannels(time[inside], made, tuple(steps))


def _read_at(time: FloatArray, values: Samples, timing: Timing, channel: str) -> tuple[Samples, BoolArray]:
    """A channel at the log's stamps, and whether it was sampled around them."""
    axes = values.shape[1]
    delays = np.broadcast_to(np.array(timing.delay_s, dtype=float), (axes,))
    read, inside = writer_of(len(time), axes, on_disk=len(time) > spool.LONG), np.ones(len(time), dtype=bool)
    good = _rows_in_order(timing.own)
    for axis, delay in enumerate(delays):
        x = values[:, axis]
        rows = good if timing.thin == 1 else _fresh_rows(x, timing.thin, good, channel, axis)
        at, here = _column_at(time, timing.own[rows] - delay, x[rows])
        read.put(axis, at)
        inside &= here
    return read.finish(), inside


def _fresh_rows(values: FloatArray, every: int, rows: IndexArray, channel: str, axis: int) -> IndexArray:
    """Rows at which an axis has a new value; where the value stays for longer, one row of every so many.

    Args:
        values: of one axis, (samples,).
        every: samples for which a value is held.
        rows: rows whose stamps count.
        channel: its name, for the error sentence.
        axis: its number from 0.

    Raises:
        FileError: when the values change more often than that.
    """
    x = values[rows]
    changes = np.flatnonzero(x[1:] != x[:-1]) + 1  # NaN is a change, and is left out by who reads between
    if len(changes) < 2:
        return rows[::every]
    usual = float(np.median(np.diff(changes)))
    if usual < _TOO_OFTEN * every:
        raise FileError(
            f"thin of [{channel}] is {every}, but axis {axis + 1} changes every {usual:g} "
            f"sample{'s' * (usual != 1)}; give the number of samples for which a value is held."
        )
    near = np.concatenate([[False], np.diff(changes) < 0.5 * every])
    changes = changes[~near]
    gaps = np.diff(changes)
    counts = np.maximum(np.round(gaps / every).astype(int), 1)
    starts, number = np.repeat(changes[:-1], counts), np.arange(int(counts.sum()))
    within = number - np.repeat(np.cumsum(counts) - counts, counts)
    chosen = np.concatenate([starts + every * within, changes[-1:]])
    return np.asarray(rows[chosen])


def _column_at(time: FloatArray, own: FloatArray, values: FloatArray) -> tuple[FloatArray, BoolArray]:
    """One axis at other times: NaN next to samples that are not finite, nothing outside of its stretches."""
    read, inside = np.full(len(time), np.nan), np.zeros(len(time), dtype=bool)
    if len(own) < _FEWEST:
        return read, inside
    steps = np.diff(own)
    slack = _SAME * float(np.median(steps))
    ends = np.flatnonzero(steps > _LONGEST_GAP * np.median(steps)) + 1
    for start, stop in zip([0, *ends], [*ends, len(own)], strict=True):
        nodes, x = own[start:stop], values[start:stop]
        if len(nodes) < _FEWEST:
            continue
        here = (time >= nodes[0] - slack) & (time <= nodes[-1] + slack)
        at = np.clip(time[here], nodes[0], nodes[-1])
        sound = np.abs(x) < _GARBAGE
        inside |= here
        if np.sum(sound) < _FEWEST:
            continue
        part = _spline(nodes[sound], x[sound], at)
        if not sound.all():
            before = np.clip(np.searchsorted(nodes, at, side="right") - 1, 0, len(nodes) - 1)
            after = np.minimum(before + (at > nodes[before]), len(nodes) - 1)
            part[~(sound[before] & sound[after])] = np.nan
        read[here] = part
    return read, inside


def _spline(nodes: FloatArray, x: FloatArray, at: FloatArray) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):  # garbage such as 1e308 is for the data check to say
        inner = np.clip(at, nodes[0], nodes[-1])
        return np.asarray(interpolate(nodes, x[:, None], inner)[:, 0])


def _rows_in_order(own: FloatArray) -> IndexArray:
    """Rows whose stamps are finite and later than all before."""
    known = np.where(np.isfinite(own), own, -np.inf)
    latest = np.maximum.accumulate(np.concatenate([[-np.inf], known[:-1]]))
    return np.flatnonzero(known > latest)


def _median_step(time: FloatArray) -> float:
    steps = np.diff(time[np.isfinite(time)])
    forward = steps[steps > 0]
    return float(np.median(forward)) if len(forward) else 0.0


def _require_order(stamps: FloatArray, file: str) -> None:
    """Refuse a clock that was set back or stands still: its samples have no one time."""
    good = _rows_in_order(stamps)
    bad = len(stamps) - len(good)
    longest = int(np.max(np.diff([*good, len(stamps)]), initial=1)) - 1
    if len(good) >= _FEWEST and longest <= _LONGEST_GAP and bad <= _MOST_BAD * len(stamps):
        return
    raise FileError(
        f"{bad} of {len(stamps)} stamps of {file} are lost, repeated or earlier than one before, so channels "
        "cannot be moved in time by them; cut the log where its clock was set back, or give rate_hz and "
        "ignore = true in [time] of a mapping when its samples are even."
    )


def _never_together(time: FloatArray, timing: Timing, channel: str, onto: str) -> FileError:
    late = max(timing.delay_s, key=abs)
    shifted = f" less a delay_s of {late:g} s" if late else ""
    return FileError(
        f"The stamps of {onto} run from {_span(time)} and those of {channel} in {timing.file or onto} from "
        f"{_span(timing.own)}{shifted}: they have no time in common. Bring them to one clock, or, when rows "
        "belong together by their numbers, give rate_hz and ignore = true in [time] of a mapping."
    )


def _span(stamps: FloatArray) -> str:
    return f"{np.nanmin(stamps):.6g} to {np.nanmax(stamps):.6g} s"


def _steps(time: FloatArray, timing: Timing, channel: str, onto: str) -> list[Step]:
    """What was done to a channel, in words."""
    steps = []
    rate, own_rate = 1.0 / _median_step(time), 1.0 / _median_step(timing.own)
    if timing.thin > 1:
        note = f"{channel} is held for {timing.thin} samples; only those at which it changes were used."
        steps.append(Step("thinned", {"channel": channel, "thin": timing.thin}, note))
    if any(timing.delay_s):
        shown = ", ".join(f"{1e3 * delay:g}" for delay in timing.delay_s)
        note = f"{channel} was moved earlier by {shown} ms, as delay_s of the mapping says."
        steps.append(Step("moved in time", {"channel": channel, "delay_s": list(timing.delay_s)}, note))
    if timing.file is not None:
        offset = float(timing.own[_rows_in_order(timing.own)[0]] - time[_rows_in_order(time)[0]])
        begins = f"begins {abs(offset):.6g} s {'later' if offset > 0 else 'earlier'}" if offset else "begins"
        begins += "" if offset else " with it"
        note = (
            f"{channel} of {timing.file} ({own_rate:.6g} Hz, {begins}) was read at the stamps of {onto} "
            f"({rate:.6g} Hz) by cubic splines."
        )
        options = {"channel": channel, "file": timing.file, "onto": onto, "offset_s": offset}
        options |= {"rate_hz": own_rate, "onto_hz": rate}
        steps.append(Step("aligned by stamps", options, note))
    return steps
