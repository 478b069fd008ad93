"""A clock that was set while it ran: does the motion go on over the leap, or is time missing?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Name
from dynid.logs.log import Log, Step
from dynid.logs.spool import by_columns
from dynid.preparation.clock import CLOCK, Break, LogClock, longest_run, read_clock
from dynid.preparation.column import column_statistics


@dataclass(frozen=True)
class LeapOfStampsRules:
    """When the motion goes on over a leap of the stamps.

    Forward, a leap may also be a gap, and the motion must deny that. Set on half of a population of leaps and
    gaps, shown on the other half (docs/data-check.md).

    Args:
        back_rows: rows to each side of a leap back that say how the positions change there.
        back_ratio: change of position over a leap back, over the largest one beside it.
        share: what is added to all limits, as a share of the whole travel, for a robot nearly at rest.
        rows: rows to each side of a leap forward, through whose changes a parabola is laid.
        off: distance of the change over the leap from that parabola, over the spread of the others.
        moves: way of an axis on each side, over that spread, beyond which it moves …
        missed: … and the way that it would have gone in a gap, over the limit of the distance, …
        tight: … where that limit is a small share of the travel: else it may be chance.
    """

    back_rows: int = 8
    back_ratio: float = 3.0
    share: float = 1e-4
    rows: int = 16
    off: float = 6.0
    moves: float = 3.0
    missed: float = 10.0
    tight: float = 0.02


LEAP_OF_STAMPS = LeapOfStampsRules()


def pieces_between_breaks(log: Log, clock: LogClock) -> list[slice]:
    """Runs of stamps between those breaks of the clock over which the motion does not go on.

    Args:
        log: the log.
        clock: its clock.
    """
    cuts = [place.index for place in clock.breaks]
    if "position" in log.channels and cuts:
        travel = _travel(log)
        cuts = [index for index in cuts if not _goes_on_backward(log, clock, index, travel)]
    return [slice(*ends) for ends in pairwise([0, *cuts, clock.samples])]


def forward_breaks(log: Log, clock: LogClock) -> tuple[Break, ...]:
    """Long gaps of the stamps over which the motion goes on by one row: the clock was set forward there.

    Args:
        log: the log.
        clock: its clock.
    """
    long = clock.gaps[clock.missing_samples > CLOCK.short_gap]
    if "position" not in log.channels or not 0 < len(long) <= CLOCK.most_breaks:
        return ()
    travel, found = _travel(log), list[Break]()
    for gap in long.tolist():
        before, after = clock.stamp_before(gap), clock.stamp_before(gap + 1)
        missing = clock.steps[gap] / clock.step - 1.0
        if after == before + 1 and _goes_on_forward(log, clock, after, missing, travel):
            found.append(Break(after, float(clock.step - clock.steps[gap])))
    return tuple(found)


def restamp_clock(log: Log) -> Log:
    """Stamps that go on with the usual step where the clock was set back.

    Where the motion does not go on, pieces do not belong together, and the longest alone is kept.
    """
    clock = read_clock(log.time)
    pieces = pieces_between_breaks(log, clock)
    piece = longest_run(pieces)
    dropped = log.samples - (piece.stop - piece.start)
    back = [place.back_s for place in clock.breaks]
    if len(pieces) == 1:
        by = ", ".join(f"{seconds:.4g}" for seconds in back)
        note = f"Stamps go on with the usual step where the clock was set back (by {by} s)."
    else:
        note = f"The motion does not go on where the clock was set back; {log.samples - dropped} of "
        note += f"{log.samples} samples were kept, the longest piece."
    channels = {channel: by_columns(lambda x: x[piece], values) for channel, values in log.channels.items()}
    made_up = None if log.made_up is None else log.made_up[piece]
    step = Step(f"repair: {Name.CLOCK_SET_BACK}", {"set_back_s": back, "dropped": dropped}, note)
    return log.with_step(step, time=clock.time[piece], channels=channels, made_up=made_up)


def take_forward_leaps_back(log: Log) -> Log:
    """Stamps that go on with the usual step where the clock was set forward and the motion goes on."""
    breaks, time = forward_breaks(log, read_clock(log.time)), log.time.copy()
    for place in breaks:
        time[place.index :] += place.back_s
    ahead = [-place.back_s for place in breaks]
    by = ", ".join(f"{seconds:.4g}" for seconds in ahead)
    note = f"Stamps go on with the usual step where the clock was set forward (by {by} s)."
    return log.with_step(Step(f"repair: {Name.CLOCK_SET_FORWARD}", {"set_forward_s": ahead}, note), time=time)


def _travel(log: Log) -> FloatArray:
    """Width of what each position goes through."""
    return np.array([column_statistics(log.column("position", axis)).span for axis in range(log.axes)])


def _positions_beside(log: Log, clock: LogClock, index: int, rows: int) -> tuple[FloatArray, int]:
    """Positions of some rows to each side of a stamp, damaged lines left out, and how many are before it."""
    low, high = max(index - rows, 0), min(index + rows, clock.samples)
    places = np.arange(low, high) if clock.rows is None else clock.rows[low:high]
    q = log.channels["position"][places[0] : places[-1] + 1][places - places[0]]
    seen = ~np.isnan(q).all(axis=1)
    return q[seen], int(np.count_nonzero(seen[: index - low]))


def _goes_on_backward(log: Log, clock: LogClock, index: int, travel: FloatArray) -> bool:
    """Whether the positions change before a stamp as they did around it; travel of each axis in the log."""
    q, before = _positions_beside(log, clock, index, LEAP_OF_STAMPS.back_rows)
    change = np.abs(np.diff(q, axis=0))
    if not 0 < before < len(q) or len(change) < 5 or not np.all(np.isfinite(change)):
        return False
    beside = np.delete(change, before - 1, axis=0)
    allowed = LEAP_OF_STAMPS.back_ratio * beside.max(axis=0) + LEAP_OF_STAMPS.share * travel
    return bool(np.all(change[before - 1] <= allowed))


def _goes_on_forward(log: Log, clock: LogClock, index: int, missing: float, travel: FloatArray) -> bool:
    """Whether every position goes on over a leap by one row, and one of them moves so that a gap would show.

    Args:
        log: the log.
        clock: its clock.
        index: of the first stamp after the leap.
        missing: rows that a gap of that length would have taken.
        travel: of each axis in the log.
    """
    q, before = _positions_beside(log, clock, index, LEAP_OF_STAMPS.rows)
    after = len(q) - before
    if min(before, after) < LEAP_OF_STAMPS.rows // 2 or not np.all(np.isfinite(q)):
        return False
    change, row = np.diff(q, axis=0), np.arange(len(q) - 1.0) - (before - 1)
    beside, parabola = np.delete(change, before - 1, axis=0), np.vander(np.delete(row, before - 1), 3)
    x = np.linalg.lstsq(parabola, beside, rcond=None)[0]
    spread = np.sqrt(np.sum((beside - parabola @ x) ** 2, axis=0) / (len(beside) - 3))
    allowed = LEAP_OF_STAMPS.off * spread + LEAP_OF_STAMPS.share * travel
    ways = np.stack([q[before - 1] - q[0], q[-1] - q[before]])
    speed = np.min(np.abs(ways) / [[before - 1], [after - 1]], axis=0)
    moves = (np.abs(ways).min(axis=0) > LEAP_OF_STAMPS.moves * spread) & (ways[0] * ways[1] > 0)
    telling = moves & (missing * speed > LEAP_OF_STAMPS.missed * allowed)
    telling &= allowed < LEAP_OF_STAMPS.tight * travel
    return bool(np.all(np.abs(change[before - 1] - x[-1]) <= allowed) and np.any(telling))
