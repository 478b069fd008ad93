"""Preparation of a log that arrives in pieces, with memory that does not depend on its length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from dynid.core.errors import DynidError, NotTrustworthyError, ShapeError
from dynid.logs.log import Log, Source, Step
from dynid.logs.resample import last_on_grid, uneven_steps
from dynid.preparation.filters import decay_samples
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepare import refuse_short
from dynid.preparation.rate import target_rate
from dynid.preparation.steps import (
    Signals,
    States,
    cleaned,
    dropped,
    interpolated,
    refuse_stamps,
    signals_of,
    states_of,
)

_FORGOTTEN = 1e-15
"""What the filter may still remember of a cut; two derivatives magnify it."""
_SPLINE_REACH = 60
"""Samples after which a cubic spline has forgotten a change, by a factor 3.7 each."""
_LEAST_PIECE = 2000
"""Samples waited for before the rate is settled and work begins."""


def prepare_chunks(chunks: Iterable[Log], plan: Preparation) -> Iterator[Motion]:
    """Prepare successive pieces of one log as ``prepare`` would prepare the whole.

    The motions follow each other without overlap or gap and together are the motion of the whole log. Each
    is computed with enough samples on both sides for the filters to forget the cut. ``build_problem`` with
    ``pieces`` takes them as one experiment and keeps phase and state of the decimation between them.

    The rate, and whether stamps are even, are settled on the first pieces.

    Args:
        chunks: pieces in order of time, of any lengths. The first gives name, history and sources.
        plan: what to do; RLOESS and MATLAB's decimation need the whole log and are refused.
    """
    _refuse_whole_log_steps(plan)
    origin: Log | None = None
    window: _Window | None = None
    clock: _Clock | None = None

    def joint_side() -> Iterator[Signals]:
        nonlocal origin
        latest = np.empty(0)
        for log in chunks:
            origin = log if origin is None else origin
            refuse_stamps(np.concatenate([latest, log.time[:1]]), log.name)
            latest = log.time[-1:] if log.samples else latest
            yield signals_of(log)

    for piece in _trimmed(joint_side(), plan):
        window = _Window(piece, 0, 0) if window is None else window.with_more(piece)
        if clock is None and len(window.raw) >= _LEAST_PIECE:
            clock = _Clock.settled(window.raw, plan)
        if clock is not None and clock.steps_forward(window):
            states, first, window, steps = _advanced(window, clock, plan, last=False)
            yield from _motions(origin, states, first, clock, plan, steps)
    if origin is None or window is None:
        raise ShapeError("No samples were left to prepare; the log is empty or trimmed away.")
    refuse_short(window.offset + len(window.raw), origin.name)
    clock = _Clock.settled(window.raw, plan) if clock is None else clock
    states, first, _, steps = _advanced(window, clock, plan, last=True)
    kept, _ = dropped(first + len(states.q), plan, origin.name)
    yield from _motions(origin, states.part(0, max(kept.stop - first, 0)), first, clock, plan, steps)


@dataclass(frozen=True, eq=False)
class _Window:
    """Raw samples still needed; the index of their first one; samples of the motion made so far."""

    raw: Signals
    offset: int
    made: int

    def with_more(self, piece: Signals) -> _Window:
        return _Window(self.raw.then(piece), self.offset, self.made)


@dataclass(frozen=True)
class _Clock:
    """Rate and start of the motion, whether samples are interpolated, and the margin [samples]."""

    start: float
    rate_hz: float
    uneven: bool
    margin: int

    @classmethod
    def settled(cls, raw: Signals, plan: Preparation) -> _Clock:
        rate, uneven = target_rate(raw.time, plan)
        margin = plan.difference_points + 1 + plan.median_window + plan.ends[1]
        margin += _SPLINE_REACH if uneven else 0
        cutoffs = [f for f in (plan.cutoff_hz, plan.torque_cutoff_hz) if f is not None]
        margin += max((decay_samples(f, rate, plan.order, _FORGOTTEN) for f in cutoffs), default=0)
        return cls(float(raw.time[0]), rate, uneven, margin)

    def last(self, window: _Window) -> int:
        """Index in the motion of the last sample that the raw samples reach."""
        if self.uneven:
            return last_on_grid(self.start, float(window.raw.time[-1]), self.rate_hz)
        return window.offset + len(window.raw) - 1

    def steps_forward(self, window: _Window) -> bool:
        """Whether a piece longer than the margin can be made."""
        return self.last(window) + 1 - self.margin - window.made >= max(self.margin, _LEAST_PIECE)


def _advanced(
    window: _Window, clock: _Clock, plan: Preparation, *, last: bool
) -> tuple[States, int, _Window, tuple[Step, ...]]:
    """The next states, the index of their first sample, what remains in the window, and the steps."""
    signals, clean = cleaned(window.raw, plan)
    begin, resample = window.offset, None
    end = clock.last(window) + 1
    if clock.uneven:
        begin = int(np.ceil((signals.time[0] - clock.start) * clock.rate_hz * (1 - 1e-12) - 1e-9))
        at = clock.start + np.arange(begin, end) / clock.rate_hz
        signals, resample = interpolated(signals, at, clock.rate_hz)
    elif plan.stamps == "auto":
        _refuse_uneven(signals, clock)
    states, smoothing = states_of(signals, clock.rate_hz, plan)
    stop = end if last else end - clock.margin
    kept = max(stop - clock.margin, 0)
    if clock.uneven:
        behind = int(np.searchsorted(window.raw.time, clock.start + kept / clock.rate_hz)) - 1
    else:
        behind = kept - window.offset
    behind = max(behind, 0)
    rest = _Window(window.raw.part(behind), window.offset + behind, stop)
    steps = tuple(step for step in (clean, resample, *smoothing) if step is not None)
    return states.part(window.made - begin, stop - begin), window.made, rest, steps


def _motions(
    origin: Log | None,
    states: States,
    first: int,
    clock: _Clock,
    plan: Preparation,
    steps: tuple[Step, ...],
) -> Iterator[Motion]:
    """The piece as a motion, without the samples the plan drops at the start; nothing when empty."""
    skipped = max(plan.ends[0] - first, 0)
    states = states.part(skipped)
    if not len(states.q):
        return
    history: tuple[Step, ...] = () if origin is None else origin.history
    sources: tuple[Source, ...] = () if origin is None else origin.sources
    begin = first + skipped
    piece = Step("piece", {"first": begin, "samples": len(states.q)}, "one piece of a log prepared in pieces")
    yield Motion(
        name="" if origin is None else origin.name,
        time=clock.start + np.arange(begin, begin + len(states.q)) / clock.rate_hz,
        q=states.q,
        qd=states.qd,
        qdd=states.qdd,
        tau=states.tau,
        rate_hz=clock.rate_hz,
        history=(*history, *steps, piece),
        sources=sources,
    )


def _trimmed(pieces: Iterable[Signals], plan: Preparation) -> Iterator[Signals]:
    """Pieces without the seconds at both ends; the last seconds are held back until the end is known."""
    held: Signals | None = None
    start: float | None = None
    for piece in pieces:
        if not len(piece):
            continue
        start = float(piece.time[0]) + plan.trim_start_s if start is None else start
        fresh = piece.part(int(np.searchsorted(piece.time, start, side="left")))
        held = fresh if held is None else held.then(fresh)
        free = int(np.searchsorted(held.time, piece.time[-1] - plan.trim_end_s, side="right"))
        if free:
            yield held.part(0, free)
            held = held.part(free)


def _refuse_uneven(signals: Signals, clock: _Clock) -> None:
    if uneven_steps(signals.time, clock.rate_hz):
        raise NotTrustworthyError(
            f"The first pieces of the log have even stamps, those near t = {signals.time[-1]:.6g} s do "
            "not; set stamps to 'measured' to interpolate from the start, or to 'even' to trust the rate."
        )


def _refuse_whole_log_steps(plan: Preparation) -> None:
    if plan.rloess_acceleration or plan.rloess_torque:
        raise DynidError(
            "RLOESS takes its span as a share of the whole log and cannot run on pieces; set "
            "rloess_acceleration and rloess_torque to 0 or prepare the whole log at once."
        )
    if plan.convention == "matlab" and plan.decimation > 1:
        raise DynidError(
            "MATLAB's decimation counts from the end of the log, which is unknown while it streams; use "
            "the 'scipy' convention or prepare the whole log at once."
        )
