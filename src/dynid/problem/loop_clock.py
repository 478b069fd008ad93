"""A log on the clock of its controller: which sample belongs to which stamp, or values between stamps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, option_words
from dynid.logs.log import Log, Step
from dynid.logs.resample import is_even
from dynid.logs.retime import Timing, channels_at_stamps
from dynid.preparation.preparation import Preparation
from dynid.trajectories.reference import Reference


@dataclass(frozen=True)
class LoopClockRules:
    """When samples of a log are those of its controller. Chosen by hand; ``tests/problem`` holds them.

    Args:
        whole: share by which the rate of a log may be off a whole multiple of the controller's.
        same: share by which the rate of a motion may be off the controller's own.
        beside: largest distance of a stamp from the sample it is taken for, in samples.
        continued: samples, of the log or of the controller, by which a reference that is too short goes on.
    """

    whole: float = 1e-3
    same: float = 1e-2
    beside: float = 0.3
    continued: float = 2.0


LOOP_CLOCK = LoopClockRules()


def on_controller_clock(log: Log, reference: Reference, plan: Preparation) -> tuple[Log, Reference]:
    """The log at samples of the controller, and the reference over all of it; steps say what was changed.

    A log with even stamps near the controller's samples is taken sample by sample, thinned where it runs a
    whole number of times as fast. Any other is read at the controller's samples between its own, by cubic
    splines; with ``stamps = "even"`` of the plan never.

    Args:
        log: joint side, stamps increasing.
        reference: at the controller's rate.
        plan: what is trimmed, and how stamps are read.

    Raises:
        DynidError: where the reference is shorter than the log by more than two samples.
    """
    log = _cut_ends(log, plan)
    if log.samples < 2 or not np.all(np.diff(log.time) > 0):
        raise DynidError(
            f"Stamps of log {log.name!r} repeat or go backward; repair it (dynid check LOG --repair OUT.npz, "
            "or dynid.repair)."
            if log.samples > 1
            else f"Log {log.name!r} has {_samples(log.samples)}; at least 2 are needed. Trim less."
        )
    reference, log = _covering_reference(reference, log)
    thinned = _at_controller_rate(log, reference)
    if plan.stamps == "even" or (plan.stamps == "auto" and _is_on_clock(thinned, reference)):
        return thinned, reference
    return _values_at_samples(log, reference), reference


def without_trims(plan: Preparation) -> Preparation:
    """The plan of a log that is trimmed already."""
    return replace(plan, trim_start_s=0.0, trim_end_s=0.0)


def _cut_ends(log: Log, plan: Preparation) -> Log:
    if not (plan.trim_start_s or plan.trim_end_s) or not log.samples:
        return log
    first, last = log.time[0] + plan.trim_start_s, log.time[-1] - plan.trim_end_s
    low, high = np.searchsorted(log.time, first, "left"), np.searchsorted(log.time, last, "right")
    note = f"dropped {low} samples at the start and {log.samples - high} at the end"
    options = {"trim_start_s": plan.trim_start_s, "trim_end_s": plan.trim_end_s}
    cut = log.part(slice(int(low), max(int(low), int(high))))
    return cut.with_step(Step("trim", options, note))


def _covering_reference(reference: Reference, log: Log) -> tuple[Reference, Log]:
    """A reference over the whole log: where it lacks up to two samples, it goes on at its speed there."""
    T, time = reference.sample_time, log.time
    place = np.rint((time[[0, -1]] - reference.start) / T).astype(int)
    before, after = max(0, -int(place[0])), max(0, int(place[1]) - reference.samples + 1)
    if not before and not after:
        return reference, log
    lacking = max(reference.start - time[0], time[-1] - reference.time[-1])
    if lacking > LOOP_CLOCK.continued * max(T, 1.0 / log.rate_hz) * (1 + 1e-6):
        raise DynidError(
            f"Log {log.name!r} runs from {time[0]:.6g} to {time[-1]:.6g} s, but its reference only from "
            f"{reference.start:.6g} to {reference.time[-1]:.6g} s; give one that covers it with "
            f"{option_words('--reference')}, or leave out the rest of the log with "
            f"{option_words('--trim-start-s')} or {option_words('--trim-end-s')}."
        )
    assert reference.qd is not None
    assert reference.qdd is not None
    early = reference.q[0] + T * np.arange(-before, 0)[:, None] * reference.qd[0]
    late = reference.q[-1] + T * np.arange(1, after + 1)[:, None] * reference.qd[-1]
    q = np.concatenate([early, reference.q, late])
    qd, qdd = (np.pad(x, ((before, after), (0, 0)), "edge") for x in (reference.qd, reference.qdd))
    note = f"it goes on at its speed for {_samples(before)} at the start and {_samples(after)} at the end"
    step = Step("reference continued", {"start": before, "end": after}, note)
    return Reference(T, q, qd, qdd, reference.start - before * T), log.with_step(step)


def _samples(count: int) -> str:
    return f"{count} sample{'s' * (count != 1)}"


def _is_on_clock(log: Log, reference: Reference) -> bool:
    """Whether every stamp is near a sample of its own, and the stamps are even."""
    if log.samples < 3:
        return True
    place = (log.time - reference.start) / reference.sample_time
    steps = np.diff(np.rint(place))
    # Where samples are missing, the steps between those that are there may still be even.
    even = is_even(log.time) if np.all(steps == np.median(steps)) else _steps_fit(place)
    return bool(even and steps.min() >= 1 and np.abs(place - np.rint(place)).max() <= LOOP_CLOCK.beside)


def _steps_fit(place: FloatArray) -> bool:
    """Whether steps differ by less than 2 % of the usual one from whole numbers of the controller's."""
    steps = np.diff(place)
    return bool(np.max(np.abs(steps - np.rint(steps))) <= 0.02 * max(float(np.median(steps)), 1.0))


