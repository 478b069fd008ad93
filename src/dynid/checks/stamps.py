"""Stamps: rate, jitter, gaps, repeated and backward ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.checks.clock import longest_between, longest_stretch, read_clock
from dynid.checks.clock_stream import ClockStream, Stamps
from dynid.checks.finding import Checked, defect
from dynid.checks.mend import without_empty_rows
from dynid.checks.piece import Piece, empty_rows, piece_of
from dynid.checks.survey import Survey, survey_log
from dynid.core.finding import Finding
from dynid.logs.log import Log

__all__ = ["FEWEST", "StampChecks", "check_stamps", "longest_stretch", "read_clock"]
FEWEST = 20
"""Samples below which nothing can be said."""
JITTER = 0.02
"""Spread of the steps, as a share of the median step, above which the log wants resampling."""
_MOST_BAD = 0.2
"""Share of bad stamps beyond which the clock is not to be trusted."""
_SHORTEST_S = 0.1
"""Seconds below which no motion of a robot can be seen."""
_FASTEST_HZ, _SLOWEST_HZ = 50e3, 1.0
"""Rates at which robots are logged."""


def check_stamps(log: Log) -> Checked:
    """Rate, jitter, gaps, repeated and backward stamps."""
    survey = survey_log(log)
    stamps = StampChecks(survey)
    stamps.take(piece_of(log, survey))
    return stamps.finish()


class StampChecks:
    """Rate, jitter, gaps, repeated and backward stamps of a log that comes in pieces.

    Args:
        survey: what is usual in it.
    """

    def __init__(self, survey: Survey) -> None:
        """Begin before the first sample."""
        self._survey = survey
        axes = survey.channels.get("position", ())
        self._clock = ClockStream(survey.step, survey.longest_step, np.array([axis.span for axis in axes]))
        self._held: Log | None = None
        """The last sound row and the damaged lines after it, which wait for the next sound one."""

    def take(self, piece: Piece) -> None:
        """The next piece."""
        log = piece.log if piece.empty is None else self._filled(piece)
        self._clock.take(log.time, _positions(log), piece.last)

    def _filled(self, piece: Piece) -> Log:
        """The rows before the last sound one, damaged lines interpolated or left out: they are told."""
        whole = piece.log if self._held is None else _joined(self._held, piece.log)
        empty = empty_rows(whole)
        if piece.last:
            return without_empty_rows(whole, empty, self._survey.step)[0]
        sound = np.flatnonzero(~empty)
        cut = int(sound[-1]) if len(sound) else 0
        self._held = whole.part(slice(cut, None))
        made, _ = without_empty_rows(whole.part(slice(cut + 1)), empty[: cut + 1], self._survey.step)
        return made.part(slice(max(made.samples - 1, 0)))

    def finish(self) -> Checked:
        """What was found."""
        survey, found = self._survey, self._clock.finish()
        samples, log = survey.samples, survey.rows
        if samples < FEWEST:
            sentence = f"The log has {samples} samples; at least {FEWEST} are needed to say anything."
            few = defect("too short", "error", sentence, "Record a longer log.")
            return Checked((few,), {"samples": samples, "axes": log.axes})
        facts = {
            "samples": samples,
            "axes": log.axes,
            "side": log.side,
            "rate_hz": 1.0 / survey.step if survey.step > 0 else float("nan"),
            "duration_s": found.duration,
        }
        findings = _given_rate(log)
        bad = found.samples - found.good
        if found.good <= FEWEST or bad > _MOST_BAD * found.samples:
            sentence = (
                f"{bad} of {found.samples} stamps are repeated, backward or no numbers; the clock is not "
                "usable."
            )
            remedy = "Give rate_hz in a mapping instead of the stamps, if the rate is known."
            findings.append(defect("clock", "error", sentence, remedy, where="whole log"))
            return Checked(tuple(findings), facts)
        findings += [*_duration(facts), *_breaks(found), *_bad_stamps(found), *_gaps(found, survey.step)]
        low, high = np.quantile(survey.steps[survey.steps <= survey.longest_step], [0.01, 0.99])
        jitter = float(high - low) / survey.step
        facts |= {"jitter_percent": 100 * jitter, "gaps": found.short_gaps + found.long_gaps}
        if jitter > JITTER:
            sentence = (
                f"Steps between stamps vary by {100 * jitter:.2g} % around {1e3 * survey.step:.4g} ms "
                f"({1e3 * found.shortest:.3g} to {1e3 * found.longest:.3g} ms)."
            )
            remedy = "Resample to the constant rate before filters and differences."
            findings.append(defect("jitter", "warning", sentence, remedy, repairable=True))
        return Checked(tuple(findings), facts)


def _positions(log: Log) -> NDArray[np.float64]:
    return np.asarray(log.channels.get("position", np.empty((log.samples, 0))))


def _joined(first: Log, second: Log) -> Log:
    channels = {name: np.concatenate([first.channels[name], x]) for name, x in second.channels.items()}
    return replace(second, time=np.concatenate([first.time, second.time]), channels=channels)


def _given_rate(log: Log) -> list[Finding]:
    """A rate of the mapping that the stamps of the file deny."""
    remedy = "Leave rate_hz out of the mapping to go by the stamps, or say ignore = true in [time]."
    return [
        defect("rate against stamps", "error", step.note, remedy, where="whole log")
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
        return [defect("time unit", "error", sentence, remedy, where="whole log")]
    if seconds < _SHORTEST_S:
        sentence = f"The log lasts {1e3 * seconds:.3g} ms; at least {1e3 * _SHORTEST_S:g} ms are needed."
        return [defect("too short", "error", sentence, f"Record a longer log. {remedy}")]
    if rate < _SLOWEST_HZ:
        sentence = f"The stamps give {rate:.3g} Hz: too slow for a motion, or their unit is another."
        return [defect("time unit", "warning", sentence, remedy, where="whole log")]
    return []


def _breaks(found: Stamps) -> list[Finding]:
    """Places where the clock was set back for good."""
    if not found.breaks:
        return []
    worst = max(found.breaks, key=lambda place: place.place.back_s)
    joined = all(place.joined for place in found.breaks)
    piece = longest_between([0, *(b.place.index for b in found.breaks if not b.joined), found.samples])
    share = (piece.stop - piece.start) / found.samples
    how_often = "once" if len(found.breaks) == 1 else f"{len(found.breaks)} times"
    lead = f"The clock was set back {how_often}, most by {worst.place.back_s:.4g} s; "
    if joined:
        words, remedy = "the motion goes on over it.", "Let the stamps go on with the usual step."
    else:
        words = f"the motion does not go on there; the longest piece holds {100 * share:.0f} % of the log."
        remedy = "Cut the log there into experiments; a repair keeps the longest piece only."
    where = f"sample {worst.place.index + 1}, t = {worst.time:.4f} s"
    mendable = joined or share >= 0.5
    severity = "warning" if mendable else "error"
    return [defect("clock set back", severity, lead + words, remedy, None, None, where, mendable)]


def _bad_stamps(found: Stamps) -> list[Finding]:
    kinds = {
        "repeated stamps": (found.repeated, "equal to the one before"),
        "backward stamps": (found.backward, "earlier than one before, or leap ahead"),
        "lost stamps": (found.lost, "not finite"),
    }
    where = f"first at sample {found.first_bad + 1}"
    return [
        defect(
            name,
            "warning",
            f"{count} of {found.samples} stamps are {words}.",
            "Leave these rows out.",
            None,
            None,
            where,
            True,
        )
        for name, (count, words) in kinds.items()
        if count
    ]


def _gaps(found: Stamps, step: float) -> list[Finding]:
    told = []
    if found.short_gaps:
        sentence = f"{_counted(found.short_gaps, 'short gap')}: {found.short_missing} samples are missing."
        where = f"first at t = {found.short_time:.4f} s"
        remedy = "Interpolate the missing samples."
        told.append(defect("short gaps", "warning", sentence, remedy, None, None, where, True))
    if found.long_gaps:
        share = found.longest_stretch / max(1, found.good)
        sentence = (
            f"{_counted(found.long_gaps, 'long gap')}, the longest {found.widest * step:.3g} s "
            f"({found.widest} samples); the longest stretch without one holds "
            f"{100 * share:.0f} % of the log."
        )
        where = f"t = {found.widest_time:.4f} s"
        remedy = "Cut the log at the gaps into experiments; a repair keeps the longest stretch only."
        severity = "warning" if share >= 0.5 else "error"
        told.append(defect("long gaps", severity, sentence, remedy, None, None, where, share >= 0.5))
    return told


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" + ("s" if count != 1 else "")
