"""Repairs: only what is asked for, and every one of them recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dynid.checks.clock import SHORT_GAP, continuous, longest_stretch, read_clock
from dynid.checks.finding import judged
from dynid.checks.jumps import check_leaps
from dynid.checks.limits import garbage
from dynid.checks.mend import despiked, restamped, unwrapped, without_empty_rows
from dynid.checks.runs import runs
from dynid.checks.stamps import check_stamps
from dynid.checks.values import LONGEST_RUN, check_values
from dynid.core.errors import NotTrustworthyError, unknown_name
from dynid.logs.log import Log, Step

FloatArray = NDArray[np.float64]


def repair_log(log: Log, defects: Iterable[str] | None = None) -> Log:
    """Repair defects of a log; each repair becomes a step of its history.

    Args:
        log: the log.
        defects: names of the defects to repair, of ``REPAIRS``; all repairable ones that it has when None.

    Raises:
        NotTrustworthyError: when a defect asked for is too bad to be repaired.
    """
    wanted = None if defects is None else tuple(defects)
    for name in wanted or ():
        if name not in REPAIRS:
            raise unknown_name("repair", name, REPAIRS)
    for name, repair in REPAIRS.items():  # stamps come first: the others need time in order
        # Looked at anew before each: one repair may mend or show another defect.
        check = judged(log.name, (check_stamps(log), check_values(log), check_leaps(log)))
        here = [finding for finding in check.findings if finding.name == name]
        if not here or (wanted is not None and name not in wanted):
            continue
        if any(finding.repairable for finding in here):
            log = repair(log)
        elif wanted is not None:
            raise NotTrustworthyError(
                f"Log {log.name!r} cannot be repaired: {here[0].sentence} {here[0].remedy}"
            )
    return log


def _drop_rows(log: Log, kept: NDArray[np.bool_] | slice, name: str, note: str) -> Log:
    channels = {channel: values[kept] for channel, values in log.channels.items()}
    time = log.time[kept]
    options = {"dropped": log.samples - len(time)}
    return log.changed(Step(f"repair: {name}", options, note), time=time, channels=channels)


def _bad_stamps(log: Log, name: str) -> Log:
    good = read_clock(log).good
    note = f"{int(np.sum(~good))} rows whose stamps were repeated, backward or lost were left out."
    return _drop_rows(log, good, name, note)


def _empty_rows(log: Log) -> Log:
    mended, counts = without_empty_rows(log)
    note = (
        f"Of the samples of damaged lines {counts['interpolated']} were interpolated and "
        f"{counts['left_out']} left out."
    )
    return mended.changed(Step("repair: damaged lines", counts, note))


def _set_back(log: Log) -> Log:
    clock = read_clock(log)
    mended = restamped(log, clock)
    back = [found.back_s for found in clock.breaks]
    shown = ", ".join(f"{seconds:.4g}" for seconds in back)
    if all(continuous(log, found) for found in clock.breaks):
        note = f"Stamps go on with the usual step where the clock was set back (by {shown} s)."
    else:
        note = f"The motion does not go on where the clock was set back; {mended.samples} of {log.samples} "
        note += "samples were kept, the longest piece."
    options = {"set_back_s": back, "dropped": log.samples - mended.samples}
    return mended.changed(Step("repair: clock set back", options, note))


def _unwrapped(log: Log) -> Log:
    mended, counts = unwrapped(log)
    note = f"{sum(counts.values())} leaps by a full turn were taken back."
    return mended.changed(Step("repair: wrapped position", counts, note))


def _despiked(log: Log) -> Log:
    mended, counts = despiked(log)
    note = f"{sum(counts.values())} wild samples were interpolated from their neighbours."
    return mended.changed(Step("repair: spikes", counts, note))


def _long_gaps(log: Log) -> Log:
    stretch, count = longest_stretch(log, read_clock(log))
    note = f"Only the longest stretch without a long gap was kept: {count} of {log.samples} samples."
    return _drop_rows(log, stretch, "long gaps", note)


def _interpolated(log: Log, name: str, is_bad: Callable[[FloatArray], NDArray[np.bool_]]) -> Log:
    """Straight lines over short runs of bad values; long runs stay as they are."""
    channels, counts = {}, {}
    for channel, values in log.channels.items():
        mended = np.array(values)
        for axis in range(values.shape[1]):
            bad = is_bad(values[:, axis])
            short = np.zeros(len(bad), dtype=bool)
            for start, length in runs(bad):
                short[start : start + length] = length <= LONGEST_RUN
            good = np.isfinite(values[:, axis]) & ~garbage(values[:, axis])
            if np.any(short) and np.any(good):
                mended[short, axis] = np.interp(log.time[short], log.time[good], values[good, axis])
                counts[f"{channel} {axis + 1}"] = int(short.sum())
        channels[channel] = mended
    note = f"{sum(counts.values())} values were interpolated from their neighbours."
    return log.changed(Step(f"repair: {name}", counts, note), channels=channels)


def _resampled(log: Log, name: str) -> Log:
    """Straight lines between samples, read at the constant median rate."""
    step = read_clock(log).step
    count = int(np.floor((log.time[-1] - log.time[0]) / step * (1 + 1e-12))) + 1
    even = log.time[0] + step * np.arange(count)
    channels = {
        channel: np.stack([np.interp(even, log.time, x) for x in np.asarray(values).T], axis=1)
        for channel, values in log.channels.items()
    }
    options = {"rate_hz": 1.0 / step, "samples_before": log.samples, "samples_after": count}
    note = f"Interpolated to {1.0 / step:.6g} Hz; gaps of up to {SHORT_GAP} samples were bridged."
    return log.changed(Step(f"repair: {name}", options, note), time=even, channels=channels)


def _not_finite(x: FloatArray) -> NDArray[np.bool_]:
    return ~np.isfinite(x)


REPAIRS: Mapping[str, Callable[[Log], Log]] = MappingProxyType(
    {
        "damaged lines": _empty_rows,
        "clock set back": _set_back,
        "lost stamps": lambda log: _bad_stamps(log, "lost stamps"),
        "backward stamps": lambda log: _bad_stamps(log, "backward stamps"),
        "repeated stamps": lambda log: _bad_stamps(log, "repeated stamps"),
        "long gaps": _long_gaps,
        "garbage values": lambda log: _interpolated(log, "garbage values", garbage),
        "missing values": lambda log: _interpolated(log, "missing values", _not_finite),
        "spikes": _despiked,
        "wrapped position": _unwrapped,
        "short gaps": lambda log: _resampled(log, "short gaps"),
        "jitter": lambda log: _resampled(log, "jitter"),
    }
)
"""Defects that can be repaired, in the order in which they are."""