def _values_at_samples(log: Log, reference: Reference) -> Log:
    """The log read at the controller's samples, one of so many where it is slower."""
    T = reference.sample_time
    every = max(1, round(1.0 / (T * log.rate_hz)))
    place = (log.time[[0, -1]] - reference.start) / T
    first, last = int(np.ceil(place[0] - 1e-6)), int(np.floor(place[1] + 1e-6))
    grid: FloatArray = np.asarray(reference.start + T * np.arange(first, last + 1, every), dtype=float)
    timings = {name: Timing(log.time) for name in log.channels}
    found = channels_at_stamps(grid, log.channels, timings, log.name)
    rate = 1.0 / (every * T)
    note = (
        f"{log.samples} samples with uneven stamps, or stamps beside the controller's samples, were read at "
        f"{len(found.time)} of its samples ({rate:g} Hz) by cubic splines"
    )
    made = log.with_step(Step("resample", {"rate_hz": rate}, note), time=found.time, channels=found.channels)
    return replace(made, history=(*made.history, *found.steps))


def _at_controller_rate(log: Log, reference: Reference) -> Log:
    """The samples of a log at the controller's own, where it runs a whole number of times as fast."""
    T = reference.sample_time
    ratio = T * log.rate_hz
    times = round(ratio)
    if times < 2 or abs(ratio - times) > LOOP_CLOCK.whole * ratio:
        return log
    place = (log.time - reference.start) / T
    number = np.rint(place)
    # Of the samples that belong to one of the controller's, the one nearest to it.
    order = np.lexsort((np.abs(place - number), number))
    rows = order[np.unique(number[order], return_index=True)[1]]
    rows = rows[np.abs(place - number)[rows] <= 0.5 / times + 1e-6]
    channels = {name: values[rows] for name, values in log.channels.items()}
    step = Step("thinned", {"factor": times, "to_hz": 1.0 / T})
    return log.with_step(step, time=log.time[rows], channels=channels)


def log_samples(log: Log, reference: Reference) -> NDArray[np.int64]:
    """The controller's sample nearest to each stamp of a log on its clock."""
    T = reference.sample_time
    number = np.rint((log.time - reference.start) / T).astype(np.int64)
    if np.any(np.diff(number) < 1):
        raise DynidError(
            f"Log {log.name!r} runs at {log.rate_hz:.6g} Hz, faster than the controller's {1 / T:.6g} Hz; "
            f"give the controller's true sample time, or let the log be resampled with "
            f"{option_words('--stamps', 'auto')}."
        )
    resampled = f"let them be resampled with {option_words('--stamps', 'auto')}"
    remedy = f"{resampled}, or give the controller's sample time more exactly"
    return nearest_samples(f"log {log.name!r}", log.time, reference, remedy)


def nearest_samples(what: str, time: FloatArray, reference: Reference, remedy: str) -> NDArray[np.int64]:
    """The controller's sample nearest to each stamp.

    Args:
        what: whose stamps they are.
        time: the stamps [s].
        reference: whose clock is the controller's.
        remedy: end of the sentence for stamps between two samples.

    Raises:
        DynidError: for stamps outside the reference, or between two samples.
    """
    place = (time - reference.start) / reference.sample_time
    number = np.rint(place).astype(np.int64)
    if number[0] < 0 or number[-1] >= reference.samples:
        raise DynidError(
            f"{what[0].upper()}{what[1:]} runs from {time[0]:.6g} to {time[-1]:.6g} s, but its reference "
            f"only from {reference.start:.6g} to {reference.time[-1]:.6g} s; give one that covers it."
        )
    off = float(np.abs(place - number).max())
    if off > LOOP_CLOCK.beside:
        raise DynidError(
            f"Stamps of {what} lie up to {off:.2f} of a sample beside the controller's samples; {remedy}."
        )
    return number
