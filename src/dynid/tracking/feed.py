"""Samples in order: late, missing, repeated and displaced ones are counted, and stretches told apart.

The clock of a feed foresees the stamp of the next sample, t̂ + T. A sample at t is the n-th after the last,

    n = round((t − t̂) / T),    e = t − t̂ − n T,    t̂ ← t̂ + n T + a e,    T ← T + a²/4 · e / n,

a loop of second order (critically damped; a begins at 1/2 in each stretch) that follows the sender's clock
through its jitter, up to half a period. n > 1 says that n − 1 samples are missing. Stamps stay as they came:
a filter takes the samples of a stretch as evenly spaced.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite, sqrt
from operator import attrgetter

import numpy as np

from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.core.finding import Finding, Level, Name
from dynid.tracking.refusals import share_finding
from dynid.tracking.sample import Arrival, Sample
from dynid.tracking.sources.source import SampleSource

STAMP = attrgetter("time")


@dataclass(frozen=True)
class FeedRules:
    """How samples are put in order. Chosen by hand; the made streams of ``tests/tracking`` hold them.

    Args:
        rate_hz: nominal rate; None to take it from the first stamps.
        reorder: samples that a late one may be waited for. Waiting costs delay only after one is missing.
        bridge: missing samples in a row that are interpolated; a longer gap begins a stretch anew. One sample
            on a straight line errs by q̈ T²/2, 5e-6 rad at 10 rad/s² and 1 kHz, below most encoders.
        first: samples whose median step is the period; they are held back until it is known.
        far_s: a stamp farther ahead than this is believed only when others follow it [s], or …
        far_steps: … this many periods, where these are longer.
        persist: samples in a row of another clock that show that it was set, as by a controller that starts
            again: 20 ms at 1 kHz, more than networks put samples out of order.
        pull: a, share of a deviation that the clock follows; a time constant of 50 samples.
        agree: share by which the rate of the stamps may differ from the one given.
        even: root mean square of e over T from which jitter is told.
        patience: samples of which one must get through.
    """

    rate_hz: float | None = None
    reorder: int = 0
    bridge: int = 1
    first: int = 32
    far_s: float = 1.0
    far_steps: float = 10.0
    persist: int = 20
    pull: float = 0.04
    agree: float = 0.02
    even: float = 0.1
    patience: int = 100

    def __post_init__(self) -> None:
        """Refuse rules that hold nothing, or hold everything back."""
        if self.rate_hz is not None and not 0 < self.rate_hz < 1e9:
            raise DynidError(f"rate_hz is {self.rate_hz}; give samples per second above 0.")
        for name, least, most in (
            ("reorder", 0, 10_000), ("bridge", 0, 10), ("first", 3, 10_000), ("persist", 2, 10_000),
        ):  # fmt: skip
            if not least <= getattr(self, name) <= most:
                raise DynidError(f"{name} is {getattr(self, name)}; give {least} to {most} samples.")


class Feed:
    """Puts samples in order and says where a stretch begins.

    ``for sample, anew, made_up in feed.in_order(source)``, or from a callback ``for … in feed.put(sample)``.

    Args:
        rules: how.
    """

    def __init__(self, rules: FeedRules | None = None) -> None:
        """Begin without any sample."""
        self.rules = rules = rules or FeedRules()
        self.received = self.late = self.missing = self.repeated = self.out_of_order = self.refused = 0
        self.bridged = self.stretches = self.clock_set = self.given = 0
        self.period_s = 0.0 if rules.rate_hz is None else 1.0 / rules.rate_hz
        self._nominal = self.period_s
        self._far = max(rules.far_s, rules.far_steps * self.period_s)
        self._held: list[Sample] = []
        self._first_stamps: list[float] = []
        self._window: list[Sample] = []
        self._others: list[Sample] = []
        self._last: Sample | None = None
        self._newest = self._clock = 0.0
        self._anew, self._along = True, 1
        self._square_sum = 0.0

    def in_order(self, samples: Iterable[Sample]) -> Iterator[Arrival]:
        """Samples in their places until the stream ends."""
        for sample in samples:
            yield from self.put(sample)
        yield from self.finish()

    def put(self, sample: Sample) -> list[Arrival]:
        """Samples that come into their places with this one, oldest first.

        Raises:
            NotTrustworthyError: when so many came without any getting through that the stamps must be wrong.
        """
        self.received += 1
        out: list[Arrival] = []
        if not isfinite(sample.time):
            self.refused += 1
            return out
        if self.received <= self.rules.first:
            self._first_stamps.append(sample.time)
        if self.period_s:
            self._take(sample, out)
            return out
        if self._held and sample.time == self._held[-1].time:
            self.repeated += 1
        else:
            self._held.append(sample)
        if len(self._held) >= self.rules.first:
            self._begin(out)
        elif self.received - len(self._held) >= self.rules.patience:
            raise NotTrustworthyError(
                f"{self.repeated} of {self.received} samples have the stamp of the one before, the last one "
                f"{sample.time:.9g} s; send the time at which each sample was taken, or give the rate."
            )
        return out

    def finish(self) -> list[Arrival]:
        """Samples still waiting at the end of the stream."""
        out: list[Arrival] = []
        if self._held:
            self._begin(out)
        self._leave_others()
        while self._window:
            self._place(self._window.pop(0), out)
        return out

    @property
    def counts(self) -> dict[str, int]:
        """What happened to the samples, for the record."""
        names = ("received", "late", "missing", "repeated", "out_of_order", "refused", "bridged", "stretches")
        return {name: getattr(self, name) for name in (*names, "clock_set")}

    @property
    def jitter(self) -> float:
        """Root mean square of e over the period."""
        return sqrt(self._square_sum / self.given) / self.period_s if self.given and self.period_s else 0.0

    def _begin(self, out: list[Arrival]) -> None:
        """Take the period from the samples held back, and put these in their places."""
        held, self._held = self._held, []
        steps = np.diff(np.unique([sample.time for sample in held]))
        self._nominal = self.period_s = float(np.median(steps)) if len(steps) else 1.0
        self._far = max(self.rules.far_s, self.rules.far_steps * self.period_s)
        for sample in held:
            self._take(sample, out)

    def _take(self, sample: Sample, out: list[Arrival]) -> None:
        """Put a sample where its stamp says, unless it is of another clock."""
        last, time = self._last, sample.time
        if last is None and not self._window:
            self._newest = time
        elif last is not None and time == last.time:
            self.repeated += 1
            return
        elif (last is not None and time < last.time) or abs(time - self._newest) > self._far:
            self._take_other(sample, out)
            return
        if self._others:
            self._leave_others()
        window = self._window
        if time < self._newest:
            at = bisect_left(window, time, key=STAMP)
            if at < len(window) and window[at].time == time:
                self.repeated += 1
                return
            self.out_of_order += 1
            window.insert(at, sample)
        elif window and time == self._newest:
            self.repeated += 1
            return
        else:
            self._newest = time
            window.append(sample)
        # What is next needs no waiting; behind a gap a few samples are waited for.
        while window and (len(window) > self.rules.reorder or self._is_next(window[0])):
            self._place(window.pop(0), out)

    def _is_next(self, sample: Sample) -> bool:
        return self._anew or sample.time - self._clock < 1.5 * self.period_s

    def _take_other(self, sample: Sample, out: list[Arrival]) -> None:
        """Keep a sample that is late or far ahead until it is known whether the clock was set."""
        others = self._others
        step = sample.time - others[-1].time if others else 0.0
        if others and step == 0:
            self.repeated += 1
            return
        if others and not 0 < step <= self._far:
            self._leave_others()
        self._others.append(sample)
        if len(self._others) < self.rules.persist:
            return
        others, self._others = self._others, []
        while self._window:
            self._place(self._window.pop(0), out)
        if others[0].time > self._newest:  # a gap, however long: the clock runs on
            self._newest = others[0].time
        else:
            self._last, self._anew = None, True
            self.clock_set += 1
        for one in others:
            self._take(one, out)

    def _leave_others(self) -> None:
        """Count samples of another clock that did not last: behind the last one late, far ahead refused."""
        for sample in self._others:
            if self._last is not None and sample.time < self._last.time:
                self.late += 1
            else:
                self.refused += 1
        self._others = []

    def _place(self, sample: Sample, out: list[Arrival]) -> None:
        """Give a sample away, with what is missing before it."""
        last, period = self._last, self.period_s
        self._last = sample
        self.given += 1
        if self._anew or last is None:
            self._start_stretch(sample, out)
            return
        n = max(round((sample.time - self._clock) / period), 1)
        error = sample.time - self._clock - n * period
        if n > 1:
            self.missing += n - 1
            if n - 1 > self.rules.bridge:
                self._start_stretch(sample, out)
                return
            self.bridged += n - 1
            out += [Arrival(last.between(sample, k / n), False, True) for k in range(1, n)]
        if error < -period:  # the sender caught up after it was held up
            self._clock = sample.time
        else:
            pull = self.rules.pull
            self._along += 1
            self._clock += n * period + max(pull, 1.0 / self._along) * error  # at first a mean
            wanted = period + 0.25 * pull * pull * error / n
            self.period_s = min(max(wanted, 0.8 * self._nominal), 1.25 * self._nominal)
        self._square_sum += error * error
        out.append(Arrival(sample, False, False, self._clock))

    def _start_stretch(self, sample: Sample, out: list[Arrival]) -> None:
        self._clock, self._anew, self._along = sample.time, False, 1
        self.stretches += 1
        out.append(Arrival(sample, True))

    def findings(self) -> tuple[Finding, ...]:
        """What the order of the samples means for the result."""
        total = self.received + self.missing
        found = [
            share_finding(name, count, of, sentence, remedy)
            for name, count, of, sentence, remedy in (
                (Name.LOST_SAMPLES, self.missing, total, f"samples were missing; {self._gap_words()}", ""),
                (Name.REPEATED_STAMPS, self.repeated, self.received,
                 "samples had the stamp of the one before and were left out.", ""),
                (Name.BACKWARD_STAMPS, self.late, self.received,
                 "samples came after their place was passed and were left out.",
                 f"Wait for them with a reorder window above {self.rules.reorder} samples."),
                (Name.LOST_STAMPS, self.refused, self.received,
                 "samples had a stamp far from those of their neighbours and were left out.", ""),
            )
            if count
        ]  # fmt: skip
        return (*found, *self._clock_findings())

    def _gap_words(self) -> str:
        anew = self.stretches - 1 - self.clock_set
        return f"{self.bridged} were interpolated, and filters began anew {max(anew, 0)} times."

    def _clock_findings(self) -> list[Finding]:
        """What was noticed of the clock itself."""
        found = []
        if self.out_of_order:
            found.append(
                Finding(
                    Name.BACKWARD_STAMPS,
                    Level.NOTE,
                    f"{self.out_of_order} samples came out of order and were put back in their places.",
                    figures={"count": self.out_of_order},
                )
            )
        if self.clock_set:
            sentence = f"The clock of the stream was set {self.clock_set} times; a stretch began at each."
            found.append(Finding(Name.CLOCK, Level.NOTE, sentence, figures={"count": self.clock_set}))
        if self.jitter > self.rules.even:
            sentence = f"The stamps deviate from even ones by {100 * self.jitter:.0f} % of the period (rms)."
            remedy = "Send the time at which a sample was taken, not the one at which it was sent."
            found.append(Finding(Name.JITTER, Level.CARE, sentence, remedy, figures={"share": self.jitter}))
        steps = np.diff(np.unique(self._first_stamps))
        measured = 1.0 / float(np.median(steps)) if len(steps) else 0.0
        given = self.rules.rate_hz
        if given is not None and measured and abs(measured / given - 1) > self.rules.agree:
            sentence = f"The stamps say {measured:.6g} Hz, but the rate given is {given:g} Hz."
            found.append(
                Finding(
                    Name.RATE_AGAINST_STAMPS,
                    Level.CARE,
                    sentence,
                    "Leave the rate out, or give the right one.",
                    figures={"rate_hz": given, "stamps_hz": measured},
                )
            )
        return found


def counts_of(source: SampleSource, feed: Feed) -> dict[str, int]:
    """Counts of a stream and of its order together, for the record.

    Args:
        source: whose messages are "received"; those that it refused are added to those that the feed did.
        feed: that put them in order.
    """
    return {**feed.counts, **_sum(source.counts, {"refused": feed.refused})}


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in (*one, *(set(other) - set(one)))}
