"""Stamps of a coarse clock: rows that are even, and stamps that are rounded to ticks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Name
from dynid.logs.log import Log, Step
from dynid.preparation.column import SAMPLED, stride


@dataclass(frozen=True)
class TickRules:
    """When stamps are ticks of a coarse clock. Chosen by what rounding does; ``tests/checks`` holds them.

    Args:
        fewest: steps below which nothing is said.
        off: steps of even rows differ by less, over their mean, and stamps from whole ticks, over a tick.
        within: ticks by which rows may be off an even grid; rounding takes half of one.
        ticks: in a log, at least: a clock that was set forward once has made one.
    """

    fewest: int = 32
    off: float = 0.02
    within: float = 0.75
    ticks: int = 10


TICKS = TickRules()


@dataclass(frozen=True, eq=False)
class CoarseClock:
    """Stamps that are whole ticks of a coarse clock, of rows that are even within a tick.

    Args:
        tick: of the clock [s].
        time: even stamps in the place of those [s], (samples,).
    """

    tick: float
    time: FloatArray

    @property
    def rate_hz(self) -> float:
        """Rate of the rows."""
        return float((len(self.time) - 1) / (self.time[-1] - self.time[0]))


def coarse_clock(stamps: FloatArray) -> CoarseClock | None:
    """The coarse clock of stamps whose steps vary only because they are rounded to ticks; else None.

    Args:
        stamps: time of each row [s], (samples,); may hold anything.
    """
    steps = np.diff(stamps)
    if len(steps) < TICKS.fewest or not np.all(steps >= 0) or not np.all(np.isfinite(stamps[[0, -1]])):
        return None
    row = np.arange(len(stamps)) - 0.5 * (len(stamps) - 1)
    step = float(row @ stamps / (row @ row))
    if not step > 0 or np.ptp(steps) < TICKS.off * step:
        return None
    # Steps of whole ticks differ by one tick, seldom more; stamps of a fine clock differ by anything.
    some = steps[:: stride(len(steps), SAMPLED.steps)]
    tick = float(np.median(np.diff(np.unique(np.round(some / step, 6))))) * step
    if stamps[-1] - stamps[0] < TICKS.ticks * tick:
        return None
    off = stamps / tick - np.round(stamps / tick)
    even = float(np.mean(stamps)) + step * row
    if np.max(np.abs(off)) > TICKS.off or np.max(np.abs(stamps - even)) > TICKS.within * tick:
        return None
    return CoarseClock(tick, np.asarray(even))


def restamp_evenly(log: Log) -> Log:
    """Even stamps in the place of those of a coarse clock."""
    coarse = coarse_clock(log.time)
    if coarse is None:
        return log
    note = f"Even stamps at {coarse.rate_hz:.6g} Hz took the place of ticks of {1e3 * coarse.tick:.4g} ms."
    step = Step(f"repair: {Name.COARSE_CLOCK}", {"rate_hz": coarse.rate_hz, "tick_s": coarse.tick}, note)
    return log.with_step(step, time=coarse.time)
