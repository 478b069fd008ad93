"""Are the stamps sound? Rate, duration, jitter, gaps, bad stamps, a clock that was set back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynid.checks.data_check import Checked
from dynid.core.errors import option_words
from dynid.core.finding import Finding, Level, Name, Where
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.bad_rows import Columns
from dynid.preparation.clock import CLOCK, LogClock, are_shuffled, clock_of, longest_run
from dynid.preparation.coarse_clock import CoarseClock, coarse_clock
from dynid.preparation.repair import REPAIR
from dynid.preparation.set_clock import forward_breaks, pieces_between_breaks


@dataclass(frozen=True)
class StampLimits:
    """What stamps of a robot's log may be. Chosen by hand, from what drives and loggers do.

    Args:
        fewest: samples below which nothing can be said.
        shortest_s: seconds below which no motion of a robot can be seen.
        fastest_hz: rate beyond which the unit of the stamps is another.
        slowest_hz: rate below which it is, or no motion can be seen.
        jitter: width of the steps over the median step, above which a log wants resampling.
        most_bad: share of bad stamps beyond which the clock is not to be trusted.
    """

    fewest: int = 20
    shortest_s: float = 0.1
    fastest_hz: float = 50e3
    slowest_hz: float = 1.0
    jitter: float = 0.02
    most_bad: float = 0.2


LIMITS = StampLimits()
_WHOLE_LOG = Where(moment="whole log")


def check_stamps(log: Log, columns: Columns, robot: Robot | None = None) -> Checked:
    """Rate, duration, bad stamps and places where the clock was set back.

    Args:
        log: the log.
        columns: not needed.
        robot: not needed.
    """
    clock = clock_of(log)
    facts: dict[str, Any] = {"samples": log.samples, "axes": log.axes}
    if log.samples < LIMITS.fewest:
        sentence = f"The log has {log.samples} samples; at least {LIMITS.fewest} are needed to say anything."
        return Checked((Finding(Name.TOO_SHORT, Level.FAIL, sentence, "Record a longer log."),), facts)
    coarse = coarse_clock(log.time)
    if coarse is not None:
        return _coarse_clock(log, coarse, facts)
    rate, seconds = 1.0 / clock.step if clock.step > 0 else float("nan"), float(np.sum(clock.steps))
    facts |= {"side": log.side, "rate_hz": rate, "duration_s": seconds}
    findings = _given_rate(log)
    bad, good = clock.bad_stamps, clock.samples - clock.bad_stamps
    if bad > LIMITS.most_bad * clock.samples and are_shuffled(log.time):
        facts |= _sorted_clock(log)
        short = _rate_and_duration(facts["rate_hz"], facts["duration_s"])
        return Checked((*findings, _shuffled_rows(log, bad), *short), facts)
    if good < LIMITS.fewest or bad > LIMITS.most_bad * clock.samples:
        sentence = (
            f"{bad} of {clock.samples} stamps are repeated, backward or no numbers; the clock is not usable."
        )
        remedy = "Give rate_hz in a mapping instead of the stamps, if the rate is known."
        keys: dict[str, Any] = {}
        if np.isfinite(rate):
            keys = {"rate_hz": float(f"{rate:.6g}"), "time": {"ignore": True}}
            remedy = (
                f"If the rows are evenly spaced, say rate_hz = {rate:.6g} (that of the good stamps, or a "
                "better known one) and ignore = true in [time] of a mapping."
            )
        finding = Finding(Name.CLOCK, Level.FAIL, sentence, remedy, _WHOLE_LOG, mapping=keys)
        return Checked((*findings, finding), facts)
    findings += [*_rate_and_duration(rate, seconds), *_set_back_clock(log, clock)]
    findings += [*_set_forward_clock(log, clock), *_bad_stamps(clock)]
    return Checked(tuple(findings), facts)


def _shuffled_rows(log: Log, bad: int) -> Finding:
    sentence = (
        f"The rows are in no order: {bad} of {log.samples} stamps are earlier than one before, and all are "
        "even once they are sorted."
    )
    remedy = "Put the rows in the order of their stamps."
    return Finding(Name.BACKWARD_STAMPS, Level.CARE, sentence, remedy, _WHOLE_LOG, repairable=True)


def _sorted_clock(log: Log) -> dict[str, float]:
    """Rate and duration by sorted stamps."""
    stamps = np.sort(log.time)
    return {"rate_hz": 1.0 / float(np.median(np.diff(stamps))), "duration_s": float(stamps[-1] - stamps[0])}


def _coarse_clock(log: Log, coarse: CoarseClock, facts: Mapping[str, Any]) -> Checked:
    """Rows that are even, and stamps that are rounded to ticks."""
    rate, seconds = coarse.rate_hz, float(log.time[-1] - log.time[0])
    sentence = (
        f"The stamps are whole ticks of {1e3 * coarse.tick:.4g} ms, and the rows are even within a tick, at "
        f"{rate:.6g} Hz."
    )
    figures = {"tick_s": coarse.tick, "rate_hz": rate}
    remedy = "Let the stamps go on evenly."
    finding = Finding(Name.COARSE_CLOCK, Level.CARE, sentence, remedy, _WHOLE_LOG, figures, repairable=True)
    facts = {**facts, "side": log.side, "rate_hz": rate, "duration_s": seconds}
    return Checked((*_given_rate(log), *_rate_and_duration(rate, seconds), finding), facts)


def check_gaps(log: Log, columns: Columns, robot: Robot | None = None) -> Checked:
    """Samples that are missing, and steps that vary.

    Args:
        log: the log.
        columns: not needed.
        robot: not needed.
    """
    clock = clock_of(log)
    if log.samples < LIMITS.fewest or not clock.step > 0:
        return Checked()
    facts = {"jitter_percent": 100 * clock.jitter, "gaps": len(clock.gaps)}
    return Checked((*_gaps(clock), *_jitter(clock)), facts)


def _given_rate(log: Log) -> list[Finding]:
    """A rate of the mapping that the stamps of the file deny."""
    remedy = "Leave rate_hz out of the mapping to go by the stamps, or say ignore = true in [time]."
    return [
        Finding(Name.RATE_AGAINST_STAMPS, Level.FAIL, step.note, remedy, _WHOLE_LOG)
        for step in log.history
        if step.name == Name.RATE_AGAINST_STAMPS
    ]


def _rate_and_duration(rate: float, seconds: float) -> list[Finding]:
    """Rates and durations that no log of a robot has."""
    remedy = "Say the unit of the stamps in [time] of a mapping (s, ms, us or ns)."
    if rate > LIMITS.fastest_hz:
        sentence = (
            f"The stamps give {rate:.4g} Hz and {seconds:.3g} s in all, faster than robots are logged: their "
            "unit is another."
        )
        return [Finding(Name.TIME_UNIT, Level.FAIL, sentence, remedy, _WHOLE_LOG)]
    if seconds < LIMITS.shortest_s:
        least = f"at least {1e3 * LIMITS.shortest_s:g} ms are needed"
        sentence = f"The log lasts {1e3 * seconds:.3g} ms; {least}."
        return [Finding(Name.TOO_SHORT, Level.FAIL, sentence, f"Record a longer log. {remedy}")]
    if rate < LIMITS.slowest_hz:
        sentence = f"The stamps give {rate:.3g} Hz: too slow for a motion, or their unit is another."
        return [Finding(Name.TIME_UNIT, Level.CARE, sentence, remedy, _WHOLE_LOG)]
    return []


def _set_back_clock(log: Log, clock: LogClock) -> list[Finding]:
    """Places where the clock was set back for good."""
    if not clock.breaks:
        return []
    pieces = pieces_between_breaks(log, clock)
    piece = longest_run(pieces)
    share = (piece.stop - piece.start) / clock.samples
    worst = max(clock.breaks, key=lambda place: place.back_s)
    if len(pieces) > 1:
        words = f"the motion does not go on there; the longest piece holds {100 * share:.0f} % of the log."
        remedy = "Cut the log there into experiments; a repair keeps the longest piece only."
    else:
        words, remedy = "the motion goes on over it.", "Let the stamps go on with the usual step."
    sentence = f"The clock was set back {_times(len(clock.breaks))}, most by {worst.back_s:.4g} s; {words}"
    place = Where(moment=f"sample {worst.index + 1}, t = {clock.raw[worst.index - 1]:.4f} s")
    mendable = len(pieces) == 1 or share >= REPAIR.least_kept
    level = Level.CARE if mendable else Level.FAIL
    return [Finding(Name.CLOCK_SET_BACK, level, sentence, remedy, place, repairable=mendable)]


def _set_forward_clock(log: Log, clock: LogClock) -> list[Finding]:
    """Places where the clock was set forward and the motion went on: no time is missing there."""
    breaks = forward_breaks(log, clock)
    if not breaks:
        return []
    worst = min(breaks, key=lambda place: place.back_s)
    sentence = (
        f"The clock was set forward {_times(len(breaks))}, most by {-worst.back_s:.4g} s; the motion goes on "
        "over it."
    )
    remedy = "Let the stamps go on with the usual step."
    place = Where(moment=f"sample {worst.index + 1}, t = {clock.raw[worst.index - 1]:.4f} s")
    return [Finding(Name.CLOCK_SET_FORWARD, Level.CARE, sentence, remedy, place, repairable=True)]


def _bad_stamps(clock: LogClock) -> list[Finding]:
    kinds = {
        Name.REPEATED_STAMPS: (clock.repeated, "equal to the one before"),
        Name.BACKWARD_STAMPS: (clock.backward, "earlier than one before, or leap ahead"),
        Name.LOST_STAMPS: (clock.lost, "not finite"),
    }
    place = Where(moment=f"first at sample {int(np.argmin(clock.good)) + 1}")
    return [
        Finding(
            name,
            Level.CARE,
            f"{count} of {clock.samples} stamps are {words}.",
            "Interpolate these stamps where there is room, put rows in order, leave the others out.",
            place,
            repairable=True,
        )
        for name, (count, words) in kinds.items()
        if count
    ]


def _gaps(clock: LogClock) -> list[Finding]:
    found, long = [], clock.missing_samples > CLOCK.short_gap
    if not np.all(long):
        first = clock.raw[clock.stamp_before(clock.gaps[np.argmin(long)])]
        count, missing = int(np.count_nonzero(~long)), int(clock.missing_samples[~long].sum())
        sentence = f"{_plural(count, 'short gap')}: {missing} samples are missing."
        remedy, place = "Interpolate the missing samples.", Where(moment=f"first at t = {first:.4f} s")
        found.append(Finding(Name.SHORT_GAPS, Level.CARE, sentence, remedy, place, repairable=True))
    if np.any(long):
        widest = int(np.argmax(clock.missing_samples))
        missing = int(clock.missing_samples[widest])
        share = clock.longest_stretch()[1] / max(1, clock.samples - clock.bad_stamps)
        sentence = (
            f"{_plural(int(np.count_nonzero(long)), 'long gap')}, the longest {missing * clock.step:.3g} s "
            f"({missing} samples); the longest stretch without one holds {100 * share:.0f} % of the log."
        )
        remedy = (
            "Cut the log at the gaps: dynid check LOG --repair OUT.npz --parts writes every stretch as a log "
            "of its own; without --parts a repair keeps the longest only."
        )
        place = Where(moment=f"t = {clock.raw[clock.stamp_before(clock.gaps[widest])]:.4f} s")
        mendable = share >= REPAIR.least_kept
        level = Level.CARE if mendable else Level.FAIL
        found.append(Finding(Name.LONG_GAPS, level, sentence, remedy, place, repairable=mendable))
    return found


def _jitter(clock: LogClock) -> list[Finding]:
    if clock.jitter <= LIMITS.jitter:
        return []
    steps = clock.steps if not len(clock.gaps) else np.delete(clock.steps, clock.gaps)
    sentence = (
        f"Steps between stamps vary by {100 * clock.jitter:.2g} % around {1e3 * clock.step:.4g} ms "
        f"({1e3 * steps.min():.3g} to {1e3 * steps.max():.3g} ms)."
    )
    mended = f"with {option_words('--repair')} it is written so"
    remedy = f"A fit resamples such a log to a constant rate by itself; {mended}."
    return [Finding(Name.JITTER, Level.NOTE, sentence, remedy, repairable=True)]


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _plural(count: int, what: str) -> str:
    return f"{count} {what}" + ("s" if count != 1 else "")
