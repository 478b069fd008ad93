"""Stamps: rate, jitter, gaps, repeated and backward ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dynid.signals.log import Log
from dynid.signals.quality.clock import (
    SHORT_GAP,
    Clock,
    continuous,
    longest_piece,
    longest_stretch,
    read_clock,
)
from dynid.signals.quality.finding import Checked, Finding
from dynid.signals.quality.mend import without_empty_rows
from dynid.signals.quality.values import empty_rows

__all__ = ["FEWEST", "check_stamps", "longest_stretch", "read_clock"]
FEWEST = 20
"""Samples below which nothing can be said."""
JITTER = 0.02
"""Spread of the steps, as a share of the median step, above which the log wants resampling."""
_MOST_BAD = 0.2
"""Share of bad stamps beyond which the clock is not to be trusted."""
_LOOKED_AT = 100_000
"""Steps, spread over the log, that the jitter is found from."""
_SHORTEST_S = 0.1
"""Seconds below which no motion of a robot can be seen."""
_FASTEST_HZ, _SLOWEST_HZ = 50e3, 1.0
"""Rates at which robots are logged."""


def check_stamps(log: Log) -> Checked:
    """Rate, jitter, gaps, repeated and backward stamps."""
    if log.samples < FEWEST:
        sentence = f"The log has {log.samples} samples; at least {FEWEST} are needed to say anything."
        few = Finding("too short", "error", sentence, "Record a longer log.")
        return Checked((few,), {"samples": log.samples, "axes": log.axes})
    samples = log.samples
    if np.any(empty_rows(log)):
        log, _ = without_empty_rows(log)  # told with the damaged lines
    clock = read_clock(log)
    facts = {
        "samples": samples,
        "axes": log.axes,
        "side": log.side,
        "rate_hz": 1.0 / clock.step if clock.step > 0 else float("nan"),
        "duration_s": float(np.sum(clock.steps)),
    }
    findings = _given_rate(log)
    bad = int(np.sum(~clock.good))
    if len(clock.steps) < FEWEST or bad > _MOST_BAD * log.samples:
        sentence = (
            f"{bad} of {log.samples} stamps are repeated, backward or no numbers; the clock is not usable."
        )
        remedy = "Give rate_hz in a mapping instead of the stamps, if the rate is known."
        findings.append(Finding("clock", "error", sentence, remedy, where="whole log"))
        return Checked(tuple(findings), facts)
    findings += [*_duration(facts), *_breaks(log, clock), *_bad_stamps(log, clock), *_gaps(log, clock)]
    steps = clock.steps[~clock.gaps]
    low, high = np.quantile(steps[:: max(1, len(steps) // _LOOKED_AT)], [0.01, 0.99])
    jitter = float(high - low) / clock.step
    facts |= {"jitter_percent": 100 * jitter, "gaps": int(np.sum(clock.gaps))}
    if jitter > JITTER:
        sentence = (
            f"Steps between stamps vary by {100 * jitter:.2g} % around {1e3 * clock.step:.4g} ms "
            f"({1e3 * steps.min():.3g} to {1e3 * steps.max():.3g} ms)."
        )
        remedy = "Resample to the constant rate before filters and differences."
        findings.append(Finding("jitter", "warning", sentence, remedy, repairable=True))
    return Checked(tuple(findings), facts)


def _given_rate(log: Log) -> list[Finding]:
    """A rate of the mapping that the stamps of the file deny."""
    remedy = "Leave rate_hz out of the mapping to go by the stamps, or say ignore = true in [time]."
    return [
        Finding("rate against stamps", "error", step.note, remedy, where="whole log")
        for step in log.history
        if step.name == "rate against stamps"
    ]


def _duration(facts: Mapping[str, Any]) -> list[Finding]:
    """Rates and durations that no log of a robot has."""
    rate, seconds = float(facts["rate_hz"]), float(facts["duration_s"])
    remedy = "Say the unit of the stamps in [time] of a mapping (s, ms, us or ns)."
    if rate > _FASTEST_HZ:
        sentence = (
            f"The stamps give {rate:.4g} Hz and {seconds:.3g} s in all, faster than robots are logged: their "
            "unit is another."
        )
        return [Finding("time unit", "error", sentence, remedy, where="whole log")]
    if seconds < _SHORTEST_S:
        sentence = f"The log lasts {1e3 * seconds:.3g} ms; at least {1e3 * _SHORTEST_S:g} ms are needed."
        return [Finding("too short", "error", sentence, f"Record a longer log. {remedy}")]
    if rate < _SLOWEST_HZ:
        sentence = f"The stamps give {rate:.3g} Hz: too slow for a motion, or their unit is another."
        return [Finding("time unit", "warning", sentence, remedy, where="whole log")]
    return []


def _breaks(log: Log, clock: Clock) -> list[Finding]:
    """Places where the clock was set back for good."""
    if not clock.breaks:
        return []
    worst = max(clock.breaks, key=lambda found: found.back_s)
    joined = all(continuous(log, found) for found in clock.breaks)
    piece = longest_piece(log, clock)
    share = (piece.stop - piece.start) / log.samples
    how_often = "once" if len(clock.breaks) == 1 else f"{len(clock.breaks)} times"
    lead = f"The clock was set back {how_often}, most by {worst.back_s:.4g} s; "
    if joined:
        words, remedy = "the motion goes on over it.", "Let the stamps go on with the usual step."
    else:
        words = f"the motion does not go on there; the longest piece holds {100 * share:.0f} % of the log."
        remedy = "Cut the log there into experiments; a repair keeps the longest piece only."
    where = f"sample {worst.index + 1}, t = {log.time[worst.index - 1]:.4f} s"
    mendable = joined or share >= 0.5
    severity = "warning" if mendable else "error"
    return [Finding("clock set back", severity, lead + words, remedy, None, None, where, mendable)]


def _bad_stamps(log: Log, clock: Clock) -> list[Finding]:
    counts = {"repeated stamps": clock.repeated, "backward stamps": clock.backward, "lost stamps": clock.lost}
    words = {
        "repeated stamps": "equal to the one before",
        "backward stamps": "earlier than one before, or leap ahead",
        "lost stamps": "not finite",
    }
    first = int(np.argmin(clock.good))
    found = []
    for name, count in counts.items():
        if count:
            sentence = f"{count} of {log.samples} stamps are {words[name]}."
            where = f"first at sample {first + 1}"
            found.append(Finding(name, "warning", sentence, "Leave these rows out.", None, None, where, True))
    return found


def _gaps(log: Log, clock: Clock) -> list[Finding]:
    gaps = clock.gaps
    if not np.any(gaps):
        return []
    missing, places = clock.missing[gaps], clock.after[gaps]
    short = missing <= SHORT_GAP
    found = []
    if np.any(short):
        sentence = (
            f"{_counted(int(short.sum()), 'short gap')}: {int(missing[short].sum())} samples are missing."
        )
        where = f"first at t = {log.time[places[short][0]]:.4f} s"
        remedy = "Interpolate the missing samples."
        found.append(Finding("short gaps", "warning", sentence, remedy, None, None, where, True))
    if np.any(~short):
        longest = int(np.argmax(missing))
        share = longest_stretch(log, clock)[1] / max(1, int(clock.good.sum()))
        sentence = (
            f"{_counted(int((~short).sum()), 'long gap')}, the longest {missing[longest] * clock.step:.3g} s "
            f"({int(missing[longest])} samples); the longest stretch without one holds "
            f"{100 * share:.0f} % of the log."
        )
        where = f"t = {log.time[places[longest]]:.4f} s"
        remedy = "Cut the log at the gaps into experiments; a repair keeps the longest stretch only."
        severity = "warning" if share >= 0.5 else "error"
        found.append(Finding("long gaps", severity, sentence, remedy, None, None, where, share >= 0.5))
    return found


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" + ("s" if count != 1 else "")
