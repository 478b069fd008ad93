"""Stamps: rate, jitter, gaps, repeated and backward ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.signals.log import Log
from dynid.signals.quality.finding import Checked, Finding

FloatArray = NDArray[np.float64]
FEWEST = 20
"""Samples below which nothing can be said."""
JITTER = 0.02
"""Spread of the steps, as a share of the median step, above which the log wants resampling."""
SHORT_GAP = 10
"""Missing samples that interpolation may bridge."""
_MOST_BAD = 0.2
"""Share of bad stamps beyond which the clock is not to be trusted."""


@dataclass(frozen=True, eq=False)
class Clock:
    """What the stamps say about time.

    Args:
        good: stamps that are finite and later than all before them, (samples,) of bool.
        repeated: number of stamps equal to the one before.
        backward: number of stamps earlier than one before.
        lost: number of stamps that are not finite.
        step: median step between good stamps [s].
        steps: steps between good stamps [s].
        after: index, in the log, of the sample before each step.
    """

    good: NDArray[np.bool_]
    repeated: int
    backward: int
    lost: int
    step: float
    steps: FloatArray
    after: NDArray[np.intp]

    @property
    def gaps(self) -> NDArray[np.bool_]:
        """Steps that are too long to be jitter: samples are missing."""
        usual = float(np.quantile(self.steps, 0.95)) if len(self.steps) else 0.0
        return self.steps > max(1.8 * usual, 2.5 * self.step)

    @property
    def missing(self) -> FloatArray:
        """Samples missing in each step."""
        return np.round(self.steps / self.step) - 1.0


def read_clock(log: Log) -> Clock:
    """Tell good stamps from bad ones."""
    finite = np.isfinite(log.time)
    time = np.where(finite, log.time, -np.inf)
    before = np.concatenate(([-np.inf], np.maximum.accumulate(_plausible(time))[:-1]))
    good = finite & (time > before) & (time == _plausible(time))
    repeated = int(np.sum(finite & (time == before)))
    lost = int(np.sum(~finite))
    backward = int(np.sum(~good)) - repeated - lost
    kept = np.flatnonzero(good)
    steps = np.diff(log.time[kept])
    return Clock(
        good, repeated, backward, lost, float(np.median(steps)) if len(steps) else np.nan, steps, kept[:-1]
    )


def _plausible(time: FloatArray) -> FloatArray:
    """Stamps without single ones that leap ahead and come back, which would make all later ones late."""
    finite = time[np.isfinite(time)]
    if len(finite) < 3:
        return time
    after = np.concatenate((time[1:], [np.inf]))
    before = np.concatenate(([-np.inf], time[:-1]))
    leap = (time > after) & (time > before) & (after >= before)
    return np.where(leap, before, time)


def check_stamps(log: Log) -> Checked:
    """Rate, jitter, gaps, repeated and backward stamps."""
    if log.samples < FEWEST:
        sentence = f"The log has {log.samples} samples; at least {FEWEST} are needed to say anything."
        few = Finding("too short", "error", sentence, "Record a longer log.")
        return Checked((few,), {"samples": log.samples, "axes": log.axes})
    clock = read_clock(log)
    facts = {
        "samples": log.samples,
        "axes": log.axes,
        "side": log.side,
        "rate_hz": 1.0 / clock.step if clock.step > 0 else float("nan"),
        "duration_s": float(np.sum(clock.steps)),
    }
    bad = int(np.sum(~clock.good))
    if len(clock.steps) < FEWEST or bad > _MOST_BAD * log.samples:
        sentence = (
            f"{bad} of {log.samples} stamps are repeated, backward or no numbers; the clock is not usable."
        )
        remedy = "Give rate_hz in a mapping instead of the stamps, if the rate is known."
        return Checked((Finding("clock", "error", sentence, remedy, where="whole log"),), facts)
    findings = [*_bad_stamps(log, clock), *_gaps(log, clock)]
    steps = clock.steps[~clock.gaps]
    jitter = float((np.quantile(steps, 0.99) - np.quantile(steps, 0.01)) / clock.step)
    facts |= {"jitter_percent": 100 * jitter, "gaps": int(np.sum(clock.gaps))}
    if jitter > JITTER:
        sentence = (
            f"Steps between stamps vary by {100 * jitter:.2g} % around {1e3 * clock.step:.4g} ms "
            f"({1e3 * steps.min():.3g} to {1e3 * steps.max():.3g} ms)."
        )
        remedy = "Resample to the constant rate before filters and differences."
        findings.append(Finding("jitter", "warning", sentence, remedy, repairable=True))
    return Checked(tuple(findings), facts)


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


def longest_stretch(log: Log, clock: Clock) -> tuple[slice, int]:
    """The longest run of samples without a long gap, and how many good samples it holds."""
    long = clock.gaps & (clock.missing > SHORT_GAP)
    kept = np.flatnonzero(clock.good)
    cuts = np.flatnonzero(long) + 1
    edges = [0, *cuts.tolist(), len(kept)]
    best = max(range(len(edges) - 1), key=lambda i: edges[i + 1] - edges[i])
    start, stop = edges[best], edges[best + 1]
    return slice(int(kept[start]), int(kept[stop - 1]) + 1), stop - start
